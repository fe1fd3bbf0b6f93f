"""Threads over blocks, with one BLAS thread each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from mklkit.numerics.threads import each, n_threads, one_blas_thread


def test_results_are_in_the_order_of_the_items():
    assert list(each(lambda number: number * 2, range(50))) == list(range(0, 100, 2))


def test_an_error_ends_the_iteration_and_restores_the_setting():
    before = n_threads()
    with pytest.raises(ZeroDivisionError):
        list(each(lambda number: 1 // number, [3, 2, 1, 0, 1, 2]))
    assert n_threads() == before


def test_two_computations_at_once_leave_the_setting_as_it_was():
    before, barrier = n_threads(), Barrier(2, timeout=10)

    def use(first: bool) -> int:
        if not first:
            barrier.wait()
        with one_blas_thread():
            inside = n_threads()
            if first:
                barrier.wait()
                barrier.wait()
        if not first:
            barrier.wait()
        return inside

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, [True, False])) == [1, 1]
    assert n_threads() == before
