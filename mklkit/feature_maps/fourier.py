"""Random Fourier features: columns whose inner products are, on average, a Gaussian kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from scipy.sparse import issparse

from mklkit.errors import IncompatibleError, quoted, type_name
from mklkit.kernels.distances import FittedRBF
from mklkit.protocols import Array, FeatureMap, FeatureMapTraits, FittedKernel, FittedMap
from mklkit.protocols.component import as_int, is_whole
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import KernelRows

FIRST_ROWS = 1024
"""The number of samples whose mean is subtracted from all."""


def _pairs(instance: object, attribute: Any, value: Any) -> None:
    if not is_whole(value) or value < 2 or value % 2:
        raise ValueError(
            f"{attribute.name} must be an even number from 2 up, for pairs of a cosine and a sine;"
            f" got {quoted(value)}"
        )


@register
@attrs.frozen
class Fourier(FeatureMap):
    """Random Fourier features of rbf kernels, without landmarks.

    Φ(x) = √(2/p) (cos(w₁ᵀx), …, cos(w_{p/2}ᵀx), sin(w₁ᵀx), …, sin(w_{p/2}ᵀx)) with directions w
    drawn from the normal distribution of variance 2γ. The mean of ΦΦᵀ over draws is the kernel, and
    the standard error of a value k is (1 − k²)/√p. Kernels on the same columns share the
    draw, each scaled by its own √(2γ).

    Parameters
    ----------
    n_components : int, default=256
        The number of features p, an even number.

    See Also
    --------
    Empirical : Features of any kernel, from landmarks.

    Notes
    -----
    Cost: O(pd) to fit, whatever the number of samples; a sample costs O(pd). Pairs of a cosine and
    a sine have less variance than cosines with random phases (Sutherland & Schneider, UAI 2015).
    Source: Rahimi & Recht, Random features for large-scale kernel machines, NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.kernels.distances import RBF
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = RBF(sigma=1.0).fit(rows)
    >>> fitted = Fourier(n_components=10_000).fit(kernel, rows, np.random.RandomState(0))
    >>> features = fitted.transform(rows)
    >>> bool(np.allclose(features @ features.T, kernel(rows, rows), atol=0.05))
    True
    """

    name: ClassVar[str] = "fourier"
    traits: ClassVar[FeatureMapTraits] = FeatureMapTraits(
        explicit=True, instead="implicit", shared=True, sparse=True, for_kernels=("rbf",)
    )
    searched_as: ClassVar[dict[str, str]] = dict.fromkeys(
        ("rff", "random-fourier", "rbf-sampler", "rbfsampler"), "fourier(n_components=256)"
    )

    n_components: int = attrs.field(default=256, converter=as_int, validator=_pairs)

    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedFourier:
        """Return the map fitted on the training samples (N, d).

        Raises
        ------
        IncompatibleError
            If the kernel is not an rbf.
        """
        return next(self.fit_all([kernel], [rows], random_state))

    def fit_all(
        self,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        random_state: np.random.RandomState,
    ) -> Iterator[FittedFourier]:
        """Yield each kernel's map; kernels on the same columns share one draw."""
        bank = KernelRows.of(kernels, rows)
        draws = []
        for array in bank.arrays:
            # Only differences of samples matter; angles of samples far from zero would lose digits.
            center = array[:FIRST_ROWS].mean(axis=0, dtype=np.float64).astype(array.dtype)
            directions = random_state.standard_normal((array.shape[1], self.n_components // 2))
            draws.append((center, directions))
        for kernel, place in zip(kernels, bank.places, strict=True):
            if not isinstance(kernel, FittedRBF):
                raise IncompatibleError(
                    f"fourier has features only of rbf kernels; got {type_name(kernel)}."
                )
            center, directions = draws[place]
            scaled = directions * np.sqrt(2 * kernel.gamma)
            yield FittedFourier(center, scaled.astype(center.dtype))


@register
@attrs.frozen(eq=False)
class FittedFourier(FittedMap):
    """The map with its directions (d, p/2) and the point (d,) that is subtracted from samples."""

    explicit: ClassVar[bool] = True

    center: Array
    directions: Array

    def transform(self, rows: Array) -> Array:
        """Return the features (n, p) of samples (n, d)."""
        if issparse(rows):
            angles = rows @ self.directions - self.center @ self.directions
        else:
            angles = (rows - self.center) @ self.directions
        half = angles.shape[1]
        features = np.empty((rows.shape[0], 2 * half), dtype=angles.dtype)
        np.cos(angles, out=features[:, :half])
        np.sin(angles, out=features[:, half:])
        features *= half**-0.5
        return features
