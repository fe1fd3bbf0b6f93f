"""The one-class machine has scikit-learn's values; a row of weight 2 is the same row twice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM as Reference

from mklkit.errors import DataError
from mklkit.learners import OneClassSVM
from mklkit.plugin import FeatureSide, GramSide, Target

RANDOM = np.random.default_rng(5)
ROWS, NEW = RANDOM.normal(size=(40, 3)), RANDOM.normal(size=(9, 3)) * 2
GRAM = np.exp(-np.square(ROWS[:, None] - ROWS).sum(axis=2) / 4)
ACROSS = np.exp(-np.square(NEW[:, None] - ROWS).sum(axis=2) / 4)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.99])
def test_values_are_those_of_scikit_learn(nu: float) -> None:
    on_gram = OneClassSVM(nu=nu).fit(GramSide(GRAM), Target.nothing(40))
    reference = Reference(kernel="precomputed", nu=nu).fit(GRAM)
    np.testing.assert_allclose(on_gram.decide(ACROSS), reference.decision_function(ACROSS))
    np.testing.assert_array_equal(on_gram.support, reference.support_)
    on_features = OneClassSVM(nu=nu).fit(FeatureSide(ROWS), Target.nothing(40))
    reference = Reference(kernel="linear", nu=nu).fit(ROWS)
    values = on_features.decide(NEW)
    np.testing.assert_allclose(values, reference.decision_function(NEW), rtol=1e-9, atol=1e-9)


def test_at_most_nu_of_the_rows_are_outside() -> None:
    for nu in (0.1, 0.4):
        fitted = OneClassSVM(nu=nu, tol=1e-8).fit(GramSide(GRAM), Target.nothing(40))
        outside = (fitted.decide(GRAM) < -1e-6).mean()
        assert outside <= nu <= len(fitted.support) / 40


def test_an_early_stop_is_warned_of() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        OneClassSVM(max_iter=1).fit(GramSide(GRAM), Target.nothing(40))


def test_values_beyond_the_solver_are_refused() -> None:
    with pytest.raises(DataError, match="not finite"):
        OneClassSVM().fit(GramSide(np.full((4, 4), np.inf)), Target.nothing(4))
