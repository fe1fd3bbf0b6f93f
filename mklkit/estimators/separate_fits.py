"""Points of a search that are fitted one by one, for numeric targets and one class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from mklkit.errors import DataError
from mklkit.estimators.fold_scores import OTHERS, Run
from mklkit.estimators.joining import one_table
from mklkit.estimators.points import Point, PointGroup
from mklkit.estimators.sharing import fit_on
from mklkit.estimators.task_of import task_of
from mklkit.estimators.training_data import checked_groups, checked_row_weights
from mklkit.estimators.variants import Searched, seeded, varied
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Array, RowSource, Task
from mklkit.protocols.splits.split import Split, Splits
from mklkit.views.rows import is_dask


@attrs.frozen(eq=False)
class SeparateFits:
    """The samples and splits on which points are fitted, each as an estimator of its own.

    Samples of weight 0 are not scored.
    """

    runs: Sequence[Run]
    splits: Splits
    features: Any
    targets: Any
    row_weights: Array | None
    groups: NDArray[np.intp] | None
    task: Task
    score: Any

    @classmethod
    def of(
        cls,
        base: Searched,
        points: Sequence[Point],
        cv: Any,
        score: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
    ) -> Self:
        """Return the fits of points of an estimator; a DataError says what can't be searched."""
        X = one_table(X, y)
        refuse_sparse(y, "y")
        if isinstance(X, RowSource) or is_dask(X):
            raise DataError("This search needs samples in memory: pass some of them.")
        n_rows = _num_samples(X)
        row_weights = checked_row_weights(sample_weight, n_rows)
        groups = checked_groups(groups, n_rows)
        run, seed = seeded(base)
        runs = [
            Run(PointGroup(point, [{}], [place]), varied(run, point))
            for place, point in enumerate(points)
        ]
        task = task_of(base)
        if base.kind.is_empty and (y is None or not np.array_equal(np.unique(y), [-1, 1])):
            raise DataError(
                "Settings are scored on known outliers: y must be -1 for these and 1 for the other"
                " samples. No fit sees it."
            )
        splits = task.splits(task.as_array(y), cv, seed, groups)
        return cls(runs, splits, X, y, row_weights, groups, task, score)

    def on(self, split: Split) -> Callable[[Run], Array]:
        """Return a function that fits a point on a split, and returns its score."""
        return partial(self._scores, split)

    def alone(self, run: Run) -> Iterator[Run]:
        """Yield the run, which has one point."""
        yield run

    def _scores(self, split: Split, run: Run) -> Array:
        test = split.test
        if self.row_weights is not None:
            test = test[self.row_weights[test] > 0]
        weights, groups = (
            None if values is None else values[split.train]
            for values in (self.row_weights, self.groups)
        )
        X, y = (_safe_indexing(values, split.train) for values in (self.features, self.targets))
        # The splits take the threads.
        model = clone(run.estimator).set_params(n_jobs=None)
        fit_on(model, X, y, {"sample_weight": weights}, groups)
        trained = self.task.as_array(y)
        X, y = (_safe_indexing(values, test) for values in (self.features, self.targets))
        values = np.full((1 + len(OTHERS), 1), np.nan)
        scorer = self.score
        if isinstance(scorer, str):
            scorer = self.task.scorer(scorer, training=trained)
        values[0] = scorer(model, X, self.task.as_array(y))
        return values
