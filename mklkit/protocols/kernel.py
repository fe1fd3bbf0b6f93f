"""Kernels, the similarity of two samples, and feature maps, from a kernel to columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, get_args

import attrs
import numpy as np
from attrs.validators import gt, in_, instance_of, lt, optional
from numpy.typing import NDArray

from mklkit.protocols.component import FLAG, NAMES, SPEC, SPECS, Component, Facts, own_fields
from mklkit.protocols.rows import Array, Reads, SomeRows

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
    """The traits of a kernel: what it reads, and what may be computed with it.

    Parameters
    ----------
    search_space : mapping of str to tuple, default={}
        Parameters worth tuning, each with the values to try from the widest kernel to the
        narrowest, such as ``{"sigma": ("2*mean", "mean", "mean/2")}``. If scores are tied, a search
        takes the first; a short search tries the values in the middle.
    definite : bool, default=True
        Whether it is positive semi-definite for all samples.
    reads : {"numbers", "amounts", "text", "categories", "row ids"}, default="numbers"
        What its columns hold: ``"numbers"``, which may be scaled and may come from one-hot encoded
        text; ``"amounts"``, numbers whose zero and unit have a meaning, such as counts, histograms
        and times of day, which are not scaled; ``"text"``, passed as code points; ``"categories"``,
        passed as one number for each distinct value; ``"row ids"`` to look up instead of features,
        numbers, or text as code points.
        All but the first get their columns unscaled and without encoding.
    allows_gaps : bool, default=False
        Whether its columns may have missing values, NaN, which it skips; those of other kernels are
        imputed.
    linear : bool, default=False
        Whether it is the inner product of its columns, so that a function learned with it is a sum
        over columns.
    sparse : bool, default=False
        Whether it takes samples as a ``scipy.sparse.csr_array``; other kernels get the columns of a
        sparse source as an array.
    proposed : tuple of str, default=()
        Spec strings of this kernel to try on any columns that hold what it reads, the most useful
        first: the candidates of ``kernels="auto"``. ``"mine[roots]"`` says what is done to columns
        of numbers, which are standardised otherwise. Widths should be rules that adapt to the data.
    examples : tuple, default=()
        A few distinct values that its columns may hold, if it does not take every value: texts of a
        grammar, for example. The checks of ``mklkit-authors`` build samples from them.
    share : float, optional
        Its fixed share of the weights, between 0 and 1, whatever a combiner learns; its columns are
        reserved for it.

    Raises
    ------
    TypeError
        If a value is not of the type above.
    ValueError
        If ``reads`` is another word, ``share`` is not between 0 and 1, or a parameter of
        ``search_space`` has no values.

    See Also
    --------
    Kernel : The base of the components that have them.

    Examples
    --------
    >>> KernelTraits(reads="text", search_space={"k": (2, 3, 4)}).reads
    'text'
    """

    definite: bool = attrs.field(default=True, validator=FLAG)
    reads: Reads = attrs.field(default="numbers", validator=in_(get_args(Reads)))
    allows_gaps: bool = attrs.field(default=False, validator=FLAG)
    linear: bool = attrs.field(default=False, validator=FLAG)
    sparse: bool = attrs.field(default=False, validator=FLAG)
    proposed: tuple[str, ...] = attrs.field(default=(), validator=SPECS)
    examples: tuple[Any, ...] = attrs.field(default=(), validator=instance_of(tuple))
    share: float | None = attrs.field(default=None, validator=optional([gt(0), lt(1)]))


class FittedKernel(ABC):
    """A kernel whose parameters have been resolved to numbers.

    A subclass implements ``__call__`` and :meth:`diagonal`. If the kernel is a scalar function of
    an inner product or a distance, derive from :class:`mklkit.plugin.FittedScalarKernel` instead:
    mklkit then shares that quantity among kernels.

    Attributes
    ----------
    base : str
        The base quantity of two samples that it is a function of, a key of
        ``mklkit.numerics.pairwise.BASES``, such as ``"inner_product"``; empty, the default, if
        there is none. Kernels with the same base on the same samples share its computation.
    monotone : {-1, 0, 1}
        +1 if the kernel grows with the base, −1 if it falls, 0, the default, if it does neither.

    See Also
    --------
    Kernel : What is fitted.
    FixedKernel : A kernel that needs no training, and is its own fitted kernel.

    Examples
    --------
    >>> class Overlap(FittedKernel):
    ...     def __call__(self, a, b):
    ...         return np.minimum(a[:, None], b[None]).sum(axis=2)
    ...     def diagonal(self, a):
    ...         return a.sum(axis=1)
    >>> rows = np.array([[1.0, 2.0], [3.0, 0.0]])
    >>> Overlap()(rows, rows).tolist(), Overlap().diagonal(rows).tolist()
    ([[3.0, 1.0], [1.0, 3.0]], [3.0, 3.0])
    """

    __slots__ = ()

    base: ClassVar[str] = ""

    monotone: ClassVar[int] = 0

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The fitted values of the kernel's parameters: its fields of the same names."""
        return own_fields(self)

    @property
    def cosine_of(self) -> FittedKernel | None:
        """The kernel κ of a kernel κ(x, z)/√(κ(x, x)·κ(z, z)), such as ``cosine``; else None.

        Its derivatives by the columns follow from those of κ.
        """
        return None

    @abstractmethod
    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` with those of ``b``.

        Parameters
        ----------
        a : ndarray of shape (n, d)
            Samples, restricted to the kernel's own columns.
        b : ndarray of shape (m, d)
            Other samples.

        Returns
        -------
        ndarray of shape (n, m)
            The kernel's values.
        """

    @abstractmethod
    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself.

        Parameters
        ----------
        a : ndarray of shape (n, d)
            Samples, restricted to the kernel's own columns.

        Returns
        -------
        ndarray of shape (n,)
            The values k(x, x), equal to the diagonal of the kernel's matrix without the other
            values.
        """

    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values for values of its base quantity.

        mklkit calls it only for kernels that name a ``base``.

        Parameters
        ----------
        base : ndarray
            Values of the base quantity.
        out : ndarray
            An array of the same shape to write the values into; it may be ``base`` itself.

        Returns
        -------
        ndarray
            The array ``out``.

        Raises
        ------
        NotImplementedError
            By default.
        """
        raise NotImplementedError


class Kernel(Component, ABC):
    """A similarity of two samples, k(x, z): its name, parameters and traits.

    A subclass is an ``@attrs.frozen`` class with a ``name``. It implements :meth:`fit`, which
    computes what depends on the training samples and returns a separate :class:`FittedKernel`. If
    nothing depends on them, derive from :class:`FixedKernel`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : KernelTraits
        What it reads and can do, if the defaults do not hold; a property if it depends on
        parameters.

    See Also
    --------
    FittedKernel : What :meth:`fit` returns.
    FittedScalarKernel : The base for functions of an inner product or a distance.
    KernelTraits : The traits and their defaults.

    Examples
    --------
    A kernel 1/(1 + d²/s) of the squared distance d², with its mean s over the training samples:

    >>> import attrs
    >>> from sklearn.metrics.pairwise import euclidean_distances
    >>> @attrs.frozen
    ... class FittedRational(FittedKernel):
    ...     scale: float
    ...     def __call__(self, a, b):
    ...         return 1 / (1 + euclidean_distances(a, b, squared=True) / self.scale)
    ...     def diagonal(self, a):
    ...         return np.ones(len(a))
    >>> @attrs.frozen
    ... class Rational(Kernel):
    ...     name = "rational"
    ...     def fit(self, rows):
    ...         return FittedRational(float(euclidean_distances(rows, squared=True).mean()))
    >>> rows = np.array([[0.0], [2.0]])
    >>> Rational().fit(rows)(rows, rows).round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """

    __slots__ = ()
    traits: ClassVar[KernelTraits] = KernelTraits()

    @abstractmethod
    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with its data-dependent parameters computed from the training samples.

        Parameters
        ----------
        rows : ndarray of shape (N, d)
            The training samples, restricted to the kernel's own columns. For kernels on text or
            categories, they hold code points or one number for each distinct value.

        Returns
        -------
        FittedKernel
            The kernel, which keeps only what new samples need.
        """

    def unknown(self, ids: Any) -> NDArray[np.bool_]:
        """Return which samples a kernel on sample ids can't look up: they miss its source.

        Parameters
        ----------
        ids : array-like of shape (n,)
            What identifies them.

        Returns
        -------
        ndarray of bool of shape (n,)
            None of them by default.
        """
        return np.zeros(len(ids), bool)

    def known_ids(self) -> Sequence[str]:
        """Return the identifiers that a kernel on sample ids can look up, to be told in messages.

        Returns
        -------
        sequence of str
            None by default.
        """
        return []

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel fitted to weighted samples.

        Override it if the fit depends on the sample weights, as a width by rule does: integer
        weights must give the same kernel as :meth:`fit` on repeated samples. By default the weights
        have no effect.

        Parameters
        ----------
        rows : ndarray of shape (N, d)
            The training samples.
        row_weights : ndarray of shape (N,)
            Their weights, above 0.

        Returns
        -------
        FittedKernel
            The kernel.
        """
        return self.fit(rows)

    def fit_parts(self, rows: Array, parts: Sequence[NDArray[np.intp]]) -> Sequence[FittedKernel]:
        """Return the kernel fitted to each of several parts of the training samples.

        Two classes among many are such a part. Override it if parts can share work; each result
        must be that of :meth:`fit`.

        Parameters
        ----------
        rows : ndarray of shape (N, d)
            The training samples.
        parts : sequence of ndarray of int
            The samples of each part.

        Returns
        -------
        sequence of FittedKernel
            A kernel for each part.
        """
        return [self.fit(rows[part]) for part in parts]

    @property
    def kernel(self) -> Kernel | None:
        """The inner kernel, such as that of ``cosine``; None if there is none."""
        return None


class FixedKernel(Kernel, FittedKernel):
    """A kernel that needs no training: it is its own fitted kernel.

    A subclass implements ``__call__`` and :meth:`diagonal`; its :meth:`fit` returns the kernel
    itself.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : KernelTraits
        What it reads and can do, if the defaults do not hold.

    See Also
    --------
    Kernel : The base for kernels that learn from the training samples.

    Examples
    --------
    >>> import attrs
    >>> @attrs.frozen
    ... class Delta(FixedKernel):
    ...     name = "delta"
    ...     def __call__(self, a, b):
    ...         return (a[:, None] == b[None]).all(axis=2).astype(float)
    ...     def diagonal(self, a):
    ...         return np.ones(len(a))
    >>> rows = np.array([[1.0], [2.0], [1.0]])
    >>> Delta().fit(rows)(rows[:1], rows).tolist()
    [[1.0, 0.0, 1.0]]
    """

    __slots__ = ()

    def fit(self, rows: Array) -> Self:
        """Return the kernel (nothing depends on the samples)."""
        return self


@attrs.frozen(kw_only=True)
class FeatureMapTraits(Facts):
    """The traits of a feature map: the columns that it returns, and its use.

    Parameters
    ----------
    search_space : mapping of str to tuple, default={}
        Parameters worth tuning, each with the values to try from the simplest map to the most
        complex.
    explicit : bool
        Whether its columns are features; otherwise they are similarities to the training samples.
    instead : str, optional
        The spec string of the map that replaces this one if it is a combiner's default and the
        user's learner can't learn from it.
    shared : bool, default=False
        Whether one map, fitted on all samples, serves all binary problems of a classifier.
    reproduces : bool, default=False
        Whether the inner products of its features equal a definite kernel, so that results that
        depend only on these may be computed with the map ``instead``.
    needs_mean_rows : bool, default=False
        Whether it evaluates kernels at means of samples, which do not exist for text, categories or
        sample ids.
    sparse : bool, default=False
        Whether it can be fitted to samples in a ``scipy.sparse.csr_array``, those of a sparse
        source.
    for_kernels : tuple of str, default=()
        The names of the kernels that it can be fitted to; empty for all kernels.

    Raises
    ------
    TypeError
        If ``explicit`` is missing, or a value is not of the type above.
    ValueError
        If ``instead`` is empty, or a parameter of ``search_space`` has no values.

    See Also
    --------
    FeatureMap : The base of the components that have them.

    Examples
    --------
    >>> FeatureMapTraits(explicit=True, instead="implicit").shared
    False
    """

    explicit: bool = attrs.field(validator=FLAG)
    instead: str | None = attrs.field(default=None, validator=optional(SPEC))
    shared: bool = attrs.field(default=False, validator=FLAG)
    reproduces: bool = attrs.field(default=False, validator=FLAG)
    needs_mean_rows: bool = attrs.field(default=False, validator=FLAG)
    sparse: bool = attrs.field(default=False, validator=FLAG)
    for_kernels: tuple[str, ...] = attrs.field(default=(), validator=NAMES)


class FittedMap(ABC):
    """A feature map fitted to training samples.

    A subclass states whether it is ``explicit`` and implements :meth:`transform`. The other methods
    save work: mklkit calls those on similarities if ``from_landmarks`` is True, and those on sums
    if ``linear`` is True too.

    Attributes
    ----------
    explicit : bool
        Whether :meth:`transform` returns features, not similarities to the training samples.
    from_landmarks : bool
        Whether columns depend only on the similarities to ``landmarks``; by default False. Kernels
        of several such maps are evaluated together if they share base quantities.
    linear : bool
        Whether the features Φ = KW are linear in these similarities K; by default False. Products
        of features with vectors then need no features: Φw = K(Ww) and Φᵀt = Wᵀ(Kᵀt).
    kernel : FittedKernel
        The kernel, if ``from_landmarks``.
    landmarks : ndarray of shape (r, d)
        The samples or points to which similarities are computed, if ``from_landmarks``.

    See Also
    --------
    FeatureMap : What is fitted.

    Examples
    --------
    >>> class OneFeature(FittedMap):
    ...     explicit = True
    ...     def transform(self, rows):
    ...         return rows.sum(axis=1, keepdims=True)
    >>> OneFeature().transform(np.array([[1.0, 2.0]])).tolist()
    [[3.0]]
    """

    __slots__ = ()

    explicit: ClassVar[bool]

    from_landmarks: ClassVar[bool] = False

    linear: ClassVar[bool] = False

    kernel: FittedKernel
    landmarks: Array

    @property
    def kept(self) -> Any:
        """The object that holds the landmarks: maps with the same one have the same landmarks.

        It is the array itself, or :class:`~mklkit.protocols.rows.SomeRows` of a shared array.
        """
        return self.landmarks

    @abstractmethod
    def transform(self, rows: Array) -> Array:
        """Return the columns of samples.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            Samples, restricted to the kernel's own columns.

        Returns
        -------
        ndarray of shape (n, p) or (n, N)
            Features if ``explicit``, else the similarities to the N training samples.
        """

    def from_similarities(self, values: Array) -> Array:
        """Return the columns for known similarities to the landmarks.

        Parameters
        ----------
        values : ndarray of shape (n, r)
            The similarities of n samples to the landmarks.

        Returns
        -------
        ndarray of shape (n, p) or (n, N)
            The columns; by default the similarities themselves.
        """
        return values

    def with_landmarks(self, landmarks: Array) -> Self:
        """Return an implicit map reduced to some of its training samples, the support vectors.

        Parameters
        ----------
        landmarks : ndarray of shape (r, d)
            The training samples that remain.

        Returns
        -------
        FittedMap
            A copy with these landmarks.
        """
        return attrs.evolve(self, landmarks=landmarks)  # type: ignore[misc]

    def with_shared(self, some: SomeRows) -> Self:
        """Return a map that reads its landmarks from an array that it shares with other maps.

        Parameters
        ----------
        some : SomeRows
            The same landmarks, as some samples of the shared array.

        Returns
        -------
        FittedMap
            A copy with these landmarks; the map itself, the default, if it can't share them.
        """
        return self

    def on_similarities(self, coefficients: Array) -> Array:
        """Return coefficients of similarities, Ww, for coefficients w of features.

        Parameters
        ----------
        coefficients : ndarray of shape (p,) or (p, k)
            Coefficients of the features, one column per function.

        Returns
        -------
        ndarray of shape (r,) or (r, k)
            Coefficients of the similarities to the landmarks that give the same values.

        Raises
        ------
        NotImplementedError
            By default; a ``linear`` map implements it.
        """
        raise NotImplementedError

    def from_sums(self, sums: Array) -> Array:
        """Return sums over features, WᵀS, for sums S over similarities.

        Parameters
        ----------
        sums : ndarray of shape (r,) or (r, k)
            Weighted sums over samples of their similarities to the landmarks.

        Returns
        -------
        ndarray of shape (p,) or (p, k)
            The same sums of the features.

        Raises
        ------
        NotImplementedError
            By default; a ``linear`` map implements it.
        """
        raise NotImplementedError

    def training_features(self) -> Array | None:
        """Return the features of the training samples if the fit has stored them.

        Returns
        -------
        ndarray of shape (N, p) or None
            The features; None, the default, if they must be computed by :meth:`transform`.
        """
        return None

    def squared_lengths(self) -> Array | None:
        """Return the diagonal of ``features.T @ features`` if that matrix is diagonal.

        Returns
        -------
        ndarray of shape (p,) or None
            The sums of squares of the features of the training samples; None, the default, if the
            matrix is not known to be diagonal.
        """
        return None


class FeatureMap(Component, ABC):
    """A rule that turns a kernel into columns for a learner: features or similarities.

    A subclass is an ``@attrs.frozen`` class with a ``name`` and ``traits``. It implements
    :meth:`fit`, which returns a separate :class:`FittedMap`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : FeatureMapTraits
        Required, because ``explicit`` has no default.

    See Also
    --------
    FittedMap : What :meth:`fit` returns.
    FeatureMapTraits : The traits and their defaults.

    Examples
    --------
    Similarities to the first r training samples, as features:

    >>> import attrs
    >>> from mklkit.kernels import Linear
    >>> @attrs.frozen
    ... class FittedFirst(FittedMap):
    ...     kernel: FittedKernel
    ...     landmarks: np.ndarray
    ...     explicit = True
    ...     def transform(self, rows):
    ...         return self.kernel(rows, self.landmarks)
    >>> @attrs.frozen
    ... class First(FeatureMap):
    ...     name = "first"
    ...     traits = FeatureMapTraits(explicit=True)
    ...     r: int = 2
    ...     def fit(self, kernel, rows, random_state):
    ...         return FittedFirst(kernel, rows[: self.r])
    >>> rows = np.array([[1.0], [2.0], [3.0]])
    >>> First().fit(Linear().fit(rows), rows, np.random.RandomState(0)).transform(rows).tolist()
    [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
    """

    __slots__ = ()

    @abstractmethod
    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedMap:
        """Return the map fitted to the training samples.

        Parameters
        ----------
        kernel : FittedKernel
            The kernel, fitted to the same samples.
        rows : ndarray of shape (N, d)
            The training samples, restricted to the kernel's own columns.
        random_state : RandomState
            The source of all random draws, such as of landmarks.

        Returns
        -------
        FittedMap
            The map, which keeps only what new samples need.
        """

    def fit_all(
        self,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        random_state: np.random.RandomState,
    ) -> Iterator[FittedMap]:
        """Yield the maps of several kernels.

        Override it if one random draw, such as of the landmarks, is shared by all kernels. By
        default :meth:`fit` is called for each kernel.

        Parameters
        ----------
        kernels : sequence of FittedKernel
            The M kernels.
        rows : sequence of ndarray of shape (N, d_m)
            The training samples for each kernel, restricted to its columns.
        random_state : RandomState
            The source of all random draws.

        Yields
        ------
        FittedMap
            The map of each kernel, in their order.
        """
        for kernel, columns in zip(kernels, rows, strict=True):
            yield self.fit(kernel, columns, random_state)
