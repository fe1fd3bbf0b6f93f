"""NmCCA: near-mean canonical correlation analysis of any number of views."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from mklkit import DataError, SpecError
from mklkit.plugin import register
from mklkit_views.near_mean import near_mean_directions, view_ridges


def _check_parameters(n_components: Any, alpha: Any) -> None:
    """Raise an error for less than one component, and a negative or non-numeric regulariser."""
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if n_components is not None and not (whole and n_components >= 1):
        raise SpecError(f"n_components must be a count, 1 or more, or None; got {n_components!r}.")
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < np.inf:
        raise SpecError(f"alpha must be a finite number, 0 or above; got {alpha!r}.")


@register
class NmCCA(BaseEstimator):
    """Near-mean CCA: transform views so that each is close to the mean of all.

    Minimises Σ_k ‖S_kW_k − (1/M) Σ_l S_lW_l‖² + Σ_k κ_k‖W_k‖² over the directions W_k of each
    (centred) view S_k, subject to Σ_k W_kᵀ(S_kᵀS_k + κ_kI)W_k = NM·I: without regularisation a
    component has unit variance on average over the views.

    Parameters
    ----------
    n_components : int, optional
        q, the number of components: by default, and at most, the smallest rank of a view.
    alpha : float, default=0.1
        κ_k in units of the largest eigenvalue of S_kᵀS_k. With 0, views with as many features as
        samples, such as full empirical maps, agree perfectly along any direction.

    Attributes
    ----------
    means_ : list of ndarray of shape (p_k,)
    directions_ : list of ndarray of shape (p_k, q)
        W_k.
    agreement_ : ndarray of shape (q,)
        Decreasing. Without regularisation 1 for equal projections and 1/M for uncorrelated ones;
        for two views the canonical correlation ρ is ``2 * agreement_ - 1``. A larger ``alpha``
        makes the values smaller.

    Notes
    -----
    The pairwise objective of many-view CCA, Σ_{k,l} ‖S_kW_k − S_lW_l‖², is 2M times
    this one: with the same constraint the solutions are the same, and for two views those of CCA
    (up to scale). With kernels, pass empirical maps as views, or use
    :class:`mklkit_views.KernelNmCCA`. O(N·p² + p³) per view, and once for p = min(N, Σp_k). Source:
    Wang, Chen and Sun (2008), section 1, which states the objective; the constraint is that of
    generalised CCA (Hardoon et al. 2004; Bach and Jordan 2002).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> common = rng.normal(size=(50, 1))
    >>> views = [np.hstack([common, rng.normal(size=(50, 2))]) for _ in range(3)]
    >>> model = NmCCA(n_components=1, alpha=0.0).fit(views)
    >>> model.agreement_.round(3)
    array([1.])
    >>> [projection.shape for projection in model.transform(views)]
    [(50, 1), (50, 1), (50, 1)]
    """

    def __init__(self, n_components: int | None = None, alpha: float = 0.1) -> None:
        self.n_components = n_components
        self.alpha = alpha

    def fit(self, views: Sequence[Any], y: Any = None) -> Self:
        """Learn the directions from views (N, p_k) of the same samples; ``y`` is not used.

        Raises
        ------
        ValueError
            For NaN, text, or fewer than two samples.
        DataError
            A ``ValueError`` too: views of different numbers of samples, or without any variance.
        """
        _check_parameters(self.n_components, self.alpha)
        checked = _checked(views, least=2)
        self.means_ = [view.mean(axis=0) for view in checked]
        centered = [view - mean for view, mean in zip(checked, self.means_, strict=True)]
        for number, (view, moved) in enumerate(zip(checked, centered, strict=True)):
            # The mean of N equal numbers may be off by N rounding errors.
            if np.abs(moved).max() <= len(view) * np.finfo(float).eps * np.abs(view).max():
                raise DataError(
                    f"View {number} has the same values in every sample, so it has no variance."
                )
        count = None if self.n_components is None else int(self.n_components)
        ridges = view_ridges(centered, float(self.alpha))
        self.agreement_, directions = near_mean_directions(centered, ridges, count)
        scale = np.sqrt(len(centered[0]) * len(centered))
        self.directions_ = [scale * part for part in directions]
        return self

    def transform(self, views: Sequence[Any]) -> list[NDArray[Any]]:
        """Return each view's projection (n, q), for new samples in the same views (n, p_k).

        Raises
        ------
        DataError
            If the number of views or their widths differ from ``fit``.
        """
        check_is_fitted(self)
        checked = _checked(views, least=1)
        widths, expected = [v.shape[1] for v in checked], [len(mean) for mean in self.means_]
        if widths != expected:
            raise DataError(f"Expected views of widths {expected}, as in fit; got {widths}.")
        parts = zip(checked, self.means_, self.directions_, strict=True)
        return [(view - mean) @ part for view, mean, part in parts]

    def fit_transform(self, views: Sequence[Any], y: Any = None) -> list[NDArray[Any]]:
        """Fit to the views and return each view's projection of the same samples."""
        return self.fit(views).transform(views)


def _checked(views: Any, least: int) -> list[NDArray[Any]]:
    """Return the views as arrays of finite numbers with the same number of samples."""
    if isinstance(views, np.ndarray) and views.ndim == 2:
        raise DataError("Expected a list of views, arrays (N, p_k) each; got one array (N, p).")
    if len(views) == 0:
        raise DataError("Expected at least one view, an array (N, p_k); got none.")
    checked = [check_array(view, dtype=np.float64, ensure_min_samples=least) for view in views]
    if len({len(view) for view in checked}) > 1:
        lengths = [len(view) for view in checked]
        raise DataError(f"Views must be of the same samples; got {lengths} samples.")
    return checked
