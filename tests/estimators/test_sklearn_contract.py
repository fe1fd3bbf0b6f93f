"""scikit-learn's own checks of the estimator contract: every one must pass.

They ask about an estimator's code, so that one configuration of each class with a ``fit`` of its
own is enough. These are the defaults, which learn on Gram matrices, with a given C; a search over
couplings of learners on features; a vote of couplings on random landmarks; probabilities, of which
the checks ask that the largest is that of the class predicted: it is so on their rows, and need not
be on others. What components do with odd data, whichever they are, is asked by mklkit's own
conformance checks.
"""

from __future__ import annotations

from builders import ifsl_search
from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import MKLClassifier, MKLOneClass, MKLTransformer, RPEMEKLClassifier


@parametrize_with_checks(
    [
        MKLClassifier(learner="svm(C=1)"),
        ifsl_search(ridges=(1.0,), lams=(1.0,), cv=2),
        # Its fit and predict are those of MKLVotingClassifier.
        RPEMEKLClassifier(subset=0.3, n_members=2),
        MKLClassifier("rbf", learner="svm(C=1)", probability=True),
        # Rules for bandwidths take all rows alike, and weights must count as the row repeated.
        MKLOneClass("rbf(gamma=0.1)", learner="one-class-svm(tol=1e-12)"),
        MKLTransformer(),
        MKLTransformer("rbf", feature_map="empirical", combiner="uniform"),
    ]
)
def test_the_contract_holds(estimator, check):
    check(estimator)
