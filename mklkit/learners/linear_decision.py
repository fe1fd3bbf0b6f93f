"""What learners share: the linear decision function that all of them leave behind."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array

__all__ = ["LinearDecision"]


@attrs.frozen(eq=False)
class LinearDecision:
    """A decision function linear in a view's columns: features, or similarities.

    Attributes
    ----------
    coefficients : ndarray of shape (p,) or (N,)
        Weights of the features, or of the training rows.
    bias : float
    history : tuple of float
        The objective after each iteration, where the learner iterates.
    """

    coefficients: Array
    bias: float
    history: tuple[float, ...] = ()

    def decide(self, columns: Array) -> Array:
        """Return the decision values (n,) for columns (n, p) or (n, N)."""
        return columns @ self.coefficients + self.bias

    @property
    def support(self) -> NDArray[np.intp]:
        """The columns that have a say: support vectors, where columns are training rows."""
        return np.flatnonzero(self.coefficients)

    def restricted(self, support: NDArray[np.intp]) -> LinearDecision:
        """Return the same function on those columns only."""
        return attrs.evolve(self, coefficients=self.coefficients[support])
