"""The loop of a search: the scores of all points on all splits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, Protocol

import attrs
import numpy as np

from mklkit.errors import DataError, IncompatibleError, MKLKitError, MKLKitWarning, SpecError
from mklkit.estimators.points import PointGroup
from mklkit.numerics.threads import in_threads
from mklkit.protocols import Array
from mklkit.protocols.splits.split import Split, Splits

OTHERS = ("mean_test_complete", "mean_test_incomplete", "mean_n_iter")
"""The values of points besides their scores: the scores of the samples that have all sources, those
of the others, and the number of iterations."""


@attrs.frozen(eq=False)
class Run:
    """A group of points that are fitted at once, and the estimator without what they vary."""

    group: PointGroup
    estimator: Any

    @property
    def n_problems(self) -> int:
        """How many problems a fit has."""
        return 1


class PointFits(Protocol):
    """The fits of all points of a search, in groups of those that are fitted at once."""

    @property
    def runs(self) -> Sequence[Run]:
        """The groups."""

    @property
    def splits(self) -> Splits:
        """Where points are fitted and scored."""

    def on(self, split: Split) -> Callable[[Any], Array]:
        """Return a function that fits a run's points on the split's training samples.

        It returns their scores and ``OTHERS`` on the test samples, (4, points), NaN where a point
        has none.
        """

    def alone(self, run: Any) -> Iterator[Run]:
        """Yield a run for each of a run's points."""


def fold_scores(
    fits: PointFits, report: Callable[[int, int], Any]
) -> tuple[Array, dict[str, Array]]:
    """Return the scores of all points on all splits (splits, points), and ``OTHERS`` by name.

    ``report`` is called with the problems done and their number. Splits run in the estimator's
    ``n_jobs`` threads. A point that can't be fitted has NaN, with a warning; if none can, the first
    error is raised.
    """
    splits, runs = fits.splits, fits.runs
    total = len(splits) * sum(run.n_problems for run in runs)
    done = count(1)
    tasks = [partial(_of_split, fits, split, lambda: report(next(done), total)) for split in splits]
    folds = list(in_threads(tasks, runs[0].estimator.n_jobs, splits.training[-1]))
    scores, *others = np.array([values for values, _ in folds]).swapaxes(0, 1)
    errors = [error for _, of_fold in folds for error in of_fold]
    if np.isnan(scores).any(axis=0).all():
        for error in errors:
            raise error
        raise DataError("No setting has a score on every fold: the scorer returned NaN.")
    for message in dict.fromkeys(str(error) for error in errors):
        warnings.warn(f"A point failed and is dropped: {message}", MKLKitWarning, stacklevel=3)
    return scores, dict(zip(OTHERS, others, strict=True))


def _of_split(
    fits: PointFits, split: Split, report: Callable[[], Any]
) -> tuple[Array, list[MKLKitError]]:
    """Return a split's scores and ``OTHERS`` of all points, (4, points), and what failed."""
    scores_of = fits.on(split)
    scores = np.full((1 + len(OTHERS), sum(len(run.group.places) for run in fits.runs)), np.nan)
    errors: list[MKLKitError] = []

    def try_run(run: Run) -> None:
        places = run.group.places
        try:
            scores[:, places] = scores_of(run)
        except MKLKitError as error:
            # Incompatible parts are so for all of the points.
            if len(places) == 1 or isinstance(error, (SpecError, IncompatibleError)):
                errors.append(error)
                return
            for single in fits.alone(run):
                try_run(single)

    for run in fits.runs:
        try_run(run)
        for _ in range(run.n_problems):
            report()
    return scores, errors
