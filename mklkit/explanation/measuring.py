"""Fits on the folds: weights, scores, and the loss without a kernel or a column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mklkit.display.measures import PARTS
from mklkit.errors import (
    DataError,
    IncompatibleError,
    SpecError,
    counted,
    listed,
    plain_message,
)
from mklkit.estimators.plan import check_new_rows
from mklkit.evaluation.counted_scores import Responses
from mklkit.evaluation.fit_and_score import Fit, Samples, fit_and_predict
from mklkit.evaluation.intervals import Interval
from mklkit.evaluation.no_verdict import why_no_verdict
from mklkit.evaluation.one_split import OneSplit, Recorder
from mklkit.evaluation.paired_tests import holm_levels, interval_p_value
from mklkit.evaluation.pooled_r2 import HeldOut
from mklkit.evaluation.resolution import Resolution, resolution_of
from mklkit.evaluation.sentences import about_one_split, loss_estimated
from mklkit.explanation.ablations import Ablations, Group, Kernels
from mklkit.explanation.columns import (
    Places,
    ScoredRows,
    ShufflePlan,
    input_columns_of,
    places_of,
    shuffled,
)
from mklkit.explanation.effects import column_effects, effects_table
from mklkit.explanation.refitting import Refit, members_of
from mklkit.explanation.screening import SELECTED, Screen, screen_table, screens_of
from mklkit.protocols import Array, GatedDecision, Task
from mklkit.protocols.splits.split import Indices, Splits

WHOLE = "whole"
WITHOUT, HAVE, ALONE = "without", "have", "alone"
"""The first part of the keys of losses without kernels and, by one kernel, on the samples that have
its source, and of what it gains alone over guessing."""
SHUFFLED = "shuffled"
INTERVAL = "_interval"
"""The last part of the names of columns of intervals, which no table shows."""
LEVEL = 0.95
"""The least level of an interval."""


@contextmanager
def quiet_scores() -> Iterator[None]:
    """Silence scikit-learn's warnings of classes without test samples, which a note names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.filterwarnings("ignore", "y_pred contains classes not in y_true")
        yield


@attrs.frozen(eq=False)
class FoldFit:
    """The fit with all kernels on a fold, its encoded samples and its scores.

    ``before`` are the steps that encoded the samples, and ``answers`` the model as it is scored: it
    predicts the held-out samples once.
    """

    before: Pipeline | None
    model: Any
    answers: Recorder
    train: Indices
    rows: Any
    test: Indices
    new: Any


