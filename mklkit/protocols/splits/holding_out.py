"""Samples, or groups of samples, drawn to be held out; every class stays in training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from mklkit.errors import counted
from mklkit.numerics.sampling import own_stream
from mklkit.protocols.splits.dealing import SplitRows
from mklkit.protocols.splits.split import Indices

MANY_ROWS = 200_000
"""With this many samples, a random part has nearly the same shares of classes as the whole."""


def held_out(rows: SplitRows, share: float, seed: int) -> tuple[Indices, str]:
    """Return the positions to hold out, in their order, and how they were drawn.

    Stratified if every class can spare a sample; otherwise at random among the samples that their
    class can spare, so that no class is missing in training. Of groups, whole ones are held out.
    Without classes, two samples stay in training.
    """
    count = int(np.ceil(share * len(rows)))
    if count == 0:
        return np.arange(0), "none"
    if rows.groups is not None:
        return _groups(rows, count, seed)
    if rows.codes is not None:
        return _of_classes(rows.codes, count, seed)
    count = max(0, min(count, len(rows) - 2))
    drawn = np.random.default_rng(seed).permutation(len(rows))[:count]
    return np.sort(drawn), "at random" if count else "none"


def _of_classes(codes: NDArray[np.intp], count: int, seed: int) -> tuple[Indices, str]:
    every, sizes = np.arange(len(codes)), np.bincount(codes)
    n_classes = len(sizes)
    if sizes.min() >= 2 and n_classes <= count <= len(codes) - n_classes:
        train, test = train_test_split(every, test_size=count, random_state=seed, stratify=codes)
        if len(np.unique(codes[train])) == n_classes:
            return np.sort(test), "stratified"
    # One sample of each class stays in training; the others can be held out.
    shuffled = np.random.default_rng(seed).permutation(every)
    _, first = np.unique(codes[shuffled], return_index=True)
    spare = np.delete(shuffled, first)[:count]
    if len(spare) == 0:
        return spare, "none, every class has a single sample"
    return np.sort(spare), "at random, too few samples to stratify"


def _groups(rows: SplitRows, count: int, seed: int) -> tuple[Indices, str]:
    """Draw groups at random; a group of each class stays in training."""
    members = rows.units
    codes = np.zeros(len(rows), np.intp) if rows.codes is None else rows.codes
    n_groups = int(members.max()) + 1
    sizes = np.zeros((n_groups, int(codes.max()) + 1), np.intp)
    np.add.at(sizes, (members, codes), 1)
    left = sizes.sum(axis=0)
    drawn = []
    order = np.random.default_rng(seed).permutation(n_groups)
    for group in order:
        rest = left - sizes[group]
        if rest.all() and len(codes) - rest.sum() <= count:
            left = rest
            drawn.append(group)
    if not drawn:  # All are larger than the share.
        drawn = [group for group in order if (left - sizes[group]).all()][:1]
    kind = f"{counted(len(drawn), 'group')} of {n_groups} at random" if drawn else "none"
    return np.flatnonzero(np.isin(members, drawn)), kind


def held_out_mask(
    codes: NDArray[np.integer], share: float, seed: int
) -> tuple[NDArray[np.bool_], str]:
    """Return which of millions of samples are held out, chosen with little memory, and how.

    Samples with the class number -1 do not count. With few samples, :func:`held_out` chooses.
    """
    known = codes >= 0
    mask = np.zeros(len(codes), dtype=bool)
    if known.sum() <= MANY_ROWS:
        places = np.flatnonzero(known)
        of_known = np.unique(codes[places], return_inverse=True)[1]
        test, kind = held_out(SplitRows(codes[places], of_known), share, seed)
        mask[places[test]] = True
        return mask, kind
    if share == 0:
        return mask, "none"
    mask = known & (own_stream(seed).random(len(codes), dtype=np.float32) < share)
    trained = np.bincount(codes[known & ~mask], minlength=int(codes.max()) + 1)
    for code in np.flatnonzero(trained == 0):
        mask[np.flatnonzero(codes == code)[0]] = False
    return mask, "at random"
