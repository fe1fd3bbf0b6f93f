"""``explain``: which kernels and columns matter to a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import DataError, IncompatibleError, counted, type_name
from mklkit.estimators.folds import USUAL_FOLDS
from mklkit.estimators.introspection import KernelModel, split
from mklkit.estimators.missing_sources import counts
from mklkit.evaluation.alignment import alignment_matrix, self_similarity
from mklkit.evaluation.splits import read_cv
from mklkit.evaluation.tasks import OneClass, Task, task_of
from mklkit.explanation.columns import ScoredRows, ShufflePlan
from mklkit.explanation.effects import EFFECT
from mklkit.explanation.explanation import Explanation
from mklkit.explanation.meaning import (
    Unit,
    guessed,
    joins_decisions,
    judged,
    meaning_of,
    of_those_who_have,
    without_kernels,
)
from mklkit.explanation.measuring import Measuring
from mklkit.explanation.refitting import Refit, members_of
from mklkit.protocols import CombinerFacts, facts_of
from mklkit.protocols.component import check_whole, is_whole

MOST_ROWS = 5_000
SMALL, SMALL_CV = 500, "5x10"
"""Up to this many rows, folds are drawn ten times, which about halves the intervals."""
UNEVEN = 1.5
"""If class sizes differ by more than this factor, the score is the balanced accuracy."""
ALIGNED_ROWS = 2_000
"""Alignments take time proportional to the square of the number of rows."""
ALIGNMENT = (
    "centred alignment on the encoded rows: 1 for the same kernel, near 0 for unrelated ones"
)
ONLY_SOURCE = (
    "rows whose only source is left out count neither in the fits without it nor in their scores"
)


def explain(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    score: str | None = None,
    repeats: int = 5,
    columns: str | Mapping[str, Any] = "auto",
    max_rows: int | None = MOST_ROWS,
    random_state: Any = 0,
    progress: Progress = None,
) -> Explanation:
    """Measure how much each kernel and column contributes to a model.

    The model is refitted on folds of the rows, with its parameters and kernels (no search is
    repeated, and no kernels are proposed again): once with all kernels and once without each
    of them. Columns are shuffled in the held-out rows, for all kernels at once, before encoding.

    Parameters
    ----------
    model : estimator
        A fitted ``MKLClassifier``, ``MKLRegressor``, ``MKLOneClass``, ``MKLVotingClassifier`` or
        ``RPEMEKLClassifier``, or a pipeline or search around one.
    X : DataFrame or array-like of shape (N, d)
        Rows as the model takes them; a DataFrame may have more columns.
    y : array-like of shape (N,) or (N, T)
        Their classes or numbers; for one class, -1 for outliers and 1 for inliers.
    cv : int, str, scikit-learn splitter, or list of (training rows, scored rows), optional
        An int is a number of shuffled folds, stratified for classes, fewer if a class has fewer
        rows. ``"5x10"`` means five folds, ten times. Default: ``"5x10"`` for up to 500 rows, else
        5.
    groups : array-like of shape (N,), optional
        The group of each row, such as its patient: no group is on both sides of a split.
    score : str, optional
        The score whose loss is measured, by scikit-learn's name, such as ``"roc_auc"``. Default:
        the accuracy for classes (balanced, if the largest has over 1.5 times the rows of the
        smallest), R² for numbers, its mean for several targets, the area under the ROC curve for
        one class.
    repeats : int, default=5
        How often columns are shuffled, per fold.
    columns : {"auto", "each", "sources"} or mapping of str to columns, default="auto"
        What is shuffled together: each column (``"each"``), columns that the same kernels read
        (``"sources"``), each of up to 30 columns and else sources (``"auto"``), or named groups of
        columns, such as ``{"lab": "lab_*"}``.
    max_rows : int or None, default=5000
        Of more rows, a sample is used, stratified for classes; None: all rows.
    random_state : int, RandomState or None, default=0
        The seed of samples, folds, permutations and, if the model has none, of its fits.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called as ``progress(done, total)`` after each
        fit and each group of columns.

    Returns
    -------
    Explanation

    Raises
    ------
    IncompatibleError
        If the model has no kernels, or predicts nothing (``MKLTransformer``).
    DataError
        If a column is missing, lengths differ, rows are not in memory, there is one class, or the
        numbers scored in a fold are all the same.
    SpecError
        If ``cv``, ``score``, ``repeats``, ``columns`` or ``max_rows`` is not one of the above.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Notes
    -----
    F·(1 + M) fits for F folds and M kernels, and F·``repeats`` predictions per group of columns.

    Permutation importance: Breiman, Random forests, 2001; leaving out and refitting: Lei et al.,
    Distribution-free predictive inference for regression, 2018 (LOCO).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mklkit import MKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(
    ...     StandardScaler().set_output(transform="pandas"),
    ...     MKLClassifier(["means:rbf@mean *", "worst:rbf@worst *"], combiner="dimkl3"),
    ... ).fit(X, y)
    >>> explanation = explain(model, X, y, cv=3, repeats=2, columns="sources")
    >>> explanation.columns["group"].tolist()
    ['worst', 'means']
    >>> bool((explanation.columns["shuffled"] > 0).all())
    True
    """
    start = perf_counter()
    check_whole("repeats", repeats, 1)
    if max_rows is not None:
        check_whole("max_rows", max_rows, 2)
    check_progress(progress)
    seed = random_state
    if not is_whole(random_state):
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    task = explained_task(model)
    before, fitted = split(model)
    refit = Refit.of(model, seed, keep_probability=score is not None)
    data, sample_notes = ScoredRows.of(model, task, X, y, groups).sampled(task, max_rows, seed)
    if cv is None:
        cv = SMALL_CV if len(data.targets) <= SMALL else USUAL_FOLDS
    scheme = read_cv(cv)
    if sample_notes and isinstance(cv, list | tuple):
        raise DataError(
            f"The folds refer to all rows, but only {sample_notes[0]}: give max_rows={len(y)}"
            f" (--max-rows {len(y)}) to use all of them."
        )
    splits, fold_notes = task.folds(scheme.cv, data.targets, seed, scheme.repeats, data.groups)
    score = usual_score(task, data.targets) if score is None else score
    task.scorer(score)  # It raises if there is no such score.
    plan = ShufflePlan.of(model, [str(name) for name in data.table.columns], columns)
    # Kernels that skip gaps, as those on categories, lack nothing.
    kernels_read = members_of(fitted)[0].fitted_.plan.kernels
    skips = [kernel.facts.allows_gaps for kernel in kernels_read]
    lacks = data.lacking(plan.reads.values()) & ~np.array(skips)
    measured = Measuring(task, score, refit, data, plan, repeats, seed, _kept_in(fitted), lacks)
    with reported(progress, "explaining") as tell:
        measured.run(splits, tell)
    sample, alike_notes = data.sampled(task, ALIGNED_ROWS, seed)
    rows = sample.as_fitted(sample.table)
    encoded = rows if before is None else before.transform(rows)
    alignment = alignment_matrix(fitted, encoded, centered=True)
    sizes = self_similarity(fitted, encoded).to_numpy()
    scores = measured.scores()
    unit = Unit.of(task, score, float(scores["score"].mean()))
    kernels = measured.kernels(sizes, comparable=not joins_decisions(fitted))
    kernels = judged(kernels, len(data.targets), unit.little)
    have = of_those_who_have(kernels, unit.little)
    classes = [] if is_regressor(model) else np.unique(data.targets).tolist()
    codes = np.searchsorted(classes, data.targets) if classes else data.targets
    if len(have):
        kernels["have_outcome"] = have["outcome"]
    notes = {
        "rows": [
            *sample_notes,
            *fold_notes,
            f"refitted on {len(splits)} folds, with the same parameters:"
            f" {counted(measured.n_fits, 'fit')}; ± is the deviation over folds,"
            " brackets hold 95 % intervals",
            *refit.notes,
            *guessed(scores, unit),
        ],
        "lacking": [*counts(list(plan.reads), lacks, codes, classes)],
        "weights": list(meaning_of(fitted, sizes, alignment)),
        "left out": list(without_kernels(kernels, unit)),
        "have it": list(without_kernels(have, unit)),
        "shuffled": plan.notes,
        "alike": [ALIGNMENT, *alike_notes],
    }
    effects = measured.column_effects()
    if len(effects):
        notes["effects"] = [EFFECT]
    if len(have) and measured.alone.any():
        notes["left out"].append(ONLY_SOURCE)
    sentences = pd.Series(notes, name="note").explode().dropna()
    return Explanation(
        kernels=kernels,
        columns=measured.columns(),
        effects=effects,
        alignment=alignment,
        scores=scores,
        weights=measured.weights_by_fold(),
        notes=sentences.rename_axis("about").reset_index(),
        task=task,
        score=score,
        unit=unit,
        n_fits=measured.n_fits,
        seconds=perf_counter() - start,
    )


def usual_score(task: Task, targets: NDArray[Any]) -> str:
    """Return the default score."""
    if isinstance(task, OneClass):
        return "roc_auc"
    usual = next(iter(task.scores))
    if usual != "accuracy":
        return usual
    counts = np.unique(targets, return_counts=True)[1]
    return "balanced_accuracy" if counts.max() > UNEVEN * counts.min() else usual


def explained_task(model: Any) -> Task:
    """Return how a fitted model is scored; IncompatibleError if it can't be explained."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    _, last = split(model)
    if not isinstance(last, KernelModel):
        raise IncompatibleError(
            f"{type_name(last)} has no kernels to explain; expected a fitted MKLClassifier,"
            " MKLRegressor, MKLVotingClassifier or RPEMEKLClassifier, or a search or pipeline of"
            " one. For other estimators use sklearn.inspection.permutation_importance."
        )
    if not (is_classifier(model) or is_regressor(model) or is_outlier_detector(model)):
        raise IncompatibleError(
            f"{type_name(last)} predicts nothing, so there is no score to measure the contribution"
            " of a kernel; its weights are in weights_frame()."
        )
    return task_of(model)


def _kept_in(model: KernelModel) -> dict[int, str]:
    """Return the kernels that can't be left out, all of them or none, with the reason."""
    n_kernels = len(model.kernels_)
    exact = facts_of(model.combiner_, CombinerFacts).n_kernels
    if n_kernels > 1 and exact is None:
        return {}
    reason = f"{model.combiner_.name} takes exactly {exact} kernels: none can be left out"
    if n_kernels == 1:
        reason = "it is the only kernel"
    return dict.fromkeys(range(n_kernels), reason)
