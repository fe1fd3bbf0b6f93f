"""Rows on a cluster: Dask arrays as rows, and Dask's workers as the second engine.

No module here imports Dask before it is used, so that the package works without it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["is_dask"]

PACKAGES = ("dask", "dask_expr")


def is_dask(value: Any) -> bool:
    """Return whether an object is a Dask array, DataFrame or Series.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return type(value).__module__.partition(".")[0] in PACKAGES
