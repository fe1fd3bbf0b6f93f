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

    Parameters
    ----------
    coefficients : ndarray of shape (p,) or (N,)
        Weights of the features, or of the training samples; (p, T) or (N, T) for T targets.
    bias : float or ndarray of shape (T,)
        The constant.
    history : tuple of float, default=()
        The objective after each iteration, if the learner iterates.

    Attributes
    ----------
    support : ndarray of int
        The columns with non-zero coefficients: on similarities, the support vectors.

    See Also
    --------
    FittedLearner : The base.

    Examples
    --------
    >>> decision = LinearDecision(np.array([1.0, 0.0, -2.0]), 0.5)
    >>> decision.decide(np.array([[3.0, 7.0, 1.0]])).tolist(), decision.support.tolist()
    ([1.5], [0, 2])
    """

    coefficients: Array
    bias: Any
    history: tuple[float, ...] = ()

    def decide(self, columns: Array) -> Array:
        """Return the decision values ``columns @ coefficients + bias``.

        Parameters
        ----------
        columns : ndarray of shape (n, p) or (n, N)
            Features, or similarities to the training samples.

        Returns
        -------
        ndarray of shape (n,) or (n, T)
            The values.
        """
        return columns @ self.coefficients + self.bias

    @property
    def support(self) -> NDArray[np.intp]:
        """The columns with non-zero coefficients: the support vectors, on similarities."""
        used = self.coefficients != 0
        return np.flatnonzero(used if used.ndim == 1 else used.any(axis=1))

    def restricted(self, support: NDArray[np.intp]) -> LinearDecision:
        """Return the same function restricted to some columns.

        Parameters
        ----------
        support : ndarray of int of shape (s,)
            The columns that remain; the coefficients of the others should be zero.

        Returns
        -------
        LinearDecision
            The function of these s columns.
        """
        return attrs.evolve(self, coefficients=self.coefficients[support])
