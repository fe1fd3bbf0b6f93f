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
    another.

    Parameters
    ----------
    kernels : str, Kernel, or list of these, optional
        As for :class:`mklkit.MKLClassifier`.
    feature_map : str or FeatureMap, optional
        The feature map; by default the combiner's.
    combiner : str or Combiner, default="uniform"
        One that learns from the kind, or from any.
    learner : str or Learner, optional
        One that learns from the kind; by default the first.
    max_memory : int or str, optional
        As for :class:`mklkit.MKLClassifier`.
    random_state : int, RandomState or None, default=None
        The seed of everything random.
    n_jobs : int or None, default=None
        As for :class:`mklkit.MKLClassifier`; it has no effect, since there is one problem.
    missing : str or Missing, default="present"
        As for :class:`mklkit.MKLClassifier`.
    scale : str, optional
        As for :class:`mklkit.MKLClassifier`.

    Attributes
    ----------
    kind : TargetKind
        What is learned; learners and combiners must state that they learn from it.

    See Also
    --------
    mklkit.plugin.Task : The task of which it is the estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.plugin import NUMBERS
    >>> class Smooth(TargetEstimator):
    ...     kind = NUMBERS
    >>> rows = np.arange(12.0)[:, None]
    >>> model = Smooth("rbf", learner="ridge(alpha=0.1)").fit(rows, np.sin(rows[:, 0]))
    >>> model.predict(rows).shape
    (12,)
    """

    _n_values: ClassVar[None] = None
    chooses_kernels: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from samples (N, d) and their targets.

        Parameters
        ----------
        X : array-like, DataFrame, RowSource or Dask collection of shape (N, d)
            The training samples.
        y : array-like
            What the ``kind`` reads.
        sample_weight : array-like of shape (N,), optional
            How much each sample counts: a sample of weight 2 as much as the same sample twice.
        groups : array-like of shape (N,), optional
            The group of each sample, such as its patient: any choice on held-out samples is made on
            samples of other groups.

        Returns
        -------
        TargetEstimator
            The estimator itself.

        Raises
        ------
        ValueError
            For data that scikit-learn rejects (infinity, text, one sample).
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
        """Return the decision value of each sample (n,).

        For a Dask array or DataFrame, they are a lazy Dask array. With ``split=True``, return the
        part of each kernel and, last, the constant, (n, M + 1).

        Parameters
        ----------
        X : array-like, DataFrame, RowSource or Dask collection of shape (n, d)
            The samples.
        split : bool, default=False
            Whether to return the parts of kernels.

        Returns
        -------
        ndarray of shape (n,) or (n, M + 1)
            The decision values, or their parts.

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
        """Return the prediction for each sample (n,), its decision value.

        Parameters
        ----------
        X : array-like, DataFrame, RowSource or Dask collection of shape (n, d)
            The samples.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        return self.decision_function(X)
