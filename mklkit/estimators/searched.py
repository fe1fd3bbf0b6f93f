"""Variants of an estimator in a search, and their scores by single fits.

Searches for numbers and one class work this way; for classes, one fit may score many points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_val_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from mklkit.errors import DataError, MKLKitError, SpecError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fold_scores import checked_scores, fits_grids
from mklkit.estimators.grids import Point
from mklkit.estimators.groups import fit_in_groups
from mklkit.estimators.one_class import MKLOneClass
from mklkit.estimators.regressor import MKLRegressor
from mklkit.estimators.training_data import checked_groups, checked_row_weights
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Array, RowSource
from mklkit.protocols.component import is_whole
from mklkit.protocols.splits.making import USUAL_FOLDS, Folds, make_splits, read_cv
from mklkit.protocols.splits.split import Splits
from mklkit.views.rows import is_dask

Searched = MKLClassifier | MKLRegressor | MKLOneClass
SHARES = ("accuracy", "balanced_accuracy")
"""Scores that are written in percent."""
USUAL_SCORES = {"two classes": "accuracy", "numbers": "r2", "none": "roc_auc"}


def check_searched(estimator: Any) -> Searched:
    """Return an estimator if it can be searched; refuse others."""
    if not isinstance(estimator, Searched):
        raise SpecError(
            "MKLSearchCV searches parameters of an MKLClassifier, MKLRegressor or MKLOneClass;"
            f" got {estimator!r:.80}. Use scikit-learn's GridSearchCV for other estimators."
        )
    return estimator


def seeded(base: Searched) -> tuple[Any, int]:
    """Return a copy that makes all points see the same random draws, and the seed of the folds."""
    seed = check_random_state(base.random_state).randint(2**31 - 1)
    return base if is_whole(base.random_state) else clone(base).set_params(random_state=seed), seed


def fitted_at_once(estimator: Searched) -> frozenset[str]:
    """Return the parameters that the combiner of an estimator varies in one fit."""
    one_by_one = not isinstance(estimator, MKLClassifier) or estimator.multiclass == "native"
    if one_by_one or not fits_grids(estimator.combiner):
        return frozenset()
    return frozenset(estimator.combiner.grid_parameters(estimator.learner))


def with_plain(base: Searched, params: Point) -> Any:
    """Return a copy with the whole components among some parameters replaced."""
    whole = {name: value for name, value in params.items() if "__" not in name}
    return clone(base).set_params(**whole)


def varied(base: Searched, params: Point) -> Any:
    """Return a copy with some parameters changed, and its components as objects."""
    changed = with_plain(base, params)
    choice = changed._planned()
    changed.set_params(
        combiner=choice.combiner, feature_map=choice.feature_map, learner=choice.learner
    )
    return changed.set_params(**{name: value for name, value in params.items() if "__" in name})


def by_fits(
    base: Searched, points: Sequence[Point], cv: Any, score: Any, rows: tuple[Any, ...]
) -> tuple[Callable[[Callable[[], None]], tuple[Array, dict[str, Array]]], int, Sequence[str]]:
    """Return a scorer of points for numbers or one class, how often it reports, and notes.

    ``rows`` are those of a table with their targets, weights and groups.
    """
    X, y, row_weights, groups = rows
    refuse_sparse(X)
    refuse_sparse(y, "y")
    if isinstance(X, RowSource) or is_dask(X):
        raise DataError("This search needs rows in memory: pass a sample of them.")
    n_rows = _num_samples(X)
    row_weights, groups = checked_row_weights(row_weights, n_rows), checked_groups(groups, n_rows)
    run, seed = seeded(base)
    models = [varied(run, point) for point in points]
    splits = _folds(base, USUAL_FOLDS if cv is None else cv, y, seed, groups)
    whole = X, y, row_weights, groups
    return partial(_scores, models, splits, get_scorer(score), whole), len(models), splits.notes


def _folds(base: Searched, cv: Any, y: Any, seed: int, groups: Any) -> Splits:
    """Return the folds of numbers, or of outliers (−1) and inliers."""
    if isinstance(base, MKLRegressor):
        request = read_cv(cv)
        if isinstance(request, Folds):
            request = attrs.evolve(request, least=2)
        return make_splits(y, request, seed=seed, groups=groups, strata=None)
    if y is None or not np.array_equal(np.unique(np.asarray(y)), [-1, 1]):
        raise DataError(
            "Settings are scored on known outliers: y must be -1 for these and 1 for the other"
            " rows. No fit sees it."
        )
    return make_splits(y, cv, seed=seed, groups=groups)


def _scores(
    models: Sequence[Any],
    splits: Any,
    scoring: Any,
    rows: tuple[Any, Any, Array | None, NDArray[np.intp] | None],
    report: Callable[[], None],
) -> tuple[Array, dict[str, Array]]:
    """Return the scores (folds, models) on rows of weight above 0, and no other values."""
    X, y, row_weights, groups = rows
    params = {}
    if row_weights is not None:
        params["sample_weight"] = row_weights
        splits = [(training, test[row_weights[test] > 0]) for training, test in splits]
    scores = np.full((len(splits), len(models)), np.nan)
    errors: list[MKLKitError] = []
    for place, model in enumerate(models):
        asked = {**params, **fit_in_groups(model, X, y, groups)}
        try:
            with config_context(enable_metadata_routing=False):  # Arguments are passed by name.
                scores[:, place] = cross_val_score(
                    model, X, y, scoring=scoring, cv=splits, params=asked, error_score="raise"
                )
        except MKLKitError as error:
            errors.append(error)
        report()
    return checked_scores(scores, errors), {}
