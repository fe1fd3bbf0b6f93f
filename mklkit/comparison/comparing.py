"""``compare``: several methods on the same splits of one or more data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.comparison.comparison import Comparison
from mklkit.comparison.data import DataSet, data_sets
from mklkit.comparison.design import Design
from mklkit.comparison.line_up import check_reference, methods_to_compare
from mklkit.comparison.methods import Method
from mklkit.comparison.outlook import after_first_split, what_runs
from mklkit.comparison.permuting import (
    FEW_SAMPLES,
    Shuffles,
    note_on_groups,
    of_permutations,
    permutation_tests,
    permuted_methods,
    proposal,
)
from mklkit.comparison.preparing import (
    LineUp,
    Prepared,
    as_read,
    check_class_weights,
    divided,
    plan_metadata,
    with_roles,
)
from mklkit.comparison.running import answers_of_cells, one_split_of, run_cells, too_slow
from mklkit.comparison.seeds import beside, check_seeds, file_of_seed
from mklkit.comparison.stored import Cell, Results, is_left_out
from mklkit.comparison.withholding import with_unadjusted
from mklkit.comparison.work import TIME, Work
from mklkit.datasets.covariates import quiet_removal
from mklkit.datasets.target import Wanted
from mklkit.display.progress import Progress, check_progress, reported
from mklkit.errors import IncompatibleError
from mklkit.estimators.model_settings import OF_METHODS, ModelSettings
from mklkit.evaluation.equivalence import MARGIN, margin_of
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.study import Roles
from mklkit.evaluation.time_limits import seconds_of, shortened
from mklkit.protocols.component import AUTO_TASK, TASK, check_whole
from mklkit.protocols.splits.making import MOST_SPLITS, requested
from mklkit.protocols.splits.split import Splits


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Any = None,
    presets: Sequence[Any] = (),
    also: Sequence[Any] = (),
    learners: Sequence[Any] = (),
    baselines: Sequence[str] | None = None,
    without: str | Sequence[str] = (),
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
    margin: float | str = MARGIN,
    seeds: int = 1,
    permutations: int = 0,
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
        the first split, and longer than all other methods together, is dropped in the other
        splits.
    without : str or sequence of str, default=()
        Methods to leave out by their names, such as ``"best-single"`` or ``"random forest"``;
        ``"alone"`` stands for all single kernels, ``"baselines"`` for all of scikit-learn's
        estimators. Planned questions that need them are not asked.
    task : {"auto", "classification", "regression", "outliers"}, default="auto"
        ``"auto"``: regression if the target has fractions or many different numbers. Outliers are
        detected without labels and scored by them: they are the rarer of two classes.
    score : str, optional
        The score that ranks methods, tests them and chooses their parameters, by scikit-learn's
        name, such as ``"balanced_accuracy"``. Default: ``"accuracy"``, or ``"balanced_accuracy"``
        if the largest class of some data set has over 1.5 times the samples of its smallest; for
        numeric targets ``"r2"``, for outliers ``"roc_auc"``.
    cv : int, str, scikit-learn splitter or list of (training samples, test samples), optional
        ``"5x4"`` means five stratified folds, four times; ``"groups"`` each group held out once;
        ``"time:5"`` five splits in sample order, training on earlier samples. Default: ``"5x10"``.
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
    margin : float or str, default=0.02
        The largest difference that counts as none, such as ``0.02`` or ``"2%"``: points of scores
        that are 1 at best, and of errors a share of the baseline's error.
    seeds : int, default=1
        How often to repeat the whole comparison, each time with the next seed: other splits, and
        other random numbers in the fits. :attr:`Comparison.seeds_agree` tells in how many the
        verdicts are the same; they are not tested together. The runs of seed 1, for example, are
        kept in ``runs.seed-1.jsonl`` beside the file ``runs.jsonl`` for ``results``.
    permutations : int, default=0
        How often to permute the labels, for a test whether the methods of several kernels, and
        those that you gave, predict at all: one repetition of the splits is run with each
        permutation. If each group has one label, groups exchange theirs; otherwise groups of the
        same size do, and the samples inside each group. It suits fewer than 100 samples. The runs
        are kept in ``runs.permutations.jsonl`` beside ``results``.
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
    design = Design.of(chosen, learners, also, baselines, without)
    request = requested(cv, mccv, train, split_column, groups)
    check_progress(progress)
    check_seeds(chosen.seed, seeds)
    check_whole("permutations", permutations, 0)
    share = margin_of(margin)
    limit = seconds_of(time_limit)
    line_up = partial(methods_to_compare, methods, presets)
    # Names are checked before data are read, which may take long; compatibility after that.
    with suppress(IncompatibleError):
        line_up(attrs.evolve(design, baselines=(), without=()))
    roles = Roles(target=target, drop=drop, weights=weights)
    read = data_sets(X, y, roles, task, chosen.kernels)
    data = [with_roles(source, groups, split_column, request) for source in read]
    prepared, notes = _prepared(data, design, score, line_up, share)
    check_reference(reference, prepared.methods)
    if task == AUTO_TASK and (recognised := prepared.design.task).name != TASK:
        notes.insert(0, f"the target holds {recognised.plural}: {recognised.name}")
    sources, unadjusted = with_unadjusted(prepared.data, prepared.methods)
    prepared = attrs.evolve(prepared, data=sources)
    prepared.metadata.update(reference=reference, seeds=seeds, permutations=permutations)
    others = [prepared.with_seed(chosen.seed + place, line_up) for place in range(1, seeds)]
    shuffles = _shuffles(prepared, unadjusted) if permutations else []
    notes += [note for shuffle in shuffles if (note := note_on_groups(shuffle.data))]
    total = sum(each.n_runs for each in (prepared, *others))
    total += permutations * sum(shuffle.n_runs for shuffle in shuffles)
    file = None if results is None else Path(results)
    with ExitStack() as opened, reported(progress, "comparing") as tell, quiet_removal():
        # All files are checked before anything runs.
        files = Files.opened(opened, file, [prepared, *others], shuffles, permutations)
        work = Work(total=total, limit=limit, tell=tell, capped=baselines is None)
        work.say(what_runs(prepared, total, seeds, permutations))
        first = _run(prepared, files, work)
        tests = _permuted(prepared, first, files, work)
        again = [(each, _run(each, files, work)) for each in others]
        if not work.ended():
            tell(total, total, "")
    if work.ended(TIME):
        notes += _ended_by(time_limit, work, first, prepared)
    notes += _left_out(first) + _proposed(prepared, permutations)

    def comparison(of: Prepared, cells: list[Cell], **more: Any) -> Comparison:
        complete = not work.ended()
        rest = {"by_time": work.ended(TIME), "unadjusted": unadjusted, **more}
        rest["tested"] = _tested(of, cells)
        return Comparison(cells, of.data, of.methods, of.metadata, notes, complete, **rest)

    return comparison(
        prepared,
        first,
        reused=work.done - files.n_new,
        runs=(work.done, total),
        other_seeds=[comparison(*pair) for pair in again if len(pair[1]) == pair[0].n_runs],
        permutation_tests=tests,
    )


@attrs.frozen
class Files:
    """The results of all seeds and of the permuted labels, in files or only in memory."""

    of_seeds: dict[int, Results]
    of_shuffles: Results | None
    prepared: list[Prepared]
    shuffles: list[Shuffles]
    permutations: int

    @classmethod
    def opened(
        cls,
        stack: ExitStack,
        file: Path | None,
        prepared: list[Prepared],
        shuffles: list[Shuffles],
        permutations: int,
    ) -> Files:
        """Return them open until the end of the stack; an error if one has another plan."""
        first = prepared[0]
        of_seeds = {}
        for each in prepared:
            seed = each.design.settings.seed
            path = file if each is first else file_of_seed(file, seed)
            of_seeds[seed] = stack.enter_context(Results(path, each.metadata, each.methods))
        of_shuffles = None
        if shuffles:
            plan = of_permutations(first.metadata, first.data)
            results = Results(beside(file, "permutations"), plan, first.methods)
            of_shuffles = stack.enter_context(results)
        return cls(of_seeds, of_shuffles, prepared, shuffles, permutations)

    def of(self, prepared: Prepared) -> Results:
        """Return the results of the seed of a comparison."""
        return self.of_seeds[prepared.design.settings.seed]

    @property
    def n_new(self) -> int:
        """The number of runs that were in no file."""
        every = [*self.of_seeds.values(), self.of_shuffles]
        return sum(results.n_new for results in every if results is not None)

    def left(self) -> Counter[str]:
        """Return how many runs of each method are in no file yet."""
        counts: Counter[str] = Counter()
        for each in self.prepared:
            for source, plan in zip(each.data, each.plans, strict=True):
                for method in each.methods:
                    n_known = self.of(each).n_known(source.name, method)
                    counts[method.name] += len(plan) - n_known
        stored = self.of_shuffles
        if stored is None:
            return counts
        for shuffle in self.shuffles:
            for method in shuffle.methods:
                most = self.permutations * MOST_SPLITS
                n_known = stored.n_known(shuffle.data.name, method, most)
                counts[method.name] += self.permutations * shuffle.n_splits - n_known
        return counts


def _prepared(
    data: Sequence[tuple[DataSet, Any]],
    design: Design,
    score: str | None,
    line_up: LineUp,
    margin: float,
) -> tuple[Prepared, list[str]]:
    """Return what is compared, and notes on it."""
    kernels, seed = design.settings.kernels, design.settings.seed
    sources, requests = [source for source, _ in data], [request for _, request in data]
    plans = [divided(source, request, kernels, seed) for source, request in data]
    design, notes = design.for_data(sources, score)
    check_class_weights(sources, design.settings.class_weight)
    methods, questions, omissions = line_up(design)
    notes += omissions
    for source, plan in zip(sources, plans, strict=True):
        prefix = f"{source.name}: " if len(data) > 1 else ""
        notes += [f"{prefix}{note}" for note in plan.notes]
    sources = as_read(sources, design, methods)
    metadata = plan_metadata(sources, plans, methods, design, margin) | {"questions": questions}
    prepared = Prepared(
        data=sources,
        requests=requests,
        plans=plans,
        methods=methods,
        design=design,
        metadata=metadata,
    )
    return prepared, notes


def _run(prepared: Prepared, files: Files, work: Work) -> list[Cell]:
    """Return the runs of all methods with one seed, as far as they are finished."""
    cells: list[Cell] = []
    if work.ended():
        return cells
    design, methods = prepared.design, prepared.methods
    stored = files.of(prepared)
    with work.until_ended():
        prepared.metadata["asked_after_scores"] = stored.had_other_methods
        for source, plan in zip(prepared.data, prepared.plans, strict=True):
            known = partial(stored.known, source.name)
            rest = design.settings.max_memory, design.score, work.capped
            for run in run_cells(source, plan, methods, known, work.begin, *rest):
                cells.append(stored.add(*run))
                work.done += 1
                if work.done == 1:
                    work.first_done = monotonic()
                elif work.done == len(methods):
                    work.say(_outlook(cells, work, prepared, files.left()))
    return cells


def _outlook(cells: list[Cell], work: Work, prepared: Prepared, left: Counter[str]) -> str:
    """Return how long the rest will take, by the first split."""
    seconds = {cell.method: float(np.nan_to_num(cell.seconds)) for cell in cells}
    skipped = too_slow(prepared.methods, seconds) if work.capped else {}
    # What is loaded and compiled for the first run takes no time later.
    elapsed = monotonic() - work.first_done + seconds[cells[0].method]
    return after_first_split(cells, elapsed, left, [*skipped])


def _shuffles(prepared: Prepared, unadjusted: Mapping[str, Mapping[str, Any]]) -> list[Shuffles]:
    """Return what runs with permuted labels."""
    seed = prepared.design.settings.seed
    return [
        Shuffles(source, request, seed, permuted_methods(prepared.methods, unadjusted[source.name]))
        for source, request in zip(prepared.data, prepared.requests, strict=True)
    ]


def _permuted(
    prepared: Prepared, observed: Sequence[Cell], files: Files, work: Work
) -> pd.DataFrame | None:
    """Return the permutation tests of each data set, as far as labels could be permuted."""
    stored = files.of_shuffles
    if work.ended() or stored is None:
        return None
    design = prepared.design

    def run(data: DataSet, plan: Splits, methods: Sequence[Method], known: Any) -> Iterator[Any]:
        rest = design.settings.max_memory, design.score
        for each in run_cells(data, plan, methods, known, work.begin, *rest):
            work.done += 1
            yield each

    tests = []
    for shuffle in files.shuffles:
        cells: list[list[Cell]] = []
        with work.until_ended():
            for runs in shuffle.runs(files.permutations, run, stored):
                cells.append(runs)
        if cells:
            of_data = [cell for cell in observed if cell.data == shuffle.data.name]
            table = permutation_tests(of_data, cells, shuffle.n_splits)
            tests.append(table.assign(data=shuffle.data.name))
        if work.ended():
            break
    return pd.concat(tests, ignore_index=True) if tests else None


def _proposed(prepared: Prepared, permutations: int) -> list[str]:
    """Return a note that proposes a permutation test for few samples."""
    sizes = [len(source.target) for source in prepared.data]
    return [] if permutations or min(sizes) >= FEW_SAMPLES else [proposal(min(sizes))]


def _tested(prepared: Prepared, cells: Sequence[Cell]) -> dict[str, OneSplit]:
    """Return the test samples of each data set with a single split, and what methods answer."""
    tested = {}
    for source, plan in zip(prepared.data, prepared.plans, strict=True):
        one_split = one_split_of(source, plan, str(prepared.design.score))
        if one_split is not None:
            of_data = [cell for cell in cells if cell.data == source.name]
            tested[source.name] = answers_of_cells(one_split, of_data)
    return tested


def _left_out(cells: list[Cell]) -> list[str]:
    reasons = {cell.method: cell.reason for cell in cells if is_left_out(cell)}
    return [f"{name} {reason}" for name, reason in reasons.items()]


def _ended_by(limit: Any, work: Work, first: Sequence[Cell], prepared: Prepared) -> list[str]:
    """Return notes on the runs, and whole repetitions of the folds, that the time sufficed for."""
    notes = [f"the time limit of {limit} ended it after {work.done} of {work.total} runs"]
    n_splits = len(first) // len(prepared.methods)
    done = 0
    repeats = 0
    for plan in prepared.plans:
        done += plan.repeats_in(min(n_splits, len(plan)))
        repeats += plan.repeats_in(len(plan))
        n_splits = max(0, n_splits - len(plan))
    short = shortened(limit, done, repeats) if repeats > 1 else ""
    return notes + ([short] if short else [])
