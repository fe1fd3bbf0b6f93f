"""Write the tables of the papers' pages in the papers' own layout, from the long ones.

``mklkit reproduce … --pages docs/papers/tables`` writes a long table per table of a paper, with a
row for each number. ``python docs/_ext/paper_tables.py`` then writes a short one on the page of the
paper, between ``<!-- short NAME -->`` and ``<!-- end -->``, and folds the long one below it.
"""

from __future__ import annotations

import re
from pathlib import Path

PAPERS = Path(__file__).parents[1] / "papers"
MARK = re.compile(r"^<!-- short (?P<name>\S+) -->\n.*?<!-- end -->$", re.MULTILINE | re.DOTALL)
FOLDED = """:::{{dropdown}} All numbers, with {beside}
```{{include}} tables/{name}.md
```
:::"""
LONGEST = 20
MISS = "✗"
Numbers = dict[str, dict[str, str]]


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of the lines of a Markdown table; heads first, without the rule."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[:1] + cells[2:]


def short_cell(cells: dict[str, str]) -> str:
    """Return our mean, the published one in brackets, and a mark where ours misses it."""
    ours, _, _ = cells["ours"].partition(" ± ")
    published, _, _ = cells.get("published", "").partition(" ± ")
    beside = f"({published})" if published else ""
    return " ".join(filter(None, [ours or "–", beside, MISS if cells.get("holds") == "no" else ""]))


def short_table(long: str) -> str:
    """Return a table with fewer columns than rows; nothing if it would be long or mostly empty."""
    heads, *rows = rows_of(long)
    numbers: Numbers = {}
    turned: Numbers = {}
    for row, column, *cells in rows:
        shown = short_cell(dict(zip(heads[2:], cells, strict=True)))
        numbers.setdefault(row, {})[column] = shown
        turned.setdefault(column, {})[row] = shown
    head = heads[0]
    if len(turned) > len(numbers):
        numbers, turned, head = turned, numbers, heads[1]
    if len(numbers) > LONGEST or len(rows) < len(numbers) * len(turned) / 2:
        return ""
    lines = [[head, *turned], ["---", *["--:"] * len(turned)]]
    lines += [
        [name, *(cells.get(place, "") for place in turned)] for name, cells in numbers.items()
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def section(name: str, long: str) -> str:
    """Return what a page shows of a table: the short one, how many numbers hold, the long one."""
    if "\n|" not in long:
        return re.sub("<!--.*?-->", "", long).strip()
    heads = rows_of(long)[0]
    beside = ["standard deviations", *["tests"] * ("paired p" in heads)]
    beside += ["reasons"] * ("missed" in long)
    words = " and ".join(filter(None, [", ".join(beside[:-1]), beside[-1]]))
    folded = FOLDED.format(name=name, beside=words)
    # The points of curves, which no paper prints, are folded alone.
    if "published" not in heads:
        return folded
    summary = re.findall(r"^- (.*?) \(mklkit", long, re.MULTILINE)[0].replace(
        "print", "the published ones"
    )
    key = f"Ours, with the published number in brackets; {MISS} marks a miss. {summary[0].upper()}"
    return "\n\n".join(filter(None, [short_table(long), f"{key}{summary[1:]}.", folded]))


def written(page: str) -> str:
    """Return the text of a page with its sections of tables made anew."""

    def replaced(mark: re.Match[str]) -> str:
        name = mark["name"]
        long = (PAPERS / "tables" / f"{name}.md").read_text(encoding="utf-8")
        return f"<!-- short {name} -->\n\n{section(name, long)}\n\n<!-- end -->"

    return MARK.sub(replaced, page)


def main() -> None:
    """Write the sections of all pages."""
    for path in sorted(PAPERS.glob("*-20??.md")):
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
