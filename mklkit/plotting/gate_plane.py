"""Where rows and gates are in the plane: on a grid, or in two principal components."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mklkit.errors import DataError
from mklkit.protocols import Array

__all__ = ["Plane", "plane_of_gates", "principal_components"]

MARGIN = 0.06


@attrs.frozen(eq=False)
class Plane:
    """Gates on a grid of the plane: coordinates (G,) per axis, weights (G, G, M), y by x."""

    horizontal: Array
    vertical: Array
    gates: Array


def plane_of_gates(points: Array, gates_at: Any, resolution: int) -> Plane:
    """Return the gates on a grid a little wider than the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = MARGIN * np.where(high > low, high - low, 1)
    horizontal, vertical = np.linspace(low - margin, high + margin, resolution, axis=1)
    rows = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    gates = gates_at(rows)
    return Plane(horizontal, vertical, gates.reshape(resolution, resolution, -1))


def principal_components(rows: Array) -> tuple[Array, tuple[str, str]]:
    """Return rows (n, d) in their first two principal components, and the names of these."""
    from sklearn.decomposition import PCA

    if min(rows.shape) < 2:
        raise DataError(
            f"Two rows and two columns at least are needed to draw gates; got {rows.shape[0]} x"
            f" {rows.shape[1]}."
        )
    found = PCA(n_components=2, svd_solver="full").fit(rows)
    first, second = found.explained_variance_ratio_
    names = (f"principal component 1 ({first:.0%})", f"principal component 2 ({second:.0%})")
    return found.transform(rows), names
