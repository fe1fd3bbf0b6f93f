"""scikit-learn's digits, described by three sources that are computed from the images."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.protocols import Array

__all__ = ["CONFUSED", "digits_sources"]

CONFUSED = (1, 3, 8, 9)
"""The four digits that a logistic regression on the pixels confuses most."""

RING = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
"""The eight neighbours of a pixel, around it."""


def digits_sources(images: Array, digits: NDArray[np.intp]) -> pd.DataFrame:
    """Describe images of the digits 1, 3, 8 and 9 by three sources, none of which is the image.

    Parameters
    ----------
    images : ndarray of shape (N, 8, 8)
        ``sklearn.datasets.load_digits().images``.
    digits : ndarray of shape (N,)

    Returns
    -------
    pandas.DataFrame
        One row per image of these digits (scikit-learn has 719), the column ``target`` and 109
        features: ``profile_1`` … ``profile_16``, the sums of the image's rows and columns;
        ``fourier_1`` … ``fourier_34``, the magnitudes of its discrete Fourier transform, which do
        not tell where the strokes are; ``pattern_1`` … ``pattern_59``, how many pixels have which
        local binary pattern.

    References
    ----------
    T. Ojala, M. Pietikäinen and T. Mäenpää (2002), "Multiresolution gray-scale and rotation
    invariant texture classification with local binary patterns", equations 2 and 10: the 58
    patterns of 8 neighbours at distance 1 with at most two changes around the circle, and all
    others together. Outside the image all is 0.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> bunch = load_digits()
    >>> digits_sources(bunch.images, bunch.target).shape
    (719, 110)
    """
    chosen = np.isin(digits, CONFUSED)
    images = images[chosen]
    sources = {
        "profile": np.hstack([images.sum(axis=2), images.sum(axis=1)]),
        "fourier": _magnitudes(images),
        "pattern": _patterns(images),
    }
    columns = {
        f"{name}_{place}": column
        for name, values in sources.items()
        for place, column in enumerate(values.T, start=1)
    }
    return pd.DataFrame(columns).assign(target=digits[chosen])


def _magnitudes(images: Array) -> Array:
    """Return the magnitudes (n, 34) of the Fourier transform of images (n, 8, 8)."""
    found = np.abs(np.fft.rfft2(images))
    # A real image has |F(u, v)| = |F(-u, -v)|: rows 5 to 7 of columns 0 and 4 repeat 3 to 1.
    different = np.ones(found.shape[1:], dtype=bool)
    different[5:, [0, 4]] = False
    return np.asarray(found[:, different])


def _patterns(images: Array) -> Array:
    """Return how often (n, 59) each local binary pattern occurs in images (n, 8, 8)."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    neighbours = np.stack(
        [padded[:, 1 + down : 9 + down, 1 + right : 9 + right] for down, right in RING]
    )
    codes = np.tensordot(1 << np.arange(8), neighbours >= images, axes=1)
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    changes = (bits != np.roll(bits, 1, axis=1)).sum(axis=1)
    counts = np.stack([np.bincount(code.ravel(), minlength=256) for code in codes])
    uniform = changes <= 2
    return np.column_stack([counts[:, uniform], counts[:, ~uniform].sum(axis=1)]).astype(float)
