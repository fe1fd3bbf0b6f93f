"""Tables in Markdown and LaTeX have what the lines have."""

from __future__ import annotations

import json
import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mklkit_papers.entries import Reproduction
from mklkit_papers.lines import ACCURACY, Line, Printed
from mklkit_papers.scores import SECONDS
from mklkit_papers.session import Session
from mklkit_papers.tables import latex, markdown, notes_of, summary, table_of
from small_paper import ENTRIES, curve, entry, known

from mklkit._version import __version__
from mklkit.display.latex import latex_text


@pytest.fixture(scope="module")
def reproduction() -> Reproduction:
    return ENTRIES[0].run(Session(quick=True))


def cells(text: str) -> list[list[str]]:
    """Return the cells of a table in Markdown."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def heads(result: Reproduction) -> list[str]:
    """Return the heads of its table."""
    return [column.full_head for column in table_of(result).columns]


def test_markdown(reproduction):
    head, rule, *rows = cells(markdown(reproduction))
    assert {len(row) for row in (head, rule, *rows)} == {8}
    assert head[:2] == ["data set", "system"]
    assert head[2:] == ["ours", "published", "difference", "holds", "paired p", "corrected p"]
    assert set(rule) == {"---", "--:"}
    assert rows == table_of(reproduction).cells()
    sharp, absent, smooth = rows
    assert sharp[:2] == ["Iris", "sharp"]
    assert sharp[3] == "95.00 ± 1.00"
    assert sharp[-2:] == ["", ""]
    assert absent[2:] == ["", "99.00", "", "", "", ""]
    assert smooth[5] == "no"


def test_notes_say_what_is_left_out_and_what_misses(reproduction):
    assert notes_of(reproduction) == [
        ACCURACY.rule,
        "p values are of tests against sharp",
        "omitted: Water: nobody has it",
        "omitted: Iris, absent: it needs the package mklkit-absent: pip install"
        " ./plugins/mklkit-absent",
        "omitted: Two of Wine: not part of quick runs, because it takes long",
        "omitted: Nowhere: there is no folder to look for nowhere.csv in: give --data-dir or set"
        " $MKLKIT_DATA",
        "missed: Iris, smooth: explained after the full run: it is too smooth",
    ]
    assert (
        summary(reproduction) == "test accuracy, %: 1 of 2 numbers hold, 0 above print; 2 repeats"
    )
    stamp = markdown(reproduction).split("\n\n")[1].splitlines()[0]
    assert re.fullmatch(rf"- .* \(mklkit {re.escape(__version__)}, \d{{4}}-\d\d-\d\d\)\.", stamp)


def test_the_same_reason_is_said_once():
    lines = [Line(row=row, column="", measure=ACCURACY, reason="it is gone.") for row in "ab"]
    missed = [
        Line(row="c", column=name, measure=ACCURACY, ours=1.0, printed=Printed(2.0))
        for name in "xyz"
    ]
    table_entry = entry("wang-2008-table9", known([*lines, *missed]), explained={"y": "slow"})
    metadata = table_entry.run(Session())
    assert notes_of(metadata)[1:] == [
        "omitted: a; b: it is gone",
        "missed: c, x; c, z: not explained",
        "missed: c, y: explained after the full run: slow",
    ]


def test_numbers_above_print_are_counted():
    lines = [
        Line(row=row, column="a", measure=measure, ours=ours, printed=Printed(90.0, 5.0))
        for row, measure, ours in [
            ("x", ACCURACY, 95.0),
            ("y", ACCURACY, 90.004),  # shown as 90.00
            ("z", ACCURACY, 60.0),
            ("t", SECONDS, 91.0),
        ]
    ]
    metadata = entry("wang-2008-table9", known(lines)).run(Session())
    assert (metadata.held, metadata.above, len(metadata.compared)) == (3, 2, 4)
    assert metadata.as_dict()["above"] == 2
    assert (
        summary(metadata)
        == "test accuracy, %, training time, s: 3 of 4 numbers hold, 2 above print"
    )
    assert notes_of(metadata)[:2] == [ACCURACY.rule, SECONDS.rule]
    assert ACCURACY.rule in latex(metadata)


def test_nothing_was_run():
    metadata = entry("wang-2008-table9", known([])).run(Session())
    assert summary(metadata) == "not run"
    assert table_of(metadata).rows == []
    assert re.fullmatch(r"- not run \(mklkit [^\n]*\)\.", markdown(metadata))


def test_without_printed_numbers_there_are_no_columns_for_them():
    metadata = entry("wang-2008-figure1", curve).run(Session(only=["iris"], repeats=2))
    assert heads(metadata) == ["data set", "system", "ours"]
    assert summary(metadata) == "test accuracy, %: no printed number; 2 repeats"


def test_printed_tests_are_shown():
    line = Line(
        row="a", column="b", measure=ACCURACY, ours=1.0, printed=Printed(2.0, test="t = 4.50")
    )
    metadata = entry("wang-2008-table9", known([line])).run(Session())
    assert heads(metadata)[-1] == "published test"
    assert table_of(metadata).cells()[0][-1] == "t = 4.50"


def test_json_has_no_nan(reproduction):
    plain = json.loads(json.dumps(reproduction.as_dict(), allow_nan=False))
    assert plain["compared"] == 2
    assert plain["held"] == 1
    assert plain["missing"] == {"Water": "nobody has it."}
    assert {line["explanation"] for line in plain["lines"]} >= {"it is too smooth", ""}
    assert plain["versions"]["mklkit"] == __version__


def test_latex_has_maths_for_what_is_not_text():
    lines = [Line(row="κ₁", column="MHKS_2 & λ", measure=ACCURACY, ours=1.0, spread=0.5, repeats=2)]
    printed = [attrs.evolve(lines[0], printed=Printed(2.0), p_paired=1e-9, p_corrected=0.5)]
    metadata = entry("wang-2008-table9", known(printed)).run(Session())
    text = latex(metadata)
    (row,) = (line for line in text.splitlines() if line.startswith(r"$\kappa$"))
    assert row == (
        r"$\kappa$$_1$ & MHKS\_2 \& $\lambda$ & 1.00 $\pm$ 0.50 & 2.00 & $-$1.00 & no & $<$0.001"
        r" & 0.500 \\"
    )
    assert r"\begin{tabular}{llrrrrrr}" in text
    assert (
        r"\caption{Title of wang-2008-table9: test accuracy, \%: 0 of 1 number hold, 0 above print;"
        r" 2 repeats. " in text
    )


@given(st.text("abκλ±−‖²₂&%$#_{}\\~^<>|- "))
def test_latex_text_is_ascii_and_balanced(text):
    escaped = latex_text(text)
    assert escaped.isascii()
    maths = re.sub(r"\\\$", "", escaped)
    assert maths.count("$") % 2 == 0
    assert not re.search(r"(?<!\\)[&%#]", escaped)


def test_a_long_table_breaks_over_pages():
    lines = [
        Line(row=str(place), column="b", measure=ACCURACY, ours=1.0, repeats=1)
        for place in range(60)
    ]
    text = latex(entry("wang-2008-table9", known(lines)).run(Session()))
    assert text.startswith(r"\begin{longtable}{llr}")
    assert text.count(" & b & ") == 60
    assert r"\begin{table}" not in text
