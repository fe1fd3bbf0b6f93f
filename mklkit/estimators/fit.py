"""A fit from top to bottom: plan, rows and target, problems, views, decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

import attrs
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from mklkit.display.progress import BRIEF, reported
from mklkit.errors import SpecError
from mklkit.estimators.checking import (
    as_source,
    check_classes,
    check_numbers,
    check_rows_alone,
)
from mklkit.estimators.finite import fit_decision
from mklkit.estimators.plan import Plan, kernels_to_bind, plan_of
from mklkit.estimators.problem_views import ProblemViews, SharedViews
from mklkit.estimators.problems import ALL_ROWS, Problem
from mklkit.estimators.proposing import proposed_bank
from mklkit.estimators.table_reading import read_table
from mklkit.estimators.training_data import TrainingData, checked_row_weights
from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Decision, Task
from mklkit.protocols.component import is_whole

__all__ = ["Fitted", "fit_problems", "in_threads", "plan_and_read", "settled"]

Result = TypeVar("Result")

CHECKS: dict[Task, Callable[..., TrainingData]] = {
    "two classes": check_classes,
    "several classes": check_classes,
    "numbers": check_numbers,
    "none": check_rows_alone,
}


SMALL_ROWS = 2000
"""Below, a second BLAS thread saves less than a second, and costs several beside a busy process."""


@attrs.frozen(eq=False)
class Fitted:
    """A plan, and the decisions that came of it.

    Attributes
    ----------
    plan : Plan
    problems : tuple of Problem
    decisions : tuple of Decision
        One per problem.
    n_rows : int
        The number of training rows, without those of weight 0.
    names : tuple
        Those of the problems.
    notes : tuple of str
        What was settled beside the plan, a sentence each.
    """

    plan: Plan
    problems: tuple[Any, ...]
    decisions: tuple[Decision, ...]
    n_rows: int
    names: tuple[Any, ...] = (ALL_ROWS,)
    notes: tuple[str, ...] = ()

    @property
    def choices(self) -> list[str]:
        """What was chosen because nothing was given, a sentence each."""
        return [*self.plan.kernel_notes, *self.plan.notes, *self.notes]


def plan_and_read(
    estimator: Any, task: Task, X: Any, y: Any = None, sample_weight: Any = None
) -> tuple[Plan, TrainingData]:
    """Return the plan of an estimator for a table, and its rows and target as the plan reads them.

    Parameters
    ----------
    estimator : KernelEstimator
        It gets scikit-learn's own attributes.
    task : Task
        What is to be learned.
    X, y, sample_weight
        As the user gave them.
    """
    X = as_source(X)
    row_weights = None
    if sample_weight is not None:
        row_weights = checked_row_weights(sample_weight, _num_samples(X))
    reading, (kernels,) = read_table(X, [kernels_to_bind(estimator)])
    weighted = row_weights is not None or estimator.class_weight is not None
    plan = plan_of(estimator, task, reading, kernels, weighted)
    return plan, CHECKS[task](estimator, reading, X, y, row_weights)


def fit_problems(
    plan: Plan,
    data: TrainingData,
    problems: Sequence[Problem],
    random_state: Any,
    shared: SharedViews | None = None,
) -> Fitted:
    """Return the decision of each problem, learned from the views of its rows.

    Parameters
    ----------
    plan : Plan
    data : TrainingData
    problems : sequence of Problem
    random_state : int, RandomState or None
    shared : SharedViews, optional
        Where several fits on the same rows share their views; a fit by itself does without.
    """
    if plan.proposed:
        plan = settled(plan, data, shared)
    # Seeds are drawn before anything runs, so that the order of the threads does not matter.
    *seeds, seed = check_random_state(random_state).randint(2**31 - 1, size=len(problems) + 1)
    views_of = ProblemViews(plan, data, seed) if shared is None else shared.of(plan, data, seed)
    views_of.say_if_long(problems)

    def fit_problem(problem: Problem, seed: int) -> Decision:
        views, target, draw = views_of.of(problem, seed)
        return fit_decision(plan.combiner, views, target, plan.learner, draw)

    tasks = [partial(fit_problem, *pair) for pair in zip(problems, seeds, strict=True)]
    decisions: list[Decision] = []
    bar = reported(None, "fitting", BRIEF) if len(tasks) > 1 else nullcontext()
    with bar as report:
        for decision in in_threads(tasks, plan.n_jobs, len(data.rows)):
            decisions.append(decision)
            if report is not None:
                report(len(decisions), len(tasks))
    return Fitted(plan, tuple(problems), tuple(decisions), len(data.rows))


def settled(plan: Plan, data: TrainingData, shared: SharedViews | None = None) -> Plan:
    """Return a plan with kernels that are proposed from the data."""
    names = plan.reading.names

    def propose() -> Any:
        return proposed_bank(names, data, plan.task)

    key = plan.task, names
    bank = propose() if shared is None else shared.small(key, data, propose)
    kernels = tuple(bank.kernels)
    return attrs.evolve(plan, kernels=kernels, kernel_notes=bank.notes, proposed=False)


def in_threads(
    tasks: Sequence[Callable[[], Result]], n_jobs: int | None, n_rows: int
) -> Iterator[Result]:
    """Yield each task's result, in order, from ``n_jobs`` threads.

    One thread per task, BLAS's included, where there are several, or where matrices of ``n_rows``
    rows are too small to split: two thread pools on the same cores slow each other down, and on a
    busy computer two threads of one small product mostly wait for each other.

    Raises
    ------
    SpecError
        If ``n_jobs`` is not a whole number, or zero.
    """
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise SpecError(
            "n_jobs must be None or a whole number other than 0 (-1: one per processor);"
            f" got {n_jobs!r:.80}."
        )
    jobs = min(int(effective_n_jobs(n_jobs)), len(tasks))
    with one_blas_thread(jobs > 1 or n_rows < SMALL_ROWS):
        if jobs == 1:
            for task in tasks:
                yield task()
        else:
            # Threads even where joblib's backend is a cluster: tasks share features.
            yield from Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")(
                delayed(task)() for task in tasks
            )
