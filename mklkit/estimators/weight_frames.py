"""Kernel weights as a tidy table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mklkit.protocols import Array

__all__ = ["tidy_weights"]


def tidy_weights(
    problems: Sequence[tuple[Any, Any]], kernels: Sequence[str], weights: Sequence[Array]
) -> pd.DataFrame:
    """Return the columns problem, (cluster,) kernel and weight, a row per weight.

    Parameters
    ----------
    problems : sequence of (negative, positive), or of str
        The class labels of each problem, or its name.
    kernels : sequence of str
        M names.
    weights : sequence of ndarray of shape (M,) or (n_clusters, M)
        One per problem.

    Examples
    --------
    >>> tidy_weights([("b", "a")], ["linear", "rbf"], [np.array([0.25, 0.75])])
      problem  kernel  weight
    0  a vs b  linear    0.25
    1  a vs b     rbf    0.75
    """
    rows = np.vstack(weights)
    counts = [np.ndim(matrix) == 1 or len(matrix) for matrix in weights]
    frame = pd.DataFrame({"kernel": list(kernels) * len(rows)})
    if weights[0].ndim == 2:
        clusters = np.concatenate([np.arange(count) for count in counts])
        frame.insert(0, "cluster", np.repeat(clusters, len(kernels)))
    names = np.repeat([_problem_name(problem) for problem in problems], counts)
    frame.insert(0, "problem", np.repeat(names, len(kernels)))
    return frame.assign(weight=rows.ravel())


def _problem_name(problem: Any) -> str:
    if isinstance(problem, str):
        return problem
    negative, positive = problem
    return "all classes" if str(positive) == "(all)" else f"{positive} vs {negative}"
