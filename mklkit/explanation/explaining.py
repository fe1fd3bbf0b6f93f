"""``explain``: which kernels and columns matter to a fitted model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.adjusting import Adjustment
from mklkit.datasets.covariates import quiet_removal
from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import (
    DataError,
    IncompatibleError,
    SpecError,
    quoted,
    type_name,
)
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.introspection import KernelModel, split
from mklkit.estimators.missing_sources import counts, numbered
from mklkit.estimators.task_of import task_of
from mklkit.evaluation.alignment import alignment_matrix, self_similarity
from mklkit.evaluation.equivalence import MARGIN, equivalence_margin, margin_of
from mklkit.evaluation.score_needs import is_defined
from mklkit.evaluation.sentences import Unit
from mklkit.evaluation.time_limits import seconds_of, shortened
from mklkit.explanation.ablations import Ablations, named_groups, similar_groups
from mklkit.explanation.columns import ScoredRows, ShufflePlan
from mklkit.explanation.effects import BOUND, CHANCE, EFFECT, is_bounded
from mklkit.explanation.explanation import Explanation
from mklkit.explanation.meaning import (
    adjusted,
    alone,
    guessed,
    informed,
    joins_decisions,
    judged,
    meaning_of,
    of_those_who_have,
    replaceable,
    together,
    without_kernels,
)
from mklkit.explanation.measuring import INTERVAL, Measuring, quiet_scores
from mklkit.explanation.refitting import Refit, kernels_of
from mklkit.explanation.screening import screen_notes
from mklkit.protocols import CombinerTraits, Task, traits_of
from mklkit.protocols.component import check_whole, is_whole
from mklkit.protocols.splits.making import USUAL_CV, PartsColumn

MOST_ROWS = 5_000
ALIGNED_ROWS = 2_000
"""Alignments take time proportional to the square of the number of samples."""
ALIGNMENT = (
    "centred alignment on the encoded samples: 1 for the same kernel, near 0 for unrelated ones"
)
ONLY_SOURCE = (
    "samples whose only source is dropped count neither in the fits without it nor in their scores"
)


@quiet_scores()
def explain(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    score: str | None = None,
    repeats: int = 5,
    columns: str | Mapping[str, Any] = "auto",
    max_rows: int | None = MOST_ROWS,
    random_state: Any = 0,
    without: Iterable[str | Sequence[str]] | None = None,
    margin: float | str = MARGIN,
    as_fitted: bool = False,
    time_limit: float | str | None = None,
    progress: Progress = None,
) -> Explanation:
    """Measure how much each kernel and column contributes to a model.

    The model is refitted on folds of the samples, once with all kernels and once without each of
    them. What it chose is chosen again on the training samples of each fit: by its search, or the
    kernel of a source. Columns are permuted in the held-out samples, for all kernels at once,
    before encoding.

    Parameters
    ----------
    model : estimator
        A fitted ``MKLClassifier``, ``MKLRegressor``, ``MKLOneClass``, ``MKLVotingClassifier`` or
        ``RPEMEKLClassifier``, or a pipeline or search around one.
    X : DataFrame or array-like of shape (N, d)
        Samples as the model takes them; a DataFrame may have more columns.
    y : array-like of shape (N,) or (N, T)
        Their classes or numbers; for one class, -1 for outliers and 1 for inliers.
    cv : int, str, scikit-learn splitter, or list of (training samples, scored samples), optional
        An int is a number of shuffled folds, stratified for classes, fewer if a class has fewer
        samples. ``"5x10"``, the default, means five folds, ten times.
    groups : array-like of shape (N,) or "ignore", optional
        The group of each sample, such as its patient: no group is on both sides of a split. They
        must be given if the model was fitted with groups, because other samples of a group tell its
        target; ``"ignore"`` treats the samples as independent all the same.
    sample_weight : array-like of shape (N,), optional
        How much each sample counts in the fits; scores count all equally.
    score : str, optional
        The score whose loss is measured, by scikit-learn's name, such as ``"roc_auc"``. Default:
        the accuracy for classes (balanced, if the largest has over 1.5 times the samples of the
        smallest), R² for numbers, its mean for several targets, the area under the ROC curve for
        one class.
    repeats : int, default=5
        How often columns are permuted, per fold.
    columns : {"auto", "each", "sources"} or mapping of str to columns, default="auto"
        What is permuted together: each column (``"each"``), columns that the same kernels read
        (``"sources"``), each of up to 30 columns and else sources (``"auto"``), or named groups of
        columns, such as ``{"lab": "lab_*"}``. Of a kernel with over 200 columns, each fit permutes
        only the 50 with the largest gradient in its training samples.
    max_rows : int or None, default=5000
        Of more samples, a sample is used, stratified for classes; None: all samples.
    random_state : int, RandomState or None, default=0
        The seed of samples, folds, permutations and, if the model has none, of its fits.
    without : iterable of several names, optional
        Kernels to leave out together, such as ``[("mrna", "protein")]``; ``"mrna,protein"`` is the
        same. Unasked, up to three groups of kernels with a centred alignment above 0.9 are dropped
        together, and the kernels that are informative alone and not shown to be lost.
    margin : float or str, default=0.02
        The largest loss that does not matter, as a share or such as ``"2%"``: of 1 for scores that
        are 1 at best, and of the baseline's error for errors.
    as_fitted : bool, default=False
        Keep the parameters and kernels that the model chose on all its samples, instead of choosing
        them again in each fit. That takes less time, and its scores are optimistic.
    time_limit : float or str, optional
        Seconds, or a time such as ``"10m"``, after which no further repetition of the folds begins.
        At least one is finished.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called as ``progress(done, total)`` after each
        fit and each group of columns.

    Returns
    -------
    Explanation
        With tables for kernels, columns, effects, alignments and scores, and the same in words.

    Raises
    ------
    IncompatibleError
        If the model has no kernels, or predicts nothing (``MKLTransformer``).
    DataError
        If a column is missing, lengths differ, samples are not in memory, there is one class, the
        numbers scored in a fold are all the same, or the model was fitted with groups and they are
        not given.
    SpecError
        If ``cv``, ``score``, ``repeats``, ``columns`` or ``max_rows`` is not one of the above.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    See Also
    --------
    compare : Methods on the same splits, with tests of their differences.

    Notes
    -----
    F·(1 + M) fits for F folds and M kernels, and F·``repeats`` predictions per group of columns.
    Columns are permuted [1]_; kernels are dropped and the model is refitted (LOCO) [2]_.

    A kernel with d > 200 columns has a screen in each fit, on its training samples. Columns are
    ranked by the mean absolute derivative of the kernel's part of the decision values, times the
    standard deviation of the column. For functions of inner products or distances, and their
    cosines, this takes O(nNd) for n ≤ 200 of N training rows, less than their Gram matrix. For
    others, groups of columns are permuted and halved, in O(log d) rounds of 100 predictions of ten
    samples. Only the 50 best columns are measured in the held-out samples, so a fold needs no more
    predictions for 10,000 columns than for 200. Permuted columns with as large a derivative are
    counted, as in the analysis of microarrays [3]_: this is how many noise alone would select.

    References
    ----------
    .. [1] L. Breiman, "Random forests", Machine Learning 45 (2001), 5–32.
    .. [2] J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman, "Distribution-free
       predictive inference for regression", Journal of the American Statistical Association 113
       (2018), 1094–1111.
    .. [3] V. G. Tusher, R. Tibshirani and G. Chu, "Significance analysis of microarrays applied to
       the ionizing radiation response", Proceedings of the National Academy of Sciences 98 (2001),
       5116–5121.

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
    >>> bool((explanation.columns["shuffled"] < 0).all())
    True
    """
    start = perf_counter()
    check_whole("repeats", repeats, 1)
    if max_rows is not None:
        check_whole("max_rows", max_rows, 2)
    check_progress(progress)
    share = margin_of(margin)
    limit = seconds_of(time_limit)
    seed = _seed_of(random_state)
    task = explained_task(model)
    before, fitted = split(model)
    whole = ScoredRows.of(model, task, X, y, _checked_groups(fitted, groups), sample_weight)
    refit = Refit.of(model, seed, score is not None, as_fitted, whole.groups is not None)
    data, sample_notes = whole.sampled(task, max_rows, seed)
    if sample_notes and isinstance(cv, list | tuple | PartsColumn):
        raise DataError(
            f"The folds refer to all samples, but only {sample_notes[0]}: give max_rows={len(y)}"
            f" (--max-rows {len(y)}) to use all of them."
        )
    splits = task.splits(data.targets, USUAL_CV if cv is None else cv, seed, data.groups)
    score = task.usual_score(data.targets) if score is None else score
    if not is_defined(task, score, data.targets, "these samples"):
        _check_probabilities(model, score)
    read = kernels_of(refit, fitted)
    plan = ShufflePlan.of(model, read, [str(name) for name in data.table.columns], columns)
    # Kernels that skip gaps, as those on categories, lack nothing.
    skips = [kernel.traits.allows_gaps for kernel in read]
    missing = data.missing_sources(plan.reads.values()) & ~np.array(skips)
    encoded, alike_notes = _some_encoded(data, before, task, seed)
    alignment = alignment_matrix(fitted, encoded, centered=True)
    ablations = _ablations(refit.labels, fitted, without, alignment)
    measured = Measuring(task, score, refit, data, plan, repeats, seed, ablations, missing)
    unadjusted = _unadjusted(refit, data, fitted)
    little = equivalence_margin(task, score, data.targets, share)
    sizes = self_similarity(fitted, encoded)
    with reported(progress, "explaining") as tell, quiet_removal():
        repeats_done = measured.run(splits, tell, limit)
        table = measured.kernels(sizes, not joins_decisions(fitted), unadjusted)
        n_counted, why_none = measured.n_counted, measured.why_no_verdict
        kernels = informed(judged(table, n_counted, little, why_none))
        measured.leave_out_together(replaceable(kernels), splits, tell)
    scores = measured.scores()
    unit = Unit.of(task.score_named(score), float(scores["score"].mean()))
    groups = judged(measured.together(unadjusted), n_counted, little, why_none)
    have = of_those_who_have(kernels, little, why_none, measured.single)
    if len(have):
        kernels["have_outcome"] = have["outcome"]
    screens, effects = measured.screen_table(), measured.column_effects()
    trained = float(scores["training_rows"].mean())
    notes = {
        "score": [*guessed(scores, unit), *refit.cautions],
        "rows": [
            *sample_notes,
            *splits.notes,
            *measured.absent,
            measured.about_fits,
            *measured.about_losses(trained),
            *filter(None, [shortened(time_limit, repeats_done, splits.repeats)]),
            *refit.remarks,
        ],
        "incomplete": _incomplete(task, data, plan, missing),
        "weights": list(
            meaning_of(fitted, sizes.to_numpy(), alignment, measured.leaves_sources_out)
        ),
        "ablation": [
            *without_kernels(kernels, unit, measured.ablations.groups),
            *adjusted(kernels),
            *([ONLY_SOURCE] if len(have) and measured.some_bare else []),
        ],
        "together": list(together(groups, kernels, unit)),
        "alone": list(alone(kernels, unit)),
        "have it": list(without_kernels(have, unit)),
        "permuted": plan.notes,
        "alike": [ALIGNMENT, *alike_notes],
        "screened": list(screen_notes(screens)) if len(screens) else [],
        "effects": _on_effects(effects, measured.single),
    }
    sentences = pd.Series(notes, name="note").explode().dropna()
    return Explanation(
        kernels=as_changes(kernels),
        together=as_changes(groups),
        columns=as_changes(measured.columns()),
        effects=effects,
        screens=screens,
        alignment=alignment,
        scores=scores,
        weights=measured.weights_by_fold(),
        notes=sentences.rename_axis("about").reset_index(),
        task=task,
        score=score,
        unit=unit,
        margin=little,
        n_fits=measured.n_fits,
        seconds=perf_counter() - start,
    )


LOSSES = ("left_out", "shuffled", "have")
"""The losses of the tables, by the first parts of the names of their columns."""


def as_changes(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of losses as one of changes in the score, which is lower where it is lost.

    Examples
    --------
    >>> losses = pd.DataFrame({"shuffled": [0.2], "shuffled_low": [0.1], "shuffled_high": [0.3]})
    >>> as_changes(losses).to_dict("records")
    [{'shuffled': -0.2, 'shuffled_low': -0.3, 'shuffled_high': -0.1}]
    """
    table = table.drop(columns=[name for name in table if str(name).endswith(INTERVAL)])
    for loss in LOSSES:
        if loss in table:
            # Less than zero, because that has no sign.
            mean, low, high = (0.0 - table[f"{loss}{end}"] for end in ("", "_high", "_low"))
            table = table.assign(**{loss: mean, f"{loss}_low": low, f"{loss}_high": high})
    return table


