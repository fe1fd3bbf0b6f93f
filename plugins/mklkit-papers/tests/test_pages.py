"""Only tables between marks are replaced on a page."""

from __future__ import annotations

import pytest
from mklkit_papers.files import marked, without_place, write_pages
from mklkit_papers.session import Session
from mklkit_papers.tables import markdown
from small_paper import ENTRIES

from mklkit.errors import DataError

PAGE = """# Title

Words, and in them `<!-- wang-2008-table1 -->`.

<!-- wang-2008-table1 -->
<!-- end -->
between <!-- any remark -->

<!-- wang-2008-table2 -->

| an | old |
|----|-----|

<!-- end -->

The end, without an empty line."""


@pytest.fixture(scope="module")
def reproduction():
    session = Session(only=["iris"], repeats=1)
    return [entry.run(session) for entry in ENTRIES[:2]]


def test_one_table_is_replaced_and_the_rest_is_the_same(tmp_path, reproduction):
    page = tmp_path / "page.md"
    page.write_bytes(PAGE.encode())
    assert write_pages(tmp_path, reproduction[:1]) == [page]
    before, after = PAGE.split("<!-- wang-2008-table1 -->\n<!-- end -->")
    text = page.read_bytes().decode()
    table = markdown(reproduction[0])
    assert text == f"{before}<!-- wang-2008-table1 -->\n\n{table}\n\n<!-- end -->{after}"
    write_pages(tmp_path, reproduction[:1])
    assert page.read_bytes().decode() == text
    write_pages(tmp_path, reproduction)
    assert "| an | old |" not in page.read_text(encoding="utf-8")
    assert markdown(reproduction[1]) in page.read_text(encoding="utf-8")


def test_ends_of_lines_are_kept(tmp_path, reproduction):
    page = tmp_path / "page.md"
    page.write_bytes(PAGE.replace("\n", "\r\n").encode())
    write_pages(tmp_path, reproduction[:1])
    content = page.read_bytes()
    assert b"### " not in content
    assert content.count(b"\n") == content.count(b"\r\n")
    assert content.decode().replace("\r\n", "\n").count(markdown(reproduction[0])) == 1


def test_pages_without_the_table_are_not_written(tmp_path, reproduction):
    other = tmp_path / "other.md"
    other.write_text("<!-- wang-2013-table1 -->\n<!-- end -->")
    (tmp_path / "plain.md").write_text("words")
    twice = tmp_path / "twice.md"
    twice.write_text("<!-- wang-2008-table1 -->\n<!-- end -->\n" * 2)
    before = other.stat().st_mtime_ns
    assert write_pages(tmp_path, reproduction) == [twice]
    assert other.stat().st_mtime_ns == before
    assert twice.read_text(encoding="utf-8").count(markdown(reproduction[0])) == 2
    assert marked(tmp_path) == {other: ["wang-2013-table1"], twice: ["wang-2008-table1"] * 2}
    assert without_place(tmp_path, ["wang-2008-table1", "wang-2008-table2"]) == ["wang-2008-table2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"words", "no page with a place"),
        (b"<!-- wang-2008-table1 -->\nwords", "'<!-- wang-2008-table1 -->' without '<!-- end -->'"),
        (
            b"<!-- wang-2008-table1 -->\nwords\n<!-- wang-2008-table2 -->\n<!-- end -->",
            "'<!-- wang-2008-table1 -->' without '<!-- end -->'",
        ),
        (b"\xff", "can't be read"),
        (b"<!-- wang-2008-table7 -->\n<!-- end -->", "no place for 'wang-2008-table1'"),
    ],
)
def test_what_is_no_page(tmp_path, content, message):
    (tmp_path / "page.md").write_bytes(content)
    with pytest.raises(DataError, match=message):
        without_place(tmp_path, ["wang-2008-table1"])
    assert (tmp_path / "page.md").read_bytes() == content
