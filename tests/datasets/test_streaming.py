"""Encoding in chunks gives the numbers that encoding in memory gives."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mklkit.datasets import load_table
from mklkit.datasets.encoded_rows import encoded_rows
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.files import ChunkedTable
from mklkit.datasets.scanning import scan_table
from mklkit.errors import DataError
from mklkit.protocols import Rows
from mklkit.registry.columns import bind_kernels
from mklkit.views.scaling import with_scaling

ROWS = 1100
"""More than the rows from which columns of text are known."""


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    """All kinds of columns; some values are met only in the last rows."""
    random = np.random.default_rng(3)
    late = np.arange(ROWS) > ROWS - 10
    frame = pd.DataFrame(
        {
            "code": [f"p{number}" for number in range(ROWS)],
            "price": [f"{number:,.2f}" for number in random.normal(3000, 900, ROWS)],
            "seen": pd.date_range("2024-01-28", periods=ROWS).strftime("%d.%m.%Y"),
            "ward": np.where(late, "12a", random.integers(1, 4, ROWS).astype(str)),
            "smokes": random.random(ROWS) < 0.5,
            "pulse": random.normal(60, 5, ROWS).round(1),
            "visits": random.integers(0, 9, ROWS),
            "state": np.where(late, "well, again", random.choice(["ill", "well"], ROWS)),
        }
    )
    frame.loc[5, "price"] = "?!"
    frame.loc[frame.index[::9], "pulse"] = np.nan
    frame.loc[frame.index[40:45], ["ward", "visits"]] = None
    frame.loc[frame.index[7:9], "state"] = None
    return frame


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=20)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("ending", "scale", "scaler"),
    [(".csv", "standard", StandardScaler()), (".parquet", "minmax", MinMaxScaler((-1, 1)))],
)
def test_as_in_memory(
    mixed: pd.DataFrame,
    tmp_path: Path,
    ending: str,
    scale: str,
    scaler: Any,
) -> None:
    path = write(mixed, tmp_path / f"rows{ending}")
    whole = load_table(path)
    numbered = whole.features.set_axis(pd.RangeIndex(1, len(whole.features) + 1, name="row"))
    held = np.random.default_rng(0).random(len(numbered)) < 0.2
    encoder = TableEncoder(schema=whole.schema).fit(numbered[~held])
    wanted = encoder.transform(numbered).to_numpy()

    table = ChunkedTable.opened(path, chunk_rows=50)
    scan = scan_table(table, None, (), seed=0)
    assert scan.whole
    pd.testing.assert_frame_equal(scan.table.features, numbered, check_index_type=False)
    assert scan.classes[scan.codes[scan.codes >= 0]].tolist() == whole.target.tolist()
    assert scan.table.class_counts().to_dict() == whole.class_counts().to_dict()
    assert scan.table.summary() == whole.summary()
    assert list(scan.table.schema) == list(whole.schema)
    assert sorted(scan.table.notes) == sorted(whole.notes)
    every = np.zeros(ROWS, dtype=bool)
    every[scan.codes >= 0] = held
    again = TableEncoder(schema=whole.schema)
    with encoded_rows(table, scan, every, again) as rows:
        assert rows.train.column_names == encoder.feature_names_out_
        np.testing.assert_allclose(rows.train[:], wanted[~held], atol=1e-12)
        np.testing.assert_allclose(rows.held_out[:], wanted[held], atol=1e-12)
        # A kernel reads them as the scaler of all training rows in memory has them.
        stored = [Rows.of(part) for part in (rows.train, rows.held_out)]
        kernels = with_scaling(bind_kernels(f"rbf[{scale}]"), stored[0])
        scaler.fit(wanted[~held])
        for part, members in zip(stored, (~held, held), strict=True):
            (read,) = part.arrays_of(kernels)
            np.testing.assert_allclose(read[:], scaler.transform(wanted[members]), atol=1e-12)
        assert rows.notes == []
        folder = rows.train.path.parent
    assert not folder.exists()
    assert again.describe() == encoder.describe()
    np.testing.assert_array_equal(again.ranges_, encoder.ranges_)
    assert again.gaps_ == encoder.gaps_


def test_a_sample_settles_what_columns_hold_and_all_rows_are_counted(tmp_path: Path) -> None:
    """Values that the sample lacks are told, and numbers are float32 where all inputs are."""
    random = np.random.default_rng(0)
    size = 2000
    frame = pd.DataFrame(
        {
            "pulse": random.normal(60, 5, size).astype(np.float32),
            "ward": random.choice(["north", "south"], size),
            "state": random.choice(["ill", "well"], size),
        }
    )
    path = tmp_path / "rows.parquet"
    members = scan_table(ChunkedTable.opened(write(frame, path), 900), None, (), 0, most=100)
    outside = np.setdiff1d(np.arange(size), members.members)
    frame.loc[outside[:3], "ward"] = "east"
    frame.loc[outside[5:10], "pulse"] = np.nan
    frame.loc[outside[11], "pulse"] = 1000
    table = ChunkedTable.opened(write(frame, path), chunk_rows=900)
    scan = scan_table(table, None, (), seed=0, most=100)
    np.testing.assert_array_equal(scan.members, members.members)
    pd.testing.assert_frame_equal(
        scan.table.features.reset_index(drop=True),
        frame.drop(columns="state").iloc[scan.members].reset_index(drop=True),
    )
    assert "random sample of 100 of the 2,000 rows" in scan.table.notes[0]
    encoder = TableEncoder()
    with encoded_rows(table, scan, np.zeros(size, dtype=bool), encoder) as rows:
        assert rows.train.dtype == np.float32
        assert (len(rows.train), len(rows.held_out)) == (size, 0)
        stored = Rows.of(rows.train)
        (read,) = stored.arrays_of(with_scaling(bind_kernels("rbf[standard]"), stored))
        assert read[:].dtype == np.float32
        np.testing.assert_allclose(read[:].astype(float).mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(read[:].std(axis=0, dtype=float), 1, atol=1e-5)
        assert rows.notes == [
            "column 'ward': 3 values that the sample lacks taken as none of its categories"
        ]
    assert encoder.gaps_ == {"pulse": 5, "ward": 0}
    assert encoder.ranges_[1] == [1000]


def test_files_that_disagree_or_change_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "target": ["u", "v"]})
    write(frame, tmp_path / "1.parquet")
    second = write(frame.drop(columns="a"), tmp_path / "2.parquet")

    def scan() -> ChunkedTable:
        table = ChunkedTable.opened(tmp_path)
        scan_table(table, None, (), seed=0)
        return table

    with pytest.raises(DataError, match=r"2\.parquet lacks the column 'a', which .*1\.parquet has"):
        scan()
    write(frame.assign(a=["p", "q"]), second)
    with pytest.raises(DataError, match=r"'a' holds text in .*2\.parquet, but numbers in"):
        scan()
    write(frame, second)
    table = scan()
    write(frame.assign(c=1.5), second)
    with pytest.raises(DataError, match=r"2\.parquet has changed since it was first read"):
        list(table.chunks())
    write(frame.iloc[:0], tmp_path / "empty.parquet")
    for names, message in (("e*.parquet", "has no rows"), ("n*.parquet", "There is no data file")):
        with pytest.raises(DataError, match=message):
            scan_table(ChunkedTable.opened(tmp_path / names), None, (), seed=0)


def test_a_fit_that_ends_early_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "target": ["u", "v", "u"]})
    table = ChunkedTable.opened(write(frame, tmp_path / "rows.csv"))
    scan = scan_table(table, None, (), seed=0)
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setenv("TMPDIR", str(room))
    monkeypatch.setattr("tempfile.tempdir", None)
    arguments = table, scan, np.zeros(3, dtype=bool), TableEncoder()

    def interrupted() -> None:
        with encoded_rows(*arguments) as rows:
            assert rows.train.path.is_relative_to(room)
            np.testing.assert_array_equal(rows.train[:], [[1], [2], [3]])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=23))
    with pytest.raises(DataError, match=r"3 encoded rows of 1 columns take .* set the environment"):
        encoded_rows(*arguments).__enter__()
    assert list(room.iterdir()) == []
