"""``compare``: several methods on the same splits of one or more data sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import attrs

from mklkit.comparison.comparison import Comparison
from mklkit.comparison.data import DataSet, data_sets
from mklkit.comparison.methods import Method, MethodOptions, make_methods, presets_of, unique_names
from mklkit.comparison.references import DEFAULT_METHODS, baselines, kernel_baselines
from mklkit.comparison.running import run_cells
from mklkit.comparison.splits import SplitPlan, check_splits, make_splits, published_split
from mklkit.comparison.stored import Cell, Results
from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import DataError, quoted, suggest
from mklkit.persistence.facts import versions
from mklkit.protocols.component import Preset


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Any = None,
    presets: Sequence[Any] = (),
    kernels: Any = None,
    learners: Sequence[Any] = (),
    feature_map: Any = None,
    scale: str | None = None,
    multiclass: str = "ovo",
    bandwidths: str = "per-problem",
    cv: Any = None,
    mccv: int | None = None,
    train: float | None = None,
    split_column: str | None = None,
    tune: Any = None,
    seed: int = 0,
    results: str | PathLike[str] | None = None,
    target: str | int | None = None,
    drop: Sequence[str] = (),
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = None,
) -> Comparison:
    """Compare methods on the same splits, with tests of their differences.

    Always among the methods are each kernel alone, the best single kernel chosen by
    cross-validation, the even sum of kernels, and scikit-learn's logistic regression, random forest
    and gradient boosting on the same encoded and scaled features.

    Parameters
    ----------
    X : str, path, array, DataFrame, Table, list of these, or dict
        Rows; the name of a data set or a file, as :func:`mklkit.datasets.load_table` takes it; a
        list of several; or a dict of them or of ``(X, y)`` by name.
    y : array-like of shape (n_rows,), optional
        Labels, where ``X`` has rows and ``target`` names none of its columns.
    methods : str, combiner, (name, estimator), or list of these, optional
        Combiners by name, glob (``"dimkl*"``, ``"*"`` for all that can work with the kernels), spec
        string or object, and scikit-learn classifiers. Default: ``centered-alignment``, ``dimkl1``
        to ``dimkl6`` and ``ifsl``, unless presets are given.
    presets : sequence of str or Preset, default=()
        Names may be globs.
    kernels : str, Kernel, or list of these, optional
        The kernels of all methods; those of a preset, else the library's default, where not given.
    learners : sequence of str or Learner, default=()
        Each combiner is compared with each of them; its own default where there are none.
    feature_map, scale, multiclass, bandwidths, n_jobs, max_memory
        As for :func:`mklkit.preset_pipeline`, for all methods.
    cv : int, str, scikit-learn splitter or list of (training rows, test rows), optional
        ``"5x4"`` means five stratified folds, four times. Default: ``"5x2"``.
    mccv : int, optional
        So many Monte-Carlo splits instead, with the share ``train`` of the rows for training.
    train : float, optional
        Default: 0.5.
    split_column : str, optional
        A column whose values ``train`` and ``test`` give the one split to use instead.
    tune : "fast", "thorough" or int, optional
        How long methods search for parameters, inside the training rows of each split; the
        baselines search small grids then, too.
    seed : int, default=0
        The seed of splits and methods.
    results : path, optional
        A file to which each finished run is written. If it is there already and of the same data,
        splits, seed and tuning, its runs are not done again.
    target, drop
        As for :func:`mklkit.datasets.load_table`, where ``X`` names data or is a DataFrame that
        holds its target.
    progress : bool or callable, optional
        None: a bar in a notebook, nothing elsewhere; True: a bar on a terminal too; False: none; a
        function: called with the finished runs, all runs and the name of what runs next.

    Returns
    -------
    Comparison
        If it is interrupted from the keyboard, with what is done and ``complete`` False.

    Raises
    ------
    MKLKitError
        If a name is unknown, data can't be read, or the file of results is of another plan. A
        method that can't be fitted is no error but a row with its reason.

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
        learners=tuple(learners),
        feature_map=feature_map,
        scale=scale,
        multiclass=multiclass,
        bandwidths=bandwidths,
        tune=tune,
        seed=seed,
        n_jobs=n_jobs,
        max_memory=max_memory,
    )
    check_splits(cv, mccv, train, split_column)
    check_progress(progress)
    # Names are checked before data are read, which may take long.
    chosen, notes = methods_to_compare(methods, presets, options)
    data, plans = data_sets(X, y, target, drop), []
    for place, source in enumerate(data):
        if split_column is None:
            plan = make_splits(source.target, cv, mccv, train, seed)
        else:
            data[place], plan = _published(source, split_column)
        plans.append(plan)
        prefix = f"{source.name}: " if len(data) > 1 else ""
        notes += [f"{prefix}{note}" for note in plan.notes]
    data = [source.for_kernels(kernels) for source in data]
    facts = plan_facts(data, plans, chosen, tune, seed)
    total = len(chosen) * sum(len(plan.splits) for plan in plans)
    cells: list[Cell] = []
    file = None if results is None else Path(results)
    with Results(file, facts, chosen) as stored, reported(progress, "comparing") as tell:

        def begin(method: Method) -> None:
            tell(len(cells), total, method.name)

        try:
            for source, plan in zip(data, plans, strict=True):
                known = partial(stored.known, source.name)
                for run in run_cells(source, plan, chosen, known, begin, max_memory):
                    cells.append(stored.add(*run))
            tell(total, total, "")
        except KeyboardInterrupt:
            if not cells:
                raise
    complete = len(cells) == total
    return Comparison(cells, data, chosen, facts, notes, complete, len(cells) - stored.n_new)


