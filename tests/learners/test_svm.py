"""The support vector machine against scikit-learn's own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from helpers.builders import views_of
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklkit import DataError, MKLClassifier
from mklkit.learners import SVM
from mklkit.plugin import GramSide, Target


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical(subset=20)"])
def test_decisions_are_scikit_learns(two_classes, C, feature_map):
    rows, y = two_classes
    view = views_of("rbf(gamma=0.3)", rows, feature_map)[0]
    columns = view.features() if view.explicit else rbf_kernel(rows, gamma=0.3)
    expected = SVC(kernel="linear" if view.explicit else "precomputed", C=C).fit(columns, y)
    fitted = SVM(C=C).fit(view, Target.two_classes(y))
    decisions = expected.decision_function(columns)
    np.testing.assert_allclose(fitted.decide(columns), decisions, atol=1e-9)
    if not view.explicit:
        np.testing.assert_array_equal(fitted.support, np.sort(expected.support_))


@pytest.mark.process
def test_nothing_is_printed() -> None:
    """libsvm prints its steps until scikit-learn, or we, tell it not to."""
    script = (
        "import numpy as np; from mklkit import MKLClassifier\n"
        "X = np.arange(12.0)[:, None]; MKLClassifier('rbf', learner='svm').fit(X, X[:, 0] > 5)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_kernels_of_large_values_end_with_one_warning_of_ours():
    """Without a limit libsvm is not done after 10⁸ steps, minutes, on these."""
    X, y = load_breast_cancer(return_X_y=True)
    model = MKLClassifier("polynomial(degree=2)", learner="svm(C=1.0, max_iter=20_000)")
    with pytest.warns(ConvergenceWarning, match=r"max_iter=20000 steps\. .*'cosine") as warned:
        model.fit(X, y)
    assert len(warned) == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_values_too_large_for_libsvm_are_told_with_what_helps(two_classes):
    rows, y = two_classes
    with pytest.raises(DataError, match=r"as large as 1e\+60: scale the data"):
        SVM().fit(GramSide(1e60 * np.eye(len(y))), Target.two_classes(y))
    model = MKLClassifier("linear", feature_map="empirical(subset=20)", learner="svm")
    with pytest.raises(DataError, match=r"as large as .*: scale the data"):
        model.fit(1e100 * rows, y)
