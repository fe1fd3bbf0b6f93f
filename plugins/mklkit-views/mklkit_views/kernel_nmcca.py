"""Near-mean CCA of several kernels, as a scikit-learn transformer of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mklkit import IncompatibleError, SpecError, get_registry
from mklkit.plugin import register
from mklkit_views.nmcca import NmCCA

TRIO = ("linear", "rbf(sigma='mean')", "polynomial(degree=2)")


@register
class KernelNmCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Near-mean CCA in the feature spaces of several kernels (regularised kernel CCA).

    Parameters
    ----------
    kernels : sequence of str or Kernel, optional
        Spec strings or kernel objects, each on all columns. Default: ``linear``,
        ``rbf(sigma='mean')``, ``polynomial(degree=2)``.
    feature_map : str or FeatureMap, default="empirical"
        How kernels become features; ``"empirical(subset=0.2)"`` for many samples.
    n_components, alpha :
        As in :class:`NmCCA`.
    random_state : int, RandomState or None, default=None
        Seed of subset maps.

    Attributes
    ----------
    maps_ : list of FittedMap
    nmcca_ : NmCCA
        Fitted on the maps' features.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    On full empirical maps this is kernel CCA: W_k are combinations of the training samples in the
    kernel's feature space, and κ_k is the ridge on their squared norm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(KernelNmCCA(["linear", "rbf"], n_components=3), LogisticRegression())
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    >>> model[0].transform(X).shape
    (150, 6)
    """

    def __init__(
        self,
        kernels: Sequence[Any] | None = None,
        feature_map: Any = "empirical",
        n_components: int | None = None,
        alpha: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.feature_map = feature_map
        self.n_components = n_components
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from samples (N, d); ``y`` is not used."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        registry = get_registry()
        feature_map = registry.create("feature_map", self.feature_map)
        if not feature_map.traits.explicit:
            raise IncompatibleError(
                f"KernelNmCCA needs features: use feature_map='empirical', not {feature_map.name}."
            )
        kernels = TRIO if self.kernels is None else self.kernels
        if isinstance(kernels, str) or not len(kernels):
            raise SpecError(f"kernels must be a list of one or more kernels; got {kernels!r}.")
        random_state = check_random_state(self.random_state)
        fitted = [registry.create("kernel", kernel).fit(X) for kernel in kernels]
        self.maps_ = [feature_map.fit(kernel, X, random_state) for kernel in fitted]
        self.nmcca_ = NmCCA(self.n_components, self.alpha).fit(self._features(X))
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the kernels' concatenated projections (n, M·q) of samples (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.hstack(self.nmcca_.transform(self._features(X)))

    def _features(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        return [fitted.transform(rows) for fitted in self.maps_]

    @property
    def _n_features_out(self) -> int:
        return sum(part.shape[1] for part in self.nmcca_.directions_)
