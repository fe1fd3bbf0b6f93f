"""Subproblems of coupled learners that can be solved from sums over blocks of rows."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from mklkit.protocols import Array, Subproblem, Which

__all__ = ["BlockSubproblem"]


@runtime_checkable
class BlockSubproblem(Subproblem, Protocol):
    """A subproblem on features that are read block by block.

    Its targets, outputs and margins then need not be in one place.
    """

    @property
    def block_columns(self) -> Any:
        """The features as :class:`BlockColumns`, or None where they are one array in memory."""
        ...

    def solve_projected(
        self, projected: Array, means: Array, data_weights: Array, columns: Which = slice(None)
    ) -> Any:
        """Return the coefficients, as ``solve`` does, for Φᵀt (p, G) and the means of t (G,).

        Both are weighted where rows have weights.
        """
        ...

    def function(self, coefficients: Any) -> tuple[Array, Array]:
        """Return the weights (p, G) and biases (G,) of coefficients."""
        ...