def _on_effects(effects: pd.DataFrame, single: bool) -> list[str]:
    """Return how effects of columns are measured, and how often they are selected over folds."""
    if not len(effects):
        return []
    if single:
        return [EFFECT]
    return [EFFECT, CHANCE, BOUND] if is_bounded(effects).any() else [EFFECT, CHANCE]


def _incomplete(
    task: Task, data: ScoredRows, plan: ShufflePlan, missing: NDArray[np.bool_]
) -> list[str]:
    """Return how many samples miss each source."""
    strata = task.strata(data.targets)
    codes, classes = (data.targets, []) if strata is None else numbered(strata)
    return [*counts(list(plan.reads), missing, codes, classes)]


def _some_encoded(data: ScoredRows, before: Any, task: Task, seed: int) -> tuple[Any, list[str]]:
    """Return some of the samples as kernels read them, and a note if these are not all."""
    sample, notes = data.sampled(task, ALIGNED_ROWS, seed)
    rows = sample.as_fitted(sample.table)
    return (rows if before is None else before.transform(rows)), notes


IGNORED = "ignore"
"""The value of ``groups`` that treats samples as independent."""


def _checked_groups(model: Any, groups: Any) -> Any:
    """Return the groups, None without them; a DataError if the model was fitted with groups."""
    if isinstance(groups, str):
        if groups != IGNORED:
            raise SpecError(
                f"groups must be an array of the group of each sample, or {IGNORED!r}; got"
                f" {quoted(groups)}."
            )
        return None
    n_groups = model.n_groups_fit_ if isinstance(model, FittedKernels) else None
    if groups is None and n_groups is not None:
        raise DataError(
            f"The model was fitted on {n_groups} groups: give the group of each sample, as"
            " groups= (--groups COLUMN), so that no group is on both sides of a split. If samples"
            " are independent, say so by groups='ignore' (--ignore-groups)."
        )
    return groups


