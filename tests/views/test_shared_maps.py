"""Maps that all binary problems share: what they make of a block of rows is made once."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from sklearn.datasets import load_iris

from mklkit import Component, MKLClassifier


@attrs.frozen(eq=False)
class FittedNearness:
    """Similarities to landmarks as features, of new rows by ``transform`` alone."""

    explicit: ClassVar[bool] = True
    kernel: object
    landmarks: np.ndarray

    def transform(self, rows):
        return self.kernel(rows, self.landmarks)


class FittedSharingNearness(FittedNearness):
    """The same, and mklkit may evaluate several kernels at once for it."""

    def from_similarities(self, values):
        return values


@attrs.frozen
class Nearness(Component):
    """All rows are landmarks, one array for all kernels, which is what lets them share a base."""

    name: ClassVar[str] = "nearness"
    explicit: ClassVar[bool] = True
    shared: ClassVar[bool] = True

    sharing: bool = True

    def fit(self, kernel, rows, random_state):
        made = FittedSharingNearness if self.sharing else FittedNearness
        return made(kernel, rows)


def test_similarities_that_are_features_are_not_overwritten_by_the_next_kernels():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    kernels = [f"rbf(gamma={gamma})" for gamma in (0.05, 0.5, 5.0)]
    decisions = [
        MKLClassifier(kernels, Nearness(sharing), "ifsl", "mhks").fit(X, y).decision_function(X)
        for sharing in (True, False)
    ]
    np.testing.assert_allclose(decisions[0], decisions[1], rtol=1e-9)
