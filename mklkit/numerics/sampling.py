"""Seeded draws of samples and of pairs of samples, for statistics of large data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.sparse_rows import squared_lengths

Array = NDArray[np.floating[Any]]

SEED = 20080514
"""The seed of all samples, which depend only on the number of samples."""


def own_stream(seed: int) -> np.random.Generator:
    """Return a generator that differs from users' own ``default_rng(seed)``.

    Labels made from the same stream would decide which samples are drawn.
    """
    return np.random.default_rng([SEED, seed])


PARTNERS = 64
"""Pairs per sample in a sample of pairs."""

PAIR_BLOCK = 2048
PRODUCT_ROWS = 2000
"""Classes with at most this many samples give the inner products of all pairs."""


def sampled_rows(rows: Any, most: int = 50_000) -> Array:
    """Return all samples, or ``most`` of them drawn without replacement, in their order.

    The sample depends only on the number of samples, so that samples in memory and the same samples
    read in parts give the same sample.
    """
    sample: Array = rows[sampled_places(rows.shape[0], most)]
    return sample


def sampled_places(n_rows: int, most: int = 50_000) -> Any:
    """Return the places of the samples that :func:`sampled_rows` returns: a slice or an array."""
    if n_rows <= most:
        return slice(None)
    drawn = np.random.default_rng(SEED).choice(n_rows, most, replace=False, shuffle=False)
    return np.sort(drawn)


def drawn_by_class(codes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the places of about ``most`` samples at most, in order, the same share of each class.

    Every class has at least one sample in the sample, and two if it has two. The draw depends only
    on the class numbers.
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    draw = own_stream(len(codes))
    share = most / len(codes)
    parts = []
    for number in np.unique(codes):
        members = np.flatnonzero(codes == number)
        count = min(len(members), max(2, round(share * len(members))))
        parts.append(draw.choice(members, count, replace=False, shuffle=False))
    return np.sort(np.concatenate(parts))


def sampled_pairs(
    rows: Any, row_weights: Array | None = None, partners: int = PARTNERS
) -> Iterator[tuple[Array, Array]]:
    """Yield blocks of ‖x_i − x_j‖ and v_i v_j of ``N·partners`` different pairs of samples.

    The samples are put in random order, and pair (i, i + s) is taken for all i, cyclically, and
    some shifts s, for N above ``2·partners``. Since every sample is in equally many pairs, outlying
    samples add no error to the mean, and the rest falls with the root of the number of pairs.
    O(partners·N·d).
    """
    rng = np.random.default_rng(SEED)
    n_rows = rows.shape[0]
    order = rng.permutation(n_rows)
    # Shifts up to half the samples: no pair is counted twice.
    shifts = 1 + rng.choice((n_rows - 1) // 2, partners, replace=False)
    shuffled = rows[order]
    weights = np.ones(n_rows) if row_weights is None else row_weights[order]
    for block in row_blocks(n_rows, PAIR_BLOCK):
        for shift in shifts:
            places = np.arange(block.start + shift, block.stop + shift) % n_rows
            with np.errstate(over="ignore"):
                distances = np.sqrt(squared_lengths(shuffled[places] - shuffled[block]))
            yield distances, weights[block] * weights[places]


def pair_products(a: Array, b: Array, draw: np.random.Generator) -> Array:
    """Return inner products of the samples of two classes: of all pairs, or of 64 per sample."""
    n_rows = max(len(a), len(b))
    if n_rows <= PRODUCT_ROWS:
        return (a @ b.T).reshape(-1)
    places = np.arange(n_rows - n_rows % PARTNERS)
    groups = [
        features[draw.permutation(len(features))[places % len(features)]].reshape(
            -1, PARTNERS, features.shape[1]
        )
        for features in (a, b)
    ]
    return (groups[0] @ groups[1].transpose(0, 2, 1)).reshape(-1)
