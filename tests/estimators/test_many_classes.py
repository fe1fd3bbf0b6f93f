"""One-vs-one problems of many classes: what they share changes nothing."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import attrs
import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.errors import ComponentError, DataError
from mklkit.kernels import RBF, Linear
from mklkit.plugin import FittedKernel, Kernel

C, PER_CLASS = 7, 9
RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(C), PER_CLASS)
X = RNG.normal(size=(C * PER_CLASS, 70)) + RNG.normal(size=(C, 70))[Y]
ORDER = RNG.permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]
NEW = RNG.normal(size=(40, 70))
KERNELS = ["a:rbf@0:20", "b:rbf(sigma='median')@20:60", "c:linear@60:70", "d:rbf(gamma=0.01)@0:40"]


@pytest.mark.parametrize("learner", ["svm(C=10)", "svm", "kmhks"])
@pytest.mark.parametrize("combiner", ["uniform", "dimkl3", "centered-alignment"])
def test_pairs_are_those_fitted_one_by_one(combiner: str, learner: str) -> None:
    settings: dict[str, Any] = {"combiner": combiner, "learner": learner, "random_state": 0}
    model = MKLClassifier(KERNELS, multiclass="ovo", **settings).fit(X, Y)
    values = np.column_stack([decision.decide(NEW) for decision in model.decisions_])
    together = model.decision_function(NEW)
    votes = np.zeros((len(NEW), C))
    pairs = list(combinations(range(C), 2))
    for place, (first, second) in enumerate(pairs):
        members = np.flatnonzero((first == Y) | (second == Y))
        pair = MKLClassifier(KERNELS, **settings).fit(X[members], Y[members])
        # Distances are about the mean of all rows, which changes their last digits.
        np.testing.assert_allclose(pair.weights_[0], model.weights_[place], rtol=1e-7)
        expected = pair.decision_function(NEW)
        np.testing.assert_allclose(values[:, place], expected, rtol=1e-6, atol=1e-8)
        votes[expected > 0, second] += 1
        votes[expected <= 0, first] += 1
    # A class's value is its votes and less than half a vote.
    np.testing.assert_array_equal(np.round(together), votes)


def test_shared_bandwidths_are_those_of_one_support_vector_machine() -> None:
    model = MKLClassifier(
        ["a:rbf@0:20", "b:rbf@20:70"], learner="svm(C=10)", bandwidths="all-rows", multiclass="ovo"
    ).fit(X, Y)

    def kernel(rows: Any) -> Any:
        total = np.zeros((len(rows), len(X)))
        for part in (slice(0, 20), slice(20, 70)):
            sigma = pairwise_distances(X[:, part]).mean()
            total += np.exp(-(pairwise_distances(rows[:, part], X[:, part]) ** 2) / (2 * sigma**2))
        return total / 2

    reference = SVC(C=10, kernel="precomputed", decision_function_shape="ovo").fit(kernel(X), Y)
    values = np.column_stack([decision.decide(NEW) for decision in model.decisions_])
    # libsvm's sign is that of the first class.
    np.testing.assert_allclose(values, -reference.decision_function(kernel(NEW)), atol=2e-3)


@pytest.mark.parametrize("sigma", ["mean", "median", "scale", "neighbors", "auto", "mean/3", 2.0])
def test_widths_of_parts_are_those_of_their_rows(sigma: Any) -> None:
    parts = [np.flatnonzero((first == Y) | (second == Y)) for first, second in pairwise(range(C))]
    kernel = RBF(sigma=sigma)
    expected = [kernel.fit(X[part]).gamma for part in parts]
    np.testing.assert_allclose(
        [fitted.gamma for fitted in kernel.fit_parts(X, parts)], expected, rtol=1e-9
    )


def test_equal_rows_have_the_width_one() -> None:
    rows = np.vstack([np.ones((4, 3)), RNG.normal(size=(4, 3))])
    parts = [np.arange(4), np.arange(8)]
    first, second = RBF().fit_parts(rows, parts)
    assert first.gamma == 0.5
    assert second.gamma == pytest.approx(RBF().fit(rows).gamma)


@attrs.frozen(eq=False)
class Odd(Kernel):
    """A kernel whose fit to rows of class 3 is no kernel, or has values that are not finite."""

    name = "odd"
    result: Any

    def fit(self, rows: Any) -> FittedKernel:
        """Return the result for rows with a large number, else a linear kernel."""
        return Linear().fit(rows) if rows[:, 0].max() < 1e6 else self.result


class Infinite(type(Linear().fit(X))):  # type: ignore[misc]
    """A fitted kernel whose diagonal is infinite."""

    def diagonal(self, a: Any) -> Any:
        """Return infinity."""
        return np.full(len(a), np.inf)


@pytest.mark.parametrize(
    ("result", "error"), [("text", ComponentError), (Infinite(), DataError)], ids=["text", "inf"]
)
def test_a_fault_in_one_of_the_pairs_is_told(result: Any, error: type[Exception]) -> None:
    rows = X.copy()
    rows[Y == 3, 0] = 1e7
    with pytest.raises(error):
        MKLClassifier([("odd", Odd(result), [0, 1])], learner="svm(C=1)", scale=None).fit(rows, Y)
