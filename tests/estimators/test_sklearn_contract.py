"""scikit-learn's own checks of the estimator contract: every one must pass.

They ask about an estimator's code, so that one configuration of each class whose ``fit`` is its own
is enough, and these three go every way through it: the defaults, which learn on Gram matrices with
one weighting for all; a search over a coupling of learners on features; a vote of couplings on random
landmarks. What components do with odd data in any combination is asked by mklkit's conformance checks.
"""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import IFSLClassifierCV, MKLClassifier, RPEMEKLClassifier


@parametrize_with_checks(
    [
        MKLClassifier(),
        IFSLClassifierCV(ridges=(1.0,), lams=(1.0,), cv=2),
        # Its fit and predict are those of MKLVotingClassifier.
        RPEMEKLClassifier(subset=0.3),
    ]
)
def test_the_contract_holds(estimator, check):
    check(estimator)
