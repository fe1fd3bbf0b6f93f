"""The scores of many points of a search on the same folds, with views made once per fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
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
from mklkit.estimators.fitting import fit_decision, solver_errors_explained
from mklkit.estimators.folds import Rows
from mklkit.estimators.grids import PointGroup
from mklkit.estimators.multiclass import BinaryProblem, ScoreJoiner, decompose
from mklkit.estimators.parallel import in_threads
from mklkit.estimators.proposing import bank_of
from mklkit.estimators.row_weights import class_weights, joint_weights
from mklkit.estimators.shared_views import problem_views, remembered_digests, shared_views
from mklkit.estimators.training import ProblemViews, bind_to_columns, choose_strategy
from mklkit.protocols import Array, Combiner
from mklkit.registry.composing import Choice, are_proposed, choose_components
from mklkit.views.deciding import decide_block
from mklkit.views.memory import memory_given
from mklkit.views.row_parts import rows_at, take_rows

__all__ = ["Folds", "Scorer", "check_scorer", "fits_grids"]

Scorer = Callable[[Any, Any, Any], float]
NO_NUMBER = "No setting has a score that is a number on every fold: the scorer returned NaN."

Reports = Iterator[Callable[[], None]]
"""One call per binary problem."""


def fits_grids(combiner: Any) -> bool:
    """Return whether a combiner fits several points at once.

    Not if it changes ``fit`` and inherits ``fit_grid``, which would leave the change out.
    """
    if type(combiner).fit_grid is Combiner.fit_grid:
        return False
    defined = [
        next(place for place, one in enumerate(type(combiner).__mro__) if name in vars(one))
        for name in ("fit_grid", "fit")
    ]
    return defined[0] <= defined[1]


@attrs.frozen(eq=False)
class GroupRun:
    """One group of points: an estimator without them, and its components."""

    group: PointGroup
    estimator: MKLClassifier
    choice: Choice
    problems: list[BinaryProblem]


@attrs.frozen(eq=False)
class Folds:
    """The rows and splits on which points are scored.

    Attributes
    ----------
    row_weights : ndarray of shape (N,) or None
        How much each row counts in a fit.
    search : estimator
        It knows the columns and the classes.
    varied : callable
        Returns the estimator with some parameters changed.
    scorer : callable or None
        Called with a fitted classifier, rows and labels; None for the accuracy.
    report : callable
        Called after each binary problem of a group on a fold.
    """

    X: Any
    codes: NDArray[np.intp]
    row_weights: Array | None
    search: Any
    varied: Callable[[Any], MKLClassifier]
    splits: Sequence[tuple[Rows, Rows]]
    scorer: Scorer | None
    report: Callable[[], None]

    def scores(self, runs: Sequence[GroupRun]) -> tuple[Array, Array]:
        """Return the scores (folds, points), and the mean number of iterations (points,).

        A point that fails has the score NaN, and a warning; if all do, the error is raised.

        Notes
        -----
        Folds run in the estimator's ``n_jobs`` threads. In each, all groups with the same kernels
        and map use the same views, and a group whose combiner fits grids one Gram matrix per
        different weights.
        """
        tasks = [
            partial(copy_context().run, self._fold, number, runs)
            for number in range(len(self.splits))
        ]
        most = max(len(training) for training, _ in self.splits)
        found = list(in_threads(tasks, runs[0].estimator.n_jobs, most))
        errors = [error for one in found for error in one.errors]
        scores = np.array([one.scores for one in found])
        if np.isnan(scores).any(axis=0).all():
            raise next(iter(errors), DataError(NO_NUMBER))
        for message in dict.fromkeys(str(error) for error in errors):
            warnings.warn(f"A point failed and is left out: {message}", MKLKitWarning, stacklevel=2)
        return scores, np.mean([one.n_iter for one in found], axis=0)

    def prepared(self, group: PointGroup) -> GroupRun:
        """Return a group with its estimator and components."""
        one = self.varied(group.common)
        weighted = self.row_weights is not None or one.class_weight is not None
        choice = choose_components(one.combiner, one.feature_map, one.learner, weighted=weighted)
        strategy = choose_strategy(one.multiclass, choice.combiner, choice.learner)
        problems = decompose(len(self.search.classes_), strategy)
        if not are_proposed(one.kernels):
            bind_to_columns(one.kernels, self.search)  # A wrong column is refused before any fit.
        return GroupRun(group, one, choice, problems)

    def _fold(self, number: int, runs: Sequence[GroupRun]) -> _FoldScores:
        """Return one fold's scores of all points."""
        n_points = sum(len(run.group.places) for run in runs)
        unknown = np.full(n_points, np.nan)
        training, test = self.splits[number]
        rows, held_out = take_rows(self.X, training), rows_at(self.X, test)
        found = _FoldScores(rows, held_out, unknown, unknown.copy(), [])
        with shared_views(runs[0].estimator.max_memory):
            for run in runs:
                reports = iter([self.report] * len(run.problems))
                self._try(number, run, found, reports)
                for report in reports:  # of a group that failed
                    report()
        return found

    def _try(self, number: int, run: GroupRun, found: _FoldScores, reports: Reports) -> None:
        """Add one fold's scores of one group's points, as far as they can be fitted."""
        try:
            self._run(number, run, found, reports)
        except MKLKitError as error:
            # Parts that don't go together do so for none of the points.
            if len(run.group.places) == 1 or isinstance(error, (SpecError, IncompatibleError)):
                found.errors.append(error)
                return
            for one in run.group.alone():
                self._try(number, self.prepared(one), found, iter(()))

    def _run(self, number: int, run: GroupRun, found: _FoldScores, reports: Reports) -> None:
        """Add one fold's scores of one group's points."""
        training, test = self.splits[number]
        n_problems, n_points = len(run.problems), len(run.group.points)
        random_state = check_random_state(run.estimator.random_state)
        # The same in every fold, as if each were fitted by itself with the estimator's seed.
        seeds = random_state.randint(2**31 - 1, size=n_problems + 1)
        rows, codes = found.rows, self.codes[training]
        views_of = problem_views(
            bank_of(run.estimator.kernels, self.search, rows, codes).kernels,
            run.choice.feature_map,
            rows,
            codes,
            seeds[-1],
            run.estimator.bandwidths,
            memory_given(run.estimator.max_memory),
            self.X if isinstance(self.X, np.ndarray) else None,
            training,
            found.digest,
            self._weights_of(run.estimator, training),
        )
        held_out = found.held_out
        joiner = ScoreJoiner((len(test), n_points), len(self.search.classes_))
        iterations = np.zeros(n_points)
        scores: Array | None = None
        for problem, seed in zip(run.problems, seeds, strict=False):
            values, n_iter = _decide(run, views_of, problem, seed, held_out, test)
            iterations += n_iter
            next(reports, lambda: None)()
            if problem.positive is None:
                scores = np.moveaxis(values, 1, 0)
            else:
                joiner.add(problem, values)
        scores = joiner.scores() if scores is None else scores
        places = run.group.places
        found.scores[places] = self._scored(scores, held_out, self.codes[test])
        found.n_iter[places] = iterations / n_problems

    def _weights_of(self, estimator: MKLClassifier, training: Rows) -> Array | None:
        """Return the weights of a fold's training rows (n,), times those of their classes."""
        codes, own = self.codes[training], self.row_weights
        own = None if own is None else own[training]
        classes = class_weights(estimator.class_weight, self.search.classes_, codes, own)
        return joint_weights(classes, codes, own)

    def _scored(self, scores: Array, rows: Any, codes: NDArray[np.intp]) -> Array:
        """Return each point's score from its class scores (C, n, G)."""
        finite = np.asarray(np.isfinite(scores).all(axis=0))
        if self.scorer is None:
            # Scores that are not finite count as wrong.
            return np.asarray(((scores.argmax(axis=0) == codes[:, None]) & finite).mean(axis=0))
        classes = self.search.classes_
        return np.array(
            [
                self.scorer(_Scored(classes, scores[..., point].T), rows, classes[codes])
                if finite[:, point].all()
                else np.nan
                for point in range(scores.shape[2])
            ]
        )


