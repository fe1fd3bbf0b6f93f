"""Rows in a file are those that NumPy reads from it."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mklkit.errors import DataError
from mklkit.protocols import RowSource
from mklkit.views.stored_rows import StoredRows

ROWS, COLUMNS = 5000, 3


@pytest.fixture
def numbers() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(ROWS, COLUMNS)).astype(np.float32)


@pytest.fixture
def stored(tmp_path: Path, numbers: np.ndarray) -> StoredRows:
    numbers.tofile(tmp_path / "rows")
    return StoredRows(tmp_path / "rows", numbers.shape, np.float32)


def test_reads_what_indexing_an_array_gives(stored: StoredRows, numbers: np.ndarray) -> None:
    random = np.random.default_rng(1)
    members = [
        slice(None),
        slice(10, 20),
        slice(-5, None),
        slice(4000, 9000),
        slice(7, 3),
        slice(None, None, -7),
        random.integers(-ROWS, ROWS, 300),
        np.array([0, 4999, 1, 1, 4998]),
        np.array([], dtype=np.intp),
        random.random(ROWS) < 0.1,
    ]
    assert isinstance(stored, RowSource)
    assert len(stored) == ROWS
    for some in members:
        got = stored[some]
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, numbers[some])
    with pytest.raises(IndexError):
        stored[np.array([ROWS])]


def test_threads_and_copies_read_the_same(stored: StoredRows, numbers: np.ndarray) -> None:
    copy = pickle.loads(pickle.dumps(stored))
    starts = range(0, ROWS, 50)
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda start: copy[start : start + 50], starts))
    np.testing.assert_array_equal(np.vstack(blocks), numbers)


def test_a_file_that_changes_is_told(stored: StoredRows) -> None:
    stored.check_unchanged()
    os.utime(stored.path, ns=(0, 1))
    with pytest.raises(DataError, match=r"rows has changed since it was opened: fit again"):
        stored.check_unchanged()
    stored.path.write_bytes(b"")
    with pytest.raises(DataError, match="has become shorter"):
        stored[:1]


def test_a_memory_map_is_read_from_its_file(tmp_path: Path, numbers: np.ndarray) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, numbers)
    whole = np.load(path, mmap_mode="r")
    for part in (whole, whole[100:200], whole[100:][5:]):
        rows = StoredRows.of_memmap(part)
        assert rows is not None
        np.testing.assert_array_equal(rows[:], part)
    for other in (whole[:, :2], whole[::2], whole.T, np.load(path, mmap_mode="c")):
        assert StoredRows.of_memmap(other) is None
    np.testing.assert_array_equal(StoredRows.of_npy(path)[:], numbers)
    np.save(path, numbers.astype(int))
    with pytest.raises(DataError, match="float32 or float64"):
        StoredRows.of_npy(path)


def test_a_file_that_is_too_small_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(bytes(10))
    with pytest.raises(DataError, match="has 10 bytes; 2 samples of 3 numbers"):
        StoredRows(tmp_path / "rows", (2, 3), np.float32)
