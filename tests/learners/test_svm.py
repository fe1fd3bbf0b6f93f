"""The support vector machine against scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from builders import views_of
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklkit import DataError, MKLClassifier
from mklkit.learners import SVM
from mklkit.plugin import GramSide, Target


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_decisions_on_a_gram_matrix(two_classes, C):
    rows, y = two_classes
    gram = rbf_kernel(rows, gamma=0.3)
    expected = SVC(kernel="precomputed", C=C).fit(gram, y)
    fitted = SVM(C=C).fit(views_of("rbf(gamma=0.3)", rows)[0], Target.two_classes(y))
    np.testing.assert_allclose(fitted.decide(gram), expected.decision_function(gram), atol=1e-9)
    np.testing.assert_array_equal(fitted.support, np.sort(expected.support_))


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_decisions_on_features(two_classes, C):
    rows, y = two_classes
    view = views_of("rbf(gamma=0.3)", rows, "empirical(subset=20)")[0]
    expected = SVC(kernel="linear", C=C).fit(view.features(), y).decision_function(view.features())
    fitted = SVM(C=C).fit(view, Target.two_classes(y))
    np.testing.assert_allclose(fitted.decide(view.features()), expected, atol=1e-9)


def test_kernels_of_large_values_end_with_one_warning_of_ours():
    """Without a limit libsvm is not done after 10⁸ steps, minutes, on these."""
    X, y = load_breast_cancer(return_X_y=True)
    model = MKLClassifier("polynomial(degree=2)", learner="svm(C=1.0, max_iter=20_000)")
    with pytest.warns(ConvergenceWarning, match=r"max_iter=20000 steps\. .*'cosine") as seen:
        model.fit(X, y)
    assert len(seen) == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_values_too_large_for_libsvm_are_told_with_what_helps(two_classes):
    rows, y = two_classes
    with pytest.raises(DataError, match=r"as large as 1e\+60: scale the data"):
        SVM().fit(GramSide(1e60 * np.eye(len(y))), Target.two_classes(y))
    model = MKLClassifier("linear", feature_map="empirical(subset=20)", learner="svm")
    with pytest.raises(DataError, match=r"as large as .*: scale the data"):
        model.fit(1e100 * rows, y)