def _seed_of(random_state: Any) -> int:
    """Return a whole number as it is, else one drawn from a random state."""
    if is_whole(random_state):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _unadjusted(refit: Refit, data: ScoredRows, fitted: KernelModel) -> dict[str, list[str]]:
    """Return the columns of each kernel that still tell removed covariates; warn of them.

    Those of sources that the model dropped are not known.
    """
    adjustment = Adjustment.of(refit.before, data.as_fitted(data.table), data.targets)
    adjustment.warn()
    return adjustment.by_kernel(fitted)


def _check_probabilities(model: Any, score: str) -> None:
    """Raise a SpecError if a fitted model has no probabilities, which a score needs."""
    # scikit-learn's models show by the presence of the method whether they have any.
    if not hasattr(model, "predict_proba"):
        raise SpecError(
            f"The score {score} needs probabilities, which the model has only if they are"
            " calibrated: fit it with --probability (in Python probability=True)."
        )


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
    try:
        return task_of(model)
    except IncompatibleError as error:
        raise IncompatibleError(
            f"{type_name(last)} predicts nothing, so there is no score to measure the contribution"
            " of a kernel; its weights are in weights_frame()."
        ) from error


def _ablations(
    labels: Sequence[str], model: KernelModel, without: Any, alignment: pd.DataFrame
) -> Ablations:
    """Return what is dropped from the fits; SpecError if groups are not of some of the kernels."""
    groups = named_groups(without, labels)
    exact = traits_of(model.combiner_, CombinerTraits).n_kernels
    why = f"{model.combiner_.name} takes exactly {exact} kernels: none can be dropped"
    if len(labels) == 1:
        return Ablations(labels, [], {frozenset(labels): "it is the only kernel"})
    if exact is None:
        known = {frozenset(group) for group in groups}
        groups += [group for group in similar_groups(alignment) if frozenset(group) not in known]
        return Ablations(labels, groups, {})
    kept = Ablations(labels, groups, {})
    return attrs.evolve(kept, why_not=dict.fromkeys(kept.tried, why))
