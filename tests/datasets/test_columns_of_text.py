"""Numbers and dates in text, read alike in training and later."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from mklkit import MKLClassifier, build_pipeline
from mklkit.datasets import load_features, load_table
from mklkit.protocols import Schema


class TestColumnsOfText:
    MANY = tuple(f"{value:.2f}" for value in np.linspace(1, 9, 40))

    def kept(self, folder: Path, values: Any, later: Any, sep: str = ",") -> tuple[Any, ...]:
        """Return a column as training reads it, what is said, and as later rows are read."""
        path, new = folder / "a.csv", folder / "b.csv"
        table = pd.DataFrame({"x": values})
        table["kind"] = np.resize(["a", "b"], len(table))
        table.to_csv(path, index=False, sep=sep)
        pd.DataFrame({"x": later, "y": 0}).to_csv(new, index=False, sep=sep)
        table = load_table(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = load_features(new, ["x"], schema=table.schema)
        notes = [note for note in table.notes if "'x'" in note and "constant" not in note]
        return table.features["x"], notes, rows.features["x"]

    @pytest.mark.parametrize(
        ("values", "sep", "meant", "ambiguous", "later", "then"),
        [
            (["1,397", "2,250"], ",", [1397, 2250], True, ["0,5"], [np.nan]),
            (["1,397", "2,250"], ";", [1.397, 2.25], True, ["7,125"], [7.125]),
            (["0,397", "2,250"], ",", [0.397, 2.25], False, ["1,397"], [1.397]),
            (["1,250.5", "2"], ",", [1250.5, 2], False, ["1,397"], [1397]),
            (["1.234,56", "2,5"], ";", [1234.56, 2.5], False, ["1.397"], [1397]),
            (["1 234,5", "2"], ",", [1234.5, 2], False, ["1,397"], [1.397]),
            (["900", "1,200", "-1,234,567.5"], ",", [900, 1200, -1234567.5], False, ["1"], [1]),
            (["\u22123", "4", "\u22120.5"], ",", [-3, 4, -0.5], False, ["\u22121"], [-1]),
            (["1\u202f200", "2 400", "7"], ",", [1200, 2400, 7], False, ["1 000"], [1000]),
            (["1,5", "2", "\u22123,25"], ",", [1.5, 2, -3.25], False, ["1,200"], [1.2]),
            (["1,200", None, "3"], ",", [1200, np.nan, 3], True, ["1,200"], [1200]),
            (["1,200", "1,20", "5"], ",", [1.2, 1.2, 5], False, ["1,200"], [1.2]),
        ],
    )
    def test_numbers_as_people_write_them(
        self,
        tmp_path: Path,
        values: Any,
        sep: str,
        meant: Any,
        ambiguous: bool,
        later: Any,
        then: Any,
    ) -> None:
        column, notes, rows = self.kept(tmp_path, values, later, sep)
        np.testing.assert_array_equal(column, meant)
        np.testing.assert_array_equal(rows, then)
        assert len(notes) == 1
        assert "read as numbers: " in notes[0]
        assert ("if that is wrong" in notes[0]) is ambiguous

    def test_other_columns_tell_what_a_comma_is(self, tmp_path: Path) -> None:
        for beside, meant in (("0,25", 1.397), ("1,234.5", 1397), ("red", 1397)):
            rows = pd.DataFrame({"x": ["1,397"] * 2, "y": [beside] * 2, "kind": ["a", "b"]})
            rows.to_csv(tmp_path / "a.csv", index=False)
            assert load_table(tmp_path / "a.csv").features["x"].tolist() == [meant] * 2

    def test_marks_for_gaps_among_numbers(self, tmp_path: Path) -> None:
        marks = ["-", "--", "unknown", "none", "Missing", "n/a", "null", "?", "NULL"]
        column, notes, rows = self.kept(tmp_path, [*marks, *self.MANY], ["-", "None"])
        assert column.isna().tolist() == [True] * len(marks) + [False] * len(self.MANY)
        assert notes == [
            "5 gaps in column 'x', written '-', '--', 'unknown', 'none', 'Missing'",
        ]
        assert rows.isna().all()
        words, _, _ = self.kept(tmp_path, ["red", "none", "-"], ["red"])
        assert words.tolist() == ["red", "none", "-"]

    def test_typing_errors_are_named_and_gaps(self, tmp_path: Path) -> None:
        column, notes, rows = self.kept(tmp_path, ["1.5", "oops", *self.MANY], ["oops", "1"])
        assert column.isna().tolist() == [False, True] + [False] * len(self.MANY)
        assert notes == ["column 'x' holds 'oops' in row 2, not a number: taken as a gap"]
        assert rows.isna().tolist() == [True, False]
        codes, _, _ = self.kept(tmp_path, [*"12345" * 9, "A"], ["A"])
        assert set(codes) == set("12345A")

    @pytest.mark.parametrize(
        ("form", "later", "then"),
        [
            ("%d/%m/%Y", "03/04/2019", "2019-04-03"),
            ("%m/%d/%Y", "03/04/2019", "2019-03-04"),
            ("%d.%m.%Y", "3.4.2019", "2019-04-03"),
            ("%d-%m-%Y %H:%M", "03-04-2019 10:30", "2019-04-03 10:30"),
            ("%Y-%m-%d", "2019-04-03", "2019-04-03"),
        ],
    )
    def test_dates_of_any_order(self, tmp_path: Path, form: str, later: str, then: str) -> None:
        days = pd.date_range("2019-01-03", periods=40, freq="5D")
        written_so = days.strftime(form).tolist()
        written_so[2:5] = ["NaT", None, "soon"]
        column, notes, rows = self.kept(tmp_path, written_so, [later])
        assert column.isna().tolist() == [2 <= place < 5 for place in range(40)]
        assert (pd.to_datetime(column).dropna() == days[[0, 1, *range(5, 40)]]).all()
        assert rows.tolist() == [pd.Timestamp(then)]
        assert "holds 'soon' in row 5, not a date" in " ".join(notes)

    def test_categories_are_text_in_later_rows_that_look_like_numbers(self, tmp_path: Path) -> None:
        _, _, rows = self.kept(tmp_path, ["01", "1.50", "red"], ["01", "1.50"])
        assert rows.tolist() == ["01", "1.50"]

    def test_dates_of_either_order(self, tmp_path: Path) -> None:
        column, notes, rows = self.kept(tmp_path, ["3/4/2019", "4/5/2019"], ["4/3/2019"])
        assert column.tolist() == [pd.Timestamp("2019-03-04"), pd.Timestamp("2019-04-05")]
        assert rows.tolist() == [pd.Timestamp("2019-04-03")]
        assert notes == [
            "column 'x' read as dates: '3/4/2019' as 2019-03-04; if that is wrong, write"
            " 1234.5 or 2024-03-31"
        ]
        dotted, _, _ = self.kept(tmp_path, ["3.4.2019", "4.5.2019"], ["4.3.2019"])
        assert dotted.tolist() == [pd.Timestamp("2019-04-03"), pd.Timestamp("2019-05-04")]


class TestPoints:
    """What 1.470 means where points may stand between thousands."""

    def table(self, folder: Path, **columns: Any) -> Any:
        pd.DataFrame(columns).assign(kind=["a", "b"]).to_csv(folder / "a.csv", sep=";", index=False)
        return load_table(folder / "a.csv")

    def test_beside_decimal_commas_they_are_thousands(self, tmp_path: Path) -> None:
        table = self.table(tmp_path, pl=["1.470", "329"], k=["0,31", "-0,05"], age=["87.0", "3.5"])
        assert table.features["pl"].tolist() == [1470, 329]
        assert table.features["age"].tolist() == [87, 3.5]
        assert "column 'pl' read as numbers: '1.470' as 1470" in table.notes
        whole = self.table(tmp_path, pl=["1.000", "3.000"], k=["0,31", "-0,05"])
        assert whole.features["pl"].tolist() == [1000, 3000]
        (tmp_path / "b.csv").write_text("pl;k\n2.500;0,3\n")
        rows = load_features(tmp_path / "b.csv", ["pl", "k"], schema=whole.schema)
        assert rows.features.iloc[0].tolist() == [2500, 0.3]

    def test_where_a_value_has_other_digits_they_are_decimal(self, tmp_path: Path) -> None:
        for value in ("0.329", "12.34", "1234.500"):
            table = self.table(tmp_path, pl=["1.470", value], k=["0,31", "-0,05"])
            assert table.features["pl"].tolist() == [1.47, float(value)]

    def test_where_nothing_tells_it_is_said(self, tmp_path: Path) -> None:
        table = self.table(tmp_path, pl=["1.470", "329"], k=["red", "blue"])
        assert table.features["pl"].tolist() == [1.47, 329]
        [note] = [note for note in table.notes if "'pl'" in note]
        assert "'1.470' as 1.47; if that is wrong" in note
        plain = self.table(tmp_path, pl=["1.470", "3.290"], k=["red", "blue"])
        assert not [note for note in plain.notes if "'pl'" in note]

    def test_files_without_a_header(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("1.470;0,31;0\n329;0,5;1\n12.345;0,1;1\n")
        table = load_table(tmp_path / "a.csv")
        assert table.features["x0"].tolist() == [1470, 329, 12345]
        load_features(
            tmp_path / "a.csv",
            ["x1"],
            schema=Schema([attrs.evolve(table.schema["x0"], name="weight")]),
        )


def test_digits_stay_digits_for_kernels_on_text(tmp_path: Path) -> None:
    """In new rows and for the encoder too."""
    codes = ["0110", "0011", "1110", "0001"]
    frame = pd.DataFrame({"code": codes, "age": [1, 2, 3, 4], "target": list("abab")})
    frame.to_csv(tmp_path / "codes.csv", index=False)
    assert load_table(tmp_path / "codes.csv").features["code"].tolist() == [110, 11, 1110, 1]
    table = load_table(tmp_path / "codes.csv", as_written=["co*"])
    assert table.features["code"].tolist() == codes
    assert not any("different texts" in note for note in table.notes)
    encoder = build_pipeline(MKLClassifier("spectrum@code"), schema=table.schema)[0].fit(
        table.features
    )
    assert encoder.transform(table.features)["code"].tolist() == codes
    rows = load_features(tmp_path / "codes.csv", ["code", "age"], schema=encoder.schema_)
    assert rows.features["code"].tolist() == codes
