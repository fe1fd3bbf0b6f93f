"""The rows that are held out; every class stays in training, however few rows it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

__all__ = ["Split", "held_out_mask", "hold_out"]

MANY_ROWS = 200_000
"""With so many rows the shares of the classes in a random part are those of the whole."""


@attrs.frozen(eq=False)
class Split:
    """Row numbers to train on and to hold out, with a description of the choice."""

    train: Rows
    held_out: Rows
    kind: str


def hold_out(labels: NDArray[np.generic], share: float, seed: int) -> Split:
    """Choose the rows to hold out.

    Stratified if every class can spare a row; otherwise at random among the rows that their class
    can spare, so that no class is missing in training.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    share : float
        The fraction of rows to hold out, from 0 up to but not including 1.
    seed : int
        The seed of the choice.

    Returns
    -------
    Split
        With no row held out where ``share`` is 0 or no class has a row to spare.
    """
    import numpy as np
    from sklearn.model_selection import train_test_split

    every = np.arange(len(labels))
    n_held_out = int(np.ceil(share * len(labels)))
    if n_held_out == 0:
        return Split(every, every[:0], "none")
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    n_classes = len(counts)
    if counts.min() >= 2 and n_classes <= n_held_out <= len(labels) - n_classes:
        train, held = train_test_split(
            every, test_size=n_held_out, random_state=seed, stratify=codes
        )
        if len(np.unique(codes[train])) == n_classes:
            return Split(np.sort(train), np.sort(held), "stratified")
    # One row of each class stays in training; the others can be held out.
    shuffled = np.random.default_rng(seed).permutation(every)
    _, first = np.unique(codes[shuffled], return_index=True)
    spare = np.delete(shuffled, first)[:n_held_out]
    if len(spare) == 0:
        return Split(every, spare, "none, every class has a single row")
    return Split(np.setdiff1d(every, spare), np.sort(spare), "at random, too few rows to stratify")


def held_out_mask(
    codes: NDArray[np.integer], share: float, seed: int
) -> tuple[NDArray[np.bool_], str]:
    """Choose rows to hold out of millions, in little memory.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The classes of the rows, as numbers from 0; rows with -1 take no part.
    share, seed
        As for :func:`hold_out`, which chooses if there are few rows.

    Returns
    -------
    mask : ndarray of shape (n_rows,)
        Whether a row is held out.
    kind : str
        A description of the choice.
    """
    import numpy as np

    from mklkit.numerics.sampling import own_stream

    known = codes >= 0
    held = np.zeros(len(codes), dtype=bool)
    if known.sum() <= MANY_ROWS:
        places = np.flatnonzero(known)
        split = hold_out(codes[places], share, seed)
        held[places[split.held_out]] = True
        return held, split.kind
    if share == 0:
        return held, "none"
    held = known & (own_stream(seed).random(len(codes), dtype=np.float32) < share)
    trained = np.bincount(codes[known & ~held], minlength=int(codes.max()) + 1)
    for code in np.flatnonzero(trained == 0):
        held[np.flatnonzero(codes == code)[0]] = False
    return held, "at random"
