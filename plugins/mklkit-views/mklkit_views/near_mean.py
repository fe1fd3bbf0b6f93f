"""The directions in each view whose projections are closest to the mean over the views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

RANK_TOL = 1e-12
"""Variances of a view's principal axes below this share of the largest count as zero."""


def view_ridges(views: Sequence[NDArray[Any]], alpha: float) -> list[float]:
    """Return κ_k, ``alpha`` times the largest eigenvalue of S_kᵀS_k, for each centred view."""
    return [alpha * float(np.linalg.norm(_smaller_product(view), 2)) for view in views]


def near_mean_directions(
    views: Sequence[NDArray[Any]], ridges: Sequence[float], n_components: int | None
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the views' agreement (q,) per component, decreasing, and the directions W_k (p_k, q).

    Minimises Σ_k ‖S_kW_k − (1/M) Σ_l S_lW_l‖² + Σ_k κ_k‖W_k‖² subject to
    Σ_k W_kᵀ(S_kᵀS_k + κ_kI)W_k = I, for centred views S_k (N, p_k). By default, and at most, there
    are as many components as the smallest rank of a view.

    Notes
    -----
    With D = blockdiag(S_kᵀS_k + κ_kI) and C = SᵀS of the concatenated views the objective is
    tr Wᵀ(D − C/M)W, so W are the leading eigenvectors of Cw = λDw, and the agreement is λ/M. Each
    view is whitened separately; one ordinary eigenproblem of size min(N, Σp_k) remains.
    """
    bases = [_whitening(view, ridge) for view, ridge in zip(views, ridges, strict=True)]
    white = np.hstack([view @ basis for view, basis in zip(views, bases, strict=True)])
    ranks = [basis.shape[1] for basis in bases]
    count = min(ranks) if n_components is None else min(n_components, *ranks)
    values, vectors = _leading(_smaller_product(white), count)
    if white.shape[1] > white.shape[0]:
        vectors = white.T @ (vectors / np.sqrt(values))
    parts = np.split(vectors, np.cumsum(ranks)[:-1])
    directions = [basis @ part for basis, part in zip(bases, parts, strict=True)]
    return values / len(views), _with_signs(directions)


def _smaller_product(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return AᵀA or AAᵀ, whichever is smaller: their eigenvalues are the same."""
    wide = matrix.shape[1] > matrix.shape[0]
    return matrix @ matrix.T if wide else matrix.T @ matrix


def _whitening(view: NDArray[Any], ridge: float) -> NDArray[Any]:
    """Return B (p, r), BᵀSᵀSB + κBᵀB = I, over the directions in which the view has variance."""
    values, vectors = _leading(_smaller_product(view), min(view.shape))
    if view.shape[1] > view.shape[0]:
        vectors = view.T @ (vectors / np.sqrt(values))
    return vectors / np.sqrt(values + ridge)


def _leading(matrix: NDArray[Any], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the largest non-zero eigenvalues in decreasing order, and their eigenvectors."""
    size = len(matrix)
    if size == 0:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = eigh(matrix, subset_by_index=[max(0, size - count), size - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > RANK_TOL * max(float(values[0]), 0.0)
    return values[kept], vectors[:, kept]


def _with_signs(directions: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the directions with signs such that each component's largest entry is positive."""
    stacked = np.vstack(directions)
    largest = np.abs(stacked).argmax(axis=0)
    signs = np.where(stacked[largest, np.arange(stacked.shape[1])] < 0, -1.0, 1.0)
    return [part * signs for part in directions]
