"""The coupled ridge systems of views on Gram matrices, for a λ that makes them nearly agree.

With s = 1 + λ and the systems A_l = (s + αK_l⁻¹)⁻¹ of the views alone, the Hessian of all M views,
with every sample short of its margin, is diag(A_l⁻¹) − (λ/M) 11ᵀ ⊗ I. By Woodbury's formula it is
solved by adding one function z to the right side of every view,

    f_l = A_l(u_l + z),   z = (λ/M) S⁻¹ Σ_l A_l u_l,   S = I − λ/M Σ_l A_l.

Without it, functions on which the views agree move by a share of 1/(1 + λ) per step.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import lapack

from mklkit.learners.ho_kashyap.rules import coupling_matrix
from mklkit.numerics.least_squares import SPECTRUM_TOLERANCE, cholesky_or_none, cholesky_solution
from mklkit.numerics.threads import threads_for
from mklkit.protocols import Array

STRONG = 4.0
"""The λ from which on the joint system is worth its factorisation."""
ROOM = 2**30
"""The bytes that factors of joint systems may take."""


@attrs.frozen(eq=False)
class Agreement:
    """Factors of S of some columns, by column, and the λ (G,) of the joint systems of all."""

    couplings: Array
    factors: dict[int, Array]
    n_views: int

    @classmethod
    def of(
        cls,
        grams: Sequence[Array],
        ridges: Array,
        lam: Array,
        weights: Array,
        columns: Sequence[int],
    ) -> Agreement:
        """Factorise the systems of columns with a large λ, for views with weights μ (M,).

        The inverses of Gram matrices are shared by columns whose ridges α/(1 + λ) are nearest to
        the same power of ten: an approximation is enough for a descent.
        """
        missing = np.zeros(len(weights), bool)
        # For uniform weights the coupling matrix is I − 11ᵀ/M, with trace M − 1.
        spread = np.trace(coupling_matrix(weights, missing)) / max(len(weights) - 1, 1)
        couplings = lam * spread
        sharing: dict[int, list[int]] = {}
        for column in columns:
            if len(weights) > 1 and lam[column] >= STRONG and ridges[column] > 0:
                ratio = ridges[column] / (1 + couplings[column])
                sharing.setdefault(round(np.log10(ratio)), []).append(column)
        factors: dict[int, Array] = {}
        for power, members in sharing.items():
            shrinking = _mean_shrinking(grams, 10.0**power)
            if shrinking is not None:
                for column in members:
                    factors[column] = _factor(shrinking, float(couplings[column]))
        return cls(couplings, factors, len(grams))

    def pulls(self, outputs: Array, columns: NDArray[np.intp]) -> Array:
        """Return z (N, R) of factorised columns for the sums of A_l u_l over views, (N, R)."""
        pulls = np.empty_like(outputs)
        for place, column in enumerate(columns.tolist()):
            coupling = self.couplings[column]
            right = outputs[:, place].astype(np.float32)
            solved = cholesky_solution(self.factors[column], right)
            pulls[:, place] = coupling / self.n_views * (1 + coupling) * solved
        return pulls


def columns_at_once(n_rows: int) -> int:
    """Return of how many columns the factors fit into their room, at least one."""
    return max(1, ROOM // (4 * n_rows**2))


def _mean_shrinking(grams: Sequence[Array], ridge: float) -> Array | None:
    """Return the lower triangle of the mean of r(K + r)⁻¹ − 11ᵀ/N for centred K, in LAPACK's order.

    None if a matrix is not positive definite.
    """
    total: Array | None = None
    for gram in grams:
        matrix = gram.copy()
        matrix[np.diag_indices_from(matrix)] += ridge
        if ridge <= SPECTRUM_TOLERANCE * float(np.trace(gram)):
            return None
        factor = cholesky_or_none(matrix.T)
        if factor is None:
            return None
        with threads_for(factor):
            inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        total = inverse if total is None else total + inverse
    assert total is not None
    total *= ridge / len(grams)
    total -= 1 / len(total)
    return total


def _factor(shrinking: Array, coupling: float) -> Array:
    """Return the factor of (1 + λ)S = I + λ(mean of r(K + r)⁻¹ − 11ᵀ/N)."""
    matrix = np.asfortranarray(shrinking * coupling, np.float32)
    matrix[np.diag_indices_from(matrix)] += 1
    with threads_for(matrix):
        return scipy.linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
