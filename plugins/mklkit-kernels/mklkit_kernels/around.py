"""Template: a kernel around another kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit import get_registry
from mklkit.kernels import RBF
from mklkit.plugin import Array, FittedKernel, Kernel, KernelFacts


def as_kernel(value: Any) -> Kernel:
    """Return a kernel, or that of a spec string."""
    kernel: Kernel = get_registry().create("kernel", value)
    return kernel


def nested(name: str, kernel: Kernel) -> dict[str, tuple[Any, ...]]:
    """Return the search space of a kernel inside another, under that name."""
    return {f"{name}__{key}": values for key, values in kernel.facts.search_space.items()}


@attrs.frozen
class KernelAround(Kernel):
    """Template: another kernel, fitted and then changed by :meth:`around`."""

    linear: ClassVar[bool] = True
    """Whether it is as linear as its kernel."""

    kernel: Kernel = attrs.field(factory=RBF, converter=as_kernel)

    @property
    def facts(self) -> KernelFacts:  # type: ignore[override]
        """The properties of the inner kernel, whose parameters are nested; it proposes nothing."""
        inner, space = self.kernel.facts, nested("kernel", self.kernel)
        linear = inner.linear and self.linear
        return attrs.evolve(inner, linear=linear, proposed=(), search_space=space)

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with the inner one fitted."""
        return self.around(self.kernel.fit(rows), rows, np.ones(len(rows)))

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel with the inner one fitted to rows that count by their weights (N,)."""
        return self.around(self.kernel.fit_weighted(rows, row_weights), rows, row_weights)

    @abstractmethod
    def around(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel around a fitted one, for rows (N, d) with weights (N,)."""
