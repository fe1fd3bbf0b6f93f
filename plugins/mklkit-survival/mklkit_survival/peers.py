"""Estimators of scikit-survival beside which models are compared."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold

from mklkit.plugin import Array
from mklkit_survival.concordance import concordance
from mklkit_survival.times import as_structured, read_times

FOLDS = 5
LEAF, SPLIT = 15, 10
"""The least samples of a leaf and of a node that is split, as in scikit-survival's guide."""


class SurvivalPeer(BaseEstimator):
    """An estimator of scikit-survival on times and events as mklkit has them.

    Parameters
    ----------
    estimator : estimator
        One of scikit-survival, with ``predict`` and ``predict_survival_function``.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a copy of the estimator.

        Parameters
        ----------
        X : array-like of shape (N, d)
            The training samples.
        y : structured array, DataFrame or array-like of shape (N, 2)
            Times and events.

        Returns
        -------
        SurvivalPeer
            The estimator itself.
        """
        with warnings.catch_warnings():
            # Penalties that leave no coefficient are the first of a path.
            warnings.simplefilter("ignore")
            self.estimator_ = self._fitted(np.asarray(X, np.float64), read_times(y))
        return self

    def _fitted(self, rows: Array, target: Array) -> Any:
        return clone(self.estimator).fit(rows, as_structured(target))

    def predict(self, X: Any) -> Array:
        """Return the risk of each sample (n,)."""
        return np.asarray(self.estimator_.predict(np.asarray(X, np.float64)), np.float64)

    def predict_survival_function(self, X: Any, times: Any = None) -> Array:
        """Return the probability of each sample to survive each time, (n, T).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The samples.
        times : array-like of shape (T,), optional
            By default those at which the estimator's functions change.

        Returns
        -------
        ndarray of shape (n, T)
            The probabilities.
        """
        functions = self.estimator_.predict_survival_function(np.asarray(X, np.float64))
        first = functions[0]
        asked = first.x if times is None else np.asarray(times, np.float64)
        places = np.searchsorted(first.x, asked, side="right")
        values = np.array([function.a * function.y + function.b for function in functions])
        return np.column_stack([np.ones(len(values)), values])[:, places]


class CoxnetPeer(SurvivalPeer):
    """scikit-survival's elastic net of Cox regression, its penalty by concordance in five folds.

    Parameters
    ----------
    estimator : CoxnetSurvivalAnalysis
        The estimator, whose path of penalties is tried.
    random_state : int or None, default=None
        The seed of the folds.
    """

    def __init__(self, estimator: Any, random_state: int | None = None) -> None:
        super().__init__(estimator)
        self.random_state = random_state

    def _fitted(self, rows: Array, target: Array) -> Any:
        alphas = clone(self.estimator).fit(rows, as_structured(target)).alphas_
        n_folds = min(FOLDS, int(min(target[:, 1].sum(), (1 - target[:, 1]).sum())))
        scores = np.zeros(len(alphas))
        if n_folds > 1:
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
            for train, test in folds.split(rows, target[:, 1]):
                path = clone(self.estimator).set_params(alphas=alphas)
                path.fit(rows[train], as_structured(target[train]))
                scores += [
                    np.nan_to_num(concordance(target[test], path.predict(rows[test], alpha)), nan=0)
                    for alpha in alphas
                ]
        best = alphas[: int(np.argmax(scores)) + 1]
        chosen = clone(self.estimator).set_params(alphas=best, fit_baseline_model=True)
        return chosen.fit(rows, as_structured(target))


def peers(seed: int, n_jobs: int | None) -> dict[str, SurvivalPeer]:
    """Return scikit-survival's elastic net, forest and boosting by name; none without it."""
    if find_spec("sksurv") is None:
        return {}
    # Importing them takes a second, and most commands do not need them.
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    forest = RandomSurvivalForest(
        min_samples_leaf=LEAF, min_samples_split=SPLIT, n_jobs=n_jobs, random_state=seed
    )
    net = CoxnetSurvivalAnalysis(l1_ratio=0.5, n_alphas=50, alpha_min_ratio=0.01)
    return {
        "cox elastic net": CoxnetPeer(net, random_state=seed),
        "survival forest": SurvivalPeer(forest),
        "survival boosting": SurvivalPeer(GradientBoostingSurvivalAnalysis(random_state=seed)),
    }
