"""Support vector regression against scikit-learn's, and repeated rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR as TheirSVR

from mklkit.errors import DataError, IncompatibleError
from mklkit.learners.svm import FEATURE_ROWS, SVR
from mklkit.protocols import Target
from mklkit.views.sides import FeatureSide, GramSide

RNG = np.random.default_rng(3)
ROWS, NEW = RNG.normal(size=(60, 2)), RNG.normal(size=(9, 2))
Y = 300 + 50 * np.sin(2 * ROWS[:, 0]) + 5 * RNG.normal(size=60)
GRAM, SEEN = rbf_kernel(ROWS), rbf_kernel(NEW, ROWS)


def test_on_a_gram_matrix_it_is_scikit_learns_with_c_and_epsilon_in_units_of_the_target():
    fitted = SVR(C=200, epsilon=8, tol=1e-6).fit(GramSide(GRAM), Target.numbers(Y))
    reference = TheirSVR(C=200, epsilon=8, kernel="precomputed", tol=1e-6).fit(GRAM, Y)
    np.testing.assert_allclose(fitted.decide(SEEN), reference.predict(SEEN), rtol=1e-5)
    assert fitted.support.tolist() == reference.support_.tolist()
    assert len(fitted.support) < len(ROWS)


def test_on_features_it_is_the_same_as_on_their_inner_products():
    on_features = SVR(C=20, epsilon=8, tol=1e-7).fit(FeatureSide(ROWS), Target.numbers(Y))
    on_gram = SVR(C=20, epsilon=8, tol=1e-7).fit(GramSide(ROWS @ ROWS.T), Target.numbers(Y))
    np.testing.assert_allclose(on_features.decide(NEW), on_gram.decide(NEW @ ROWS.T), rtol=1e-5)


def test_automatic_settings_follow_the_units_of_target_and_kernel():
    usual = SVR().fit(GramSide(GRAM), Target.numbers(Y))
    scaled = SVR().fit(GramSide(4 * GRAM), Target.numbers(1000 * Y))
    np.testing.assert_allclose(usual.epsilon, 0.1 * Y.std(), rtol=1e-9)
    np.testing.assert_allclose(scaled.C, 1000 * usual.C / 4, rtol=1e-9)
    np.testing.assert_allclose(scaled.decide(4 * SEEN), 1000 * usual.decide(SEEN), rtol=1e-3)
    truth = 300 + 50 * np.sin(2 * NEW[:, 0])
    assert np.abs(usual.decide(SEEN) - truth).mean() < 10


def test_what_it_cannot_do_is_refused():
    many = FeatureSide(np.zeros((FEATURE_ROWS + 1, 1)))
    with pytest.raises(IncompatibleError, match="learner='ridge'"):
        SVR().fit(many, Target.numbers(np.zeros(FEATURE_ROWS + 1)))
    with pytest.raises(DataError, match="scale the data"):
        SVR(C=1).fit(GramSide(GRAM * np.inf), Target.numbers(Y))
    with pytest.raises(ValueError, match="'epsilon' must be"):
        SVR(epsilon=-0.1)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        SVR(C=1e4, epsilon=0, max_iter=3).fit(GramSide(GRAM), Target.numbers(Y))
