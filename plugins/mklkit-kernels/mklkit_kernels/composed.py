"""Kernels made of other kernels: their products, their sums, and powers of one."""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from attrs.validators import ge, instance_of, min_len

from mklkit import SpecError, get_registry
from mklkit.kernels import RBF, Linear, WrappingKernel
from mklkit.plugin import Array, FittedKernel, Kernel, KernelTraits, as_int, register


def as_kernel(value: Any) -> Kernel:
    """Return a kernel, or that of a spec string."""
    kernel: Kernel = get_registry().create("kernel", value)
    return kernel


def _as_kernels(values: Any) -> tuple[Kernel, ...]:
    return tuple(map(as_kernel, [values] if isinstance(values, str | Kernel) else values))


@attrs.frozen(init=False)
class ComposedKernel(Kernel):
    """Template: a kernel made of several on the same columns, with parameters nested by name.

    Its name is one of :data:`JOINS`.
    """

    kernels: tuple[Kernel, ...] = attrs.field(
        factory=lambda: (RBF(), Linear()), converter=_as_kernels, validator=min_len(1)
    )

    def __init__(self, *parts: Any, kernels: Any = ()) -> None:
        """Take the kernels one by one, as in a spec string, or all together."""
        chosen = (*parts, *_as_kernels(kernels))
        self.__attrs_init__(**({"kernels": chosen} if chosen else {}))

    @property
    def named_kernels(self) -> dict[str, Kernel]:
        """The kernels by name, with numbers if several have the same name."""
        names = [kernel.name.replace("-", "_") for kernel in self.kernels]
        return {
            f"{name}_{names[:place].count(name) + 1}" if names.count(name) > 1 else name: kernel
            for place, (name, kernel) in enumerate(zip(names, self.kernels, strict=True))
        }

    @property
    def kernel(self) -> Kernel:
        """The first kernel."""
        return self.kernels[0]

    @property
    def traits(self) -> KernelTraits:  # type: ignore[override]
        """The properties of all the kernels, whose parameters are nested; it proposes nothing."""
        return KernelTraits(
            definite=all(kernel.traits.definite for kernel in self.kernels),
            allows_gaps=all(kernel.traits.allows_gaps for kernel in self.kernels),
            reads=self.kernel.traits.reads,
            examples=self.kernel.traits.examples,
            search_space={
                f"{name}__{key}": values
                for name, kernel in self.named_kernels.items()
                for key, values in kernel.traits.search_space.items()
            },
        )

    def __attrs_post_init__(self) -> None:
        reads = dict.fromkeys(kernel.traits.reads for kernel in self.kernels)
        if len(reads) > 1:
            raise ValueError(
                f"the kernels of a {self.name} read the same columns, which can't hold"
                f" {' and '.join(reads)}: give kernels of one kind, such as 'rbf' and 'linear'"
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the kernels and, if ``deep``, each by its name with its own parameters."""
        params: dict[str, Any] = {"kernels": self.kernels}
        for name, kernel in self.named_kernels.items() if deep else ():
            params |= {name: kernel}
            params |= {f"{name}__{inner}": value for inner, value in kernel.get_params().items()}
        return params

    def with_params(self, **params: Any) -> Self:
        """Return a copy with some of the kernels, or of their parameters, changed."""
        changed = super().with_params(kernels=params.pop("kernels", self.kernels))
        parts = changed.named_kernels
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in parts:
                raise SpecError(
                    f"{self.name} has no kernel {name!r:.80}; it has {', '.join(parts)}."
                )
            parts[name] = parts[name].with_params(**{inner: value}) if inner else as_kernel(value)
        return super().with_params(kernels=tuple(parts.values()))

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with all of its kernels fitted."""
        return FittedComposition(self.name, tuple(kernel.fit(rows) for kernel in self.kernels))

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel with all fitted to samples that count by their weights (N,)."""
        fitted = tuple(kernel.fit_weighted(rows, row_weights) for kernel in self.kernels)
        return FittedComposition(self.name, fitted)


JOINS = {"product": np.multiply, "sum": np.add}
"""The functions that combine values of kernels, by the name of the composed kernel."""


@register
@attrs.frozen
class FittedComposition(FittedKernel):
    """The product or the sum of kernels, ready to evaluate."""

    name: str
    kernels: tuple[FittedKernel, ...]

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        return reduce(JOINS[self.name], (kernel(a, b) for kernel in self.kernels))

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        return reduce(JOINS[self.name], (kernel.diagonal(a) for kernel in self.kernels))


@register
@attrs.frozen(init=False)
class Product(ComposedKernel):
    """Product of kernels on the same columns, k(x, z) = Π k_i(x, z): samples must agree in all.

    Parameters
    ----------
    kernels : tuple of Kernel or str, default=("rbf", "linear")
        The factors; in a spec string one after another, ``product(rbf(sigma=2), linear)``. Their
        parameters are nested by name, ``rbf__sigma``, two of a name as ``rbf_1`` and ``rbf_2``.

    Notes
    -----
    Cost: that of all factors.

    The cost of all factors. Positive semi-definite if they are (Schur's product theorem).

    Source: J. Shawe-Taylor, N. Cristianini: Kernel Methods for Pattern Analysis. Cambridge
    University Press (2004).

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0]])
    >>> Product("linear", "polynomial(degree=2)").fit(rows)(rows, rows)
    array([[  4.,  18.],
           [ 18., 100.]])
    """

    name: ClassVar[str] = "product"


@register
@attrs.frozen(init=False)
class Sum(ComposedKernel):
    """Sum of kernels on the same columns, k(x, z) = Σ k_i(x, z), which has one weight.

    Parameters
    ----------
    kernels : tuple of Kernel or str, default=("rbf", "linear")
        The terms; in a spec string one after another, ``sum(rbf(sigma=2), linear)``. Their
        parameters are nested by name, ``rbf__sigma``, two of a name as ``rbf_1`` and ``rbf_2``.

    Notes
    -----
    Cost: that of all terms.

    Source: J. Shawe-Taylor, N. Cristianini: Kernel Methods for Pattern Analysis. Cambridge
    University Press (2004).

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0]])
    >>> Sum("linear", "polynomial(degree=2)").fit(rows)(rows, rows)
    array([[ 5., 11.],
           [11., 29.]])
    """

    name: ClassVar[str] = "sum"


@register
@attrs.frozen
class Power(WrappingKernel):
    """Integer power of another kernel, k(x, z)^exponent: the product of that many copies.

    Parameters
    ----------
    kernel : Kernel or str, default='rbf'
        The kernel whose values are raised.
    exponent : int, default=2
        At least 1.

    Notes
    -----
    Cost: that of the other kernel, and O(nm).

    Source: J. Shawe-Taylor, N. Cristianini: Kernel Methods for Pattern Analysis. Cambridge
    University Press (2004).

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0]])
    >>> Power("linear", exponent=3).fit(rows)(rows, rows)
    array([[ 1.,  8.],
           [ 8., 64.]])
    """

    name: ClassVar[str] = "power"

    linear: ClassVar[bool] = False

    exponent: int = attrs.field(default=2, converter=as_int, validator=[instance_of(int), ge(1)])

    def wrap(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the power."""
        return FittedPower(fitted, self.exponent)


@register
@attrs.frozen
class FittedPower(FittedKernel):
    """The power, ready to evaluate."""

    kernel: FittedKernel
    exponent: int

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        return self.kernel(a, b) ** self.exponent

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        return self.kernel.diagonal(a) ** self.exponent
