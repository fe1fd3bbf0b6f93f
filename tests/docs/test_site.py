"""The built site: its links lead somewhere, and four pages look right in a browser.

It is built by ``python -m sphinx -W --keep-going docs docs/_build``; without it these tests are
skipped.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from helpers.browser import Page
from helpers.documents import ROOT

SITE = ROOT / "docs" / "_build"
WIDTHS = (1200, 400)

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built"),
]


class Links(HTMLParser):
    """What a page can be linked at, and where its own links lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors, self.targets = {""}, set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids and addresses."""
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.targets.add(value)


@pytest.fixture(scope="module")
def pages() -> dict[Path, Links]:
    return {path: Links(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}


def test_links_within_the_site_lead_somewhere(pages: dict[Path, Links]) -> None:
    lost = []
    for path, page in pages.items():
        for target in page.targets:
            if urlparse(target).scheme or target.startswith("//"):
                continue
            address, anchor = urldefrag(target)
            end = (path.parent / unquote(urlparse(address).path)).resolve() if address else path
            anchors = pages[end].anchors if end in pages else {unquote(anchor)}
            if not end.exists() or unquote(anchor) not in anchors:
                lost.append((path.relative_to(SITE).as_posix(), target))
    assert len(pages) > 100
    assert not lost, lost


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Links]) -> None:
    """A page shows the same without a network; links to other sites are no parts of it."""
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert 'src="http' not in text, path
        assert "@import url(http" not in text, path


def complaints(page: Page) -> list[str]:
    """Return errors of the open page: failed requests, exceptions, what it logs as an error."""
    logged = [record["entry"] for record in page.told("Log.entryAdded")]
    return [
        *(record["text"] for record in logged if record["level"] == "error"),
        *(str(record["exceptionDetails"]) for record in page.told("Runtime.exceptionThrown")),
        *(record["errorText"] for record in page.told("Network.loadingFailed")),
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("index", "mklkit"),
        ("gallery/plot_shuffling", "Ablation and permutation importance of sources"),
        ("guides/theory", "Theory: sums of kernels and how they are weighted"),
        ("reference/names/mklkit.MKLClassifier", "MKLClassifier"),
    ],
)
def test_a_page_in_a_browser(page: Page, name: str, heading: str, scheme: str, width: int) -> None:
    page.size(width)
    page.colors(scheme)
    page.open(SITE / f"{name}.html")
    assert complaints(page) == []
    # The sign after a heading is its link.
    assert page.run("document.querySelector('h1').innerText").rstrip("#\n ") == heading
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("document.documentElement.dataset.theme") == scheme
    # Of each picture's two versions one is shown, and has been loaded.
    shown = "[...document.querySelectorAll('article img')].filter(one => one.offsetParent)"
    assert page.run(f"{shown}.every(one => one.naturalWidth > 0)")
    if name.startswith("gallery/"):
        assert page.run(f"{shown}.length") == 2
        assert page.run(f"{shown}.every(one => one.className.includes('only-{scheme}'))")
