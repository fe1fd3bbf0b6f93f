"""Handwritten digits by three sources: a part of UCI's multiple features."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

__all__ = ["multiple_features"]


def multiple_features() -> pd.DataFrame:
    """Return 500 handwritten digits, 50 of each, described by three sources of columns.

    Returns
    -------
    pandas.DataFrame
        One row per image, the column ``target`` (0 to 9) and 363 features: ``fourier_1`` …
        ``fourier_76``, magnitudes of the Fourier coefficients of the character's shape;
        ``pixel_1`` … ``pixel_240``, how many of 2 × 3 pixels are black, in 16 rows of 15;
        ``zernike_1`` … ``zernike_47``, magnitudes of Zernike moments.

    Notes
    -----
    Every fourth row and three of the six sources of the original, whose columns are numbered from 0
    there; the values are not changed.

    R. Duin, "Multiple Features", UCI Machine Learning Repository, 1998,
    https://doi.org/10.24432/C5HC70, licensed under Creative Commons Attribution 4.0 International,
    https://creativecommons.org/licenses/by/4.0/.

    Examples
    --------
    >>> multiple_features().shape
    (500, 364)
    """
    return pd.read_csv(Path(__file__).with_name("multiple_features.csv.gz"))
