"""Repeated stratified cross-validation, scored fold by fold and over all folds together."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import pandas as pd
from sklearn.base import clone

from mklkit.display.html import grid, notes, shown
from mklkit.display.numbers import percent, seconds
from mklkit.display.progress import BRIEF, Progress, Report, check_progress, reported
from mklkit.errors import DataError, counted
from mklkit.estimators.folds import FoldPlan, Rows, plan_folds
from mklkit.evaluation.scores import score, score_confusion

__all__ = ["SCORES", "CrossValidation", "cross_validate"]

MOST_FOLDS = 20
"""Folds that a notebook shows."""

SCORES = ("accuracy", "balanced_accuracy", "baseline")
KEPT_PER_FOLD = ("repeat", "fold", "rows", *SCORES, "seconds")


@attrs.frozen(eq=False)
class CrossValidation:
    """The results of cross-validation.

    Attributes
    ----------
    folds : list of dict
        Per fold ``repeat``, ``fold``, ``rows``, ``accuracy``, ``balanced_accuracy``, ``baseline``
        and ``seconds``.
    pooled : dict
        The scores of the rows of all folds together, as :func:`score_confusion` returns them.
    n_folds, repeats : int
        The actual numbers.
    notes : list of str
        Where these differ from the requested numbers.
    estimator : estimator
        The one fitted for the last fold.
    training_rows : ndarray of int
        The positions of its training rows.
    """

    folds: list[dict[str, Any]]
    pooled: dict[str, Any]
    n_folds: int
    repeats: int
    notes: list[str]
    estimator: Any
    training_rows: Rows

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Mean and standard deviation over the folds, per score."""
        return {name: _spread([fold[name] for fold in self.folds]) for name in SCORES}

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the scores of each fold, and their means."""
        means = [f"{percent(one['mean'])} ± {percent(one['std'])}" for one in self.scores.values()]
        rows: list[list[object]] = [["all folds", "", *means, seconds(self.seconds)]]
        for fold in self.folds:
            name = f"{fold['repeat'] + 1}.{fold['fold'] + 1}" if self.repeats > 1 else ""
            scores = [percent(fold[score]) for score in SCORES]
            rows.append([f"fold {name or fold['fold'] + 1}", fold["rows"], *scores,
                         seconds(fold["seconds"])])  # fmt: skip
        heads = ["", "rows", "accuracy %", "balanced %", "most frequent class %", "seconds"]
        more = len(rows) - 1 - MOST_FOLDS
        rest = f"and {counted(more, 'fold')} more" if more > 0 else ""
        table = grid(heads, rows[: MOST_FOLDS + 1], best=0, rest=rest)
        return shown(table, notes("Notes", self.notes))

    @property
    def seconds(self) -> float:
        """The total time of fitting and predicting."""
        return sum(fold["seconds"] for fold in self.folds)


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    folds: int = 5,
    repeats: int = 1,
    random_state: Any = 0,
    progress: Progress = None,
    fit_params: Mapping[str, Any] | None = None,
) -> CrossValidation:
    """Fit and score an estimator on stratified folds; every fold trains on every class.

    Parameters
    ----------
    estimator : classifier or pipeline
        It is cloned for each fold.
    X : array-like or DataFrame of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    folds : int, default=5
        Fewer where the smallest class has fewer rows.
    repeats : int, default=1
        How often the rows are divided into folds, each time differently.
    random_state : int, RandomState or None, default=0
        The seed for dividing the rows.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called with the number of finished folds and of
        all folds, at the start and per fold.
    fit_params : mapping of str to ndarray of shape (n_rows, ...), optional
        More arguments of ``fit``, of which each fold gets those of its training rows, such as
        ``{"sample_weight": weights}``. Scores take all rows alike.

    Raises
    ------
    DataError
        If X and y are not of the same length, or no class has two rows.
    SpecError
        If there are fewer than two folds or no repeats.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = cross_validate(MKLClassifier(), X, y, folds=3)
    >>> len(found.folds), found.pooled["rows"], found.scores["accuracy"]["mean"] > 0.9
    (3, 150, True)
    """
    rows = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    labels = np.asarray(y)
    if len(rows) != len(labels):
        raise DataError(f"X has {len(rows)} rows but y has {len(labels)} labels.")
    check_progress(progress)
    plan = plan_folds(labels, folds, repeats)
    with reported(progress, "cross-validating", BRIEF) as report:
        found, fitted, train = _over_folds(
            estimator, rows, labels, plan, random_state, report, fit_params or {}
        )
    kept = [{key: fold[key] for key in KEPT_PER_FOLD} for fold in found]
    pooled = _pooled(found)
    return CrossValidation(kept, pooled, plan.folds, plan.repeats, plan.notes, fitted, train)


def _over_folds(
    estimator: Any,
    rows: Any,
    labels: Any,
    plan: FoldPlan,
    random_state: Any,
    report: Report,
    fit_params: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], Any, Any]:
    """Return the scores of each fold, and the last fold's estimator and training rows."""
    total = plan.folds * plan.repeats
    report(0, total)
    found: list[dict[str, Any]] = []
    fitted: Any = None
    train: Any = None
    for train, scored in plan.splits(labels, random_state):
        start = perf_counter()
        given = {name: np.asarray(own)[train] for name, own in fit_params.items()}
        fitted = clone(estimator).fit(_taken(rows, train), labels[train], **given)
        predictions = fitted.predict(_taken(rows, scored))
        repeat, fold = divmod(len(found), plan.folds)
        own = score(labels[scored], predictions, labels[train])
        found.append({"repeat": repeat, "fold": fold, **own, "seconds": perf_counter() - start})
        report(len(found), total)
    return found, fitted, train


def _taken(rows: Any, places: Any) -> Any:
    return rows.iloc[places] if isinstance(rows, pd.DataFrame) else rows[places]


def _pooled(folds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the scores of the rows of all folds together."""
    weights = [fold["rows"] for fold in folds]
    baseline = float(np.average([fold["baseline"] for fold in folds], weights=weights))
    confusion = np.sum([fold["confusion"] for fold in folds], axis=0)
    return score_confusion(confusion, folds[0]["classes"], baseline)


def _spread(values: list[float]) -> dict[str, float]:
    return {"mean": fmean(values), "std": stdev(values) if len(values) > 1 else 0.0}
