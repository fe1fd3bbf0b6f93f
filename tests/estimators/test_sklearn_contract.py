"""scikit-learn's own checks of the estimator contract: every one must pass."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import MKLClassifier


@parametrize_with_checks(
    [
        MKLClassifier(),
        MKLClassifier(learner="mhks"),
        MKLClassifier(learner="kmhks"),
        MKLClassifier(combiner="dimkl3"),
    ]
)
def test_the_contract_holds(estimator, check):
    check(estimator)
