"""Repeated cross-validation, scored per fold and, for classes, over all folds together."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.datasets.adjusting import Adjustment
from mklkit.display.html import html_table, notes, shown
from mklkit.display.progress import BRIEF, Progress, check_progress, reported
from mklkit.errors import DataError
from mklkit.estimators.on_sources import on_sources
from mklkit.estimators.task_of import task_of
from mklkit.estimators.training_data import checked_groups
from mklkit.evaluation.class_scores import score_confusion
from mklkit.evaluation.fit_and_score import Samples, fit_and_score
from mklkit.evaluation.result_tables import scores_result
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Task
from mklkit.protocols.component import check_whole
from mklkit.protocols.splits.making import Folds, read_cv
from mklkit.protocols.splits.split import Splits

MOST_FOLDS = 20
"""The most folds that a notebook shows."""


@attrs.frozen(eq=False)
class CrossValidation:
    """The results of cross-validation.

    Parameters
    ----------
    folds : list of dict
        Per fold ``repeat``, ``fold``, ``rows``, ``better_than_baseline``, ``seconds`` and the
        scores: for classes ``accuracy``, ``balanced_accuracy`` and ``baseline``; for numbers
        ``r2``, ``mean_absolute_error`` and ``baseline``. ``r2`` divides by the variance of all
        scored targets, so that its mean over folds is the R² of all held-out predictions of a
        repetition (:class:`mklkit.evaluation.pooled_r2.HeldOut`).
    pooled : dict or None
        For classes, the scores of the samples of all folds together, as :func:`score_confusion`
        returns them.
    estimator : estimator
        The one fitted for the last fold.
    task : Task
        How the target was treated.
    splits : Splits
        The samples trained on and scored in each fold; their numbers, and the folds in words.
    notes : list of str
        How the folds differ from the requested ones.
    answers : list of ndarray
        The predictions for the samples scored in each fold.
    adjustment : Adjustment
        The covariates that the estimator's steps remove, and the columns that still tell them.

    See Also
    --------
    cross_validate : Computes them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mklkit import MKLClassifier
    >>> from mklkit.evaluation import cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> results = cross_validate(MKLClassifier("rbf", learner="svm(C=1)"), X, y, cv=3)
    >>> len(results.folds), results.pooled["rows"]
    (3, 150)
    """

    folds: list[dict[str, Any]]
    pooled: dict[str, Any] | None
    estimator: Any
    task: Task
    splits: Splits
    notes: list[str] = attrs.field(factory=list)
    answers: list[Any] = attrs.field(factory=list)
    adjustment: Adjustment = attrs.field(factory=Adjustment)

    @property
    def scores(self) -> dict[str, dict[str, float | None]]:
        """Mean and standard deviation over the folds, per score."""
        return {
            score.key: _spread([fold[score.key] for fold in self.folds])
            for score in self.task.labeled
        }

    @property
    def seconds(self) -> float:
        """The total time of fitting and predicting."""
        return sum(fold["seconds"] for fold in self.folds)

    @property
    def spread(self) -> dict[str, float | None]:
        """Mean and standard deviation of each score, by its key and its key with ``_std``."""
        return {
            key + ending: spread[name]
            for key, spread in self.scores.items()
            for ending, name in (("", "mean"), ("_std", "std"))
        }

    def _repr_html_(self) -> str:
        """Return the notebook display: the scores of each fold, and their means."""
        means = {"name": "all folds", "seconds": self.seconds, **self.spread}
        folds = [
            {"name": f"fold {_place(fold, self.splits.repeats)}", **fold} for fold in self.folds
        ]
        table = scores_result(self.task, [means, *folds], with_time=True).first(MOST_FOLDS + 1)
        of_all = html_table(table, row_style=lambda row: "best" if row is means else "")
        return shown(of_all, notes("Notes", self.notes))


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    cv: Any = 5,
    repeats: int = 1,
    random_state: Any = 0,
    progress: Progress = None,
    fit_params: Mapping[str, Any] | None = None,
    groups: Any = None,
) -> CrossValidation:
    """Fit and score an estimator on folds, which are stratified for classes.

    Parameters
    ----------
    estimator : classifier, regressor or pipeline
        It is cloned for each fold.
    X : array-like or DataFrame of shape (N, d)
        The samples.
    y : array-like of shape (N,)
        Classes, or numbers for a regressor.
    cv : int, str, scikit-learn splitter or list of (training samples, test samples), default=5
        There are fewer if the smallest class has fewer samples; every fold trains on every class.
        Text is as for :func:`mklkit.compare`: ``"5x10"``, ``"groups"``, ``"time:5"``.
    repeats : int, default=1
        How often the samples are divided into folds, each time differently.
    random_state : int, RandomState or None, default=0
        The seed of the division.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called with the number of finished folds and of
        all folds, at the start and per fold.
    fit_params : mapping of str to ndarray of shape (N, ...), optional
        More arguments of ``fit``, such as ``{"sample_weight": weights}``; each fold gets the values
        of its training samples. Scores count all samples equally.
    groups : array-like of shape (N,), optional
        The group of each sample, such as its patient. Samples of a group are in the same fold and,
        if ``fit`` takes ``groups``, in the same part of its own splits.

    Returns
    -------
    CrossValidation
        With ``folds``, the scores of each; ``scores``, their mean and standard deviation;
        ``pooled``, for classes the scores of all folds together; ``seconds``; and a table in a
        notebook.

    Raises
    ------
    DataError
        If X and y are not of the same length, or no class has two samples.
    SpecError
        If there are fewer than two folds or no repeats.

    See Also
    --------
    compare : Several methods on the same splits, with tests.
    explain : Which kernels and columns a model needs.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = cross_validate(MKLClassifier(), X, y, cv=3)
    >>> len(result.folds), result.pooled["rows"], result.scores["accuracy"]["mean"] > 0.9
    (3, 150, True)
    """
    refuse_sparse(y, "y")
    estimator, X = on_sources(estimator, X, y)
    task = task_of(estimator)
    targets = task.as_array(y)
    if len(X) != len(targets):
        raise DataError(f"X has {len(X)} samples but y has {len(targets)} labels.")
    request = read_cv(cv)
    check_whole("repeats", repeats, 1)
    if isinstance(request, Folds):
        request = attrs.evolve(request, repeats=repeats * request.repeats)
    check_progress(progress)
    members = checked_groups(groups, len(targets))
    splits = task.splits(targets, request, random_state, members)
    features = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    samples = Samples(features, targets, fit_params or {}, members)
    held_out = task.held_out(targets, splits.tests)
    scored: list[dict[str, Any]] = []
    answers: list[Any] = []
    adjustment = Adjustment.of(estimator, X, targets)
    adjustment.warn()
    with reported(progress, "cross-validating", BRIEF) as report:
        report(0, len(splits))
        for place, split in enumerate(splits):
            variance = None if held_out is None else held_out.variance(place)
            scores = fit_and_score(estimator, samples, split, task, variance=variance)
            answers.append(scores.predictions)
            numbers = {"repeat": split.repeat, "fold": split.fold}
            scored.append({**numbers, **scores.test, "seconds": scores.seconds})
            report(len(scored), len(splits))
    keys = [score.key for score in task.labeled]
    kept = ("repeat", "fold", "rows", *keys, "better_than_baseline", "seconds")
    per_fold = [{key: fold[key] for key in kept} for fold in scored]
    pooled = None
    if "confusion" in scored[0]:
        weights = [fold["rows"] for fold in scored]
        baseline = float(np.average([fold["baseline"] for fold in scored], weights=weights))
        confusion = np.sum([fold["confusion"] for fold in scored], axis=0)
        pooled = score_confusion(confusion, scored[0]["classes"], baseline, task.scores)
    return CrossValidation(
        per_fold, pooled, scores.model, task, splits, list(splits.notes), answers, adjustment
    )


def _place(fold: Mapping[str, Any], repeats: int) -> str:
    """Return the number of a fold, after that of its repetition if there are several."""
    places = [fold["repeat"] + 1, fold["fold"] + 1]
    return ".".join(map(str, places[repeats == 1 :]))


def _spread(values: list[float | None]) -> dict[str, float | None]:
    known = [value for value in values if value is not None]
    deviation = stdev(known) if len(known) > 1 else 0.0
    return {"mean": fmean(known) if known else None, "std": deviation}
