"""Kernels, the similarity of two rows, and feature maps, from a kernel to columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, get_args

import attrs
import numpy as np
from attrs.validators import gt, in_, instance_of, lt, optional

from mklkit.protocols.component import FLAG, NAMES, SPEC, SPECS, Component, Facts, own_fields
from mklkit.protocols.rows import Array, Reads

__all__ = [
    "FeatureMap",
    "FeatureMapTraits",
    "FittedKernel",
    "FittedMap",
    "FixedKernel",
    "Kernel",
    "KernelTraits",
]


@attrs.frozen(kw_only=True)
class KernelTraits(Facts):
    """The properties of a kernel.

    Attributes
    ----------
    definite : bool, default=True
        Whether it is positive semi-definite for all rows.
    reads : {"numbers", "amounts", "text", "categories", "row ids"}, default="numbers"
        What its columns hold: ``"numbers"``, which may be scaled and may come from one-hot encoded
        text; ``"amounts"``, numbers whose zero and unit have a meaning, such as counts, histograms
        and times of day, which are not scaled; ``"text"``, passed as code points;
        ``"categories"``, passed as one number for each distinct value; ``"row ids"`` to look up
        instead of features. All but the first get their columns unscaled and without encoding.
    allows_gaps : bool, default=False
        Whether its columns may have gaps, NaN, which it skips; gaps of other kernels are imputed.
    linear : bool, default=False
        Whether it is the inner product of its columns, so that a function learned with it is a sum
        over columns.
    proposed : tuple of str, default=()
        Spec strings of this kernel to try on any columns that hold what it reads, the most useful
        first: the candidates of ``kernels="auto"``. Widths should be rules that adapt to the data.
    examples : tuple, default=()
        A few distinct values that its columns may hold, if it does not take every value: texts
        of a grammar, for example. mklkit's checks build rows from them.
    share : float, optional
        Its fixed share of the weights, whatever a combiner learns; its columns are reserved for it.
    search_space : mapping of str to tuple, default={}
        Parameters worth tuning and their values, from the widest kernel to the narrowest, such as
        ``{"sigma": ("2*mean", "mean", "mean/2")}``; see :class:`Facts`.
    """

    definite: bool = attrs.field(default=True, validator=FLAG)
    reads: Reads = attrs.field(default="numbers", validator=in_(get_args(Reads)))
    allows_gaps: bool = attrs.field(default=False, validator=FLAG)
    linear: bool = attrs.field(default=False, validator=FLAG)
    proposed: tuple[str, ...] = attrs.field(default=(), validator=SPECS)
    examples: tuple[Any, ...] = attrs.field(default=(), validator=instance_of(tuple))
    share: float | None = attrs.field(default=None, validator=optional([gt(0), lt(1)]))


class FittedKernel(ABC):
    """A kernel whose parameters have been resolved to numbers.

    A scalar function of a base quantity of two rows is a :class:`mklkit.plugin.FittedScalarKernel`.
    """

    __slots__ = ()

    base: ClassVar[str] = ""
    """The base quantity of two rows that it is a function of, a key of
    ``numerics.pairwise.BASES``; empty if there is none. Kernels with the same base on the same
    rows share its computation."""

    monotone: ClassVar[int] = 0
    """+1 if the kernel grows with the base, −1 if it falls, 0 if it does neither."""

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The fitted values of the kernel's parameters: its fields of the same names."""
        return own_fields(self)

    @abstractmethod
    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""

    @abstractmethod
    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""

    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values for base values, written into ``out``; if it has a base."""
        raise NotImplementedError


class Kernel(Component, ABC):
    """Similarity of two rows.

    Optional: ``traits``, a :class:`mklkit.plugin.KernelTraits`, if the defaults do not hold.
    """

    __slots__ = ()
    traits: ClassVar[KernelTraits] = KernelTraits()

    @abstractmethod
    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with its data-dependent parameters computed from the training rows."""

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel fitted to rows (n, d) with weights (n,) above 0.

        For kernels whose fit depends on the weights of rows, such as those with a width by rule:
        integer weights give the same as ``fit`` on repeated rows.
        """
        return self.fit(rows)

    @property
    def kernel(self) -> Kernel | None:
        """The inner kernel, such as that of ``cosine``; None if there is none."""
        return None


class FixedKernel(Kernel, FittedKernel):
    """A kernel that needs no training: its ``fit`` returns the kernel itself."""

    __slots__ = ()

    def fit(self, rows: Array) -> Self:
        """Return the kernel (nothing depends on the rows)."""
        return self


@attrs.frozen(kw_only=True)
class FeatureMapTraits(Facts):
    """The properties of a feature map.

    Attributes
    ----------
    explicit : bool
        Whether its columns are features; otherwise they are similarities to the training rows.
    instead : str, optional
        The spec string of the map that replaces this one if it is a combiner's default and the
        user's learner can't learn from it.
    shared : bool, default=False
        Whether one map, fitted on all rows, serves all binary problems of a classifier.
    reproduces : bool, default=False
        Whether the inner products of its features equal a definite kernel, so that results that
        depend only on these may be computed with the map ``instead``.
    for_kernels : tuple of str, default=()
        The names of the kernels that it can be fitted to; empty for all kernels.
    needs_mean_rows : bool, default=False
        Whether it evaluates kernels at means of rows, which do not exist for text, categories or
        row ids.
    """

    explicit: bool = attrs.field(validator=FLAG)
    instead: str | None = attrs.field(default=None, validator=optional(SPEC))
    shared: bool = attrs.field(default=False, validator=FLAG)
    reproduces: bool = attrs.field(default=False, validator=FLAG)
    needs_mean_rows: bool = attrs.field(default=False, validator=FLAG)
    for_kernels: tuple[str, ...] = attrs.field(default=(), validator=NAMES)


class FittedMap(ABC):
    """A feature map fitted to training rows.

    ``transform`` is enough. The other methods save work: mklkit calls those on similarities if
    ``from_landmarks`` is True, and those on sums if ``linear`` is True too.
    """

    __slots__ = ()

    explicit: ClassVar[bool]
    """Whether ``transform`` returns features, not similarities to the training rows."""

    from_landmarks: ClassVar[bool] = False
    """Whether columns depend only on the similarities to ``landmarks``. Kernels of several such
    maps are evaluated together if they share base quantities."""

    linear: ClassVar[bool] = False
    """Whether the features Φ = KW are linear in these similarities K. Products of features with
    vectors then need no features: Φw = K(Ww) and Φᵀt = Wᵀ(Kᵀt)."""

    kernel: FittedKernel
    landmarks: Array

    @abstractmethod
    def transform(self, rows: Array) -> Array:
        """Return the columns of new rows: (n, p) features or (n, N) similarities."""

    def from_similarities(self, values: Array) -> Array:
        """Return the columns, given the similarities to the landmarks: themselves by default."""
        return values

    def with_landmarks(self, landmarks: Array) -> Self:
        """Return an implicit map on some of its training rows, the support vectors."""
        return attrs.evolve(self, landmarks=landmarks)  # type: ignore[misc]

    def on_similarities(self, coefficients: Array) -> Array:
        """Return Ww, the coefficients (p,) or (p, k) of similarities, for those of features."""
        raise NotImplementedError

    def from_sums(self, sums: Array) -> Array:
        """Return WᵀS: the sums (r,) or (r, k) over features, for sums S over similarities."""
        raise NotImplementedError

    def training_features(self) -> Array | None:
        """Return the features of the training rows (N, p), if ``fit`` has stored them."""
        return None

    def squared_lengths(self) -> Array | None:
        """Return the diagonal (p,) of ``features.T @ features``; None if it is not diagonal."""
        return None


class FeatureMap(Component, ABC):
    """Turns a kernel into columns; its ``traits`` are a :class:`mklkit.plugin.FeatureMapTraits`."""

    __slots__ = ()

    @abstractmethod
    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedMap:
        """Return the map fitted on the training rows (N, d)."""

    def fit_all(
        self,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        random_state: np.random.RandomState,
    ) -> Iterator[FittedMap]:
        """Yield the maps of all kernels, in their order; rows are (N, d_m) for each kernel.

        For maps whose random draw is shared by all kernels.
        """
        for kernel, columns in zip(kernels, rows, strict=True):
            yield self.fit(kernel, columns, random_state)
