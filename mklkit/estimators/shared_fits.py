"""Points of a search for classes: many are fitted at once, on views computed once per split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from mklkit.estimators.binding import bind
from mklkit.estimators.class_scorers import ScoredClasses, Scorer, check_scorer
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fit import (
    fit_decisions,
    solver_errors_explained,
    with_kernels,
    with_scales,
)
from mklkit.estimators.fold_scores import Run
from mklkit.estimators.joining import joined_and_places
from mklkit.estimators.missing_sources import accepted, as_taken
from mklkit.estimators.plan import Plan, ProblemViews, kernels_to_bind, on_kernels, plan_of
from mklkit.estimators.points import Point, PointGroup, grouped
from mklkit.estimators.problems import Problem, class_problems, join_scores
from mklkit.estimators.reading import as_source, medians_of, training_rows
from mklkit.estimators.training_data import (
    TrainingData,
    check_training,
    checked_groups,
    checked_row_weights,
    class_weights,
)
from mklkit.estimators.variants import fits_grids, seeded, varied, varied_at_once
from mklkit.protocols import TWO_CLASSES, Array, Schema
from mklkit.protocols.splits.making import GivenSplits, make_splits, read_cv
from mklkit.protocols.splits.split import Split, Splits
from mklkit.registry.given_arrays import writes_explained
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.cache import Cache
from mklkit.views.deciding import decide_block


@attrs.frozen(eq=False)
class PlannedRun(Run):
    """A group of points with the plan of its estimator, and its problems."""

    plan: Plan
    problems: list[Problem]

    @property
    def n_problems(self) -> int:
        """How many problems a fit has."""
        return len(self.problems)


@attrs.frozen(eq=False)
class SharedFits:
    """The samples and splits on which points of a classifier are fitted, and their shared views.

    ``variant`` returns the estimator with some parameters changed; ``scorer`` is called with a
    fitted classifier, samples and labels, and None stands for the accuracy. All groups with the
    same kernels and map take their views from ``cache``.
    """

    runs: Sequence[PlannedRun]
    splits: Splits
    data: TrainingData
    classes: NDArray[Any]
    variant: Callable[[Point], Any]
    scorer: Scorer | None
    cache: Cache

    @classmethod
    def of(
        cls,
        search: Any,
        base: MKLClassifier,
        points: Sequence[Point],
        cv: Any,
        score: Any,
        cache: Cache,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
    ) -> Self:
        """Return the fits of points of a classifier, with the samples checked as for one fit.

        ``search`` gets scikit-learn's own attributes, and ``classes_``.
        """
        alike = grouped(points, partial(varied_at_once, base))
        X, sources = joined_and_places(X, y)
        table = as_source(X)
        estimators = [varied(base, group.common) for group in alike]
        banks = [kernels_to_bind(each, TWO_CLASSES, table, sources) for each in estimators]
        schema, bound = bind(table, *banks)
        rows, schema = training_rows(search, schema, table)
        row_weights = checked_row_weights(sample_weight, _num_samples(table))
        row_groups = checked_groups(groups, _num_samples(table))
        data = check_training(search, TWO_CLASSES, rows, y, row_weights, row_groups)
        run, seed = seeded(base)
        scorer = None if score == "accuracy" else get_scorer(score)
        check_scorer(scorer, score, data.values, search.classes_)
        request = read_cv(cv)
        if isinstance(request, GivenSplits):
            counting = None if row_weights is None else row_weights != 0
            request = attrs.evolve(request, features=data.rows, kept=counting)
        labels = search.classes_[data.values]
        splits = make_splits(labels, request, seed=seed, groups=data.groups)
        fits = cls((), splits, data, search.classes_, partial(varied, run), scorer, cache)
        runs = [fits._planned(*pair, schema) for pair in zip(alike, bound, strict=True)]
        return attrs.evolve(fits, runs=runs)

    def _planned(
        self, group: PointGroup, kernels: Sequence[BoundKernel], schema: Schema
    ) -> PlannedRun:
        estimator = self.variant(group.common)
        weighted = self.data.row_weights is not None or estimator.class_weight is not None
        plan = plan_of(estimator, TWO_CLASSES, schema, kernels, weighted)
        plan = with_scales(plan, self.data.rows)
        problems = class_problems(
            len(self.classes), estimator.multiclass, plan.combiner, plan.learner
        )
        return PlannedRun(group, estimator, plan, problems)

    def _chosen(self, run: PlannedRun, data: TrainingData) -> PlannedRun:
        """Return a run with the kernels that are chosen from the training samples of a split."""
        plan = with_kernels(run.plan, data, self.cache)
        multiclass = run.estimator.multiclass
        problems = class_problems(len(self.classes), multiclass, plan.combiner, plan.learner)
        return attrs.evolve(run, plan=plan, problems=problems)

    def alone(self, run: PlannedRun) -> Iterator[PlannedRun]:
        """Yield a run for each of a run's points."""
        for point in run.group.alone():
            yield self._planned(point, run.plan.kernels, run.plan.schema)

    def on(self, split: Split) -> Callable[[PlannedRun], Array]:
        """Return a function that fits a run's points on a split: scores and others, (4, points)."""
        data = self.data.take(split.train)
        rows = self.data.rows[split.test]
        if data.rows.medians is not None:  # of all samples
            medians = medians_of(self.runs[0].plan.schema, data.rows.numbers)
            rows = attrs.evolve(rows, medians=medians)
            data = attrs.evolve(data, rows=attrs.evolve(data.rows, medians=medians))
        held_out = TrainingData(rows, self.data.values[split.test], places=split.test)
        return partial(self._scores, data, held_out)

    def _scores(self, data: TrainingData, held_out: TrainingData, run: PlannedRun) -> Array:
        with writes_explained(run.plan.components):
            return self._values(data, held_out, run)

    def _values(self, data: TrainingData, held_out: TrainingData, run: PlannedRun) -> Array:
        """Return the scores and ``OTHERS`` of a run's points on one split, (4, points)."""
        weighing = run.estimator.class_weight
        missing = held_out.rows.missing_of(run.plan.kernels)
        if data.rows.medians is not None:
            data = as_taken(run.plan, data)
            held_out = attrs.evolve(held_out, rows=accepted(run.plan, held_out.rows)[0])
        if weighing is not None:
            weights = class_weights(weighing, self.classes, data.values, data.row_weights)
            data = data.with_class_weights(weights)
        if run.plan.proposed:
            run = self._chosen(run, data)
        plan = run.plan
        n_problems, n_points = len(run.problems), len(run.group.points)
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
                with suppress(ValueError):  # A score may need samples of each class.
                    parts[place] = self._scored(scores[:, part], held_out.values[part])
        return np.array([of_all, *parts, iterations / n_problems])

    def _scored(self, scores: Array, codes: NDArray[Any]) -> Array:
        """Return each point's score from its class scores (C, n, G), NaN without samples."""
        if len(codes) == 0:
            return np.full(scores.shape[2], np.nan)
        finite = np.asarray(np.isfinite(scores).all(axis=0))
        if self.scorer is None:
            # Scores that are not finite count as wrong.
            return np.asarray(((scores.argmax(axis=0) == codes[:, None]) & finite).mean(axis=0))
        values = np.full(scores.shape[2], np.nan)
        for point in np.flatnonzero(finite.all(axis=0)):
            classifier = ScoredClasses(self.classes, scores[..., point].T)
            values[point] = self.scorer(classifier, codes, self.classes[codes])
        return values


def _decide(
    run: PlannedRun, views_of: ProblemViews, problem: Problem, seed: int, held_out: TrainingData
) -> tuple[Array, Array]:
    """Return the points' decision values on new samples, the points last, and their iterations."""
    views, target, random_state = views_of.of_problem(problem, seed)
    combiner, learner, points = run.plan.weighting, run.plan.learner, run.group.points
    rows: Any = held_out.rows
    if fits_grids(combiner):
        with solver_errors_explained(combiner, learner, views):
            grid = combiner.fit_grid(views, target, learner, points, random_state)
            block = views_of.block(problem, seed, held_out)
            values = grid.decide(rows) if block is None else decide_block(grid, block)
        return values, np.full(len(points), np.nan) if grid.n_iter is None else grid.n_iter
    # Points that can't be fitted at once come in groups of one.
    (decision,) = fit_decisions(combiner, views, target, learner, random_state)
    return decision.decide(rows)[..., None], np.full(1, np.nan)
