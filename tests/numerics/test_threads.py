"""Threads over blocks, with one BLAS thread each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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


@pytest.mark.parametrize("size", [100, 2000])
@pytest.mark.parametrize(
    ("name", "decompose"),
    [
        ("eigh", eigh),
        ("eigh", Spectrum.of),
        ("eigh_tridiagonal", lambda matrix: AppliedSpectrum.of(matrix, 1e-9)),
        ("cho_factor", cholesky_or_none),
    ],
)
def test_small_matrices_are_decomposed_by_one_blas_thread(monkeypatch, name, decompose, size):
    """Of all copies of BLAS: NumPy and SciPy have one each."""
    threads = set()

    def record(*_, **__):
        threads.update(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
        return np.ones(1), np.ones((1, 1))

    monkeypatch.setattr(scipy.linalg, name, record)
    reduced = np.eye(size), np.ones(size), np.ones(size - 1), np.ones(size - 1), 0
    routines = (lambda *_, **__: reduced, lambda *_, **__: (1, 0))
    monkeypatch.setattr(scipy.linalg, "get_lapack_funcs", lambda *_: routines)
    with threadpool_limits(2):
        decompose(np.broadcast_to(1.0, (size, size)))
    assert threads == {1 if size < 2000 else 2}