@attrs.define(eq=False)
class _FoldScores:
    """One fold's scores and iterations of each point, and what failed."""

    rows: Any
    held_out: Array
    scores: Array
    n_iter: Array
    errors: list[MKLKitError]
    digest: Callable[[Any], Any] = attrs.field(factory=remembered_digests)


def _decide(
    run: GroupRun,
    views_of: ProblemViews,
    problem: BinaryProblem,
    seed: int,
    rows: Array,
    places: Rows,
) -> tuple[Array, Array]:
    """Return the points' decision values on new rows, the points last, and their iterations."""
    views, target, random_state = views_of.of(problem, seed)
    combiner, learner, points = run.choice.combiner, run.choice.learner, run.group.points
    if fits_grids(combiner) and problem.positive is not None:
        with solver_errors_explained(combiner, learner, views):
            decision = combiner.fit_grid(views, target, learner, points, random_state)
            block = views_of.block(problem, seed, rows, places)
            values = decision.decide(rows) if block is None else decide_block(decision, block)
        n_iter = np.full(len(points), np.nan) if decision.n_iter is None else decision.n_iter
        return values, n_iter
    # Points that can't be fitted at once come in groups of one.
    one = fit_decision(combiner, views, target, learner, random_state)
    return one.decide(rows)[..., None], np.full(1, np.nan)


def check_scorer(scorer: Any, given: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> None:
    """Refuse a scorer that needs more than predictions and decision values, before any fit.

    Parameters
    ----------
    scorer : callable or None
    given : str or callable
        As the user named it.
    codes : ndarray of shape (N,)
        Class numbers.
    classes : ndarray of shape (C,)

    Raises
    ------
    SpecError
        If it asks for something else, such as probabilities.
    """
    if scorer is None:
        return
    perfect = _Scored(classes, np.eye(len(classes))[codes])
    try:
        scorer(perfect, np.zeros((len(codes), 1)), classes[codes])
    except AttributeError as error:
        raise SpecError(
            f"The scorer {quoted(given)} needs more than predictions and decision values, such as"
            " probabilities, which are not calibrated in a search. Choose one that needs no more:"
            " 'accuracy', 'balanced_accuracy', 'f1_macro' or, of two classes, 'roc_auc'."
        ) from error
    except ValueError:
        # What it can't do with these labels it says where it is used.
        return


class _Scored(ClassifierMixin, BaseEstimator):
    """Class scores (n, C) as a fitted classifier, for scikit-learn's scorers."""

    def __init__(self, classes: Any, scores: Any) -> None:
        self.classes = classes
        self.scores = scores
        self.classes_ = classes

    def decision_function(self, X: Any) -> Array:
        """Return the scores; of two classes those of the second."""
        scores = np.asarray(self.scores)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest score."""
        return np.asarray(self.classes_[np.asarray(self.scores).argmax(axis=1)])
