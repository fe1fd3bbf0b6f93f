"""What the pages about moving over say of peers, whose listings print what stands below them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.documents import blocks
from helpers.following import same_but_for_rounding
from helpers.processes import run_listing
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklkit import MKLClassifier

MKLPY = "docs/guides/moving/from-mklpy.md"
HIMALAYA = "docs/guides/moving/from-himalaya.md"


def test_a_sum_with_c_is_a_mean_with_c_times_the_kernels() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    total = rbf_kernel(X, gamma=0.01) + rbf_kernel(X, gamma=0.1)
    by_hand = SVC(kernel="precomputed", C=3).fit(total, y)
    model = MKLClassifier(["rbf(gamma=0.01)", "rbf(gamma=0.1)"], learner="svm(C=6)").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(total))


@pytest.mark.process
def test_steps_by_norms_of_functions_end_where_mklgl_does() -> None:
    """RMKL's rule: a weight becomes the share of its kernel's function, w_m √(aᵀK_m a)."""
    pytest.importorskip("mklkit_optimize")
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, new = slice(0, 200), slice(200, None)
    gammas, penalty = (0.003, 0.03, 0.3), 200.0
    grams = [rbf_kernel(X[train], gamma=gamma) / 200 for gamma in gammas]
    weights, change = np.full(3, 1 / 3), 1.0
    while change > 1e-4:
        joined = np.tensordot(weights, grams, 1)
        svm = SVC(kernel="precomputed", C=penalty, tol=1e-8).fit(joined, y[train])
        dual = np.zeros(200)
        dual[svm.support_] = svm.dual_coef_[0]
        norms = weights * [np.sqrt(dual @ gram @ dual) for gram in grams]
        change = float(np.abs(norms / norms.sum() - weights).max())
        weights = norms / norms.sum()
    kernels = [f"rbf(gamma={gamma})" for gamma in gammas]
    model = MKLClassifier(kernels, combiner="mklgl", learner="svm(C=1)").fit(X[train], y[train])
    np.testing.assert_allclose(model.weights_[0], weights, atol=2e-3)
    across = [rbf_kernel(X[new], X[train], gamma=gamma) / 200 for gamma in gammas]
    reference = svm.decision_function(np.tensordot(weights, across, 1))
    np.testing.assert_allclose(model.decision_function(X[new]), reference, atol=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "peer"), [(MKLPY, "MKLpy"), (HIMALAYA, "himalaya")])
def test_the_peer_prints_what_stands_below_its_listing(
    page: str, peer: str, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(peer)
        reference, shown, *_ = [block.text for block in blocks(page) if block.language == "text"]
        printed = run_listing(reference, {}, tmp_path)
    assert printed.code == 0, printed
    same_but_for_rounding(shown, printed.out)
