"""scikit-learn's own checks of the estimator contract: every one must pass.

They ask about an estimator's code, so that one configuration of each class with a ``fit`` of its
own is enough. libsvm stops within a tolerance, in another place for another order of the rows: the
check that a row of weight 2 is the same row twice needs a small one. Probabilities are from random
folds, in which the two are different rows.
"""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import (
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    RPEMEKLClassifier,
)

EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data"


def _depends_on_folds(estimator):
    """Return the checks that random folds, or maps of random rows, can't pass."""
    if isinstance(estimator, RPEMEKLClassifier) or getattr(estimator, "probability", False):
        return {EQUIVALENCE: "samples are drawn, and the same sample twice is two of them"}
    return {}


@parametrize_with_checks(
    [
        MKLClassifier(learner="svm(C=1, tol=1e-10)"),
        MKLSearchCV(
            MKLClassifier("rbf(sigma=1)", feature_map="empirical", learner="kda"),
            {"learner__alpha": [1.0]},
            cv=2,
        ),
        # Its fit and predict are those of MKLVotingClassifier.
        RPEMEKLClassifier(subset=0.3, n_members=2),
        MKLClassifier("rbf", learner="svm(C=1, tol=1e-10)", probability=True),
        MKLOneClass("rbf(gamma=0.1)", learner="one-class-svm(tol=1e-12)"),
        # A width that follows from the rows would not follow from their weights, nor a ridge that
        # is chosen by leaving out rows, with all of their weight.
        MKLRegressor(["linear", "rbf(sigma=1)"], learner="ridge(alpha=1)"),
    ],
    expected_failed_checks=_depends_on_folds,
)
def test_the_contract_holds(estimator, check):
    check(estimator)
