"""Weights of rows: decisions do not depend on row blocks, or a DataError names the range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mklkit import DataError, MKLClassifier, MKLOneClass, MKLRegressor, MKLSearchCV

DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(60, 3))
Y = (X[:, 0] + 0.3 * DRAW.normal(size=60) > 0).astype(int)
EVEN = DRAW.uniform(0.5, 1, 60)


def in_blocks(model: Any) -> np.ndarray:
    decide = getattr(model, "decision_function", model.predict)
    return np.concatenate([decide(X[:7]), decide(X[7:8]), decide(X[8:])])


@pytest.mark.parametrize("learner", ["svm", "ridge", "mhks", "kda"])
@pytest.mark.parametrize(("scale", "exponent"), [(1e9, 0), (1e-11, 0), (1, -11.9), (1e8, -11.9)])
def test_weights_in_range_give_the_same_decisions_in_blocks(
    learner: str, scale: float, exponent: float
) -> None:
    weights = scale * EVEN * 10 ** (exponent * np.linspace(0, 0.97, 60))
    model = MKLClassifier(learner=learner, random_state=0).fit(X, Y, sample_weight=weights)
    whole = model.decision_function(X)
    # At 1e9 the ridge is 1e-9 of the sums, so that nine of sixteen digits remain.
    np.testing.assert_allclose(in_blocks(model), whole, rtol=0, atol=1e-7 * np.abs(whole).max())


@pytest.mark.parametrize(
    "extreme", [1e300, 1e200, 1.1e9 / 0.5, -1, np.nan, np.inf, 5e-324, 1e-300, 1e-13]
)
@pytest.mark.parametrize("of_all", [True, False])
def test_weights_out_of_range_raise_an_error(extreme: float, of_all: bool) -> None:
    weights = EVEN * extreme if of_all else np.where(np.arange(60) == 4, extreme, EVEN)
    for fit in (
        lambda: MKLClassifier().fit(X, Y, sample_weight=weights),
        lambda: MKLRegressor().fit(X, X[:, 0], sample_weight=weights),
        lambda: MKLOneClass().fit(X, sample_weight=weights),
        lambda: MKLSearchCV(MKLClassifier()).fit(X, Y, sample_weight=weights),
    ):
        with pytest.raises(DataError, match=r"[Ww]eight"):
            fit()


@pytest.mark.parametrize("weight", [1e300, 1e10, 1e-300, 1e-13])
def test_class_weights_out_of_range_raise_an_error(weight: float) -> None:
    with pytest.raises(DataError, match="1e-12 to 1e\\+09"):
        MKLClassifier(class_weight={1: weight}).fit(X, Y)
    MKLClassifier(class_weight={1: 1e6}).fit(X, Y, sample_weight=EVEN)


def test_zeros_do_not_count_in_the_range() -> None:
    weights = np.where(np.arange(60) < 6, 0, EVEN)
    model = MKLClassifier().fit(X, Y, sample_weight=weights)
    alone = MKLClassifier().fit(X[6:], Y[6:], sample_weight=EVEN[6:])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))
