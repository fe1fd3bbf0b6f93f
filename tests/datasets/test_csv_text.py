"""CSV files and terminals that show names from data run nothing that is in them."""

from __future__ import annotations

import csv
import io
import sys

import pandas as pd
import pytest

from mklkit.cli.outputs import results_file
from mklkit.datasets.csv_file import csv_text

RUN = ["=HYPERLINK(1)", "+1+cmd|'/C'", "-2+3", "@SUM(1)", "\t=1", "\n=1", "-a"]
KEPT = ["-1", "+1.5e-3", "-.5", "-inf", "-", "+", "a=b", "", "'=1", "north"]


@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_text_that_a_spreadsheet_would_run_starts_with_an_apostrophe(kind: object) -> None:
    cells = pd.Series([*RUN, *KEPT]).astype(kind)  # type: ignore[call-overload]
    table = pd.DataFrame({"=name": cells, "score": range(-3, len(cells) - 3)})
    before = table.copy()
    head, *rows = csv.reader(io.StringIO(csv_text(table), newline=""))
    assert head == ["'=name", "score"]
    assert [cell for cell, _ in rows] == [*(f"'{cell}" for cell in RUN), *KEPT]
    assert [int(score) for _, score in rows] == table["score"].tolist()
    assert csv_text(pd.DataFrame({"a": ["x\r=1", "\r\n=1"]})) == 'a\n"x\n=1"\n"\'\n=1"\n'
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", stream)
    with results_file(None) as write:
        write(pd.DataFrame({"prediction": ["\x1b]0;x\x07"], "score": [-0.5]}))
    shown = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    first = "\ufffd]0;x\ufffd" if terminal else "\x1b]0;x\x07"
    assert shown == f"prediction,score\n{first},-0.5\n"
