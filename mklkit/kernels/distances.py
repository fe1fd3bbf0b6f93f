"""Kernels that fall with the distance of two samples: Gaussian and Laplacian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.display.numbers import significant
from mklkit.errors import DataError
from mklkit.kernels.bandwidth import Bandwidth, bandwidth, bandwidths_of_parts
from mklkit.numerics.pairwise import scaled_exp
from mklkit.protocols import Array, Kernel, KernelTraits
from mklkit.protocols.component import AUTO, auto_or_number
from mklkit.registry.hookspecs import register
from mklkit.registry.specs import to_spec
from mklkit.views.kernel_rows import FittedScalarKernel

PROPOSED = tuple(
    f"rbf(sigma='{width}')[{scale}]"
    for scale in ("standard", "none")
    for width in ("mean", "mean/2")
)
"""Columns of mixed units need standardising, and sparse or rotated ones lose by it."""


@register
@attrs.frozen
class RBF(Kernel):
    """Gaussian similarity, k(x, z) = exp(−‖x − z‖²/2σ²) or exp(−γ‖x − z‖²).

    Parameters
    ----------
    sigma : float or str, optional
        The width σ, in the units of the data: a number, or a rule computed from the training
        samples: ``'mean'`` (mean distance over all pairs, as in Wang, Chen and Sun 2008; the
        default without ``gamma``), ``'median'``, ``'scale'`` (γ = 1/(d·variance)), ``'auto'`` (γ =
        1/d), each optionally with a factor on σ: ``'0.1*mean'``, ``'mean/10'``; or ``'neighbors'``
        (γ = 1/mean squared distance of nearest neighbours, as in Mu and Zhou 2011). Samples with
        weights count by them in ``'mean'`` and ``'scale'``.
    gamma : float or str, optional
        The factor γ instead of ``sigma``: a number, or a rule with its factor on γ: ``'5*auto'`` is
        5/d.

    See Also
    --------
    Laplacian : The same for the Manhattan distance.

    Notes
    -----
    Cost: O(nmd) for d columns, one matrix product; O(N²d) to estimate a width.

    Source: B. Schölkopf, A. J. Smola: Learning with Kernels. MIT Press (2002).

    Examples
    --------
    >>> rows = np.array([[0.0], [2.0]])
    >>> RBF(sigma=1.0).fit(rows)(rows, rows).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    >>> RBF(), RBF().fit(rows)
    (RBF(sigma='mean', gamma=None), FittedRBF(gamma=0.5))
    """

    name: ClassVar[str] = "rbf"

    sigma: float | str | None = None
    gamma: float | str | None = None

    def __attrs_post_init__(self) -> None:
        if self.sigma is not None and self.gamma is not None:
            raise ValueError("give sigma or gamma, not both")
        if self.sigma is None and self.gamma is None:
            # Not the field's own default, which would conflict with a given gamma.
            object.__setattr__(self, "sigma", "mean")
        self._width()

    @property
    def traits(self) -> KernelTraits:  # type: ignore[override]
        """Widths to try around the present one, and widths to propose for any data."""
        name, power = ("sigma", 1) if self.gamma is None else ("gamma", -2)
        multiples = (2.0, 1.0, 0.5, 0.25)
        values = tuple(self._width().times(factor**power) for factor in multiples)
        return KernelTraits(search_space={name: values}, proposed=PROPOSED, sparse=True)

    def with_params(self, **params: Any) -> Self:
        """Return a changed copy; ``sigma`` or ``gamma`` replaces the other."""
        for changed, replaced in (("sigma", "gamma"), ("gamma", "sigma")):
            if params.get(changed) is not None:
                params.setdefault(replaced, None)
        return super().with_params(**params)

    def _width(self) -> Bandwidth:
        if self.gamma is not None:
            return Bandwidth.parse(self.gamma, "gamma")
        return Bandwidth.parse(self.sigma, "sigma")

    def fit(self, rows: Array) -> FittedRBF:
        """Return the kernel with γ as a number; by rule from at most 50,000 of the samples.

        ``'mean'`` and ``'median'`` are exact up to 5,000 samples, in O(N²d), and from a fixed
        sample of 64 pairs per sample above.
        """
        return self.fit_weighted(rows, None)

    def fit_weighted(self, rows: Array, row_weights: Array | None) -> FittedRBF:
        """Return the kernel with γ as a number, from samples with weights (N,)."""
        rule = self._width().rule
        value = 1.0 if rule is None else bandwidth(rule, rows, row_weights)
        return self._of_rule(rows.dtype, [value])[0]

    def fit_parts(self, rows: Array, parts: Sequence[NDArray[np.intp]]) -> list[FittedRBF]:
        """Return the kernel with the γ of each part; parts share the distances of all samples."""
        rule = self._width().rule
        values = [1.0] * len(parts)
        if rule is not None:
            values = bandwidths_of_parts(rule, rows, parts)
        return self._of_rule(rows.dtype, values)

    def _of_rule(self, dtype: Any, values: Sequence[float]) -> list[FittedRBF]:
        """Return the kernel for each value of the rule, 1 without a rule, on samples of a type."""
        width = self._width()
        numbers = np.array(values)
        if self.gamma is None:
            sigmas = width.factor * numbers
            gammas = 0.5 / sigmas / sigmas
        elif width.rule is None:
            gammas = width.factor * numbers
        else:
            gammas = width.factor / (2 * numbers**2)
        held = np.finfo(np.result_type(dtype, np.float32))
        most = float(held.max)
        # exp(−750) is zero in float64, as the kernel must be where a distance overflows.
        failed = gammas[~((gammas >= 750 / most) & (gammas <= most))]
        if len(failed):
            raise DataError(
                f"{to_spec(self)} has a width that {held.dtype} cannot represent on these data"
                f" (gamma would be {significant(failed[0], 3)}): choose another, or scale the data"
                " (each column to mean 0 and standard deviation 1, say)."
            )
        return [FittedRBF(gamma) for gamma in gammas.tolist()]


@register
@attrs.frozen
class Laplacian(Kernel):
    """Exponential of the Manhattan distance, k(x, z) = exp(−γ‖x − z‖₁).

    Parameters
    ----------
    gamma : float or str, default='auto'
        The factor γ, above zero, or ``'auto'``: 1/d for d columns, as in scikit-learn.

    See Also
    --------
    RBF : The same for the Euclidean distance.

    Notes
    -----
    Cost: O(nmd) for d columns.

    Source: B. Schölkopf, A. J. Smola: Learning with Kernels. MIT Press (2002).

    Examples
    --------
    >>> rows = np.array([[0.0], [2.0]])
    >>> Laplacian(gamma=0.5).fit(rows)(rows, rows).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name: ClassVar[str] = "laplacian"
    traits: ClassVar[KernelTraits] = KernelTraits(proposed=("laplacian[standard]",))

    gamma: float | str = auto_or_number()

    def fit(self, rows: Array) -> FittedLaplacian:
        """Return the kernel with γ as a number."""
        return FittedLaplacian(1 / rows.shape[1] if self.gamma == AUTO else float(self.gamma))


@attrs.frozen
class _FittedExponential(FittedScalarKernel):
    """exp(−γ·base) of some distance, with its γ, ready to evaluate."""

    monotone: ClassVar[int] = -1

    gamma: float

    @property
    def rate(self) -> float:
        """−γ."""
        return -self.gamma

    def of(self, base: Array, out: Array) -> Array:
        """Return exp(−γ·base)."""
        return scaled_exp(base, -self.gamma, out=out)


@register
@attrs.frozen
class FittedRBF(_FittedExponential):
    """The Gaussian kernel with its γ."""

    base: ClassVar[str] = "squared_distance"

    @property
    def chosen(self) -> dict[str, float]:
        """γ and, if the user gave it, σ."""
        return {"gamma": self.gamma, "sigma": (2 * self.gamma) ** -0.5}


@register
@attrs.frozen
class FittedLaplacian(_FittedExponential):
    """The Laplacian kernel with its γ."""

    base: ClassVar[str] = "manhattan_distance"
