"""The base of estimators that learn one problem, such as those of packages' tasks."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.fit import fit_problems, plan_and_read
from mklkit.estimators.plan import check_new_rows
from mklkit.estimators.predicting import finite_values, lazy_on_dask
from mklkit.estimators.problems import Problem, decision_parts
from mklkit.protocols import Array


class TargetEstimator(KernelEstimator):
    """Kernels joined by a combiner, and a learner of one kind of target.

    A subclass states the ``kind``; its :meth:`predict` returns decision values unless it writes
    another. Parameters and attributes are those of :class:`mklkit.MKLOneClass`, and if ``fit`` got
    a DataFrame of targets, ``target_names_``.

    Attributes
    ----------
    kind : TargetKind
        What is learned; learners and combiners must state that they learn from it.

    See Also
    --------
    mklkit.plugin.Task : the task of which it is the estimator.
    """

    _n_values: ClassVar[None] = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows (N, d) and their targets.

        Parameters
        ----------
        X : array-like, DataFrame, RowSource or Dask rows of shape (N, d)
        y : array-like
            What the ``kind`` reads.
        sample_weight : array-like of shape (N,), optional
            How much each row counts: a row of weight 2 as much as the same row twice.
        groups : array-like of shape (N,), optional
            The group of each row, such as its patient: any choice on held-out rows is made on rows
            of other groups.

        Raises
        ------
        ValueError
            For data that scikit-learn refuses (infinity, text, one row).
        MKLKitError
            A ``ValueError`` too: targets of another kind, components that do not fit together or
            do not learn from this kind.
        """
        plan, data = plan_and_read(self, self.kind, X, y, sample_weight, groups)
        problem = Problem(self.kind.name)
        self.fitted_ = fit_problems(plan, data, [problem], self.random_state)
        return self

    @lazy_on_dask
    def decision_function(self, X: Any, split: bool = False) -> Array:
        """Return the decision value of each row (n,).

        For a Dask array or DataFrame, they are a lazy Dask array. With ``split=True``, return the
        part of each kernel and, last, the constant, (n, M + 1).

        Raises
        ------
        DataError
            If a value is not finite, as may happen with features of 1e300.
        """
        rows = check_new_rows(self, X)
        if split:
            return decision_parts(self.fitted_, rows)[:, :, 0]
        return finite_values(self.fitted_, rows)[:, 0]

    def predict(self, X: Any) -> Any:
        """Return the prediction for each row (n,), its decision value."""
        return self.decision_function(X)
