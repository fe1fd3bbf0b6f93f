"""Kernel weights of ridge regression beside himalaya's, on the same kernels and rows."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from bench_data import waves
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLRegressor

pytestmark = pytest.mark.benchmark

N_TRAIN, N_TEST, WIDTH, N_KERNELS = 1000, 2250, 4, 5
TRIALS = 100
"""Of himalaya's random search: its default."""


@pytest.mark.parametrize("n_targets", [1, 100])
def test_beside_himalaya(n_targets: int) -> None:
    peers = pytest.importorskip("himalaya.kernel_ridge")
    X, Y = waves(N_TRAIN + N_TEST, n_targets, N_KERNELS, WIDTH)
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
    groups = [slice(place * WIDTH, (place + 1) * WIDTH) for place in range(N_KERNELS)]

    start = perf_counter()
    grams = np.array([rbf_kernel(X[train, group], gamma=1 / 8) for group in groups])
    means = Y[train].mean(axis=0)
    settings = {"n_iter": TRIALS, "alphas": np.logspace(-4, 4, 9), "progress_bar": False}
    reference = peers.MultipleKernelRidgeCV(
        kernels="precomputed", solver="random_search", solver_params=settings, random_state=0
    ).fit(grams, Y[train] - means)
    their_seconds = perf_counter() - start
    between = [rbf_kernel(X[test, group], X[train, group], gamma=1 / 8) for group in groups]
    their_score = r2_score(Y[test], reference.predict(np.array(between)) + means)

    start = perf_counter()
    kernels = [f"rbf(sigma=2)@{group.start}:{group.stop}" for group in groups]
    model = MKLRegressor(kernels, combiner="loo-ridge", random_state=0).fit(
        X[train], Y[train].squeeze()
    )
    seconds = perf_counter() - start
    score = r2_score(Y[test], model.predict(X[test]).reshape(N_TEST, n_targets))

    print(f"{n_targets} targets: {seconds:.1f} s, R² {score:.3f}; himalaya {their_seconds:.1f} s,")
    print(f"R² {their_score:.3f}; ratio of times {seconds / their_seconds:.2f}")
    assert score >= their_score - 0.005
    assert seconds <= 0.5 * their_seconds
