"""The page of a comparison in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.browser import Page
from helpers.reported import comparison

pytestmark = pytest.mark.browser

NARROW, MEDIUM, WIDE = 400, 1100, 1200
SCROLLING = """
[...document.querySelectorAll(".box:has(> :is(.methods, .weights))")]
  .filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.querySelector("caption").textContent.slice(0, 40))
"""
OVERFLOW = """
[...document.body.querySelectorAll("*")]
  .filter((part) => !part.closest(".box"))
  .filter((part) => part.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((part) => part.outerHTML.slice(0, 80))
"""
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
UNFOLD = "for (const part of document.querySelectorAll('details')) part.open = true"
FOLDED = "document.querySelectorAll('details:not([open])').length"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"
FIRST_COLUMN = """
[...document.querySelector(".methods tbody").rows].map((row) => row.cells[0].dataset.value)
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{name}.html" for name in ("one", "several")}
    comparison().report(paths["one"])
    comparison(n_datasets=5, n_methods=12).report(paths["several"])
    return paths


@pytest.fixture(params=["one", "several"])
def opened(page: Page, reports: dict[str, Path], request: pytest.FixtureRequest) -> Page:
    page.size(WIDE)
    page.colors("light")
    page.open(reports[request.param])
    return page


def test_only_the_page_is_read_and_nothing_complains(opened: Page) -> None:
    requests = [event["request"]["url"] for event in opened.told("Network.requestWillBeSent")]
    assert len(requests) == 1, requests
    assert requests[0].startswith("file:")
    assert opened.told("Log.entryAdded") == []
    assert opened.told("Runtime.consoleAPICalled") == []
    assert opened.told("Runtime.exceptionThrown") == []
    assert opened.run("window.broken") is None
    # The page's policy would refuse a script that came into it all the same.
    opened.run(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.broken = 1'}))"
    )
    assert opened.run("window.broken") is None


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_nothing_is_wider_than_the_page(opened: Page, width: int) -> None:
    opened.size(width)
    opened.run(UNFOLD)
    needed, there = opened.run(WIDTHS)
    assert needed <= there <= width
    assert opened.run(OVERFLOW) == []
    smallest = opened.run(
        "Math.min(...[...document.querySelectorAll('td, th, small, text')].map((one) => {"
        " const to = one.getScreenCTM?.() ?? { a: 1, b: 0 };"
        " return Math.hypot(to.a, to.b) * parseFloat(getComputedStyle(one).fontSize); }))"
    )
    assert smallest >= (12 if width == WIDE else 9)


@pytest.mark.parametrize("width", [MEDIUM, WIDE])
def test_methods_and_weights_do_not_scroll_where_there_is_room(opened: Page, width: int) -> None:
    opened.size(width)
    opened.run(UNFOLD)
    assert opened.run("document.querySelectorAll('.box > :is(.methods, .weights)').length") > 3
    assert opened.run(SCROLLING) == []


def test_columns_sort_by_mouse_and_keyboard(opened: Page) -> None:
    head = "document.querySelector('.methods th[data-first]:nth-child(1)')"
    order = f"{head}.getAttribute('aria-sort')"
    best_first = opened.run(FIRST_COLUMN)
    x, y = opened.run(
        f"(() => {{ const button = {head}.querySelector('button');"
        " button.scrollIntoView({block: 'center'}); const box = button.getBoundingClientRect();"
        " return [box.x + 5, box.y + box.height - 5]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        opened.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
        )  # fmt: skip
    assert opened.run(order) == "ascending"
    names = opened.run(FIRST_COLUMN)
    assert sorted(names) == sorted(best_first)
    numbered = [name for name in names if name.startswith("method ")]
    assert numbered == sorted(numbered, key=lambda name: int(name.split()[1]))
    assert opened.run("document.querySelectorAll('.methods:first-of-type [aria-sort]').length") > 0
    opened.run(f"{head}.querySelector('button').focus()")
    opened.press("Enter", 13)
    assert opened.run(order) == "descending"
    assert opened.run(FIRST_COLUMN) == names[::-1]
    # A method without a number is last in both orders.
    accuracy = (
        "[...document.querySelectorAll('.methods th')].find((one) => /^Acc/.test(one.innerText))"
    )
    for _ in range(2):
        opened.run(f"{accuracy}.querySelector('button').click()")
        assert opened.run(FIRST_COLUMN)[-1] == "failing"


def test_dark_light_and_paper_can_be_read(opened: Page) -> None:
    opened.run(UNFOLD)
    colors = set()
    for scheme in ("light", "dark"):
        opened.colors(scheme)
        colors.add(opened.run(BACKGROUND))
        assert opened.faint_text() == []
    assert len(colors) == 2
    opened.colors("dark", "print")
    assert opened.faint_text() == []
    assert opened.run(BACKGROUND) == "rgb(255, 255, 255)"


def test_paper_has_everything(opened: Page, tmp_path: Path) -> None:
    assert opened.run(FOLDED) > 0
    opened.run(f"addEventListener('beforeprint', () => {{ window.atPrint = {FOLDED} }})")
    opened.print(tmp_path / "a.pdf")
    assert opened.run("window.atPrint") == 0
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    # As wide as A4 between its margins; a table that is wider would be cut.
    opened.colors("light", "print")
    opened.size(703)
    opened.run(UNFOLD)
    needed, there = opened.run(WIDTHS)
    assert needed <= there
