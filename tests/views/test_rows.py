"""Samples in memory and in a store: blocks, parts, what kernels read of them, missing sources."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mklkit import DataError
from mklkit.protocols import Rows
from mklkit.views.stored_rows import StoredRows


def reader(*columns: int, reads: str = "numbers", scaling: Any = None) -> Any:
    chosen = np.array(columns) if columns else None
    return SimpleNamespace(columns=chosen, reads=reads, scaling=scaling)


@pytest.fixture
def numbers(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(30, 5))


@pytest.fixture
def stored(numbers: np.ndarray, tmp_path: Any) -> Rows:
    numbers.tofile(tmp_path / "rows")
    names = ["a", "b", "c", "d", "e"]
    return Rows.of(StoredRows(tmp_path / "rows", numbers.shape, numbers.dtype, 0, names))


def test_rows_of_a_file_are_those_of_the_array(numbers: np.ndarray, stored: Rows) -> None:
    members, columns = np.array([7, 3, 29, 11, 3]), np.array([4, 0])
    for rows in (Rows.of(numbers), stored):
        assert len(rows) == 30
        assert rows.shape == (30, 5)
        np.testing.assert_array_equal(rows, numbers)
        np.testing.assert_array_equal(rows[members], numbers[members])
        # Parts of parts, and their columns, refer to the whole.
        part = rows.take(members).take(np.array([2, 0]))
        np.testing.assert_array_equal(part, numbers[[29, 7]])
        (read,) = part.arrays_of([reader(*columns)])
        np.testing.assert_array_equal(read[slice(0, 2)], numbers[[29, 7]][:, columns])
    assert not stored.take(members).in_memory
    assert stored.take(members).arrays_of([reader(1, 3)])[0].column_names == ["b", "d"]


def test_kernels_on_the_same_columns_read_one_array(numbers: np.ndarray, stored: Rows) -> None:
    for rows in (Rows.of(numbers), stored):
        kernels = reader(1, 2), reader(1, 2, reads="amounts"), reader(2, 1), reader(), reader()
        first, same, turned, whole, again = rows.arrays_of(kernels)
        assert first is same
        assert turned is not first
        assert whole is again is rows.numbers


def test_a_sample_misses_a_source_if_it_has_none_of_its_columns(numbers: np.ndarray) -> None:
    numbers[3, :2] = numbers[4, 2:] = np.nan
    numbers[5, 0] = np.nan
    letters = np.array([[97.0]] * 29 + [[np.nan]])
    medians = np.nanmedian(numbers, axis=0)
    kernels = reader(0, 1), reader(2, 3, 4), reader(0, reads="text"), reader()
    rows = Rows(numbers, {("text", 0): letters}, medians)
    missing = rows.missing_of(kernels)
    assert missing is not None
    assert [np.flatnonzero(mask).tolist() for mask in missing.T] == [[3], [4], [29], []]
    first, second, text, whole = rows.arrays_of(kernels)
    np.testing.assert_array_equal(first[5], [medians[0], numbers[5, 1]])
    np.testing.assert_array_equal(second[4], medians[2:])
    assert text[29].tolist() == [-1.0]
    np.testing.assert_array_equal(whole, rows.filled())
    some = rows.take(np.array([4, 0]))
    np.testing.assert_array_equal(some.missing_of(kernels), missing[[4, 0]])
    assert rows[slice(6, 20)].missing_of(kernels) is None
    assert rows.filled().missing_of(kernels) is None
    # Without medians gaps are a matter of the kernels.
    assert Rows(numbers).missing_of(kernels[:2]) is None


def test_gaps_in_rows_that_are_read_raise_an_error(numbers: np.ndarray, tmp_path: Any) -> None:
    numbers[17, 2] = np.nan
    numbers.tofile(tmp_path / "rows")
    rows = Rows.of(StoredRows(tmp_path / "rows", numbers.shape, numbers.dtype))
    for members in (slice(10, 20), np.array([3, 17, 4])):
        with pytest.raises(DataError, match="Sample 17 "):
            rows[members]
    rows[slice(0, 17)]


def test_the_digest_is_that_of_the_content(numbers: np.ndarray) -> None:
    rows = Rows.of(numbers)
    digest = rows.digest
    rows.arrays_of([reader(0, 2)])
    assert Rows.of(numbers.copy()).digest == digest
    codes = {("categories", 1): np.ones(30)}
    others = [Rows(numbers + 1), Rows(numbers, codes), Rows(numbers, {}, np.zeros(5))]
    assert len({digest, *(other.digest for other in others)}) == 4
