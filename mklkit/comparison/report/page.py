"""The report of a comparison: one page that needs nothing but itself."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from mklkit.comparison.report.all_data_sets import over_data_sets
from mklkit.comparison.report.one_data_set import results_on
from mklkit.comparison.report.procedure import procedure
from mklkit.display.markup import EMPTY, Html, element, joined
from mklkit.errors import counted

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["html_report"]

MOST_TITLED = 3
"""Data sets named in the title."""


def html_report(comparison: Comparison, command: str | None = None) -> str:
    """Return a comparison as one HTML page, which opens without a network.

    Parameters
    ----------
    comparison : Comparison
    command : str, optional
        The command line that made it, to be shown.

    Returns
    -------
    str
        To be written in UTF-8. Text from the data is escaped, and the page's own policy refuses all
        scripts, styles and connections but the ones that the page is made with.

    Raises
    ------
    DataError
        If no run was finished.
    """
    names = comparison.compared_data
    on = ", ".join(names) if len(names) <= MOST_TITLED else counted(len(names), "data set")
    title = f"Comparison of {counted(len(comparison.methods), 'method')} on {on}"
    many = len(names) > 1
    main = joined(
        over_data_sets(comparison, names) if many else None,
        *(results_on(comparison, name, f"Results on {name}", 2) for name in names),
        procedure(comparison, command),
    )
    body = element(
        "body",
        element(
            "header",
            element("h1", title),
            _warning(comparison),
            element("p", comparison.verdict, class_="verdict"),
            _contents(names) if many else None,
        ),
        element("main", main),
        element("footer", element("p", "Made with mklkit ", comparison.plan["versions"]["mklkit"])),
        Html(f"<script>{_file('page.js')}</script>"),
    )
    page = element("html", _head(title), "\n", body, lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _head(title: str) -> Html:
    style, script = _file("style.css"), _file("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Html(f"<style>{style}</style>"),
    )


def _warning(comparison: Comparison) -> Html:
    if comparison.complete:
        return EMPTY
    total = len(comparison.methods) * sum(one["number"] for one in comparison.plan["splits"])
    return element(
        "p",
        f"Interrupted after {len(comparison.cells)} of {total} runs: only splits on which every"
        " method has been run count, if there are any.",
        class_="fault",
        role="note",
    )


def _contents(names: list[str]) -> Html:
    """Return links to the sections."""
    places = {"all": "All data sets"}
    places |= {f"data-{place}": name for place, name in enumerate(names, start=1)}
    places["procedure"] = "Data and procedure"
    links = [element("li", element("a", text, href=f"#{place}")) for place, text in places.items()]
    return element("nav", element("ul", *links), aria_label="Contents")


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
