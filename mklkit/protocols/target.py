"""Targets: the values to learn.

Labels ``y`` are −1 and +1 (paper symbol φ) as float64.

A target has the kind of what the model learns to predict (``TargetKind``): two classes, several
classes in one fit, numbers, none, or the kind of a package's task. Combiners and learners declare
the kinds that they learn from (``learns``) and whether they use sample weights. What else depends
on the kind is asked of it: the numbers that stand for the target where kernels are aligned
(``response``), the losses by which kernels are chosen, and the classes by which folds are
stratified. A combiner that learns from ``"any"`` kind therefore works with the kinds of packages.
Components split samples with ``Target.folds``, so that no group is on both sides of a split.

``row_weights`` are positive: samples of weight 0 are dropped when training data are checked, and
class weights are multiplied in (``estimators/training_data.py``). Every sum over samples has one
weighted form: ``TrainingView.class_moments(y, row_weights)`` for normal matrices, class means,
scatter and alignments of features; ``centered_gram`` and the matrix sK + αV⁻¹ for Gram matrices.
``NormalMatrix.total`` and ``ClassMoments.counts`` are sums of weights. For alignments, tiles weight
pairs of samples. Kernels with ``fit_weighted`` use the weights to fit their widths, so that
different weights give different views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.protocols.rows import Array, protected
from mklkit.protocols.splits.split import Split, splits_by_fold
from mklkit.protocols.target_kind import NO_TARGET, NUMBERS, TWO_CLASSES, TargetKind

__all__ = ["Target"]


@attrs.frozen(eq=False)
class Target:
    """What a model learns: the target of N training samples.

    All components of a fit share the arrays, so they are read-only.

    Parameters
    ----------
    kind : TargetKind
        What the values are: two classes, several classes, numbers, none, or of a package's task.
    values : ndarray of shape (N,) or (N, T)
        −1 and +1 for two classes (paper symbol φ), class numbers 0, 1, … for several, or numbers; T
        columns if several numeric targets are learned at once; zeros without labels.
    row_weights : ndarray of shape (N,), optional
        The weight of each sample, above 0: a sample of weight 2 counts as much as the same sample
        twice. None if all count equally.
    groups : ndarray of int of shape (N,), optional
        The number of each sample's group, such as its patient. Choices on held-out samples are made
        on samples of other groups, as in :meth:`folds`. None if each sample is its own group.

    Attributes
    ----------
    counts : ndarray of shape (N,)
        The weight of each sample, 1 by default.
    response : ndarray of shape (N,) or (N, q)
        The numbers that stand for the target where kernels are aligned with it: labels, or numeric
        targets minus their mean.
    is_several : bool
        Whether a learner decides several values per sample instead of one.

    See Also
    --------
    Learner.fit : A method that takes it.
    Combiner.fit : Another.

    Examples
    --------
    >>> target = Target.two_classes(np.array([-1.0, 1.0, 1.0]))
    >>> target.kind.name, len(target), target.take(np.array([0, 2])).values
    ('two classes', 3, array([-1.,  1.]))
    """

    kind: TargetKind
    values: Array = attrs.field(converter=protected)
    row_weights: Array | None = attrs.field(default=None, converter=protected)
    groups: NDArray[np.intp] | None = attrs.field(default=None, converter=protected)

    @classmethod
    def two_classes(
        cls,
        labels: Array,
        row_weights: Array | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Self:
        """Return the target of labels −1 and +1.

        Parameters
        ----------
        labels : ndarray of shape (N,)
            −1 and +1, as floats.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample, above 0; by default all count equally.
        groups : ndarray of int of shape (N,), optional
            The number of each sample's group.

        Returns
        -------
        Target
            Of the kind ``"two classes"``.
        """
        return cls(TWO_CLASSES, labels, row_weights, groups)

    @classmethod
    def numbers(
        cls,
        values: Array,
        row_weights: Array | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Self:
        """Return the target of one or several numeric targets.

        Parameters
        ----------
        values : ndarray of shape (N,) or (N, T)
            The numbers, one column per target.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample, above 0; by default all count equally.
        groups : ndarray of int of shape (N,), optional
            The number of each sample's group.

        Returns
        -------
        Target
            Of the kind ``"numbers"``.
        """
        return cls(NUMBERS, values, row_weights, groups)

    @classmethod
    def nothing(cls, n_rows: int, row_weights: Array | None = None) -> Self:
        """Return the target of samples without labels.

        Parameters
        ----------
        n_rows : int
            The number of samples N.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample, above 0; by default all count equally.

        Returns
        -------
        Target
            Of the kind ``"none"``, with zeros as values.
        """
        return cls(NO_TARGET, np.zeros(n_rows), row_weights)

    def __len__(self) -> int:
        """Return the number of samples N."""
        return len(self.values)

    @property
    def counts(self) -> Array:
        """The weight of each sample (N,), 1 by default."""
        return np.ones(len(self)) if self.row_weights is None else self.row_weights

    @property
    def is_several(self) -> bool:
        """Whether a learner decides several values per sample instead of one."""
        return self.kind.is_several(self.values)

    @property
    def response(self) -> Array:
        """The numbers (N,) or (N, q) that stand for the target where kernels are aligned with it.

        They are centered if their zero is arbitrary; labels are not.
        """
        return protected(self.kind.response(self.values, self.row_weights))

    def losses(self, decided: Array) -> Array:
        """Return how wrong decision values are, by which kernels are chosen.

        Parameters
        ----------
        decided : ndarray of shape (N,)
            A decision value for each sample.

        Returns
        -------
        ndarray of shape (N,)
            The loss of each; smaller is better.
        """
        return self.kind.losses(decided, self.values)

    def take(self, members: NDArray[np.intp]) -> Self:
        """Return the target of some of the samples.

        Parameters
        ----------
        members : ndarray of int of shape (n,)
            Their positions.

        Returns
        -------
        Target
            Of the same kind, with the values, weights and groups of these samples.
        """
        weights = None if self.row_weights is None else self.row_weights[members]
        groups = None if self.groups is None else self.groups[members]
        values = self.values[members]
        return attrs.evolve(self, values=values, row_weights=weights, groups=groups)

    def folds(
        self,
        cv: int,
        random_state: np.random.RandomState,
        fold_of: NDArray[np.intp] | None = None,
    ) -> Sequence[Split]:
        """Return splits into samples to train on and samples held out.

        Shuffled folds are stratified for classes, and keep the samples of a group together.
        Every split trains on every class.

        Parameters
        ----------
        cv : int
            The number of folds; there are fewer if a class has fewer samples or groups.
        random_state : RandomState
            The source of random numbers.
        fold_of : ndarray of int of shape (N,), optional
            The fold of each sample, which replaces shuffled folds if there are no groups.

        Returns
        -------
        sequence of Split
            Each unpacks into the positions of its training samples and of those held out. Empty if
            there can't be two folds.
        """
        from mklkit.protocols.splits.making import Folds, make_splits  # scikit-learn's splitters

        if fold_of is not None and self.groups is None:
            return splits_by_fold(fold_of, cv)
        strata = self.kind.strata(self.values)
        try:
            return make_splits(
                self.values,
                Folds(cv, all_scored=True),
                seed=random_state,
                groups=self.groups,
                strata=strata,
            )
        except DataError:
            return []
