"""Kernels around another kernel, such as the one with a fixed share of the weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import gt, lt
from numpy.typing import NDArray

from mklkit.kernels.distances import RBF
from mklkit.protocols import Array, FittedKernel, Kernel, KernelTraits, traits_of
from mklkit.registry.hookspecs import register


def as_kernel(value: Any) -> Kernel:
    """Return a kernel, or that of a spec string."""
    # The registry imports this module, so it is imported at call time.
    from mklkit.registry.registry import get_registry

    kernel: Kernel = get_registry().create("kernel", value)
    return kernel


@attrs.frozen
class WrappingKernel(Kernel):
    """Template: another kernel, fitted and then changed by :meth:`wrap`.

    Parameters
    ----------
    kernel : Kernel or str, default="rbf"
        The inner kernel. Its parameters are nested, as in ``kernel__sigma``.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : KernelTraits
        Those of the inner kernel, with nested parameters; it proposes nothing.
    linear : bool
        Whether it is as linear as its kernel; by default True.
    sparse : bool
        Whether it takes sparse samples if its kernel does; by default False.

    See Also
    --------
    Cosine : A kernel that derives from it.

    Examples
    --------
    >>> @attrs.frozen
    ... class Squared(FittedKernel):
    ...     kernel: FittedKernel
    ...     def __call__(self, a, b):
    ...         return self.kernel(a, b) ** 2
    ...     def diagonal(self, a):
    ...         return self.kernel.diagonal(a) ** 2
    >>> @attrs.frozen
    ... class Square(WrappingKernel):
    ...     name = "square"
    ...     linear = False
    ...     def wrap(self, fitted, rows, row_weights):
    ...         return Squared(fitted)
    >>> rows = np.array([[1.0], [3.0]])
    >>> Square("linear").fit(rows)(rows, rows).tolist()
    [[1.0, 9.0], [9.0, 81.0]]
    """

    linear: ClassVar[bool] = True

    sparse: ClassVar[bool] = False

    kernel: Kernel = attrs.field(factory=RBF, converter=as_kernel)

    @property
    def traits(self) -> KernelTraits:  # type: ignore[override]
        """The properties of the inner kernel, whose parameters are nested; it proposes nothing."""
        inner = traits_of(self.kernel, KernelTraits)
        space = {f"kernel__{name}": values for name, values in inner.search_space.items()}
        linear = inner.linear and self.linear
        sparse = inner.sparse and self.sparse
        return attrs.evolve(inner, linear=linear, sparse=sparse, proposed=(), search_space=space)

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with the inner one fitted."""
        return self.wrap(self.kernel.fit(rows), rows, np.ones(rows.shape[0]))

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel with the inner one fitted to samples with weights (N,)."""
        return self.wrap(self.kernel.fit_weighted(rows, row_weights), rows, row_weights)

    def unknown(self, ids: Any) -> NDArray[np.bool_]:
        """Return which samples the inner kernel can't look up (n,)."""
        return self.kernel.unknown(ids)

    def known_ids(self) -> Sequence[str]:
        """Return the identifiers that the inner kernel can look up."""
        return self.kernel.known_ids()

    @abstractmethod
    def wrap(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel around a fitted one.

        Parameters
        ----------
        fitted : FittedKernel
            The inner kernel, fitted.
        rows : ndarray of shape (N, d)
            The training samples.
        row_weights : ndarray of shape (N,)
            Their weights; ones if they have none.

        Returns
        -------
        FittedKernel
            The changed kernel.
        """


@register
@attrs.frozen
class FixedShare(WrappingKernel):
    """Another kernel, with a share of the weights that is given and not learned.

    The combiner learns the weights of the other kernels as if this one did not exist; they share
    the rest. Other kernels read its columns only if they name them. For combiners that learn from a
    weighted sum of kernels.

    Parameters
    ----------
    kernel : Kernel or str, default='rbf'
        The kernel that has the share.
    share : float, default=0.2
        Its weight, above 0 and below 1; up to a factor if all kernels have one.

    See Also
    --------
    WrappingKernel : The base of kernels of another kernel.

    Notes
    -----
    Cost: that of the other kernel.

    Source: this project; we know of no publication.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> kernels = ["linear@0", "linear@1", "fixed-share(rbf, share=0.3)@2,3"]
    >>> model = MKLClassifier(kernels, combiner="alignment")
    >>> print(model.fit(*load_breast_cancer(return_X_y=True)).weights_[0, 2].round(9))
    0.3
    """

    name: ClassVar[str] = "fixed-share"

    share: float = attrs.field(default=0.2, converter=float, validator=[gt(0), lt(1)])

    @property
    def traits(self) -> KernelTraits:  # type: ignore[override]
        """The properties of the inner kernel, and the share."""
        return attrs.evolve(super().traits, share=self.share)

    def wrap(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the inner kernel."""
        return fitted
