"""Grids of scikit-learn's ensembles of trees, which are baselines of classes and of numbers."""

from __future__ import annotations

from typing import Any

FAST: dict[str, dict[str, list[Any]]] = {
    "random forest": {"max_features": ["sqrt", 0.3, 0.6]},
    "gradient boosting": {"learning_rate": [0.03, 0.1, 0.3]},
}
LONG: dict[str, dict[str, list[Any]]] = {
    "random forest": FAST["random forest"] | {"min_samples_leaf": [1, 3, 10]},
    "gradient boosting": FAST["gradient boosting"] | {"max_leaf_nodes": [7, 31]},
}


def grids_of_trees(is_fast: bool) -> dict[str, dict[str, list[Any]]]:
    """Return by baseline the values of its parameters in a fast search, or in a longer one."""
    return FAST if is_fast else LONG
