"""Threads over blocks, with one BLAS thread each."""

from __future__ import annotations

import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from mklkit.numerics.eigenpairs import AppliedSpectrum, eigh
from mklkit.numerics.least_squares import Spectrum, cholesky_or_none
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


class Reached(Exception):
    """A decomposition begins."""


DECOMPOSITIONS = {
    inspect.unwrap(function).__code__
    for function in (scipy.linalg.eigh, scipy.linalg.eigh_tridiagonal, scipy.linalg.cho_factor)
}


@pytest.mark.parametrize(
    ("decompose", "size"),
    [
        *product((eigh, Spectrum.of, cholesky_or_none), (100, 2000)),
        # Larger ones are made tridiagonal first, by compiled code that takes seconds.
        (lambda matrix: AppliedSpectrum.of(matrix, 1e-9), 100),
    ],
)
def test_small_matrices_are_decomposed_by_one_blas_thread(decompose, size):
    """Of all copies of BLAS: NumPy and SciPy have one each."""
    threads = set()

    def stop_in_scipy(frame, event, _):
        """Note the threads where SciPy decomposes, which takes seconds for a large matrix."""
        if event == "call" and frame.f_code in DECOMPOSITIONS:
            threads.update(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
            raise Reached

    with threadpool_limits(2):
        sys.setprofile(stop_in_scipy)
        try:
            with pytest.raises(Reached):
                decompose(np.eye(size))
        finally:
            sys.setprofile(None)
    assert threads == {1 if size < 2000 else 2}
