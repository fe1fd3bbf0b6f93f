"""Kernels that are divided by the lengths of both rows, k(x, z)/√(k(x, x)·k(z, z))."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mklkit.protocols import Array, FittedKernel

__all__ = ["NormalisedKernel", "inverse_lengths"]


def inverse_lengths(squares: Array) -> Array:
    """Return 1/√k(x, x) for each k(x, x), and 0 where it is 0.

    Examples
    --------
    >>> inverse_lengths(np.array([4.0, 0.0]))
    array([0.5, 0. ])
    """
    # Subnormal numbers have lost digits, and cosines computed from them could exceed one.
    large = squares >= np.finfo(squares.dtype).tiny
    roots = np.sqrt(squares, where=large, out=np.ones_like(squares))
    return np.divide(1.0, roots, where=large, out=np.zeros_like(squares))


class NormalisedKernel(FittedKernel):
    """A fitted kernel that is normalised unless a field ``normalize`` says otherwise.

    Rows with k(x, x) = 0 have similarity zero to all rows, themselves included.
    """

    __slots__ = ()

    @property
    def normalize(self) -> bool:
        """Whether it is divided by the lengths."""
        return True

    @abstractmethod
    def parts(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return k of the rows of ``a`` (n, d) and ``b`` (m, d) as it is, and their squares."""

    @abstractmethod
    def squares(self, a: Array) -> Array:
        """Return k(x, x) of each row as it is: (n,)."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values, of_a, of_b = self.parts(a, b)
        if self.normalize:
            values = values * inverse_lengths(of_a)[:, None]
            values *= inverse_lengths(of_b)
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        squares = self.squares(a)
        if not self.normalize:
            return squares
        return (inverse_lengths(squares) > 0).astype(squares.dtype)
