"""The scores of many points of a search on the same folds, with views computed once per fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from mklkit.errors import (
    DataError,
    IncompatibleError,
    MKLKitError,
    MKLKitWarning,
    SpecError,
    quoted,
)
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fit import fit_decisions, solver_errors_explained, with_kernels
from mklkit.estimators.grids import PointGroup
from mklkit.estimators.missing_sources import accepted, as_taken
from mklkit.estimators.plan import Plan, ProblemViews, on_kernels, plan_of
from mklkit.estimators.problems import Problem, class_problems, join_scores
from mklkit.estimators.reading import medians_of
from mklkit.estimators.training_data import TrainingData, class_weights
from mklkit.numerics.threads import in_threads
from mklkit.protocols import Array, Combiner, Schema
from mklkit.protocols.splits.split import Indices, Splits
from mklkit.registry.given_arrays import writes_explained
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.cache import Cache
from mklkit.views.deciding import decide_block

Scorer = Callable[[Any, Any, Any], float]
OTHERS = ("mean_test_complete", "mean_test_incomplete", "mean_n_iter")
"""The values returned for points in addition to their scores."""


def fits_grids(combiner: Any) -> bool:
    """Return whether a combiner fits several points at once.

    It does not if it overrides ``fit`` and inherits ``fit_grid``, which would ignore the override.
    """
    if type(combiner).fit_grid is Combiner.fit_grid:
        return False
    defined = [
        next(place for place, cls in enumerate(type(combiner).__mro__) if name in vars(cls))
        for name in ("fit_grid", "fit")
    ]
    return defined[0] <= defined[1]


@attrs.frozen(eq=False)
class GroupRun:
    """One group of points: an estimator without them, its plan, and its problems."""

    group: PointGroup
    estimator: MKLClassifier
    plan: Plan
    problems: list[Problem]


@attrs.frozen(eq=False)
class FoldScores:
    """The rows and splits on which points are scored.

    ``varied`` returns the estimator with some parameters changed; ``scorer`` is called with a
    fitted classifier, rows and labels, and None stands for the accuracy. All groups with the same
    kernels and map take their views from ``cache``.
    """

    data: TrainingData
    classes: NDArray[Any]
    splits: Splits
    varied: Callable[[Any], MKLClassifier]
    scorer: Scorer | None
    cache: Cache

    def of(
        self, runs: Sequence[GroupRun], report: Callable[[], None]
    ) -> tuple[Array, dict[str, Array]]:
        """Return the scores (folds, points), and other values by their names.

        The other values are the scores of the rows that have all sources, those of the other rows,
        and the number of iterations.

        ``report`` is called when a binary problem of a group is done with a fold. Folds run in the
        estimator's ``n_jobs`` threads.
        """
        tasks = [
            partial(self._fold, split.train, split.test, runs, report) for split in self.splits
        ]
        most = self.splits.training[-1]
        folds = list(in_threads(tasks, runs[0].estimator.n_jobs, most))
        scores, *others = np.array([values for values, _ in folds]).swapaxes(0, 1)
        errors = [error for _, of_fold in folds for error in of_fold]
        return checked_scores(scores, errors), dict(zip(OTHERS, others, strict=True))

    def prepared(
        self, group: PointGroup, schema: Schema, kernels: Sequence[BoundKernel]
    ) -> GroupRun:
        """Return a group with its estimator and plan."""
        estimator = self.varied(group.common)
        weighted = self.data.row_weights is not None or estimator.class_weight is not None
        plan = plan_of(estimator, "two classes", schema, kernels, weighted)
        n_classes = len(self.classes)
        problems = class_problems(n_classes, estimator.multiclass, plan.combiner, plan.learner)
        return GroupRun(group, estimator, plan, problems)

    def _fold(
        self, training: Indices, test: Indices, runs: Sequence[GroupRun], report: Callable[[], None]
    ) -> tuple[Array, list[MKLKitError]]:
        """Return one fold's scores and ``OTHERS`` of all points, (4, points), and what failed."""
        data, rows = self.data.take(training), self.data.rows[test]
        if data.rows.medians is not None:  # of all rows
            medians = medians_of(runs[0].plan.schema, data.rows.numbers)
            rows = attrs.evolve(rows, medians=medians)
            data = attrs.evolve(data, rows=attrs.evolve(data.rows, medians=medians))
        held_out = TrainingData(rows, self.data.values[test], places=test)
        n_points = sum(len(run.group.places) for run in runs)
        scores = np.full((1 + len(OTHERS), n_points), np.nan)
        errors: list[MKLKitError] = []

        def try_run(run: GroupRun) -> None:
            places = run.group.places
            try:
                with writes_explained(run.plan.components):
                    scores[:, places] = self._run(run, data, held_out)
            except MKLKitError as error:
                # Incompatible parts are so for all of the points.
                if len(places) == 1 or isinstance(error, (SpecError, IncompatibleError)):
                    errors.append(error)
                    return
                for point in run.group.alone():
                    try_run(self.prepared(point, run.plan.schema, run.plan.kernels))

        for run in runs:
            try_run(run)
            for _ in run.problems:
                report()
        return scores, errors

    def _run(self, run: GroupRun, data: TrainingData, held_out: TrainingData) -> Array:
        """Return one fold's scores and ``OTHERS`` of one group's points, (4, points)."""
        n_problems, n_points = len(run.problems), len(run.group.points)
        weighing = run.estimator.class_weight
        plan = with_kernels(run.plan, data, self.cache) if run.plan.proposed else run.plan
        missing = held_out.rows.missing_of(plan.kernels)
        if data.rows.medians is not None:
            data = as_taken(plan, data)
            held_out = attrs.evolve(held_out, rows=accepted(plan, held_out.rows)[0])
        if weighing is not None:
            weights = class_weights(weighing, self.classes, data.values, data.row_weights)
            data = data.with_class_weights(weights)
        random_state = check_random_state(run.estimator.random_state)
        # The same in every fold, as if each were fitted alone with the estimator's seed.
        *seeds, seed = random_state.randint(2**31 - 1, size=n_problems + 1)
        views_of = ProblemViews.of(on_kernels(plan), data, seed, self.cache)
        iterations = np.zeros(n_points)

        def values() -> Iterator[Array]:
            for problem, seed in zip(run.problems, seeds, strict=True):
                of_points, n_iter = _decide(run, views_of, problem, seed, held_out)
                iterations[:] += n_iter
                yield of_points

        if run.problems[0].positive is None:
            scores = np.moveaxis(next(values()), 1, 0)
        else:
            scores = join_scores(run.problems, values(), len(self.classes))
        of_all, parts = self._scored(scores, held_out.values), np.full((2, n_points), np.nan)
        if missing is not None:
            for place, part in enumerate((~missing.any(axis=1), missing.any(axis=1))):
                with suppress(ValueError):  # A score may need rows of each class.
                    parts[place] = self._scored(scores[:, part], held_out.values[part])
        return np.array([of_all, *parts, iterations / n_problems])

    def _scored(self, scores: Array, codes: NDArray[Any]) -> Array:
        """Return each point's score from its class scores (C, n, G), NaN without rows."""
        if len(codes) == 0:
            return np.full(scores.shape[2], np.nan)
        finite = np.asarray(np.isfinite(scores).all(axis=0))
        if self.scorer is None:
            # Scores that are not finite count as wrong.
            return np.asarray(((scores.argmax(axis=0) == codes[:, None]) & finite).mean(axis=0))
        return np.array(
            [
                self.scorer(_Scored(self.classes, scores[..., point].T), codes, self.classes[codes])
                if finite[:, point].all()
                else np.nan
                for point in range(scores.shape[2])
            ]
        )


