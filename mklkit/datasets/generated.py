"""Computed and generated data: tables of several sources, and part of a UCI data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from mklkit.protocols import Array

CONFUSED = (1, 3, 8, 9)
"""The four digits that logistic regression on the pixels confuses most."""
RING = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
"""The eight neighbours of a pixel, around it."""
N_ROWS = 600
SITE = "TATAATGC"
LENGTH = 30


def digits_sources() -> pd.DataFrame:
    """Describe scikit-learn's images of 1, 3, 8 and 9 by three sources derived from the image.

    One row per image, the column ``target`` and 109 features: ``profile_1`` … ``profile_16``, the
    sums of the image's rows and columns; ``fourier_1`` … ``fourier_34``, the magnitudes of its
    discrete Fourier transform, which lose the position of the strokes; ``pattern_1`` …
    ``pattern_59``, how many pixels have each local binary pattern.

    References
    ----------
    T. Ojala, M. Pietikäinen and T. Mäenpää (2002), "Multiresolution gray-scale and rotation
    invariant texture classification with local binary patterns", equations 2 and 10: the 58
    patterns of 8 neighbours at distance 1 with at most two changes around the circle, and all
    others together. Outside the image all is 0.
    """
    bunch = load_digits()
    chosen = np.isin(bunch.target, CONFUSED)
    images = bunch.images[chosen]
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
    return pd.DataFrame(columns).assign(target=bunch.target[chosen])


def digits_missing() -> pd.DataFrame:
    """Return :func:`digits_sources` with each source missing at random (20 %), but never all."""
    frame = digits_sources()
    rng = np.random.default_rng(0)
    missing = rng.random((len(frame), 3)) < 0.3
    missing[np.arange(len(frame)), rng.integers(3, size=len(frame))] = False
    for absent, source in zip(missing.T, ("profile", "fourier", "pattern"), strict=True):
        frame.loc[absent, frame.columns.str.startswith(source)] = np.nan
    return frame


def _magnitudes(images: Array) -> Array:
    """Return the magnitudes (n, 34) of the Fourier transform of images (n, 8, 8)."""
    magnitudes = np.abs(np.fft.rfft2(images))
    # A real image has |F(u, v)| = |F(-u, -v)|: rows 5 to 7 of columns 0 and 4 repeat 3 to 1.
    different = np.ones(magnitudes.shape[1:], dtype=bool)
    different[5:, [0, 4]] = False
    return np.asarray(magnitudes[:, different])


def _patterns(images: Array) -> Array:
    """Return how often (n, 59) each local binary pattern occurs in images (n, 8, 8)."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    neighbors = np.stack(
        [padded[:, 1 + down : 9 + down, 1 + right : 9 + right] for down, right in RING]
    )
    codes = np.tensordot(1 << np.arange(8), neighbors >= images, axes=1)
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    changes = (bits != np.roll(bits, 1, axis=1)).sum(axis=1)
    counts = np.stack([np.bincount(code.ravel(), minlength=256) for code in codes])
    uniform = changes <= 2
    return np.column_stack([counts[:, uniform], counts[:, ~uniform].sum(axis=1)]).astype(float)


def mixed_sources() -> pd.DataFrame:
    """Return 600 generated rows, half of them ``active``; each source has information on the class.

    ``sequence`` holds 30 letters, in most active rows with a site anywhere (``TATAATGC``, or that
    with one letter redrawn); ``level_1`` to ``level_4`` are numbers; in two of them the active rows
    form a ring around the others; ``tissue`` and ``stage`` are categories, the second with gaps.
    """
    rng = np.random.default_rng(0)
    active = np.arange(N_ROWS) % 2 == 1
    letters = rng.choice(list("ACGT"), (N_ROWS, LENGTH))
    with_site = rng.random(N_ROWS) < np.where(active, 0.85, 0.1)
    for row in np.flatnonzero(with_site):
        site = list(SITE)
        if rng.random() < 0.3:
            site[rng.integers(len(site))] = rng.choice(list("ACGT"))
        start = rng.integers(LENGTH - len(site) + 1)
        letters[row, start : start + len(site)] = site
    levels = rng.normal(size=(N_ROWS, 4))
    radius = np.where(active, 1.9, 0.9) + 0.6 * rng.normal(size=N_ROWS)
    angle = rng.uniform(0, 2 * np.pi, N_ROWS)
    levels[:, 0], levels[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    frame = pd.DataFrame({"sequence": ["".join(row) for row in letters]})
    for number in range(4):
        frame[f"level_{number + 1}"] = levels[:, number].round(3)
    frame["tissue"] = _drawn(rng, active, ["liver", "lung", "skin"], [0.65, 0.15, 0.2])
    frame["stage"] = _drawn(rng, active, ["early", "late", "middle"], [0.15, 0.6, 0.25])
    frame.loc[rng.random(N_ROWS) < 0.05, "stage"] = None
    return frame.assign(target=np.where(active, "active", "silent"))


def _drawn(
    rng: np.random.Generator, active: np.ndarray, values: list[str], shares: list[float]
) -> list[str]:
    """Return a category per row, drawn with these shares if active, else with even ones."""
    even = np.full(len(values), 1 / len(values))
    return [str(rng.choice(values, p=shares if is_active else even)) for is_active in active]


def multiple_features() -> pd.DataFrame:
    """Return 500 handwritten digits, 50 of each, described by three sources of columns.

    One row per image, the column ``target`` (0 to 9) and 363 features: ``fourier_1`` …
    ``fourier_76``, magnitudes of the Fourier coefficients of the character's shape; ``pixel_1`` …
    ``pixel_240``, how many of 2 × 3 pixels are black, in 16 rows of 15; ``zernike_1`` …
    ``zernike_47``, magnitudes of Zernike moments. These are every fourth row and three of the six
    sources of the original, whose columns are numbered from 0 there; the values are not changed.

    R. Duin, "Multiple Features", UCI Machine Learning Repository, 1998,
    https://doi.org/10.24432/C5HC70, licensed under Creative Commons Attribution 4.0 International,
    https://creativecommons.org/licenses/by/4.0/.
    """
    return pd.read_csv(Path(__file__).with_name("multiple_features.csv.gz"))


TABLES = {
    "digits_sources": digits_sources,
    "digits_missing": digits_missing,
    "mixed_sources": mixed_sources,
    "multiple_features": multiple_features,
}
"""By the names of data sets."""
