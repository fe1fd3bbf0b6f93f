"""Wide tables are read by blocks of columns: each column is read as in a narrow table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklkit.datasets import load_table, parquet_file
from mklkit.datasets.csv_file import CSVFile
from mklkit.datasets.encoder import TableEncoder

N_ROWS = 60
N_NUMBERS = 2500  # of which the first 50 rows are read, of a narrow table all
CODES = [f"{place}" for place in range(N_ROWS)]
ODD = {
    "whole": CODES,
    "short": [f"{place % 7}.5" for place in range(N_ROWS)],
    "grouped": [f"{1 + place % 9}.{place:03}" for place in range(N_ROWS)],
    "grouped_or_whole": [f"{1 + place}" if place % 2 else "1.470" for place in range(N_ROWS)],
    "below_one": [f"0.{place + 100}" for place in range(N_ROWS)],
    "truth": ["True" if place % 3 else "False" for place in range(N_ROWS)],
    "word": ["red" if place % 3 else "blue" for place in range(N_ROWS)],
    "zeros": [f"00{place % 3}" for place in range(N_ROWS)],
    "day": [f"{1 + place % 28:02}.02.2020" for place in range(N_ROWS)],
    "gaps": ["" if place % 4 else "7" for place in range(N_ROWS)],
    "empty": [""] * N_ROWS,
    "mark": ["-" if place == 9 else f"{place}.25" for place in range(N_ROWS)],
    "huge": [f"{place}e200" if place == 70 else f"{place}e20" for place in range(N_ROWS)],
    "late": ["x" if place == 55 else f"{place % 5}" for place in range(N_ROWS)],
    "patient_id": [f"{1000 + 3 * place}" for place in range(N_ROWS)],
}
COMMA = {"comma": [f"{place},{place % 10}5" for place in range(N_ROWS)]}
NUMBERS = pd.DataFrame(
    np.random.default_rng(0).normal(size=(N_ROWS, N_NUMBERS)).round(5)
).add_prefix("gene_")


def written(path, odd, numbers):
    """Write columns as they are, between numbers, and a target."""
    frame = pd.concat([numbers.iloc[:, :5], pd.DataFrame(odd), numbers.iloc[:, 5:]], axis=1)
    frame["target"] = np.where(np.arange(N_ROWS) % 2, "a", "b")
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("odd", [ODD, {**ODD, **COMMA}], ids=["points", "commas"])
def test_odd_columns_of_a_wide_table_are_read_as_in_a_narrow_one(tmp_path, odd):
    narrow = load_table(written(tmp_path / "narrow.csv", odd, NUMBERS.iloc[:, :10]))
    wide = load_table(written(tmp_path / "wide.csv", odd, NUMBERS))
    for name in odd:
        assert wide.schema[name] == narrow.schema[name]
        pd.testing.assert_series_equal(wide.features[name], narrow.features[name])
    np.testing.assert_array_equal(wide.features[NUMBERS.columns], NUMBERS)
    assert wide.notes == narrow.notes
    encoders = [TableEncoder(schema=table.schema).fit(table.features) for table in (narrow, wide)]
    kinds = [{row["name"]: row for row in encoder.columns()} for encoder in encoders]
    assert {name: kinds[1][name] for name in odd} == {name: kinds[0][name] for name in odd}
    outputs = [
        encoder.transform(narrow_or_wide.features)
        for encoder, narrow_or_wide in zip(encoders, (narrow, wide), strict=True)
    ]
    shared = outputs[0].columns.tolist()
    pd.testing.assert_frame_equal(outputs[1][shared], outputs[0])


@pytest.mark.parametrize("label", ["", "row{},", "{},"], ids=["none", "words", "counts"])
def test_text_among_numbers_is_found_in_files_with_labels_of_rows(tmp_path, label):
    # With a header of one name less, the first cell of each row is its label.
    lines = [f"{label.format(place)}1.5,1.470,red,3" for place in range(5)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["number,grouped,word,whole", *lines]))
    file = CSVFile.opened(path)
    assert file.text == {"grouped", "word"}
    assert file.columns == ["number", "grouped", "word", "whole"]
    assert any("row names" in note for note in file.notes) is bool(label)


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_parquet_files_are_the_same_whatever_the_blocks_of_columns(tmp_path, monkeypatch, block):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet_file, "BLOCK_COLUMNS", block)
    frame = pd.DataFrame(
        {"a": [1, 2], "b": ["x", None], "c": pd.to_datetime(["2020-01-01", None]), "d": [0.5, 1]},
        index=["first", "second"],
    )
    frame.to_parquet(tmp_path / "table.parquet")
    file = parquet_file.ParquetFile.opened(tmp_path / "table.parquet")
    ((whole, _),) = file.chunks(None, None, ())
    pd.testing.assert_frame_equal(whole, frame.reset_index(drop=True))
    ((some, _),) = file.chunks(None, ["d", "a"], ())
    pd.testing.assert_frame_equal(some, frame[["a", "d"]].reset_index(drop=True))


def test_rows_that_end_in_a_delimiter_have_text_in_any_column(tmp_path: Path) -> None:
    lines = ["s,a,x,y", *(f"w{row},0.{row},0.2,{'ab'[row % 2]}," for row in range(4))]
    path = tmp_path / "padded.csv"
    path.write_text("\n".join(lines))
    table = load_table(path)
    assert table.features.columns.tolist() == ["s", "a", "x"]
    assert table.features["s"].tolist() == ["w0", "w1", "w2", "w3"]
    assert table.target.tolist() == ["a", "b", "a", "b"]


@pytest.mark.process
def test_rows_of_a_wide_parquet_file_are_those_of_the_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(250, 10_050)).astype(np.float32)).add_prefix("x")
    frame.to_parquet(tmp_path / "wide.parquet")
    file = parquet_file.ParquetFile.opened(tmp_path / "wide.parquet")
    parts = list(file.chunks(100, frame.columns.tolist()[::-1], ()))
    assert [len(part) for part, _ in parts] == [100, 100, 50]
    assert parts[-1][1] == file.signature[0]
    together = pd.concat([part for part, _ in parts])
    pd.testing.assert_frame_equal(together, frame, check_names=False)
    assert [len(part) for part, _ in file.chunks(100, ["x7", "x3"], ())] == [100, 100, 50]
