"""Kinds of targets: what the values to learn are, and what the core does with them.

A task names the kinds of its problems, and a package's task may bring a kind of its own. Learners
and combiners state by name from which kinds they learn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs.validators import and_, deep_iterable, instance_of, min_len
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.protocols.rows import Array

__all__ = [
    "ANY",
    "NO_TARGET",
    "NUMBERS",
    "SEVERAL_CLASSES",
    "TWO_CLASSES",
    "TargetKind",
]

ANY = "any"
"""Stated by a component for kinds that it does not know: it reads only what each kind offers."""

LEARNS = deep_iterable(instance_of(str), and_(instance_of(tuple), min_len(1)))
"""The validator of the names of kinds."""


class TargetKind(ABC):
    """A kind of values to learn: numbers, classes, none, or those of a package's task.

    A subclass states a ``name`` and writes :meth:`read`; the other methods have defaults for
    numbers.

    Attributes
    ----------
    name : str
        The name by which learners and combiners state that they learn from it.
    words : str
        The kind in messages: "can't learn from ...".
    of_classes : bool, default=False
        Whether the values are classes.
    is_empty : bool, default=False
        Whether there is nothing to learn but the samples themselves.

    See Also
    --------
    mklkit.plugin.Task : Names the kinds of its problems.

    Examples
    --------
    >>> NUMBERS.name, NUMBERS.response(np.array([1.0, 3.0])).tolist()
    ('numbers', [-1.0, 1.0])
    """

    name: ClassVar[str]
    words: ClassVar[str]
    of_classes: ClassVar[bool] = False
    is_empty: ClassVar[bool] = False

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same kind, also after it was sent to another process."""
        return isinstance(other, TargetKind) and other.name == self.name

    def __hash__(self) -> int:
        """Return a hash of the name."""
        return hash(self.name)

    def __repr__(self) -> str:
        """Return the kind in a word."""
        return f"{type(self).__name__}()"

    def is_in(self, learns: Sequence[str]) -> bool:
        """Return whether a component that states ``learns`` learns from it.

        Parameters
        ----------
        learns : sequence of str
            The names of kinds in the component's traits.

        Returns
        -------
        bool
            True if it does.
        """
        return self.name in learns or ANY in learns

    @abstractmethod
    def read(self, y: Any) -> NDArray[Any]:
        """Return what ``fit`` got as ``y`` as values (N,) or (N, T).

        Parameters
        ----------
        y : array-like
            What users give as targets.

        Returns
        -------
        ndarray of shape (N,) or (N, T)
            The values.

        Raises
        ------
        DataError
            If they can't be learned.
        """

    def strata(self, values: NDArray[Any]) -> NDArray[Any] | None:
        """Return a class (N,) per sample by which folds are stratified, None for shuffled folds.

        Parameters
        ----------
        values : ndarray of shape (N,) or (N, T)
            The values of N samples, as :meth:`read` returns them.

        Returns
        -------
        ndarray of shape (N,) or None
            The class of each sample.
        """
        return None

    def response(self, values: Array, row_weights: Array | None = None) -> Array:
        """Return numbers (N,) or (N, q) that stand for the target where kernels are aligned.

        Parameters
        ----------
        values : ndarray of shape (N,) or (N, T)
            The values of N samples, as :meth:`read` returns them.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample; default: equal.

        Returns
        -------
        ndarray of shape (N,) or (N, q)
            The numbers.
        """
        return values

    def losses(self, decided: Array, values: Array) -> Array:
        """Return the loss (n,) of each decision value, by which kernels and learners are chosen.

        Parameters
        ----------
        decided : ndarray of shape (N,)
            A decision value for each sample.
        values : ndarray of shape (N,) or (N, T)
            The values of N samples, as :meth:`read` returns them.

        Returns
        -------
        ndarray of shape (N,)
            The losses; smaller is better.
        """
        return np.square(decided - self.response(values)).reshape(len(values), -1).sum(axis=1)

    def is_several(self, values: Array) -> bool:
        """Return whether a learner decides several values per sample instead of one.

        Parameters
        ----------
        values : ndarray of shape (N,) or (N, T)
            The values of N samples, as :meth:`read` returns them.

        Returns
        -------
        bool
            True if it does.
        """
        return False


