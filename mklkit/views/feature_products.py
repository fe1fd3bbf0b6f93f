"""Inner products of the kernels ΦΦᵀ, computed from their features without N × N matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklkit.protocols import Array, KernelProducts

__all__ = ["feature_products", "label_alignment"]


def feature_products(
    features: Sequence[Array], labels: Array, centered: bool = True
) -> KernelProducts:
    """Return ⟨K_k, K_l⟩ = ‖Φ_kᵀΦ_l‖² and yᵀKy = ‖Φᵀy‖² for K = ΦΦᵀ, optionally centred first.

    Parameters
    ----------
    features : sequence of ndarray
        (N, p_m) for each kernel.
    labels : ndarray of shape (N,)
    centered : bool, default=True

    Notes
    -----
    O(Np²) per pair of kernels.
    """
    sizes = np.array([np.einsum("ij,ij->i", own, own).max(initial=0) for own in features])
    sizes[sizes == 0] = 1
    scaled = []
    for own, size in zip(features, sizes, strict=True):
        near_one = np.asarray(own, dtype=np.float64) / np.sqrt(size)
        scaled.append(near_one - near_one.mean(axis=0) if centered else near_one)
    products = np.array([[np.sum((a.T @ b) ** 2) for b in scaled] for a in scaled])
    with_labels = np.array([np.sum((own.T @ labels) ** 2) for own in scaled])
    if centered:
        # Centring leaves only rounding errors of a constant kernel.
        noise = np.array([4 * np.finfo(own.dtype).eps for own in features])
        constant = np.sqrt(np.diag(products)) / len(labels) <= noise
        products[constant] = products[:, constant] = with_labels[constant] = 0
    return KernelProducts(products, with_labels, sizes)


def label_alignment(features: Array, y: Array, centered: bool = False) -> float:
    """Return the alignment of ΦΦᵀ with the label kernel, ‖Φᵀy‖²/(‖ΦᵀΦ‖‖y‖²), in O(Np²).

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> label_alignment(features, np.array([1.0, -1.0]))  # doctest: +ELLIPSIS
    0.7071...
    """
    labels = y - y.mean(dtype=np.float64) if centered else np.asarray(y, dtype=np.float64)
    return float(feature_products([features], labels, centered).label_alignments(labels)[0])
