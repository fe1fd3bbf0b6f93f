"""Stage two of cluster gating, for the tables of performance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from builders import views_of

from mklkit.combiners.cluster_gating.pairwise_updating import QuadraticForms
from mklkit.combiners.cluster_gating.stages import gated_blocks, quadratic_forms
from mklkit.numerics.graph_embedding import discriminant_graphs

FOUR = [f"rbf(sigma='{factor}*mean')" for factor in (0.1, 0.3, 1, 3)]
N_CLUSTERS = 4


def problem(n_rows: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return views of four kernels, memberships in four clusters, a projection and labels."""
    rng = np.random.default_rng(0)
    views = views_of(FOUR, rng.normal(size=(n_rows, 10)))
    memberships = rng.dirichlet(np.ones(N_CLUSTERS), size=n_rows)
    return views, memberships, rng.normal(size=(n_rows, 1)), np.arange(n_rows) % 2


def forms_of(n_rows: int) -> Callable[[], QuadraticForms]:
    """Return the step: kernels evaluated tile by tile, blocks, and the forms from them."""
    views, memberships, projection, y = problem(n_rows)
    graphs = discriminant_graphs(y)

    def step() -> QuadraticForms:
        blocks = gated_blocks(views, memberships, projection)
        return quadratic_forms(blocks, projection, graphs, 1e-3)

    return step
