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
from mklkit.comparison.design import Design
from mklkit.comparison.incomplete import with_missing_sources
from mklkit.comparison.line_up import check_reference, methods_to_compare
from mklkit.comparison.methods import Method
from mklkit.comparison.running import answers_of_cells, one_split_of, run_cells
from mklkit.comparison.stored import Cell, Results, is_left_out
from mklkit.comparison.withholding import with_unadjusted
from mklkit.datasets.covariates import quiet_removal
from mklkit.datasets.target import Wanted
from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import IncompatibleError
from mklkit.estimators.model_settings import OF_METHODS, ModelSettings
from mklkit.evaluation.equivalence import equivalence_margin
from mklkit.evaluation.leakage import leakage_notes
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.resolution import resolution_of
from mklkit.evaluation.study import Roles
from mklkit.evaluation.time_limits import seconds_of, shortened
from mklkit.persistence.metadata import versions
from mklkit.protocols.component import AUTO_TASK, TASK
from mklkit.protocols.splits.making import PartsColumn, requested
from mklkit.protocols.splits.split import Splits
from mklkit.registry.columns import are_proposed


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Any = None,
    presets: Sequence[Any] = (),
    also: Sequence[Any] = (),
    learners: Sequence[Any] = (),
    baselines: Sequence[str] | None = None,
    task: str = "auto",
    score: str | None = None,
    cv: Any = None,
    mccv: int | None = None,
    train: float | None = None,
    split_column: str | None = None,
    groups: Any = None,
    reference: str | None = None,
    results: str | PathLike[str] | None = None,
    target: Wanted = None,
    drop: Sequence[str] = (),
    weights: Any = None,
    time_limit: float | str | None = None,
    progress: Progress = None,
    **settings: Any,
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
    also : sequence of str or Kernel, default=()
        Kernels to compare but not to combine, such as ``"all:rbf"``. Default: ``rbf`` on all
        columns if kernels read different columns of numbers.
    learners : sequence of str or Learner, default=()
        Each combiner, kernel and uniform sum is compared with each of these learners; by default
        with its own.
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
        A column whose values ``train`` and ``test`` define a single split to use instead. Its
        tests compare the fitted models on the test samples.
    groups : str or array-like of shape (N,), optional
        The column, or array, that groups samples, such as those of a patient: the samples of a
        group are in the same part of each split, also inside a fit.
    reference : str, optional
        The name of the method to compare all others with in the table. Default: the best.
    results : path, optional
        A file for finished runs. If it exists, with the same data, splits, seed and tuning, its
        runs are not repeated.
    target : str, int or sequence of these, optional
        The column of the target, or of several, as for :func:`mklkit.datasets.load_table`, if
        ``X`` names data or is a DataFrame that holds it.
    drop : sequence of str, default=()
        Columns to leave out, as for :func:`mklkit.datasets.load_table`.
    weights : str, int or array-like of shape (N,), optional
        The weight of each sample in the fits: a column, which is not a feature, or with ``y``
        numbers.
    time_limit : float or str, optional
        Seconds, or a time such as ``"10m"``, after which no more runs begin. The notes tell how
        many repetitions of the folds were finished.
    progress : bool or callable, optional
        None: a bar in a notebook, nothing elsewhere; True: a bar on a terminal too; False: none; a
        function: called with the finished runs, all runs and the name of what runs next.
    **settings
        The settings that all methods share, by the names of :class:`mklkit.ModelSettings`, such as
        ``kernels=["linear", "rbf"]`` or ``tune="fast"``; the combiner, learner and preset are those
        of each method. The steps before an estimator and class weights are those of the baselines
        too, which search small grids if methods are tuned. ``missing`` may name several strategies,
        such as ``"present,impute"``; each method is run with each of them.

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
    chosen = ModelSettings.named(settings, instead=OF_METHODS)
    design = Design.of(chosen, learners, also, baselines)
    request = requested(cv, mccv, train, split_column, groups)
    check_progress(progress)
    limit = seconds_of(time_limit)
    # Names are checked before data are read, which may take long; compatibility after that.
    with suppress(IncompatibleError):
        methods_to_compare(methods, presets, attrs.evolve(design, baselines=()))
    roles = Roles(target=target, drop=drop, weights=weights)
    data = data_sets(X, y, roles, task, chosen.kernels)
    divided = [_divided(source, chosen, groups, split_column, request) for source in data]
    data, plans = [source for source, _ in divided], [plan for _, plan in divided]
    design, notes = design.for_data(data, score)
    compared, questions, omissions = methods_to_compare(methods, presets, design)
    notes += omissions
    check_reference(reference, compared)
    if task == AUTO_TASK and design.task.name != TASK:
        notes.insert(0, f"the target holds {design.task.plural}: {design.task.name}")
    for source, plan in divided:
        prefix = f"{source.name}: " if len(data) > 1 else ""
        notes += [f"{prefix}{note}" for note in plan.notes]
    data, unadjusted = with_unadjusted(_as_read(data, design, compared), compared)
    metadata = plan_metadata(data, plans, compared, design)
    metadata |= {"questions": questions, "reference": reference}
    total = _runs(plans, len(compared))
    cells: list[Cell] = []
    start = monotonic()
    by_time = False
    file = None if results is None else Path(results)
    with (
        Results(file, metadata, compared) as stored,
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
                rest = chosen.max_memory, design.score, baselines is None
                for run in run_cells(source, plan, compared, known, begin, *rest):
                    cells.append(stored.add(*run))
            tell(total, total, "")
        except _TimeOver:
            by_time = True
            notes += _ended_by(time_limit, len(cells), plans, len(compared))
        except KeyboardInterrupt:
            if not cells:
                raise
    notes += _left_out(cells)
    reused = len(cells) - stored.n_new
    complete = len(cells) == total
    tested = _tested(data, plans, str(design.score), cells)
    return Comparison(
        cells, data, compared, metadata, notes, complete, reused, by_time, unadjusted, tested
    )


def _tested(
    data: Sequence[DataSet], plans: Sequence[Splits], score: str, cells: Sequence[Cell]
) -> dict[str, OneSplit]:
    """Return the test samples of each data set with a single split, and what methods answer."""
    tested = {}
    for source, plan in zip(data, plans, strict=True):
        one_split = one_split_of(source, plan, score)
        if one_split is not None:
            of_data = [cell for cell in cells if cell.data == source.name]
            tested[source.name] = answers_of_cells(one_split, of_data)
    return tested


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
    n_splits = n_cells // n_methods
    done = 0
    repeats = 0
    for plan in plans:
        done += plan.repeats_in(min(n_splits, len(plan)))
        repeats += plan.repeats_in(len(plan))
        n_splits = max(0, n_splits - len(plan))
    return notes + ([shortened(limit, done, repeats)] if repeats > 1 else [])


def _as_read(data: Sequence[DataSet], design: Design, compared: Sequence[Method]) -> list[DataSet]:
    """Return the data as the methods' kernels read them; an error if some column can't be read."""
    kernels: Any = design.settings.kernels
    covariates = design.settings.covariates
    if kernels is None and design.by_source:
        kernels = design.kernels
    for source in data if covariates else ():
        source.check_columns(covariates)
    if covariates and kernels and are_proposed(kernels):
        kernels = None  # They are proposed only on numbers.
    read = [with_missing_sources(source.for_kernels(kernels), compared) for source in data]
    for source, kernel in product(read, design.also):
        source.for_kernels(kernel)
    return read


def _divided(
    data: DataSet, settings: ModelSettings, groups: Any, split_column: str | None, request: Any
) -> tuple[DataSet, Splits]:
    """Return data with their groups, and their splits."""
    if groups is not None:
        data = data.grouped(groups)
    if split_column is not None:
        data, parts = data.without(split_column, "says which rows are for testing", "split")
        request = PartsColumn(parts.to_numpy(), str(parts.name))
    splits = data.task.splits(data.target, request, settings.seed, data.groups)
    leaks = leakage_notes(
        data.read_by(settings.kernels), data.target, splits, data.groups, data.task.gives
    )
    return data, attrs.evolve(splits, notes=(*splits.notes, *leaks))


def plan_metadata(
    data: list[DataSet], plans: list[Splits], methods: list[Method], design: Design
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
        "task": design.task.name,
        "score": design.score,
        "margins": {
            source.name: equivalence_margin(design.task, str(design.score), source.truth)
            for source in data
        },
        "resolution": {
            source.name: units
            for source, plan in zip(data, plans, strict=True)
            if (units := _resolution(source, plan, str(design.score))) is not None
        },
        "one_split": {
            source.name: one_split.test
            for source, plan in zip(data, plans, strict=True)
            if (one_split := one_split_of(source, plan, str(design.score))) is not None
        },
        "seed": design.settings.seed,
        "tune": design.settings.tune,
        "methods": [method.metadata() for method in methods],
        "versions": versions(),
    }


def _resolution(data: DataSet, plan: Splits, score: str) -> dict[str, Any] | None:
    """Return the units that the score counts in all splits, as plain values."""
    rows = np.unique(np.concatenate(plan.tests))
    groups = None if data.groups is None else data.groups[rows]
    units = resolution_of(data.task.score_named(score), data.truth[rows], groups)
    return None if units is None else attrs.asdict(units)