class _BuiltIn(TargetKind):
    """What the kinds of the library's own tasks share: components state them by name."""

    def is_in(self, learns: Sequence[str]) -> bool:
        """Return whether a component that states ``learns`` learns from it."""
        return self.name in learns


class _Labels(_BuiltIn):
    """What two and several classes share."""

    of_classes: ClassVar[bool] = True

    def read(self, y: Any) -> NDArray[Any]:
        """Return class labels; raise an error for missing ones and numbers that are not classes."""
        # Imported late, since every command imports the protocols.
        import pandas as pd
        from sklearn.utils import assert_all_finite, column_or_1d
        from sklearn.utils.multiclass import check_classification_targets

        labels = column_or_1d(y, warn=True)
        if labels.dtype == object:
            missing = np.flatnonzero(pd.isna(labels))
            if len(missing):
                raise DataError(
                    f"{len(missing)} of {len(labels)} samples have no class label; the first is"
                    f" {missing[0]} (counted from 0): remove them or give them a label."
                )
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        return np.asarray(labels)

    def strata(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the classes."""
        return values

    def losses(self, decided: Array, values: Array) -> Array:
        """Return 1 for each label of another sign than its decision value."""
        return np.asarray((decided > 0) != (values > 0), dtype=float)


class _TwoClasses(_Labels):
    """Labels −1 and +1."""

    name: ClassVar[str] = "two classes"
    words: ClassVar[str] = "two classes"


class _SeveralClasses(_Labels):
    """Class numbers 0, 1, … of one fit."""

    name: ClassVar[str] = "several classes"
    words: ClassVar[str] = "several classes in one fit"

    def is_several(self, values: Array) -> bool:
        """Return True: there is a decision value per class."""
        return True


class _Numbers(_BuiltIn):
    """Numbers, or several columns of them."""

    name: ClassVar[str] = "numbers"
    words: ClassVar[str] = "numbers (regression)"

    def read(self, y: Any) -> Array:
        """Return the numbers in float64; raise an error for text and dates."""
        from sklearn.utils import check_array, column_or_1d

        values = np.asarray(y)
        casting: Any = "same_kind" if values.dtype.kind in "mM" else "unsafe"
        try:
            values.astype(np.float64, casting=casting)
        except (TypeError, ValueError):
            raise DataError(
                "MKLRegressor needs a numeric target, and this one holds text or dates: use"
                " MKLClassifier for classes."
            ) from None
        numbers: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        one_column = numbers.ndim == 2 and numbers.shape[1] == 1
        return np.asarray(column_or_1d(numbers, warn=True)) if one_column else numbers

    def response(self, values: Array, row_weights: Array | None = None) -> Array:
        """Return the numbers less their mean, since their zero is arbitrary."""
        return np.asarray(values - np.average(values, weights=row_weights, axis=0))

    def losses(self, decided: Array, values: Array) -> Array:
        """Return the squared errors."""
        return np.square(decided - values)

    def is_several(self, values: Array) -> bool:
        """Return whether there are several columns."""
        return values.ndim == 2


class _NoTarget(_BuiltIn):
    """Samples without labels."""

    name: ClassVar[str] = "none"
    words: ClassVar[str] = "samples without labels"
    is_empty: ClassVar[bool] = True

    def read(self, y: Any) -> Array:
        """Return nothing to learn; an estimator does not call it."""
        return np.zeros(0)

    def strata(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the zeros that stand for the target."""
        return values


TWO_CLASSES = _TwoClasses()
SEVERAL_CLASSES = _SeveralClasses()
NUMBERS = _Numbers()
NO_TARGET = _NoTarget()
