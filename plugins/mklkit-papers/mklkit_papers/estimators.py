"""Classifiers that only the papers' protocols need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.preprocessing import StandardScaler

from mklkit.errors import MKLKitError
from mklkit.estimators.search import MKLSearchCV

SCALINGS = ("raw", "standardised")


class Searched(ClassifierMixin, BaseEstimator):
    """A classifier that is the best of several searches."""

    def _take(self, search: Any, best: Any, params: dict[str, Any]) -> Self:
        self.best_estimator_, self.best_params_ = best, params
        self.best_score_, self.refit_time_ = search.best_score_, search.refit_time_
        self.classes_ = search.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels of samples."""
        return self.best_estimator_.predict(X)


class PreferredScaling(Searched):
    """A search on raw and on standardised features; the better one predicts.

    Wang, Chen and Sun 2008, Wang and Chen 2009 and Wang et al. 2013 do not say whether features are
    scaled. Here cross-validation on the training samples chooses, as it does for parameters; ties
    go to raw features. If a search fails with one scaling, as solvers may on kernels of very large
    values, it is the other one. The choice is ``scaling`` in ``best_params_``.
    """

    def __init__(self, search: Any) -> None:
        self.search = search

    def fit(self, X: Any, y: Any) -> Self:
        """Search with both scalings."""
        scaler = StandardScaler().fit(X)
        raw = _searched(self.search, X, y)
        standardized = _searched(self.search, scaler.transform(X), y)
        if isinstance(raw, MKLKitError) and isinstance(standardized, MKLKitError):
            raise raw
        better = _rounded(standardized) > _rounded(raw)
        self.scaler_ = scaler if better else None
        search = standardized if better else raw
        return self._take(search, search, {"scaling": SCALINGS[better], **search.best_params_})

    def predict(self, X: Any) -> Any:
        """Return the labels of samples, scaled as in training."""
        return super().predict(X if self.scaler_ is None else self.scaler_.transform(X))


def _searched(search: Any, X: Any, y: Any) -> Any:
    """Return a fitted copy of a search, or its error."""
    try:
        return clone(search).fit(X, y)
    except MKLKitError as error:
        return error


def _rounded(search: Any) -> float:
    """Return the score of a search, the lowest if it failed; equal scores differ by rounding."""
    return -np.inf if isinstance(search, MKLKitError) else round(float(search.best_score_), 12)


class InTurn(Searched):
    """Parameters searched one grid after another, each with the values chosen before.

    It costs the sum of the grids, while a search of all parameters at once costs their product.
    """

    def __init__(
        self,
        estimator: Any,
        grids: Sequence[Mapping[str, Any]],
        *,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.grids = grids
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Search grid by grid."""
        best = self.estimator
        params: dict[str, Any] = {}
        for grid in self.grids:
            search = MKLSearchCV(clone(best), grid, cv=self.cv, random_state=self.random_state)
            best = search.fit(X, y).best_estimator_
            params |= search.best_params_
        return self._take(search, best, params)


class ShareThreshold(ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis of a classifier's decision values, for two classes.

    The values of each class are normal with the same variance, and classes have their shares of
    the training samples: the ``threshold_`` is m + s² log(π₀/π₁)/(m₁ − m₀) for the mean m of both
    classes' means m₀ and m₁. With π₀ = π₁ it is the nearest class mean.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, and the threshold to its outputs for the same samples."""
        self.classifier_ = clone(self.classifier).fit(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        outputs = np.asarray(self.classifier_.decision_function(X), dtype=np.float64)
        counts = np.bincount(codes)
        means = np.bincount(codes, outputs) / counts
        variance = float(np.square(outputs - means[codes]).sum()) / max(len(outputs) - 2, 1)
        apart = float(means[1] - means[0])
        shift = variance * float(np.log(counts[0] / counts[1])) / apart if apart > 0 else 0.0
        self.threshold_ = float(means.mean()) + shift
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels of samples."""
        above = self.classifier_.decision_function(X) > self.threshold_
        return self.classes_[above.astype(int)]