@attrs.define(eq=False)
class Measuring:
    """The fits and predictions of all folds, and their results."""

    task: Task
    score: str
    """scikit-learn's name of the score whose loss is measured."""
    refit: Refit
    data: ScoredRows
    plan: ShufflePlan
    repeats: int
    """Permutations per group of columns and fold."""
    seed: int
    ablations: Ablations
    """What the fits of each fold leave out."""
    missing: NDArray[np.bool_]
    """Which samples miss the source of each kernel, (N, M)."""
    folds: list[dict[str, Any]] = attrs.field(factory=list)
    weights: list[Array] = attrs.field(factory=list)
    row_spread: list[Array] = attrs.field(factory=list)
    """Per fold, the mean weight of each kernel (M,) over problems and, if samples have their own
    weights, over the held-out samples; and its standard deviation over these samples, else NaN."""
    losses: dict[Any, list[float]] = attrs.field(factory=dict)
    """Per fold, what is lost without kernels, gained by one alone, and lost by permuting."""
    scores_alone: dict[str, list[float]] = attrs.field(factory=dict)
    failed: dict[Kernels, str] = attrs.field(factory=dict)
    """Why fits without some kernels failed."""
    effects: list[list[dict[str, Any]]] = attrs.field(factory=list)
    """Per fold, the effects of columns."""
    screens: list[list[Screen]] = attrs.field(factory=list)
    """Per fold, the columns that are measured of each kernel with many."""
    n_fits: int = 0
    scored: Indices = attrs.field(factory=lambda: np.arange(0))
    """The samples that are scored in any fold."""
    tests: list[Indices] = attrs.field(factory=list)
    """The samples that are scored in each fold."""
    held_out: HeldOut | None = None
    """What R² of a fold needs of all folds."""
    place: int = 0
    """The number of the current fold."""
    trained: NDArray[Any] | None = None
    """The targets of the training samples of the current fold."""
    done: int = 0
    total: int = 0
    """The finished steps and all of them."""
    single: bool = False
    """Whether there is a single split, whose losses have intervals over its test samples."""
    tested: dict[Any, OneSplit] = attrs.field(factory=dict)
    """Of a single split, the answers of the model ``WHOLE`` and ``WITHOUT``, as of ``losses``."""

    def run(self, splits: Splits, progress: Callable[..., Any], limit: float = np.inf) -> int:
        """Fit and score on all folds; return the number of finished repetitions.

        After ``limit`` seconds no further repetition begins.
        """
        self.tests = list(splits.tests)
        self.scored = np.unique(np.concatenate(self.tests))
        self.single = len(splits) == 1
        self.held_out = self.task.held_out(self.data.targets, splits.tests)
        tried = self.ablations.tried
        self.total = len(splits) * (1 + len(tried) + len(self.plan.keys) + self._most_screened)
        start = monotonic()
        progress(self.done, self.total)
        for split in splits:
            if split.repeat > 0 and split.fold == 0 and monotonic() - start > limit:
                return split.repeat
            for _ in self._fold(split.train, split.test, tried):
                self.done += 1
                progress(self.done, self.total)
        return splits.repeats

    def leave_out_together(
        self, group: Group, splits: Splits, progress: Callable[..., Any]
    ) -> None:
        """Measure what is lost without one more group of kernels, on the finished folds.

        What is lost without any set of kernels that was dropped before is known.
        """
        kernels = frozenset(group)
        if len(kernels) < 2 or kernels in map(frozenset, self.ablations.groups):
            return
        known = {*self.ablations.tried, frozenset(self.ablations.labels)}
        self.ablations = attrs.evolve(self.ablations, groups=[*self.ablations.groups, group])
        if kernels in known:
            return
        self.total = self.done + len(self.folds)
        for place, split in enumerate(splits[: len(self.folds)]):
            if kernels not in self.failed:
                whole = self._whole_fit(place, split.train, split.test)
                self._try_without(kernels, whole)
            self.done += 1
            progress(self.done, self.total)

    def kernels(
        self, sizes: pd.Series, comparable: bool, unadjusted: Mapping[str, list[str]]
    ) -> pd.DataFrame:
        """Return one row per kernel; their sizes may make weights ``comparable``.

        A source that the model dropped has no kernel whose size could be known.

        ``unadjusted`` are the columns of kernels from which removed covariates can be told.
        """
        weights, names = np.array(self.weights), list(self.plan.reads)
        known_sizes = sizes.reindex(names).to_numpy()
        sized = weights.mean(axis=0) * known_sizes
        if not comparable or np.nansum(sized) <= 0:
            sized = np.full(len(sized), np.nan)
        read = self.plan.reads.values()
        kernels = {
            "kernel": names,
            "columns": [None if columns is None else self._named(columns) for columns in read],
            "weight": weights.mean(axis=0),
            "weight_std": _deviation(weights),
            "weight_min": weights.min(axis=0),
            "weight_max": weights.max(axis=0),
            "chosen": (weights != 0).mean(axis=0),
            "row_spread": np.mean(self.row_spread, axis=0),
            "size": known_sizes,
            "sized_weight": sized / np.nansum(sized),
            "unadjusted": [unadjusted.get(name, []) for name in names],
        }
        parts: list[pd.DataFrame] = [
            pd.DataFrame(kernels),
            self._alone(names),
            self._without([self.ablations.single(name) for name in names]),
        ]
        if self.missing.any():
            parts.append(self._of_those_who_have(names))
        shuffled_in = [self._lost(SHUFFLED, self.plan.of_kernel(name)) for name in names]
        return pd.concat([*parts, pd.DataFrame(shuffled_in)], axis=1)

    def together(self, unadjusted: Mapping[str, list[str]]) -> pd.DataFrame:
        """Return one row per group of kernels that are dropped together.

        ``unadjusted`` are as for :meth:`kernels`.
        """
        groups = list(self.ablations.groups)
        told = [[unadjusted.get(name, []) for name in group] for group in groups]
        names = {
            "kernels": [list(group) for group in groups],
            "unadjusted": [list(dict.fromkeys(chain(*columns))) for columns in told],
        }
        return pd.concat(
            [pd.DataFrame(names, dtype=object), self._without([*map(frozenset, groups)])], axis=1
        )

    def _without(self, left_out: Sequence[Kernels]) -> pd.DataFrame:
        """Return the losses without some kernels each, as one family of tests."""
        table = self._family("left_out", [(WITHOUT, kernels) for kernels in left_out])
        return table.assign(why_not=[self._why_not(kernels) for kernels in left_out])

    def _alone(self, names: Sequence[str]) -> pd.DataFrame:
        """Return what each kernel alone gains over guessing."""
        has = ~self.missing.T
        table = self._family(ALONE, [(ALONE, name) for name in names], has)
        means = [np.mean(self.scores_alone.get(name, [np.nan])) for name in names]
        why_not = [self._why_not(self.ablations.others(name)) for name in names]
        return table.assign(alone_score=means, why_not_alone=why_not)

    def _of_those_who_have(self, names: Sequence[str]) -> pd.DataFrame:
        """Return the losses on the samples that have the source of each kernel, and another one."""
        bare = [self.bare(self.ablations.single(name)) for name in names]
        have = ~self.missing.T & ~np.array(bare)
        table = self._family(HAVE, [(HAVE, name) for name in names], have)
        if self.single:
            have = have[:, self.scored]
        return table.assign(have_rows=have.sum(axis=1))

    def _why_not(self, kernels: Kernels) -> str:
        """Return why some kernels can't be dropped, empty if they can."""
        return self.ablations.why_not.get(kernels, self.failed.get(kernels, self._no_score))

    @property
    def _no_score(self) -> str:
        """Why no fit without a kernel has a score, empty if one of a fold can have one."""
        scored = self.data.targets[self.scored]
        if self.task.has_classes and len(np.unique(scored)) < 2:
            return "the samples that are scored are of one class"
        return ""

    @property
    def absent(self) -> list[str]:
        """Return a note on classes of which some fold scores no sample."""
        if not self.task.has_classes:
            return []
        classes = np.unique(self.data.targets).tolist()
        scored = set.intersection(*(set(self.data.targets[test]) for test in self.tests))
        absent = [label for label in classes if label not in scored]
        if not absent:
            return []
        where = "the split" if self.single else "some fold"
        noun = "class" if len(absent) == 1 else "classes"
        return [
            f"{where} has no test sample of {noun} {listed(absent)}; its scores are of the others"
        ]

    def bare(self, left_out: Kernels) -> NDArray[np.bool_]:
        """Return which samples (N,) lack all sources but those that are dropped."""
        kept = [place for place, name in enumerate(self.plan.reads) if name not in left_out]
        if not self.missing.any():
            return np.zeros(len(self.missing), bool)
        return np.asarray(self.missing[:, kept].all(axis=1))

    @property
    def some_bare(self) -> bool:
        """Whether some sample has only one source."""
        return any(self.bare(self.ablations.single(name)).any() for name in self.plan.reads)

    @property
    def leaves_sources_out(self) -> bool:
        """Whether the fit on some fold dropped a source, whose weight is 0 there."""
        return any(bool((weights == 0).any()) for weights in self.weights)

    def columns(self) -> pd.DataFrame:
        """Return one row per group of columns, the largest loss first.

        If columns are screened, a row says in which share of the fits the screen selected it,
        and they are in the order of the loss times that share.
        """
        measured = [place for place in sorted(self.plan.screened) if (place,) in self.losses]
        groups = self.plan.groups | {self.plan.names[place]: (place,) for place in measured}
        rows = [
            {
                "group": group,
                "columns": self._named(places),
                "kernels": list(self.plan.readers(places)),
                **self._lost(SHUFFLED, places),
                "selected": len(self.losses[places]) / len(self.folds),
            }
            for group, places in groups.items()
        ]
        heads = ["group", "columns", "kernels", *self._lost(SHUFFLED, None), "selected"]
        frame = pd.DataFrame(rows, columns=heads)
        order = (-frame["shuffled"] * frame["selected"]).argsort(kind="stable")
        kept = heads if self.plan.screened else heads[:-1]
        return frame[kept].iloc[order].reset_index(drop=True)

    def screen_table(self) -> pd.DataFrame:
        """Return one row per kernel whose columns are screened."""
        return screen_table(self.screens, self.plan.wide)

    @property
    def _most_screened(self) -> int:
        """The most columns that the screens of a fit select to be permuted."""
        return SELECTED * len(self.plan.wide) if self.plan.screened else 0

    def column_effects(self) -> pd.DataFrame:
        """Return one row per column of each kernel."""
        return effects_table(self.effects, list(self.plan.reads), self.plan.names)

    def scores(self) -> pd.DataFrame:
        """Return one row per fold."""
        parts = PARTS if self.missing.any() else ()
        shown = ["training_rows", "rows", "score", "guess", *parts, *self._keys]
        return pd.DataFrame(self.folds)[shown].rename_axis("fold").reset_index()

    @property
    def _keys(self) -> list[str]:
        return [score.key for score in self.task.labeled]

    def weights_by_fold(self) -> pd.DataFrame:
        """Return the weight of each kernel in each fold."""
        weights = pd.DataFrame(self.weights, columns=list(self.plan.reads)).rename_axis("fold")
        tidy = weights.reset_index().melt("fold", var_name="kernel", value_name="weight")
        return tidy.sort_values("fold", kind="stable", ignore_index=True)

    def _fit(self, model: Any, train: Indices, rows: Any, new: Any = None) -> Fit:
        """Fit a model on the training samples of a fold, and predict its new samples."""
        data = self.data
        params = {} if data.row_weights is None else {"sample_weight": data.row_weights[train]}
        groups = None if data.groups is None else data.groups[train]
        return fit_and_predict(model, Samples(rows, data.targets[train], params, groups), new)

    def _encoded(self, before: Pipeline | None, table: pd.DataFrame) -> Any:
        """Return rows of the table as the fitted steps before the estimator encode them."""
        rows = self.data.as_fitted(table)
        return rows if before is None else before.transform(rows)

    def _whole_fit(self, place: int, train: Indices, test: Indices) -> FoldFit:
        """Fit with all kernels on the training samples of a fold."""
        self.place = place
        self.trained = self.data.targets[train]
        before = None if self.refit.before is None else clone(self.refit.before)
        rows = self.data.as_fitted(self.data.table.iloc[train])
        if before is not None:
            rows = before.fit_transform(rows, self.trained)
        new = self._encoded(before, self.data.table.iloc[test])
        fit = self._fit(self.refit.on(rows), train, rows, new)
        self.n_fits += 1
        answers = Recorder(fit.model, new, fit.predictions)
        return FoldFit(before, fit.model, answers, train, rows, test, new)

    def _fold(self, train: Indices, scored: Indices, tried: Sequence[Kernels]) -> Iterator[None]:
        """Measure on one fold; yield after each step."""
        whole = self._whole_fit(len(self.folds), train, scored)
        before, model, rows, new = whole.before, whole.model, whole.rows, whole.new
        held_out, truth = self.data.table.iloc[scored], self.data.targets[scored]
        scores = self._scores(whole.answers, new, truth, self.data.targets[train])
        incomplete_rows = np.asarray(self.missing.any(axis=1))
        for name, part in zip(PARTS, (~incomplete_rows, incomplete_rows), strict=True):
            scores[name] = self._score_of_part(whole.answers, new, scored, part)
        weights, row_spread = _weights(model, new, list(self.plan.reads))
        self.weights.append(weights)
        self.row_spread.append(row_spread)
        sources = input_columns_of(before, model, self.plan.names)
        places = None if sources is None else places_of(sources, self.plan.names)
        self.screens.append([] if places is None else self._screens(model, rows, places))
        self.effects.append([] if places is None else self._effects(model, new, places))
        yield
        for kernels in tried:
            if kernels not in self.failed:
                self._try_without(kernels, whole)
            yield
        if len(self.ablations.labels) > 1:
            self._leave_out_all(whole, scores)
        if len(self.ablations.labels) == 1:
            (name,) = self.ablations.labels
            every = np.ones(len(self.data.targets), bool)
            self._measure_alone(name, (model, new), train, scored, every)
        # The same permutations for all groups, so that losses differ only by the columns.
        random, size = np.random.default_rng([self.seed, len(self.folds)]), len(held_out)
        order = np.concatenate(
            [repeat * size + random.permutation(size) for repeat in range(self.repeats)]
        )
        # Samples that are scored several times get the mean of their scores.
        tiled = held_out.iloc[np.tile(np.arange(size), self.repeats)]
        repeated = np.concatenate([truth] * self.repeats)
        selected = self._selected()
        for columns in [*self.plan.keys, *selected]:
            worse = self._encoded(before, shuffled(tiled, columns, order))
            lost = scores["score"] - self._score(model, worse, repeated)
            self.losses.setdefault(columns, []).append(lost)
            self._test(columns, scored, {WHOLE: (whole.answers, new), WITHOUT: (model, worse)})
            yield
        yield from [None] * (self._most_screened - len(selected))
        self.folds.append({"training_rows": len(train), **scores})

    def _answered_by(self, left_out: Kernels) -> list[tuple[Any, NDArray[np.bool_]]]:
        """Return the keys of losses in fits without some kernels, and their samples (N,)."""
        some, names = ~self.bare(left_out), list(self.plan.reads)
        answers: list[tuple[Any, NDArray[np.bool_]]] = [((WITHOUT, left_out), some)]
        for place, name in enumerate(names):
            if left_out == self.ablations.single(name) and self.missing[:, place].any():
                answers.append(((HAVE, name), some & ~self.missing[:, place]))
            if left_out == self.ablations.others(name):
                answers.append(((ALONE, name), some))
        return answers

    def _try_without(self, left_out: Kernels, whole: FoldFit) -> None:
        """Measure what is lost without some kernels, or keep why that is not possible."""
        try:
            self._leave_out(left_out, whole)
        except (ValueError, ArithmeticError, RuntimeError) as error:
            self.failed[left_out] = plain_message(error)
            for subject, _ in self._answered_by(left_out):
                self.losses.pop(subject, None)
                self.tested.pop(subject, None)

    def _leave_out_all(self, whole: FoldFit, scores: Mapping[str, Any]) -> None:
        """Measure what is lost without all kernels, where only guessing is left."""
        key = (WITHOUT, frozenset(self.ablations.labels))
        self.losses.setdefault(key, []).append(scores["score"] - scores["guess"])
        if self.single:
            nothing = np.zeros((len(whole.test), 1))
            guesser = self.task.guesser().fit(np.zeros((len(whole.train), 1)), self.trained)
            models = {WHOLE: (whole.answers, whole.new), WITHOUT: (guesser, nothing)}
            self._test(key, whole.test, models)

    def _leave_out(self, left_out: Kernels, whole: FoldFit) -> None:
        """Measure what is lost in a fit without some kernels, or gained by the one that is left.

        Samples without another source are neither trained on nor scored.
        """
        kept = ~self.bare(left_out)[whole.train]
        smaller, new = whole.model, whole.new
        if not left_out.isdisjoint(members_of(whole.model)[0].kernel_names_):
            without = self.refit.without(left_out, whole.model)
            rows, new = (
                self.refit.rows_without(left_out, whole.model, each)
                for each in (whole.rows, whole.new)
            )
            some_rows = _safe_indexing(rows, np.flatnonzero(kept))
            smaller = self._fit(without, whole.train[kept], some_rows).model
            self.n_fits += 1
        for (kind, subject), part in self._answered_by(left_out):
            key, models = (
                (kind, subject),
                {WHOLE: (whole.answers, whole.new), WITHOUT: (smaller, new)},
            )
            if kind == ALONE:
                self._measure_alone(subject, (smaller, new), whole.train[kept], whole.test, part)
                continue
            self._test(key, whole.test, models, part)
            if smaller is whole.model:
                self.losses.setdefault(key, []).append(0.0)
                continue
            score = self._score_of_part(smaller, new, whole.test, part)
            better = self._score_of_part(whole.answers, whole.new, whole.test, part)
            self.losses.setdefault(key, []).append(better - score)

    def _measure_alone(
        self,
        name: str,
        fit: tuple[Any, Any],
        train: Indices,
        test: Indices,
        members: NDArray[np.bool_],
    ) -> None:
        """Measure how much better than guessing a fit with one kernel is, with its test samples."""
        trained, nothing = self.data.targets[train], np.zeros((len(test), 1))
        guesser = self.task.guesser().fit(np.zeros((len(train), 1)), trained)
        score = self._score_of_part(*fit, test, members)
        guess = self._score_of_part(guesser, nothing, test, members)
        self.scores_alone.setdefault(name, []).append(score)
        self.losses.setdefault((ALONE, name), []).append(score - guess)
        self._test((ALONE, name), test, {WHOLE: fit, WITHOUT: (guesser, nothing)}, members)

    def _test(
        self,
        subject: Any,
        test: Indices,
        models: Mapping[str, tuple[Any, Any]],
        members: NDArray[np.bool_] | None = None,
    ) -> None:
        """Keep what two models answer for the test samples of a single split, if they are members.

        Each model has its samples, which may be those of the rows several times.
        """
        if not self.single:
            return
        places = np.arange(len(test)) if members is None else np.flatnonzero(members[test])
        samples = test[places]
        variance = None if self.held_out is None else self.held_out.variance(0, members)
        one_split = OneSplit(
            self.task,
            self.task.score_named(self.score),
            self.data.targets[samples],
            self.task.scorer(self.score, variance, self.trained),
            np.unique(self.data.targets) if self.task.has_classes else None,
            None if self.data.groups is None else self.data.groups[samples],
            self.seed,
        )
        responses: dict[Hashable, Responses] = {}
        for name, (model, rows) in models.items():
            part = rows if len(places) == len(test) else _safe_indexing(rows, places)
            responses[name] = one_split.answers_of(model, part)
        self.tested[subject] = one_split.having(responses)

    def _screens(self, model: Any, rows: Any, sources: NDArray[np.intp]) -> list[Screen]:
        """Return the screens of a fit's kernels with many columns, from its training samples."""
        if not self.plan.wide:
            return []
        member = members_of(model)[0]
        seed = [self.seed, len(self.folds), 1]
        return screens_of(member, check_new_rows(member, rows), sources, self.plan.wide, seed)

    def _selected(self) -> list[Places]:
        """Return the columns to permute because a screen of the current fit selects them."""
        chosen = [place for screen in self.screens[-1] for place in screen.columns.tolist()]
        keys = {*self.plan.keys}
        singles = [(place,) for place in dict.fromkeys(chosen) if place in self.plan.screened]
        return [columns for columns in singles if columns not in keys]

    def _effects(self, model: Any, rows: Any, sources: NDArray[np.intp]) -> list[dict[str, Any]]:
        """Return the effects of columns, empty if the kernels' parts are unknown."""
        seed = [self.seed, len(self.folds)]
        try:
            member = members_of(model)[0]
            effects = list(column_effects(member, rows, sources, seed, self.screens[-1]))
            kernels = list(self.plan.reads)
            names_in_fit = [member.kernel_names_[effect["kernel"]] for effect in effects]
            return [
                {**effect, "kernel": kernels.index(name)}
                for effect, name in zip(effects, names_in_fit, strict=True)
            ]
        except IncompatibleError:
            return []

    def _score_of_part(
        self, model: Any, rows: Any, test: Indices, members: NDArray[np.bool_]
    ) -> float:
        """Return the score of those test samples that are members (N,), NaN if it has none.

        All test samples of one of several folds are scored like those of the fit with all kernels,
        also if they are of one class. A part of them that is of one class has an accuracy only.
        """
        part = np.flatnonzero(members[test])
        truth = self.data.targets[test[part]]
        if len(truth) == 0:
            return np.nan
        is_defined = not self.single and (len(part) == len(test) or self.score == "accuracy")
        if self.task.has_classes and not is_defined and len(np.unique(truth)) < 2:
            return np.nan
        some = rows if len(part) == len(test) else _safe_indexing(rows, part)
        return self._score(model, some, truth, members)

    def _score(
        self,
        model: Any,
        rows: Any,
        truth: NDArray[Any],
        members: NDArray[np.bool_] | None = None,
    ) -> float:
        """Return the score of the current fold, or of its samples that are members (N,)."""
        variance = None if self.held_out is None else self.held_out.variance(self.place, members)
        return float(self.task.scorer(self.score, variance, self.trained)(model, rows, truth))

    def _scores(
        self, answers: Recorder, rows: Any, truth: NDArray[Any], trained: NDArray[Any]
    ) -> dict[str, Any]:
        """Return the score of a fold, that of guessing without columns, and the standard scores."""
        variance = None if self.held_out is None else self.held_out.variance(self.place)
        of_all = {} if variance is None else {"variance": variance}
        scores = self.task.score(truth, answers.predict(rows), trained, **of_all)
        try:
            scores["score"] = self._score(answers, rows, truth)
            scores["guess"] = self.task.guess_score(self.score, trained, truth, variance)
        except (ValueError, AttributeError) as error:
            raise SpecError(
                f"The model has no score {self.score}: {plain_message(error)}"
            ) from error
        if any(scores[name] is None or np.isnan(scores[name]) for name in ("score", *self._keys)):
            raise DataError(
                f"The {self.task.plural} scored in fold {len(self.folds)} are all the same, and"
                f" {self.score} needs different ones: take fewer folds, or more samples."
            )
        return scores

    def _named(self, places: Places) -> list[str]:
        return [self.plan.names[place] for place in places]

    def _family(
        self,
        name: str,
        subjects: Sequence[Any],
        parts: Iterable[NDArray[np.bool_]] | None = None,
    ) -> pd.DataFrame:
        """Return losses with the intervals by which Holm's procedure tests all of them together.

        ``parts`` are the samples (N,) that count for each.
        """
        members = [None] * len(subjects) if parts is None else list(parts)
        of_level = [partial(self._interval, *pair) for pair in zip(subjects, members, strict=True)]
        adjusted, levels = holm_levels(
            [interval_p_value(partial(_limits, interval)) for interval in of_level]
        )
        levels = np.where(np.isnan(levels), LEVEL, levels)
        intervals = [interval(level) for interval, level in zip(of_level, levels, strict=True)]
        losses = map(partial(self._lost, name), subjects, intervals)
        table = pd.DataFrame(losses, columns=list(self._lost(name, None)))
        table[f"{name}_level"], table[f"{name}_p_holm"] = levels, adjusted
        table[f"{name}{INTERVAL}"] = pd.Series(intervals, dtype=object)
        return table

    def _lost(self, name: str, subject: Any, interval: Interval | None = None) -> dict[str, float]:
        """Return mean, standard deviation and interval over folds of the loss in score."""
        values = self._values(subject)
        low, high = (self._interval(subject) if interval is None else interval).limits()
        # A screen may select a column in one fit of several, which says nothing of the others.
        spread = {"": values.mean(), "_std": _deviation(values), "_low": low, "_high": high}
        return {f"{name}{ending}": float(value) for ending, value in spread.items()}

    def _values(self, subject: Any) -> Array:
        """Return the losses of folds in which they are known; NaN if there are none."""
        losses = [loss for loss in self.losses.get(subject, ()) if not np.isnan(loss)]
        return np.array(losses or [np.nan])

    def _interval(
        self, subject: Any, members: NDArray[np.bool_] | None = None, level: float = LEVEL
    ) -> Interval:
        """Return the interval of a mean loss over folds, or over the samples of a single split.

        The units of the score are counted among the members (N,).
        """
        units, values = self.resolution(members), self._values(subject)
        if subject in self.tested and not np.isnan(values).any():
            return self.tested[subject].difference(WHOLE, WITHOUT, level, units)
        trained, tested = (
            float(np.mean([fold[part] for fold in self.folds]))
            for part in ("training_rows", "rows")
        )
        return Interval.over_splits(values, trained, tested, units, level)

    @property
    def n_counted(self) -> int:
        """The samples on whose number the widths of intervals depend."""
        return len(self.scored) if self.single else len(self.data.targets)

    @property
    def about_fits(self) -> str:
        """The fits in words, and how their variation is shown."""
        where, spread = "the split", ""
        if not self.single:
            where = counted(len(self.folds), "fold")
            spread = "± is the standard deviation over folds, "
        fits = f"refitted on {where}: {counted(self.n_fits, 'fit')}"
        return f"{fits}; {spread}brackets hold confidence intervals"

    def about_losses(self, trained: float) -> Iterator[str]:
        """Yield a sentence on what losses of models of so many samples estimate, if any."""
        if self.single:
            for one_split in list(self.tested.values())[:1]:
                yield about_one_split(one_split.test, f"the models of {trained:,.0f} samples")
        elif self.losses:
            yield loss_estimated(trained, len(self.data.targets))

    def resolution(self, members: NDArray[np.bool_] | None = None) -> Resolution | None:
        """Return the units that the score counts, of the scored samples that are members (N,)."""
        rows = self.scored if members is None else self.scored[members[self.scored]]
        if len(rows) == 0:
            return None
        groups = None if self.data.groups is None else self.data.groups[rows]
        score, targets = self.task.score_named(self.score), self.data.targets[rows]
        units = resolution_of(score, targets, groups)
        return None if units is None else units.with_scores(self._mean_score)

    @property
    def why_no_verdict(self) -> str:
        """Why no kernel gets a verdict, empty if they get one."""
        score = self.task.score_named(self.score)
        why = why_no_verdict(score, self.data.targets, self.data.groups)
        known = (part.why_not(WHOLE, WITHOUT) for part in self.tested.values() if part.responses)
        return why or next(known, "")

    @property
    def _mean_score(self) -> float:
        """The mean score of the finished folds."""
        return float(np.mean([fold["score"] for fold in self.folds]))


def _limits(interval: Callable[[float], Interval], level: float) -> tuple[float, float]:
    """Return the ends of the interval of a level."""
    return interval(level).limits()


def _deviation(values: Array) -> Any:
    """Return the standard deviation over folds (F, ...), NaN for one fold."""
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)


def _weights(model: Any, rows: Any, kernels: Sequence[str]) -> tuple[Array, Array]:
    """Return each kernel's mean weight (M,), and its spread over samples, NaN if it has none.

    The weight of a source that the fit dropped is 0.
    """
    means, spreads = [], []
    for member in members_of(model):
        mean, spread = np.zeros(len(kernels)), np.full(len(kernels), np.nan)
        places = [kernels.index(name) for name in member.kernel_names_]
        if all(isinstance(decision, GatedDecision) for decision in member.decisions_):
            gates = member.gate_weights(rows)
            mean[places] = gates.mean(axis=0)
            spread[:] = 0.0
            spread[places] = gates.std(axis=0)
        else:
            mean[places] = member.weights_.mean(axis=0)
        means.append(mean)
        spreads.append(spread)
    return np.mean(means, axis=0), np.mean(spreads, axis=0)
