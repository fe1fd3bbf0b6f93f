"""Small kernels on text, categories and amounts, and the package in which a plugin has them."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.plugin import KernelTraits, hookimpl
from mklkit.protocols import FixedKernel


def _letter_counts(codes: np.ndarray) -> np.ndarray:
    """Return how often each code point below 256 occurs in each text."""
    counts = np.zeros((len(codes), 256))
    for code in np.unique(codes[codes >= 0]):
        counts[:, int(code)] = (codes == code).sum(axis=1)
    return counts


@attrs.frozen
class Letters(FixedKernel):
    """The inner product of the letter counts of two texts."""

    name: ClassVar[str] = "letters"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="text")

    def __call__(self, a: Any, b: Any) -> Any:
        return _letter_counts(a) @ _letter_counts(b).T

    def diagonal(self, a: Any) -> Any:
        return (_letter_counts(a) ** 2).sum(axis=1)


@attrs.frozen
class Same(FixedKernel):
    """The share of columns in which two rows are equal; a gap equals nothing but itself."""

    name: ClassVar[str] = "same"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="categories")

    def fit(self, rows: Any) -> Same:
        assert not np.isnan(rows).any()
        return self

    def __call__(self, a: Any, b: Any) -> Any:
        return (a[:, None] == b[None]).mean(axis=2)

    def diagonal(self, a: Any) -> Any:
        return np.ones(len(a))


@attrs.frozen
class KnownSame(FixedKernel):
    """The number of columns in which two rows have the same category, gaps left out."""

    name: ClassVar[str] = "known-same"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="categories", allows_gaps=True)

    def __call__(self, a: Any, b: Any) -> Any:
        return (a[:, None] == b[None]).sum(axis=2).astype(float)

    def diagonal(self, a: Any) -> Any:
        return (~np.isnan(a)).sum(axis=1).astype(float)


@attrs.frozen
class Smaller(FixedKernel):
    """The sum of the smaller of two amounts."""

    name: ClassVar[str] = "smaller"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="amounts")

    def __call__(self, a: Any, b: Any) -> Any:
        return np.minimum(a[:, None], b[None]).sum(axis=2)

    def diagonal(self, a: Any) -> Any:
        return a.sum(axis=1)


@attrs.frozen
class KnownSmaller(FixedKernel):
    """The sum of the smaller of two amounts, gaps left out."""

    name: ClassVar[str] = "known-smaller"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="amounts", allows_gaps=True)

    def __call__(self, a: Any, b: Any) -> Any:
        return np.nansum(np.minimum(a[:, None], b[None]), axis=2)

    def diagonal(self, a: Any) -> Any:
        return np.nansum(a, axis=1)


@hookimpl
def mklkit_kernels() -> list[type]:
    """Register the kernels."""
    return [Letters, Same, KnownSame, Smaller, KnownSmaller]
