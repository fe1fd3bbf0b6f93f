"""The linear decision function that learners share."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array, FittedLearner
from mklkit.registry.hookspecs import register


@register
@attrs.frozen(eq=False)
class LinearDecision(FittedLearner):
    """A decision function that is linear in a view's columns: features or similarities.

    Attributes
    ----------
    coefficients : ndarray of shape (p,) or (N,)
        Weights of the features, or of the training rows; (p, T) or (N, T) for T targets.
    bias : float
        An array (T,) for T targets.
    history : tuple of float
        The objective after each iteration, if the learner iterates.
    """

    coefficients: Array
    bias: Any
    history: tuple[float, ...] = ()

    def decide(self, columns: Array) -> Array:
        """Return the decision values, (n,) or (n, T), for columns (n, p) or (n, N)."""
        return columns @ self.coefficients + self.bias

    @property
    def support(self) -> NDArray[np.intp]:
        """The columns with non-zero coefficients: the support vectors, on similarities."""
        used = self.coefficients != 0
        return np.flatnonzero(used if used.ndim == 1 else used.any(axis=1))

    def restricted(self, support: NDArray[np.intp]) -> LinearDecision:
        """Return the same function restricted to those columns."""
        return attrs.evolve(self, coefficients=self.coefficients[support])
