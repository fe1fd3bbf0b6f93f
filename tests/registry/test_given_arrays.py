"""Components that write into arrays they share are named, whatever they write into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

import mklkit
from mklkit import MKLClassifier, MKLKitError, MKLRegressor, MKLSearchCV
from mklkit.kernels.inner_products import Linear
from mklkit.plugin import FittedKernel, Kernel, LearnerTraits, weighting_rule
from mklkit.protocols import FittedLearner, Learner, Target, protected

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(40, 3))
Y = np.repeat([0, 1], 20)


def writes_labels(view: Any, y: np.ndarray) -> float:
    """Overwrite the first label."""
    y[0] = -y[0]
    return 1.0


def sorts_labels(view: Any, y: np.ndarray) -> float:
    """Sort the labels in place."""
    y.sort()
    return 1.0


def centers_rows(view: Any, y: np.ndarray) -> float:
    """Subtract the mean in place."""
    rows = view.rows
    rows -= rows.mean(axis=0)
    return 1.0


@pytest.mark.parametrize("rule", [writes_labels, sorts_labels, centers_rows])
@pytest.mark.parametrize(
    "estimator",
    [
        lambda combiner: MKLClassifier(combiner=combiner),
        lambda combiner: mklkit.MKLTransformer(combiner=combiner),
        lambda combiner: MKLSearchCV(MKLClassifier(combiner=combiner), {"learner__C": [1, 2]}),
    ],
)
def test_a_rule_that_writes_is_named(rule: Any, estimator: Callable[[Any], Any]) -> None:
    combiner = weighting_rule("vandal")(rule)()
    kept = X.copy()
    with pytest.raises(MKLKitError, match="'vandal'"):
        estimator(combiner).fit(X, Y)
    np.testing.assert_array_equal(X, kept)


def test_a_rule_on_numbers_that_writes_is_named() -> None:
    combiner = weighting_rule("vandal", learns=("numbers",))(writes_labels)()
    with pytest.raises(MKLKitError, match="'vandal'"):
        MKLRegressor(combiner=combiner).fit(X, X[:, 0])


class FittedScribble(FittedKernel):
    """Inner products, by a kernel that scales rows in place at prediction."""

    def __call__(self, a: Any, b: Any) -> Any:
        if len(a) == 7:
            a *= 2
        return a @ b.T

    def diagonal(self, a: Any) -> Any:
        return np.einsum("ij,ij->i", a, a)


@attrs.frozen
class Scribble(Kernel):
    """Write into new rows."""

    name = "scribble"

    def fit(self, rows: Any) -> FittedScribble:
        return FittedScribble()


@pytest.mark.parametrize("kernels", [[Scribble()], [("part", Scribble(), [0, 2]), Linear()]])
def test_a_kernel_that_writes_into_new_rows_is_named(kernels: Any) -> None:
    model = MKLClassifier(kernels).fit(X, Y)
    rows = X[:7].copy()
    with pytest.raises(MKLKitError, match="'scribble'"):
        model.predict(rows)
    np.testing.assert_array_equal(rows, X[:7])


@attrs.frozen
class WeighingLearner(Learner):
    """Write into the weights of rows."""

    name = "weighing"
    traits = LearnerTraits(on_gram=True, takes_row_weights=True)

    def fit(self, side: Any, target: Target) -> FittedLearner:
        assert target.row_weights is not None
        target.row_weights[:] = 1
        raise AssertionError


def test_a_learner_that_writes_into_weights_is_named() -> None:
    weights = DRAW.uniform(1, 2, 40)
    kept = weights.copy()
    with pytest.raises(MKLKitError, match="'weighing'"):
        MKLClassifier(learner=WeighingLearner()).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(weights, kept)


def test_an_error_that_is_no_write_is_not_changed() -> None:
    def fails(view: Any, y: np.ndarray) -> float:
        """Fail."""
        raise ValueError("y must be positive")

    with pytest.raises(ValueError, match="y must be positive") as raised:
        MKLClassifier(combiner=weighting_rule("failing")(fails)()).fit(X, Y)
    assert not isinstance(raised.value, MKLKitError)


def test_a_protected_view_leaves_the_array_itself() -> None:
    labels = np.ones(3)
    view = protected(labels)
    assert np.shares_memory(view, labels)
    assert (view.flags.writeable, labels.flags.writeable) == (False, True)
    assert protected(None) is None
