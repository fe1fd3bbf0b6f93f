"""``explain``: which kernels and columns matter to a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import IncompatibleError, counted, type_name
from mklkit.estimators.introspection import KernelModel, split
from mklkit.evaluation.alignment import alignment_matrix, self_similarity
from mklkit.evaluation.tasks import Task, task_of
from mklkit.explanation.columns import ShufflePlan
from mklkit.explanation.explanation import Explanation
from mklkit.explanation.meaning import joins_decisions, meaning_of, without_kernels
from mklkit.explanation.measuring import Measuring, ScoredRows
from mklkit.explanation.refitting import Refit
from mklkit.protocols import CombinerFacts, facts_of
from mklkit.protocols.component import check_whole, is_whole

MOST_ROWS = 5_000
ALIGNED_ROWS = 2_000
"""Alignments take time proportional to the square of the number of rows."""
ALIGNMENT = (
    "centred alignment on the encoded rows: 1 for the same kernel, near 0 for unrelated ones"
)


def explain(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    repeats: int = 5,
    columns: str | Mapping[str, Any] = "auto",
    max_rows: int | None = MOST_ROWS,
    random_state: Any = 0,
    progress: Progress = None,
) -> Explanation:
    """Find out what each kernel and column is worth to a model.

    The model is fitted again on folds of the rows, with its parameters and kernels (a search is not
    repeated, nor is a bank of kernels proposed again): once with all kernels and once without each
    of them. Columns are shuffled in the held-out rows, for all kernels at once, before they are
    encoded.

    Parameters
    ----------
    model : estimator
        A fitted ``MKLClassifier``, ``MKLRegressor``, ``MKLVotingClassifier`` or
        ``RPEMEKLClassifier``, or a pipeline or search around one.
    X : DataFrame or array-like of shape (N, d)
        Rows as the model takes them; a DataFrame may have more columns.
    y : array-like of shape (N,) or (N, T)
        Their classes, or their numbers: of a model of numbers R² is measured, of several targets
        its mean.
    cv : int, scikit-learn splitter, or list of (training rows, scored rows), default=5
        An int means shuffled folds; of classes stratified, fewer where a class has fewer rows.
    repeats : int, default=5
        How often columns are shuffled, per fold.
    columns : {"auto", "each", "sources"} or mapping of str to columns, default="auto"
        What is shuffled together: each column (``"each"``), those that the same kernels read
        (``"sources"``), each of up to 30 and else sources (``"auto"``), or groups of columns by a
        name, as ``{"lab": "lab_*"}``.
    max_rows : int or None, default=5000
        Of more rows a sample is used, of classes a stratified one; None: all rows.
    random_state : int, RandomState or None, default=0
        The seed of samples, folds, permutations and, where the model has none, of its fits.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called as ``progress(done, total)`` after each
        fit and each group of columns.

    Returns
    -------
    Explanation

    Raises
    ------
    IncompatibleError
        If the model has no kernels, or was fitted without a target (``MKLOneClass``).
    DataError
        If a column is missing, lengths differ, rows are not in memory, there is one class, or the
        numbers scored in a fold are all the same.
    SpecError
        If ``cv``, ``repeats``, ``columns`` or ``max_rows`` is not one of the above.
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
    refit = Refit.of(model, seed)
    data, sample_notes = ScoredRows.of(model, task, X, y).sampled(task, max_rows, seed)
    splits, fold_notes = task.folds(cv, data.targets, seed)
    plan = ShufflePlan.of(model, [str(name) for name in data.table.columns], columns)
    measured = Measuring(task, refit, data, plan, repeats, seed, _kept_in(fitted))
    with reported(progress, "explaining") as tell:
        measured.run(splits, tell)
    sample, alike_notes = data.sampled(task, ALIGNED_ROWS, seed)
    rows = sample.as_fitted(sample.table)
    encoded = rows if before is None else before.transform(rows)
    alignment = alignment_matrix(fitted, encoded, centered=True)
    sizes = self_similarity(fitted, encoded).to_numpy()
    kernels = measured.kernels(sizes, comparable=not joins_decisions(fitted))
    scores = measured.scores()
    guessing = task.no_better_than_guessing({name: scores[name].mean() for name in task.scores})
    notes = {
        "rows": [
            *sample_notes,
            *fold_notes,
            f"fitted again on {len(splits)} folds, with the parameters that it has:"
            f" {counted(measured.n_fits, 'fit')}; ± is the deviation over folds",
            *refit.notes,
            *([f"the model is {guessing}, so that losses say little"] if guessing else []),
        ],
        "weights": list(meaning_of(fitted, sizes, alignment)),
        "left out": list(without_kernels(kernels, len(splits))),
        "shuffled": plan.notes,
        "alike": [ALIGNMENT, *alike_notes],
    }
    sentences = pd.Series(notes, name="note").explode().dropna()
    return Explanation(
        kernels=kernels,
        columns=measured.columns(),
        alignment=alignment,
        scores=scores,
        weights=measured.weights_by_fold(),
        notes=sentences.rename_axis("about").reset_index(),
        task=task,
        n_fits=measured.n_fits,
        seconds=perf_counter() - start,
    )


def explained_task(model: Any) -> Task:
    """Return how a fitted model is scored; IncompatibleError if it can't be explained."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    _, last = split(model)
    if not isinstance(last, KernelModel):
        raise IncompatibleError(
            f"{type_name(last)} has no kernels to explain; a fitted MKLClassifier, MKLRegressor,"
            " MKLVotingClassifier or RPEMEKLClassifier is expected, or a pipeline or search around"
            " one. For other estimators there is sklearn.inspection.permutation_importance."
        )
    if not (is_classifier(model) or is_regressor(model)):
        raise IncompatibleError(
            f"{type_name(last)} learns from rows without labels, so there is no score by which the"
            " worth of a kernel could be measured; its weights are in weights_frame()."
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
        reason = "there is one kernel, and nothing without it"
    return dict.fromkeys(range(n_kernels), reason)
