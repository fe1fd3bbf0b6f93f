"""Kernels with one defect each."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import attrs
import numpy as np
from defects import defect, defective
from scipy.sparse import issparse

from mklkit.kernels import RBF
from mklkit.plugin import (
    FittedScalarKernel,
    KernelTraits,
)
from mklkit.protocols import FixedKernel
from mklkit.protocols import Kernel as BaseOfKernels


@defective("values_that_are_no_numbers_are_refused")
@attrs.frozen
class Kernel(FixedKernel):
    """The inner product and one."""

    name: ClassVar[str] = "plain"
    shift: float = attrs.field(default=1.0, converter=float)

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b.T + 1.0

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return np.asarray((a**2).sum(axis=1) + 1.0)


@defect("values_have_their_shapes", Kernel)
def call_flat(self: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a @ b.T).ravel()


@defect("symmetric", Kernel)
def call_crooked(self: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b.T + a[:, :1]


@defect("diagonal_is_that_of_the_matrix", Kernel)
def diagonal_shifted(self: Any, a: np.ndarray) -> np.ndarray:
    return np.asarray((a**2).sum(axis=1))


@defect("each_row_by_itself", Kernel)
def call_crowded(self: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b.T + len(a) * len(b)


@defect("inputs_are_left_as_they_are", Kernel)
def fit_scribbling(self: Any, rows: np.ndarray) -> Any:
    rows -= rows.mean(axis=0)
    return self


@defect("global_random_state_has_no_say", Kernel)
def fit_reckless(self: Any, rows: np.ndarray) -> Any:
    return RBF(gamma=1 + np.random.random()).fit(rows)  # noqa: NPY002


@defect("global_random_state_has_no_say", Kernel)
def fit_shuffling(self: Any, rows: np.ndarray) -> Any:
    random.shuffle([1, 2, 3])
    return self


@defective("parameters_round_trip")
class Fussy(Kernel):
    """Has a converter that changes its mind."""

    def with_params(self, **params: Any) -> Any:
        return type(self)(shift=1 + params["shift"])


@defective("positive_semi_definite")
class Negative(Kernel):
    """Not positive semi-definite."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -(a @ b.T)

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return -np.asarray((a**2).sum(axis=1))


@defective("sparse_samples_are_samples")
class Forgetful(Kernel):
    """Forgets the constant for sparse samples."""

    traits: ClassVar[KernelTraits] = KernelTraits(sparse=True)

    def __call__(self, a: Any, b: Any) -> np.ndarray:
        values = a @ b.T
        return values.toarray() if issparse(values) else values + 1.0


@attrs.frozen
class FallingFitted(FittedScalarKernel):
    base: ClassVar[str] = "squared_distance"
    monotone: ClassVar[int] = 1

    def of(self, base: np.ndarray, out: np.ndarray) -> np.ndarray:
        return np.exp(np.negative(base, out=out), out=out)


@defect("shared_base_is_honest", Kernel)
def fit_falling(self: Any, rows: np.ndarray) -> Any:
    return FallingFitted()


@defective("fit_changes_nothing")
@attrs.define
class Changing(BaseOfKernels):
    """Is its own fitted object."""

    name: ClassVar[str] = "changing"
    width: float = attrs.field(default=1.0, converter=float)

    def fit(self, rows: np.ndarray) -> Any:
        self.width = float(rows.std())
        return RBF(gamma=self.width).fit(rows)


@defective("name_and_description")
class Wordless(Kernel):
    name: ClassVar[str] = "two words"


@defective("name_and_description")
class Underlined(Kernel):
    """
    Begins a line too late.
    """


@defective("name_and_description")
class Outdated(Kernel):
    """The inner product and one.

    Parameters
    ----------
    shift : float
        What is added.
    width : float
        There is no such thing.

    Examples
    --------
    >>> Outdated()
    Outdated(shift=1.0)
    """
