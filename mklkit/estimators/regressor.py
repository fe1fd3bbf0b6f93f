"""MKLRegressor: multiple kernel regression as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from sklearn.base import MultiOutputMixin, RegressorMixin

from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.fit import fit_problems, plan_and_read, with_kernels
from mklkit.estimators.plan import Plan, check_new_rows
from mklkit.estimators.predicting import finite_values, lazy_on_dask
from mklkit.estimators.problems import Problem, decision_parts
from mklkit.protocols import (
    NUMBERS,
    Array,
    CombinerTraits,
    FeatureMapTraits,
    LearnerTraits,
    TargetKind,
    traits_of,
)
from mklkit.views.rows import is_dask


class MKLRegressor(MultiOutputMixin, RegressorMixin, KernelEstimator):
    """Multiple kernel regression: kernels, each with a feature map, joined by a combiner.

    Parameters
    ----------
    kernels : str, Kernel, or list of these, optional
        As for :class:`mklkit.MKLClassifier`.
    feature_map : str or FeatureMap, optional
        ``"implicit"``, ``"empirical(subset=0.1)"`` ...; by default the combiner's.
    combiner : str or Combiner, default="uniform"
        ``"centered-alignment"``, ``"best-single"``, ``"ifsl"`` ...: one that does regression.
    learner : str or Learner, optional
        ``"ridge(alpha=0.1)"``, ``"svr"`` ...; by default the combiner's if it does regression,
        else ``"ridge"``.
    max_memory : int or str, optional
        As for :class:`mklkit.MKLClassifier`.
    random_state : int, RandomState or None, default=None
        The seed of everything random: subset maps, cross-validation inside a combiner.
    n_jobs : int or None, default=None
        Threads over targets that are fitted one by one.
    missing : str or Missing, default="present"
        As for :class:`mklkit.MKLClassifier`.
    scale : str, optional
        As for :class:`mklkit.MKLClassifier`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_problems, M)
        Kernel weights: one row if all targets share them (as with ``uniform`` and ``ridge``),
        else one per target.
    kernel_names_, kernel_columns_, kernels_, feature_map_, combiner_, learner_, choices_
        As in :class:`mklkit.MKLClassifier`.
    problems_ : list of str
        What is fitted at once: ``"all targets"``, or the name or number of each target.
    target_names_ : list of str
        The names of the targets' columns, or their numbers.
    decisions_ : list of Decision
        One per problem.
    target_means_ : ndarray of shape (T,)
        The means subtracted from the targets before the fit and added to every prediction; zeros
        for a learner without an intercept, such as ``ridge(intercept=False)``.
    n_samples_fit_ : int
        The number of training samples, without those of weight 0.
    n_groups_fit_ : int or None
        The number of their groups; None if ``fit`` got no groups.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MKLClassifier : The same for classes.
    explain : Which kernels and columns a model needs.

    Notes
    -----
    :meth:`score` is R²; for several targets, the mean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = MKLRegressor(["linear", "rbf"]).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.4)
    True
    >>> model.weights_
    array([[0.5, 0.5]])
    """

    kind: ClassVar[TargetKind] = NUMBERS
    chooses_kernels: ClassVar[bool] = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from samples and their numeric targets.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples, as for :meth:`mklkit.MKLClassifier.fit`.
        y : array-like of shape (N,) or (N, T)
            The numbers, one column per target.
        sample_weight : array-like of shape (N,), optional
            How much each sample counts: a sample of weight 2 as much as the same sample twice.
            Widths such as ``sigma='mean'``, and kernel weights if the combiner's traits have
            ``row_weights="learner"``, count all samples equally.
        groups : array-like of shape (N,), optional
            The group of each sample, such as its patient: any choice on held-out samples is made on
            samples of other groups.

        Returns
        -------
        MKLRegressor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            For data that scikit-learn does not accept: infinity, text, one sample.
        MKLKitError
            A ``ValueError`` too: unknown names, components that do not fit together or can't do
            regression, columns that do not exist.
        """
        names = _names_of(y)
        plan, data = plan_and_read(self, self.kind, X, y, sample_weight, groups)
        if plan.proposed:
            plan = with_kernels(plan, data)  # before the mean is subtracted
        self._one_target = data.values.ndim == 1
        columns = data.values[:, None] if self._one_target else data.values
        self.target_means_ = np.zeros(columns.shape[1])
        if traits_of(plan.learner, LearnerTraits).free_bias:
            self.target_means_ = np.average(columns, axis=0, weights=data.row_weights)
        self.target_names_ = names or [str(place) for place in range(columns.shape[1])]
        problems, names = self._divided(plan)
        centered = (columns - self.target_means_).reshape(data.values.shape)
        data = attrs.evolve(data, values=centered)
        fitted = fit_problems(plan, data, problems, self.random_state)
        self.fitted_ = attrs.evolve(fitted, names=tuple(names))
        return self

    def _divided(self, plan: Plan) -> tuple[list[Problem], list[str]]:
        """Return the problems, one if the targets can share it, and their names."""
        if self._one_target:
            return [Problem(self.kind.name)], [self.target_names_[0]]
        together = traits_of(plan.combiner, CombinerTraits).several_targets
        if together and traits_of(plan.learner, LearnerTraits).several_targets:
            return [Problem(self.kind.name)], ["all targets"]
        each = [Problem(self.kind.name, column=place) for place in range(len(self.target_names_))]
        return each, self.target_names_

    @property
    def _n_values(self) -> int | None:
        return None if self._one_target else len(self.target_names_)

    @lazy_on_dask
    def predict(self, X: Any, split: bool = False) -> Array:
        """Return the predictions.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.
        split : bool, default=False
            Whether to return the part of each kernel, in the order of ``kernel_names_``, and last
            the constant. The parts sum to the predictions over axis 1.

        Returns
        -------
        ndarray of shape (n,) or (n, T)
            The numbers, in the units of y. With ``split``, (n, M + 1) or (n, M + 1, T). For samples
            of Dask, a lazy Dask array.

        Raises
        ------
        DataError
            If a value is not finite, as may happen with features of 1e300.
        IncompatibleError
            If predictions to be split are not a sum over kernels.
        """
        rows = check_new_rows(self, X)
        if split:
            parts = decision_parts(self.fitted_, rows)
            parts[:, -1] += self.target_means_
            return parts[:, :, 0] if self._one_target else parts
        same_map = (
            self.combiner_.joins_targets or traits_of(self.feature_map_, FeatureMapTraits).shared
        )
        numbers = finite_values(self.fitted_, rows, same_map, "prediction") + self.target_means_
        return numbers[:, 0] if self._one_target else numbers

    def score(self, X: Any, y: Any, sample_weight: Any = None, split: bool = False) -> Any:
        """Return R², the coefficient of determination.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            Samples.
        y : array-like of shape (n,) or (n, T)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            How much each sample counts; by default all count equally.
        split : bool, default=False
            Whether to return the share of each kernel, and last of the constant, which sum to R²:
            f_m·(2y − f)/y·y for the parts f_m of :meth:`predict`, with the mean subtracted from y
            and f. This is Pratt's product measure, as in himalaya's ``r2_score_split``.

        Returns
        -------
        float or ndarray of shape (M + 1,)
            R², or its shares; for several targets, the mean.
        """
        if not split:
            return super().score(X, y, sample_weight)
        parts = self.predict(X, split=True)
        parts = parts.reshape(*parts.shape[:2], -1)
        targets = np.asarray(y, dtype=float).reshape(len(parts), -1)
        weights = np.ones(len(parts)) if sample_weight is None else np.asarray(sample_weight)
        means = np.average(targets, axis=0, weights=weights)
        parts[:, -1] -= means
        targets = targets - means
        sums = np.einsum("i,imt,it->mt", weights, parts, 2 * targets - parts.sum(axis=1))
        return (sums / (weights @ targets**2)).mean(axis=1)


def _names_of(y: Any) -> list[str]:
    """Return the column names of a target, empty if it has none."""
    table = y._meta if is_dask(y) else y
    if isinstance(table, pd.Series):
        return [] if table.name is None else [str(table.name)]
    return [str(name) for name in table.columns] if isinstance(table, pd.DataFrame) else []
