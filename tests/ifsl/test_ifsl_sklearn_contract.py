"""scikit-learn's own checks of the estimator contract, for the co-regularised family."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import IFSLClassifierCV, MKLClassifier, MKLVotingClassifier, RPEMEKLClassifier


@parametrize_with_checks(
    [
        MKLClassifier(combiner="ifsl"),
        MKLClassifier(combiner="ifsl", learner="kmhks"),
        IFSLClassifierCV(ridges=(1.0,), lams=(1.0,), cv=2),
        MKLVotingClassifier(),
        RPEMEKLClassifier(subset=0.3),
    ]
)
def test_the_contract_holds(estimator, check):
    check(estimator)
