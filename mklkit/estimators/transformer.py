"""MKLTransformer: the weighted sum of several kernels, for the next step of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mklkit.combiners.templates.weighting import WeightedColumns, WeightingCombiner
from mklkit.errors import DataError, quoted
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.fit import Fitted, plan_and_read, solver_errors_explained, with_kernels
from mklkit.estimators.plan import ProblemViews, check_new_rows
from mklkit.estimators.predicting import lazy_on_dask
from mklkit.estimators.problems import Problem, class_problems
from mklkit.protocols import (
    NO_TARGET,
    NUMBERS,
    SEVERAL_CLASSES,
    TWO_CLASSES,
    Array,
    CombinerTraits,
    TargetKind,
    traits_of,
)
from mklkit.protocols.component import KERNELS
from mklkit.registry.composing import Choice, check_gives_weights, choose_components
from mklkit.registry.given_arrays import writes_explained
from mklkit.registry.registry import get_registry
from mklkit.registry.tasks import kind_named
from mklkit.views.view_set import ViewSet


class MKLTransformer(TransformerMixin, KernelEstimator):
    """Weights several kernels and gives their sum to the next step, with or without labels.

    Without a feature map, :meth:`transform` returns the similarities Σ w_m k_m(x, training sample),
    (n, N), which estimators with ``kernel="precomputed"`` or ``affinity="precomputed"`` take:
    ``KernelPCA``, ``SpectralClustering``, ``SVC``. With a map that gives features, such as
    ``"fourier"`` or ``"empirical"``, it returns √w_m φ_m(x) side by side, whose inner products
    are that kernel, for any estimator: ``PCA``, ``KMeans``.

    Parameters
    ----------
    kernels : str, Kernel, or list of these, optional
        As for :class:`mklkit.MKLClassifier`; ``"auto"`` only with a combiner that needs labels.
    combiner : str or Combiner, default="uniform"
        One that gives weights: ``"uniform"``, or ``"consensus"`` of the package mklkit-optimize,
        which ignore labels; or, with ``y``, ``"alignment"``, ``"dimkl3"`` ...
    feature_map : str or FeatureMap, optional
        ``"fourier"``, ``"empirical(subset=0.1)"`` ...; by default the combiner's.
    max_memory : int or str, optional
        As for :class:`mklkit.MKLClassifier`.
    random_state : int, RandomState or None, default=None
        The seed of everything random: subset maps, cross-validation inside a combiner.

    Attributes
    ----------
    weights_ : ndarray of shape (1, M)
        For more than two classes and a combiner for two classes, the mean of its weights for
        each class against the rest.
    kernel_names_, kernel_columns_, kernels_, feature_map_, combiner_, choices_
        As in :class:`mklkit.MKLClassifier`.
    learner_ : Learner or None
        The learner with which the combiner learned its weights; None if it needs none.
    problems_ : list of str
        ``["all samples"]``.
    decisions_ : list of one WeightedColumns
        The columns of the weighted sum.
    n_samples_fit_ : int
        The number of training samples.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MKLClassifier : The weighted sum with a learner.

    Notes
    -----
    One matrix, (N, N) or (n, N), and never one per kernel; O(N²) per kernel. :meth:`fit_transform`
    returns the Gram matrix, which is symmetric; ``fit(X).transform(X)`` is the same up to
    rounding.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import KernelPCA
    >>> from sklearn.pipeline import make_pipeline
    >>> X, _ = load_iris(return_X_y=True)
    >>> sources = ["sepals:rbf@0:2", "petals:rbf@2:4"]
    >>> model = make_pipeline(MKLTransformer(sources), KernelPCA(2, kernel="precomputed"))
    >>> model.fit_transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        combiner: Any = "uniform",
        feature_map: Any = None,
        max_memory: int | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.combiner = combiner
        self.feature_map = feature_map
        self.max_memory = max_memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn the weights of the kernels.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples, as for :meth:`mklkit.MKLClassifier.fit`.
        y : array-like of shape (N,), optional
            Labels or numbers, if the combiner uses them.
        groups : array-like of shape (N,), optional
            The group of each sample; groups are kept together as by
            :meth:`mklkit.MKLClassifier.fit`.

        Returns
        -------
        MKLTransformer
            The fitted estimator itself.

        Raises
        ------
        ValueError
            For data that scikit-learn does not accept (infinity, text, one sample).
        MKLKitError
            A ``ValueError`` too: a combiner that needs labels without any, or whose decision is not
            one learner on a weighted sum; the message names those that work.
        """
        self._learn(X, y, groups)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Array:
        """Learn the weights, and return the columns of the training samples.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples.
        y : array-like of shape (N,), optional
            Labels or numbers, if the combiner uses them.
        groups : array-like of shape (N,), optional
            The group of each sample.

        Returns
        -------
        ndarray of shape (N, N) or (N, p)
            The Gram matrix, or the features of an explicit map.

        Raises
        ------
        DataError
            If a value is not finite; and the errors of :meth:`fit`.
        """
        side = self._learn(X, y, groups).weighted(self.weights_[0])
        return self._finite(side.features() if side.explicit else side.gram())

    @property
    def _n_values(self) -> int:
        return len(self._names_out)

    @lazy_on_dask
    def transform(self, X: Any) -> Array:
        """Return the columns of samples.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n, N) or (n, p)
            The similarities to the training samples, or the features of an explicit map. For
            samples of Dask, a lazy Dask array.

        Raises
        ------
        DataError
            If a value is not finite, as may happen with features of 1e300.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            columns: Any = self.decisions_[0]
            return self._finite(columns.transform(check_new_rows(self, X)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that :meth:`transform` returns.

        Parameters
        ----------
        input_features : object, optional
            Ignored; scikit-learn passes it.

        Returns
        -------
        ndarray of object
            ``similarity_0`` …, or ``rbf_0`` … for features.
        """
        check_is_fitted(self)
        return np.asarray(self._names_out, dtype=object)

    def _finite(self, columns: Array) -> Array:
        if not np.isfinite(columns).all():
            raise DataError(
                "The sum of the kernels is not finite: scale the data (each column to mean 0 and"
                f" standard deviation 1, say), or use normalised kernels: {quoted(KERNELS[-1])}."
            )
        return columns

    def _learn(self, X: Any, y: Any, groups: Any) -> ViewSet:
        """Learn the weights; return the views of the training samples."""
        kind = self._kind_of(y)
        self._choose(kind)
        values = column_or_1d(y) if kind == NUMBERS else y
        plan, data = plan_and_read(self, kind, X, values, groups=groups)
        self.__dict__.pop("classes_", None)  # it predicts no classes
        plan = with_kernels(plan, data)
        whole = Problem(kind.name)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        with writes_explained(plan.components):
            views_of = ProblemViews(plan, data, seeds[-1])
            views_of.say_if_long([whole])
            views, target, random_state = views_of.of_problem(whole, seeds[0])
        targets = [target]
        if kind == TWO_CLASSES:  # each class against the rest, or the one of two
            parts = class_problems(int(data.values.max()) + 1, "ovr", plan.combiner, plan.learner)
            told = data.values, views.rows.dtype, None, data.groups
            targets = [part.target(*told) for part in parts]
        combiner: Any = plan.weighting
        explained = solver_errors_explained(combiner, plan.learner, views)
        with writes_explained(plan.components), explained:
            weights = [
                combiner.prepare(views, target, plan.learner, deepcopy(random_state))[0]
                for target in targets
            ]
        columns: Any = WeightedColumns.of(views, np.mean(weights, axis=0))
        self.fitted_ = Fitted(
            _without_learner(plan), (whole,), (columns,), len(data.rows), notes=data.notes
        )
        self._names_out = [f"similarity_{row}" for row in range(len(views.rows))]
        if columns.explicit:
            used = [view for view, weight in zip(views, columns.weights, strict=True) if weight]
            self._names_out = [f"{v.label}_{place}" for v in used for place in range(v.n_features)]
        return views

    def _kind_of(self, y: Any) -> TargetKind:
        """Return the kind of the target, which is empty if the combiner needs no labels."""
        learns = self._learns()
        if y is None or NO_TARGET.is_in(learns):
            return NO_TARGET
        holds = type_of_target(y)
        if holds.startswith("continuous"):
            return NUMBERS
        several = holds == "multiclass" and SEVERAL_CLASSES.is_in(learns)
        return SEVERAL_CLASSES if several else TWO_CLASSES

    def _learns(self) -> Sequence[str]:
        combiner = get_registry().create("combiner", self.combiner)
        return traits_of(combiner, CombinerTraits).learns

    def _planned(self) -> Choice:
        learns = self._learns()
        kind = NO_TARGET if NO_TARGET.is_in(learns) else kind_named(learns[0])
        return _without_learner(self._choose(kind))

    def _choose(self, kind: TargetKind) -> Choice:
        """Return the components; raise an error for a combiner without weights."""
        choice = choose_components(self.combiner, self.feature_map, None, target=kind)
        check_gives_weights(choice.combiner, kind, "it has none to give")
        return choice


def _without_learner(parts: Any) -> Any:
    """Return the components, without a learner if the weights do not depend on it."""
    if not isinstance(parts.combiner, WeightingCombiner):
        return parts
    notes = tuple(note for note in parts.notes if not note.startswith("learner "))
    return attrs.evolve(parts, learner=None, notes=notes)
