"""Absent margins, beside the same program in an interior-point solver."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_optimize import AbsentMargin, SimpleMKL
from scipy import sparse

from mklkit import IncompatibleError, MKLClassifier, MKLRegressor
from mklkit.persistence import load_model, save_model
from mklkit.plugin import solve_cone_program

GAMMAS = (0.3, 0.2, 0.5)
COLUMNS = (slice(0, 3), slice(3, 5), slice(5, 9))
KERNELS = [
    f"{n}:rbf(gamma={g})@{c.start}:{c.stop}" for n, g, c in zip("abc", GAMMAS, COLUMNS, strict=True)
]
EXACT = AbsentMargin(tol=1e-6, max_iter=500)


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(70) < 0.45, 1, -1)
    X = rng.normal(size=(70, 9)) + np.repeat([0.9, 0.5, 0.2], [3, 2, 4]) * y[:, None]
    for row in range(70):
        for source in rng.permutation(3)[: rng.integers(0, 3)]:
            X[row, COLUMNS[source]] = np.nan
    return X[:45], y[:45], X[45:]


def has(X):
    return np.column_stack([~np.isnan(X[:, c]).any(axis=1) for c in COLUMNS])


def rbf(A, B, m):
    d = np.square(A[:, None, COLUMNS[m]] - B[None, :, COLUMNS[m]]).sum(axis=2)
    return np.nan_to_num(np.exp(-GAMMAS[m] * d))


def solved(grams, y, s, C):
    """Return ‖f_m‖ (M,), Σ f_m(x_i) (N,) and b, by a cone program of all of these and ξ, for one s.

    min ½t² + CΣξ, Σ t_m ≤ t, ‖u_m‖ ≤ t_m and y_i(Σ (L_m u_m)_i / s_i + b) ≥ 1 − ξ_i, K = LLᵀ.
    """
    n, M = len(y), len(grams)
    roots = []
    for gram in grams:
        values, vectors = np.linalg.eigh(gram)
        roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    # Variables: u (M·n), t_m (M), t, b, ξ (n).
    size = M * n + M + 2 + n
    places = np.split(np.arange(size), [M * n, M * n + M, M * n + M + 1, M * n + M + 2])
    quadratic, linear = np.zeros((size, size)), np.zeros(size)
    quadratic[places[2], places[2]], linear[places[4]] = 1, C
    margins = np.zeros((n, size))
    margins[:, : M * n] = -np.hstack(roots) * (y / s)[:, None]
    margins[:, places[3]] = -y[:, None]
    margins[:, places[4]] = -np.eye(n)
    positive, total = np.zeros((n, size)), np.zeros((1, size))
    positive[:, places[4]] = -np.eye(n)
    total[0, places[1]], total[0, places[2]] = 1, -1
    norms = np.zeros((M * (n + 1), size))
    for m in range(M):
        norms[m * (n + 1), places[1][m]] = -1
        norms[m * (n + 1) + 1 : (m + 1) * (n + 1), m * n : (m + 1) * n] = -np.eye(n)
    bound = np.concatenate([-np.ones(n), np.zeros(n + 1 + M * (n + 1))])
    solution = solve_cone_program(
        quadratic,
        linear,
        sparse.csc_matrix(np.vstack([margins, positive, total, norms])),
        bound,
        [("nonnegative", 2 * n + 1), *[("second_order", n + 1)] * M],
        name="the test's program",
        remedy="none",
        gap=1e-11,
    ).values
    values = np.hstack(roots) @ solution[places[0]]
    return solution[places[1]], values, solution[places[3]].item()


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_the_program_of_the_shares_has_these_shares(rows, C):
    X, y, _ = rows
    model = MKLClassifier(KERNELS, missing=EXACT, learner=f"svm(C={C}, tol=1e-6)").fit(X, y)
    weights = model.weights_[0]
    s = has(X) @ weights
    norms, values, bias = solved([rbf(X, X, m) for m in range(3)], y, s, C)
    np.testing.assert_allclose(norms / norms.sum(), weights, atol=2e-4)
    kept = s > 1e-3  # of others f and s are next to zero
    decided = model.decision_function(X[kept])
    np.testing.assert_allclose(decided, (values / s + bias)[kept], atol=5e-3)


def test_complete_rows_have_the_weights_of_simplemkl_and_are_left_to_the_combiner(rows):
    X, y, _ = rows
    X = np.where(np.isnan(X), 0.3, X)
    plain, absent = (
        MKLClassifier(KERNELS, combiner="alignment", missing=m).fit(X, y)
        for m in ("present", EXACT)
    )
    np.testing.assert_array_equal(absent.decision_function(X), plain.decision_function(X))
    # One row that lacks a source, and is nothing beside the others.
    X[0, COLUMNS[2]] = np.nan
    weights = np.r_[1e-9, np.ones(len(y) - 1)]
    model = MKLClassifier(KERNELS, missing=EXACT, learner="svm(C=5)")
    model.fit(X, y, sample_weight=weights)
    simple = MKLClassifier(KERNELS, combiner=SimpleMKL(tol=1e-6), learner="svm(C=5)")
    simple.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.weights_, simple.weights_, atol=1e-3)


@pytest.mark.parametrize("combiner", ["uniform", "alignment"])
def test_parts_add_up_and_rows_are_decided_by_themselves(rows, combiner, tmp_path):
    X, y, new = rows
    model = MKLClassifier(KERNELS, missing="absent-margin", combiner=combiner).fit(X, y)
    values = model.decision_function(new)
    alone = np.concatenate([model.decision_function(row[None]) for row in new])
    np.testing.assert_allclose(alone, values, atol=1e-8)
    save_model(model, tmp_path / "model.mkl")
    np.testing.assert_array_equal(load_model(tmp_path / "model.mkl").decision_function(new), values)
    assert (model.predict(X) == y).mean() > 0.7


def test_what_has_no_such_margin_is_refused(rows):
    X, y, _ = rows
    refused = [
        (MKLRegressor(KERNELS, missing="absent-margin"), "numbers"),
        (MKLClassifier(KERNELS, missing="absent-margin", combiner="vote"), "vote"),
        (MKLClassifier(KERNELS, missing="absent-margin", learner="kda"), "kda"),
        (
            MKLClassifier(
                KERNELS, missing="absent-margin", feature_map="empirical", learner="mhks"
            ),
            "implicit",
        ),
    ]
    for model, named in refused:
        with pytest.raises(IncompatibleError, match=f"absent-margin.*{named}"):
            model.fit(X, y)
