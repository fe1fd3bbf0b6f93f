"""CCA+MHKS₁ and ₂ beside the same steps taken one by one, from a dense eigenproblem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh
from sklearn.svm import SVC

from mklkit import IncompatibleError, MKLClassifier, MKLKitError
from mklkit.plugin import RowBlock

KERNELS = ["linear", "polynomial(degree=2)", "linear2:polynomial(degree=1, coef0=1)"]


def two_classes(n_rows=60):
    rng = np.random.default_rng(4)
    y = np.where(np.arange(n_rows) % 3 == 0, 1.0, -1.0)
    rows = rng.normal(size=(n_rows, 3))
    rows[:, 0] += y
    rows[:, 1] += 0.8 * (y > 0) * np.sign(rows[:, 1])
    return rows, y, rng.normal(size=(30, 3))


def explicit_features(x):
    """Return features whose inner products are the three kernels'."""
    pairs = [x[:, i] * x[:, j] * (1 if i == j else 2**0.5) for i in range(3) for j in range(i + 1)]
    ones = np.ones((len(x), 1))
    return [x, np.hstack([ones, 2**0.5 * x, np.column_stack(pairs)]), np.hstack([ones, x])]


def projections(rows, new, alpha, count):
    """Return training and new rows' projections by the definition, as one dense eigenproblem."""
    views, others = explicit_features(rows), explicit_features(new)
    means = [view.mean(axis=0) for view in views]
    centered = [view - mean for view, mean in zip(views, means, strict=True)]
    joined = np.hstack(centered)
    largest = [np.linalg.norm(view, 2) ** 2 for view in centered]
    blocks = block_diag(
        *(
            v.T @ v + alpha * top * np.eye(v.shape[1])
            for v, top in zip(centered, largest, strict=True)
        )
    )
    vectors = eigh(joined.T @ joined, blocks)[1][:, ::-1][:, :count] * np.sqrt(len(rows) * 3)
    parts = np.split(vectors, np.cumsum([v.shape[1] for v in centered])[:-1])
    new_own = [view - mean for view, mean in zip(others, means, strict=True)]
    return (
        [v @ part for v, part in zip(centered, parts, strict=True)],
        [v @ part for v, part in zip(new_own, parts, strict=True)],
    )


def mhks(columns, y, new, c):
    """Return MHKS's decisions by the plain iteration of Wang, Chen and Sun 2008, from zero."""
    design = y[:, None] * np.hstack([columns, np.ones((len(y), 1))])
    ridge = c * np.diag([*np.ones(columns.shape[1]), 0.0])
    margins, last = np.full(len(y), 1e-6), np.inf
    for _ in range(2000):
        w = np.linalg.solve(design.T @ design + ridge, design.T @ (1 + margins))
        errors = design @ w - 1 - margins
        margins = margins + 0.99 * (errors + np.abs(errors))
        value = (errors**2).sum() + c * (w[:-1] ** 2).sum()
        if abs(last - value) < 1e-10:
            break
        last = value
    return new @ w[:-1] + w[-1]


def test_cca_mhks1_is_mhks_on_the_projections_side_by_side():
    rows, y, new = two_classes()
    training, asked = projections(rows, new, 0.2, 2)
    expected = mhks(np.hstack(training), y, np.hstack(asked), 0.5)
    model = MKLClassifier(
        KERNELS,
        combiner="cca-mhks1(n_components=2, alpha=0.2)",
        learner="mhks(alpha=0.5, tol=1e-10)",
    ).fit(rows, y)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=2e-3)
    np.testing.assert_allclose(model.weights_, [[1 / 3] * 3])


def test_cca_mhks2_is_the_majority_of_mhks_on_each_projection():
    rows, y, new = two_classes()
    training, asked = projections(rows, new, 0.2, 2)
    scores = np.column_stack([mhks(a, y, b, 0.5) for a, b in zip(training, asked, strict=True)])
    model = MKLClassifier(
        KERNELS,
        combiner="cca-mhks2(n_components=2, alpha=0.2)",
        learner="mhks(alpha=0.5, tol=1e-10)",
    ).fit(rows, y)
    np.testing.assert_allclose(model.decisions_[0].scores(RowBlock(new)), scores, atol=2e-3)
    votes = (scores > 0).sum(axis=1)
    assert set(votes) - {0, 3}
    np.testing.assert_array_equal(model.predict(new), np.where(votes >= 2, 1.0, -1.0))


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=0.5)"])
def test_with_svm_and_with_a_subset_that_spans_the_features(feature_map):
    """These kernels have 10 features at most, so that 30 landmarks lose nothing."""
    rows, y, new = two_classes()
    training, asked = projections(rows, new, 0.2, 2)
    machine = SVC(C=5, kernel="linear", tol=1e-7).fit(np.hstack(training), y)
    combiner = "cca-mhks1(n_components=2, alpha=0.2)"
    model = MKLClassifier(
        KERNELS,
        feature_map=feature_map,
        combiner=combiner,
        learner="svm(C=5, tol=1e-7)",
        random_state=0,
    )
    values = model.fit(rows, y).decision_function(new)
    np.testing.assert_allclose(values, machine.decision_function(np.hstack(asked)), atol=1e-4)
    many = np.tile(new, (100, 1))  # more than a block of rows
    np.testing.assert_allclose(model.decision_function(many), np.tile(values, 100), atol=1e-8)


@pytest.mark.parametrize("name", ["cca-mhks1", "cca-mhks2"])
def test_gram_matrices_and_impossible_parameters_are_refused(name):
    rows, y, _ = two_classes()
    with pytest.raises(IncompatibleError, match="empirical"):
        MKLClassifier(None, feature_map="implicit", combiner=name, learner="svm").fit(rows, y)
    for parameters in ("n_components=0", "alpha=-1", "n_components=1.5"):
        with pytest.raises(MKLKitError, match=parameters.partition("=")[0]):
            MKLClassifier(combiner=f"{name}({parameters})").fit(rows, y)
