"""``compare``: several methods on the same splits of one or more data sets."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

import attrs
import numpy as np

from mklkit.comparison.comparison import Comparison
from mklkit.comparison.data import DataSet, data_sets
from mklkit.comparison.methods import Method, MethodOptions
from mklkit.comparison.requests import (
    baseline_names,
    check_reference,
    methods_to_compare,
    of_task,
    strategies_of,
    with_missing_sources,
)
from mklkit.comparison.running import run_cells
from mklkit.comparison.stored import Cell, Results, is_left_out
from mklkit.comparison.withholding import with_unadjusted
from mklkit.datasets.covariates import quiet_removal
from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import IncompatibleError
from mklkit.evaluation.equivalence import equivalence_margin
from mklkit.evaluation.leakage import leakage_notes
from mklkit.evaluation.resolution import resolution_of
from mklkit.evaluation.time_limits import seconds_of, shortened
from mklkit.persistence.metadata import versions
from mklkit.protocols.splits.making import PartsColumn, requested
from mklkit.protocols.splits.split import Splits
from mklkit.registry.columns import are_proposed


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Any = None,
    presets: Sequence[Any] = (),
    kernels: Any = None,
    also: Sequence[Any] = (),
    learners: Sequence[Any] = (),
    feature_map: Any = None,
    scale: str | None = None,
    covariates: Any = None,
    missing_value: Any = None,
    missing: Any = None,
    multiclass: str = "ovo",
    bandwidths: str = "per-problem",
    class_weight: Any = None,
    probability: bool = False,
    baselines: Sequence[str] | None = None,
    task: str = "auto",
    score: str | None = None,
    cv: Any = None,
    mccv: int | None = None,
    train: float | None = None,
    split_column: str | None = None,
    groups: Any = None,
    tune: Any = None,
    seed: int = 0,
    reference: str | None = None,
    results: str | PathLike[str] | None = None,
    target: str | int | None = None,
    drop: Sequence[str] = (),
    weights: Any = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    time_limit: float | str | None = None,
    progress: Progress = None,
) -> Comparison:
    """Compare methods on the same splits, with tests of their differences.

    The methods always include each kernel alone, the best single kernel by cross-validation,
    uniform weights, and, unless ``baselines`` says otherwise, scikit-learn's usual estimators on
    the same encoded and scaled features.

    Parameters
    ----------
    X : str, path, array, DataFrame, Table, list of these, or dict
        Samples; the name of a data set or a file, as for :func:`mklkit.datasets.load_table`; a list
        of several; or a dict of them or of ``(X, y)`` by name.
    y : array-like of shape (N,) or (N, T), optional
        Labels or numbers, if ``X`` holds samples and ``target`` names none of its columns; T
        columns for several numeric targets.
    methods : str, combiner, (name, estimator), or list of these, optional
        Combiners by name, glob (``"dimkl*"``, ``"*"`` for all that work with the kernels), spec
        string or object, and scikit-learn estimators. Default, unless presets are given: for
        classes ``centered-alignment``, ``dimkl1`` to ``dimkl6`` and ``ifsl``; for numeric targets
        ``centered-alignment`` and ``ifsl``; for outliers only uniform weights.
    presets : sequence of str or Preset, default=()
        Names may be globs.
    kernels : str, Kernel, or list of these, optional
        The kernels of all methods. Default: those of a preset, else the library's.
    also : sequence of str or Kernel, default=()
        Kernels to compare but not to combine, such as ``"all:rbf"``. Default: ``rbf`` on all
        columns if kernels read different columns of numbers.
    learners : sequence of str or Learner, default=()
        Each combiner, kernel and uniform sum is compared with each of these learners; by default
        with its own.
    feature_map : str or FeatureMap, optional
        The feature map of all methods, as for :class:`mklkit.MKLClassifier`.
    scale : {"standard", "minmax", "none"}, optional
        How features are scaled; by default as a preset states, else ``"standard"``.
    covariates : str or sequence, optional
        Columns to remove from all others, as for :func:`mklkit.build_pipeline`; for the baselines
        too.
    missing_value : str or float, optional
        A value of features that marks a missing one.
    missing : str or sequence, optional
        Strategies for samples that miss sources, such as ``"present,impute"``; each method is run
        with each of them.
    multiclass : {"ovo", "ovr", "native"}, default="ovo"
        As for :class:`mklkit.MKLClassifier`.
    bandwidths : {"per-problem", "all-rows"}, default="per-problem"
        As for :class:`mklkit.MKLClassifier`.
    class_weight : None, "balanced", or dict of class label to number, default=None
        As for :class:`mklkit.MKLClassifier`; for the baselines too.
    probability : bool, default=False
        As for :class:`mklkit.MKLClassifier`.
    baselines : sequence of str, optional
        Which of scikit-learn's estimators to compare: ``"logistic regression"``, for numeric
        targets ``"ridge regression"``, and ``"random forest"`` and ``"gradient boosting"``; for
        outliers ``"isolation forest"``. Default: all, except that one that takes over a minute on
        the first split, and longer than all other methods together, is left out of the other
        splits.
    task : {"auto", "classification", "regression", "outliers"}, default="auto"
        ``"auto"``: regression if the target has fractions or many different numbers. Outliers are
        detected without labels and scored by them: they are the rarer of two classes.
    score : str, optional
        The score that ranks methods, tests them and chooses their parameters, by scikit-learn's
        name, such as ``"balanced_accuracy"``. Default: ``"accuracy"``, or ``"balanced_accuracy"``
        if the largest class of some data set has over 1.5 times the samples of its smallest; for
        numeric targets ``"r2"``, for outliers ``"roc_auc"``.
    cv : int, str, scikit-learn splitter or list of (training rows, test rows), optional
        ``"5x4"`` means five stratified folds, four times; ``"groups"`` each group left out once;
        ``"time:5"`` five splits in row order, training on earlier rows. Default: ``"5x10"``.
    mccv : int, optional
        The number of Monte-Carlo splits to use instead, with a share ``train`` for training.
    train : float, optional
        The share of samples for training, with ``mccv``; by default 0.5.
    split_column : str, optional
        A column whose values ``train`` and ``test`` define a single split to use instead.
    groups : str or array-like of shape (N,), optional
        The column, or array, that groups samples, such as those of a patient: the samples of a
        group are in the same part of each split, also inside a fit.
    tune : "fast", "thorough" or int, optional
        How long methods search for parameters, on the training samples of each split; the baselines
        then search small grids too.
    seed : int, default=0
        The seed of splits and methods.
    reference : str, optional
        The name of the method to compare all others with in the table. Default: the best.
    results : path, optional
        A file for finished runs. If it exists, with the same data, splits, seed and tuning, its
        runs are not repeated.
    target : str or int, optional
        The column of the target, as for :func:`mklkit.datasets.load_table`, if ``X`` names data or
        is a DataFrame that holds it.
    drop : sequence of str, default=()
        Columns to leave out, as for :func:`mklkit.datasets.load_table`.
    weights : str, int or array-like of shape (N,), optional
        The weight of each sample in the fits: a column, which is not a feature, or with ``y``
        numbers.
    n_jobs : int or None, default=None
        As for :class:`mklkit.MKLClassifier`.
    max_memory : int or str, optional
        As for :class:`mklkit.MKLClassifier`.
    time_limit : float or str, optional
        Seconds, or a time such as ``"10m"``, after which no more runs begin. The notes tell how
        many repetitions of the folds were finished.
    progress : bool or callable, optional
        None: a bar in a notebook, nothing elsewhere; True: a bar on a terminal too; False: none; a
        function: called with the finished runs, all runs and the name of what runs next.

    Returns
    -------
    Comparison
        If it is interrupted from the keyboard, or the time is up, it has the finished runs, and
        ``complete`` is False.

    Raises
    ------
    MKLKitError
        If a name is unknown, data can't be read, or the file of results has another plan. A method
        that can't be fitted is not an error but a row with the reason.

    See Also
    --------
    Comparison : The result.
    explain : Which kernels and columns a model needs.
    cross_validate : The scores of one estimator.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52
       (2003), 239–281.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> settings = {"methods": "alignment", "kernels": ["linear", "rbf"], "cv": "2x1"}
    >>> comparison = compare(X[50:], y[50:], **settings)
    >>> sorted(comparison.results["method"].unique())  # doctest: +NORMALIZE_WHITESPACE
    ['alignment', 'best-single', 'gradient boosting', 'linear', 'logistic regression',
     'random forest', 'rbf', 'uniform']
    """
    options = MethodOptions(
        kernels=kernels,
        also=(also,) if isinstance(also, str) else tuple(also),
        learners=tuple(learners),
        feature_map=feature_map,
        scale=scale,
        covariates=covariates,
        missing_value=missing_value,
        missing=strategies_of(missing),
        multiclass=multiclass,
        bandwidths=bandwidths,
        class_weight=class_weight,
        probability=probability,
        baselines=baseline_names(baselines),
        tune=tune,
        seed=seed,
        n_jobs=n_jobs,
        max_memory=max_memory,
    )
    request = requested(cv, mccv, train, split_column, groups)
    check_progress(progress)
    limit = seconds_of(time_limit)
    # Names are checked before data are read, which may take long; compatibility after that.
    with suppress(IncompatibleError):
        methods_to_compare(methods, presets, attrs.evolve(options, baselines=()))
    data, plans = data_sets(X, y, target, drop, weights, task), []
    options, notes = of_task(options, data, score)
    chosen, questions, omissions = methods_to_compare(methods, presets, options)
    notes += omissions
    check_reference(reference, chosen)
    if task == "auto" and not options.task.has_classes:
        notes.insert(0, "the target holds numbers: regression")
    for place, source in enumerate(data):
        data[place], plan = _divided(source, kernels, groups, split_column, request, seed)
        plans.append(plan)
        prefix = f"{source.name}: " if len(data) > 1 else ""
        notes += [f"{prefix}{note}" for note in plan.notes]
    _check_covariates(data, covariates)
    # With covariates, kernels are proposed only on numbers.
    read = None if covariates and kernels and are_proposed(kernels) else kernels
    data = [with_missing_sources(source.for_kernels(read), chosen) for source in data]
    for source, kernel in product(data, options.also):
        source.for_kernels(kernel)
    data, unadjusted = with_unadjusted(data, chosen)
    metadata = plan_metadata(data, plans, chosen, options)
    metadata |= {"questions": questions, "reference": reference}
    total = _runs(plans, len(chosen))
    cells: list[Cell] = []
    start, by_time = monotonic(), False
    file = None if results is None else Path(results)
    with (
        Results(file, metadata, chosen) as stored,
        reported(progress, "comparing") as tell,
        quiet_removal(),
    ):
        metadata["asked_after_scores"] = stored.had_other_methods

        def begin(method: Method) -> None:
            if cells and monotonic() - start > limit:
                raise _TimeOver
            tell(len(cells), total, method.name)

        try:
            for source, plan in zip(data, plans, strict=True):
                known = partial(stored.known, source.name)
                rest = max_memory, options.score, baselines is None
                for run in run_cells(source, plan, chosen, known, begin, *rest):
                    cells.append(stored.add(*run))
            tell(total, total, "")
        except _TimeOver:
            by_time = True
            notes += _ended_by(time_limit, len(cells), plans, len(chosen))
        except KeyboardInterrupt:
            if not cells:
                raise
    notes += _left_out(cells)
    reused, complete = len(cells) - stored.n_new, len(cells) == total
    return Comparison(cells, data, chosen, metadata, notes, complete, reused, by_time, unadjusted)


class _TimeOver(Exception):
    """No more runs may begin."""


def _left_out(cells: list[Cell]) -> list[str]:
    reasons = {cell.method: cell.reason for cell in cells if is_left_out(cell)}
    return [f"{name} {reason}" for name, reason in reasons.items()]


def _runs(plans: list[Splits], n_methods: int) -> int:
    return n_methods * sum(len(plan) for plan in plans)


def _ended_by(limit: Any, n_cells: int, plans: list[Splits], n_methods: int) -> list[str]:
    """Return notes on the runs, and whole repetitions of the folds, that the time sufficed for."""
    notes = [
        f"the time limit of {limit} ended it after {n_cells} of {_runs(plans, n_methods)} runs"
    ]
    n_splits, done, repeats = n_cells // n_methods, 0, 0
    for plan in plans:
        done += plan.repeats_in(min(n_splits, len(plan)))
        repeats += plan.repeats_in(len(plan))
        n_splits = max(0, n_splits - len(plan))
    return notes + ([shortened(limit, done, repeats)] if repeats > 1 else [])


def _check_covariates(data: Sequence[DataSet], covariates: Any) -> None:
    """Refuse unknown covariates before the first fit."""
    for source in data if covariates else ():
        source.check_columns(covariates)


def _divided(
    data: DataSet,
    kernels: Any,
    groups: Any,
    split_column: str | None,
    request: Any,
    seed: int,
) -> tuple[DataSet, Splits]:
    """Return data with their groups, and their splits."""
    if groups is not None:
        data = data.grouped(groups)
    if split_column is not None:
        data, parts = data.without(split_column, "says which rows are for testing")
        request = PartsColumn(parts.to_numpy(), str(parts.name))
    splits = data.task.splits(data.target, request, seed, data.groups)
    numbers = not data.task.has_classes
    leaks = leakage_notes(data.read_by(kernels), data.target, splits, data.groups, numbers)
    return data, attrs.evolve(splits, notes=(*splits.notes, *leaks))


def plan_metadata(
    data: list[DataSet], plans: list[Splits], methods: list[Method], options: MethodOptions
) -> dict[str, Any]:
    """Return the plain values that identify a comparison."""
    return {
        "data": [source.metadata() for source in data],
        "splits": [
            {
                "name": source.name,
                "description": plan.description,
                "number": len(plan),
                "training": plan.training,
                "samples": len(source.target),
                "digest": plan.digest(),
            }
            for source, plan in zip(data, plans, strict=True)
        ],
        "task": options.task.kind,
        "score": options.score,
        "margins": {
            source.name: equivalence_margin(options.task, str(options.score), source.truth)
            for source in data
        },
        "resolution": {
            source.name: units
            for source, plan in zip(data, plans, strict=True)
            if (units := _resolution(source, plan, str(options.score))) is not None
        },
        "seed": options.seed,
        "tune": options.tune,
        "methods": [method.metadata() for method in methods],
        "versions": versions(),
    }


def _resolution(data: DataSet, plan: Splits, score: str) -> dict[str, Any] | None:
    """Return the units that the score counts in all splits, as plain values."""
    rows = np.unique(np.concatenate(plan.tests))
    groups = None if data.groups is None else data.groups[rows]
    units = resolution_of(data.task.score_named(score), data.truth[rows], groups)
    return None if units is None else attrs.asdict(units)
