"""The same numbers as MKLpy's, through its names; skipped without MKLpy and PyTorch."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # MKLpy's
]
GAMMAS = (0.003, 0.03, 0.3)


@pytest.fixture(scope="module", name="both")
def _both():
    """Return MKLpy's modules and ours by their names."""
    with warnings.catch_warnings(action="ignore"):
        pytest.importorskip("torch")
        pytest.importorskip("MKLpy")
        from importlib import import_module

        from mklpy_adapter import MODULES

        return lambda name: (vars(import_module(f"MKLpy.{name}")), MODULES[name])


@pytest.fixture(scope="module", name="data")
def _data():
    import torch

    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:200], y[:200]
    return torch.tensor(X[:140]), torch.tensor(X[140:]), torch.tensor(y[:140])


def grams(pairwise, X, Z):
    return [pairwise["rbf_kernel"](X, Z, gamma=gamma) for gamma in GAMMAS]


@pytest.mark.parametrize(
    ("name", "parameters", "tolerance"),
    [
        ("AverageMKL", {}, 1e-7),
        ("FHeuristic", {}, 1e-6),
        ("PWMK", {"delta": 0.5, "cv": 3}, 3e-2),  # folds are not the same
        ("EasyMKL", {"lam": 0.1}, 1e-4),
        ("GRAM", {"max_iter": 400}, 2e-2),  # the ratio is flat
    ],
)
def test_weights_and_decisions(both, data, name, parameters, tolerance):
    (peers, ours), (pairwise, _) = both("algorithms"), both("metrics.pairwise")
    X, new, y = data
    known, others = grams(pairwise, X, X), grams(pairwise, new, X)
    models = [
        package[name](learner=SVC(C=1), **parameters).fit(known, y) for package in (peers, ours)
    ]
    np.testing.assert_allclose(*(np.asarray(m.solution.weights) for m in models), atol=tolerance)
    values = [np.asarray(model.decision_function(others)) for model in models]
    np.testing.assert_allclose(*values, atol=max(20 * tolerance, 1e-5))


def test_kernels_and_measures(both, data):
    (peers, ours), (X, new, y) = both("metrics.pairwise"), data
    for name, parameters in [
        ("linear_kernel", {}),
        ("rbf_kernel", {"gamma": 0.03}),
        ("polynomial_kernel", {"degree": 3, "gamma": 0.5, "coef0": 2}),
        ("homogeneous_polynomial_kernel", {"degree": 3}),
    ]:
        values = [package[name](new, X, **parameters) for package in (peers, ours)]
        np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-9)
    gram = peers["rbf_kernel"](X, gamma=0.3)
    peers, ours = both("metrics")
    for name in ("radius", "trace", "frobenius", "spectral_ratio", "alignment_ID"):
        assert ours[name](gram) == pytest.approx(peers[name](gram), rel=1e-5), name
    for name in ("margin", "ratio", "alignment_yy"):
        assert ours[name](gram, y) == pytest.approx(peers[name](gram, y), rel=1e-4), name
    peers, ours = both("preprocessing")
    for name in ("kernel_normalization", "tracenorm", "kernel_centering"):
        values = [package[name](3 * gram + 1) for package in (peers, ours)]
        np.testing.assert_allclose(*values, atol=1e-9)
