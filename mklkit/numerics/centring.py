"""Gram matrices centred in feature space."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["centred_gram"]


def centred_gram(gram: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """Return HKH of a square matrix K (N, N), H = I − 11ᵀ/N; in K's dtype where none is given.

    Examples
    --------
    >>> import numpy as np
    >>> centred_gram(np.array([[1.0, 3.0], [3.0, 9.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    means = gram.mean(axis=0, dtype=dtype)
    centred = gram - means
    centred -= centred.mean(axis=1)[:, None]
    return centred