def checked_scores(scores: Array, errors: Sequence[MKLKitError]) -> Array:
    """Return scores (folds, points), NaN for points that failed, with a warning.

    If all failed, the first error is raised.
    """
    if np.isnan(scores).any(axis=0).all():
        for error in errors:
            raise error
        raise DataError("No setting has a score on every fold: the scorer returned NaN.")
    for message in dict.fromkeys(str(error) for error in errors):
        warnings.warn(f"A point failed and is left out: {message}", MKLKitWarning, stacklevel=2)
    return scores


def _decide(
    run: GroupRun, views_of: ProblemViews, problem: Problem, seed: int, held_out: TrainingData
) -> tuple[Array, Array]:
    """Return the points' decision values on new rows, the points last, and their iterations."""
    views, target, random_state = views_of.of_problem(problem, seed)
    combiner, learner, points = run.plan.weighting, run.plan.learner, run.group.points
    rows: Any = held_out.rows
    if fits_grids(combiner) and problem.positive is not None:
        with solver_errors_explained(combiner, learner, views):
            grid = combiner.fit_grid(views, target, learner, points, random_state)
            block = views_of.block(problem, seed, held_out)
            values = grid.decide(rows) if block is None else decide_block(grid, block)
        return values, np.full(len(points), np.nan) if grid.n_iter is None else grid.n_iter
    # Points that can't be fitted at once come in groups of one.
    (decision,) = fit_decisions(combiner, views, target, learner, random_state)
    return decision.decide(rows)[..., None], np.full(1, np.nan)


def check_scorer(scorer: Any, name: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> None:
    """Refuse a scorer that needs more than predictions and decision values, before any fit."""
    try:
        if scorer is None or not needs_probabilities(scorer, codes, classes):
            return
    except ValueError:
        return  # An error on these labels is raised where the scorer is used.
    raise SpecError(
        f"The scorer {quoted(name)} needs more than predictions and decision values, such as"
        " probabilities, which are not calibrated in a search. Choose one that needs no more:"
        " 'accuracy', 'balanced_accuracy', 'f1_macro' or, of two classes, 'roc_auc'."
    )


def needs_probabilities(scorer: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> bool:
    """Return whether a scorer needs more than predictions and decision values.

    A ValueError says why it can't score these labels.
    """
    perfect = _Scored(classes, np.eye(len(classes))[codes])
    try:
        scorer(perfect, np.zeros((len(codes), 1)), classes[codes])
    except AttributeError:
        return True
    return False


class _Scored(ClassifierMixin, BaseEstimator):
    """Class scores (n, C) in the form of a fitted classifier, for scikit-learn's scorers."""

    def __init__(self, classes: Any, scores: Any) -> None:
        self.classes = classes
        self.scores = scores
        self.classes_ = classes

    def decision_function(self, X: Any) -> Array:
        """Return the scores; for two classes, those of the second."""
        scores = np.asarray(self.scores)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest score."""
        return np.asarray(self.classes_[np.asarray(self.scores).argmax(axis=1)])
