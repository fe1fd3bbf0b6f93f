"""The exponential chi-squared kernel of histograms."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel

from mklkit.kernels.amounts import amounts
from mklkit.kernels.bandwidth import Bandwidth
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts
from mklkit.registry.hookspecs import register

__all__ = ["Chi2", "FittedChi2"]

MOST_ROWS = 1000

RULES = ("mean",)


def _valid(instance: object, attribute: Any, gamma: float | str) -> None:
    Bandwidth.parse(gamma, "gamma", RULES)


@register
@attrs.frozen
class Chi2(Kernel):
    """Similarity that falls with the χ² distance, k(x, z) = exp(−γ Σ_c (x_c − z_c)²/(x_c + z_c)).

    Parameters
    ----------
    gamma : float or str, default="mean"
        γ, a number above zero, or ``"mean"``: the inverse of the mean χ² distance of the training
        rows, of 1,000 of them if there are more; optionally with a factor, ``"0.5*mean"``.

    Notes
    -----
    O(nmq) for q columns, and O(N²q) to fit. The kernel is scikit-learn's ``chi2_kernel``. Of
    J. Zhang, M. Marszałek, S. Lazebnik, C. Schmid: Local features and kernels for classification of
    texture and object categories. International Journal of Computer Vision 73 (2007).

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> Chi2(gamma=1.0).fit(rows)(rows, rows).round(3)
    array([[1.   , 0.587],
           [0.587, 1.   ]])
    """

    name: ClassVar[str] = "chi2"
    facts: ClassVar[KernelFacts] = KernelFacts(
        reads="amounts", search_space={"gamma": ("0.25*mean", "mean", "4*mean")}
    )

    gamma: float | str = attrs.field(default="mean", validator=_valid)

    def fit(self, rows: Array) -> FittedChi2:
        """Return the kernel with γ as a number."""
        return self.fit_weighted(rows, np.ones(len(rows)))

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedChi2:
        """Return the kernel with γ as a number, from rows that count by their weights (N,)."""
        checked = amounts(self.name, rows)
        width = Bandwidth.parse(self.gamma, "gamma", RULES)
        if width.rule is None:
            return FittedChi2(width.factor)
        places = slice(None, None, max(-(-len(rows) // MOST_ROWS), 1))
        some, counts = checked[places], row_weights[places]
        # Without the distance of each row to itself.
        pairs = counts.sum() * (counts.sum() - 1)
        mean = -counts @ additive_chi2_kernel(some) @ counts / pairs if pairs > 0 else 0.0
        return FittedChi2(width.factor / float(mean) if mean > 0 else width.factor)


@register
@attrs.frozen
class FittedChi2(FittedKernel):
    """The exponential chi-squared kernel with its γ, ready to evaluate."""

    gamma: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        values = additive_chi2_kernel(amounts("chi2", a), amounts("chi2", b))
        values *= self.gamma
        return np.exp(values, out=values)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each row."""
        return np.ones(len(a))
