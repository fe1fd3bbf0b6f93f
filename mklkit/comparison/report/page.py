"""The report of a comparison: one page that needs nothing but itself."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from mklkit.comparison.report.all_data_sets import over_data_sets
from mklkit.comparison.report.one_data_set import results_on
from mklkit.comparison.report.procedure import procedure
from mklkit.display.html import rendered
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
    style, script = (_file(name) for name in ("style.css", "page.js"))
    return rendered(
        "comparison/report/page.html",
        title=f"Comparison of {counted(len(comparison.methods), 'method')} on {on}",
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'",
        interrupted="" if comparison.complete else _runs(comparison),
        verdict=comparison.verdict,
        over=over_data_sets(comparison) if len(names) > 1 else None,
        data=[results_on(comparison, name) for name in names],
        procedure=procedure(comparison),
        command=command,
        version=comparison.plan["versions"]["mklkit"],
    )


def _runs(comparison: Comparison) -> str:
    splits = sum(split["number"] for split in comparison.plan["splits"])
    return f"{len(comparison.cells)} of {len(comparison.methods) * splits} runs"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