def methods_to_compare(
    requests: Any, presets: Sequence[Any], options: MethodOptions
) -> tuple[list[Method], list[str]]:
    """Return the methods of a comparison with the baselines, and notes on what was left out."""
    if requests is None:
        requests = () if presets else DEFAULT_METHODS
    is_pair = (
        isinstance(requests, tuple) and len(requests) == 2 and not isinstance(requests[1], str)
    )
    if is_pair or not isinstance(requests, (list, tuple)):
        requests = [requests]
    chosen = presets_of([presets] if isinstance(presets, (str, Preset)) else presets)
    methods, notes = make_methods(requests, chosen, options)
    bank = options
    if options.kernels is None and not requests:
        # Only presets, whose kernels are the ones to see alone, scaled as there.
        banks = {(preset.kernels, preset.scale) for preset in chosen}
        if len(banks) == 1:
            ((kernels, scale),) = banks
            bank = attrs.evolve(options, kernels=kernels, scale=options.scale or scale)
    named, same = unique_names([*methods, *kernel_baselines(bank), *baselines(bank)])
    return named, notes + same


def _published(data: DataSet, column: str) -> tuple[DataSet, SplitPlan]:
    if column not in data.features:
        names = [str(name) for name in data.features]
        raise DataError(f"{data.name} has no column {quoted(column)}.{suggest(column, names)}")
    plan = published_split(data.target, data.features[column].to_numpy(), column)
    return data.without(column, f"column {quoted(column)} says which rows are for testing"), plan


def plan_facts(
    data: list[DataSet], plans: list[SplitPlan], methods: list[Method], tune: Any, seed: int
) -> dict[str, Any]:
    """Return the plain values by which a comparison is known."""
    return {
        "data": [source.facts() for source in data],
        "splits": [
            {
                "name": source.name,
                "description": plan.description,
                "number": len(plan.splits),
                "digest": plan.digest(),
            }
            for source, plan in zip(data, plans, strict=True)
        ],
        "seed": seed,
        "tune": tune,
        "methods": [method.facts() for method in methods],
        "versions": versions(),
    }
