"""Splits of rows into those to train on and those to score: one part held out, or folds."""

from __future__ import annotations

import re
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut, TimeSeriesSplit, train_test_split

from mklkit.errors import DataError, SpecError, counted, quoted
from mklkit.numerics.sampling import own_stream
from mklkit.protocols.component import is_whole
from mklkit.protocols.folds import Rows

USUAL_CV = "5x10"
"""Five folds, ten times, at any number of samples: repetition narrows the intervals."""
MANY_ROWS = 200_000
"""With this many rows, a random part has nearly the same shares of classes as the whole."""


@attrs.frozen(eq=False)
class Split:
    """Row numbers to train on and to hold out, with a description of the choice."""

    train: Rows
    held_out: Rows
    kind: str


@attrs.frozen
class FoldScheme:
    """The meaning of ``cv``: a number of folds or a splitter, repeats, and a description."""

    cv: Any
    repeats: int = 1
    kind: str = ""

    @property
    def needs_groups(self) -> bool:
        """Whether each group is left out once."""
        return isinstance(self.cv, LeaveOneGroupOut)

    def described(self, n_folds: int, folds_are: str, groups: Any = None) -> str:
        """Return a description of the folds, ``n_folds`` per repeat."""
        if self.kind or not is_whole(self.cv):
            return f"{counted(n_folds, 'split')}, {self.kind or 'as given'}"
        together = "" if groups is None else f" of {len(np.unique(groups))} groups"
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"{n_folds} {folds_are} folds{together}{times}"


def read_cv(cv: Any) -> FoldScheme:
    """Return the meaning of ``cv``, the same for all commands and functions.

    A number of folds, folds and repeats as ``"5x4"``, each group once as ``"groups"``, splits in
    the order of the rows as ``"time:5"``, or a splitter or list, which is returned unchanged.

    Examples
    --------
    >>> scheme = read_cv("5x4")
    >>> scheme.cv, scheme.repeats, read_cv(10).cv, read_cv("time:3").cv.n_splits
    (5, 4, 10, 3)
    """
    if not isinstance(cv, str):
        return FoldScheme(int(cv) if is_whole(cv) else cv)
    text = cv.strip().casefold()
    if text == "groups":
        return FoldScheme(LeaveOneGroupOut(), kind="each group left out once")
    if in_time := re.fullmatch(r"time:([2-9]|[1-9]\d{1,5})", text):
        splitter = TimeSeriesSplit(int(in_time[1]))
        return FoldScheme(splitter, kind="in the order of the rows: earlier ones train")
    numbers = re.fullmatch(r"(\d{1,6})\s*(?:[x×]\s*(\d{1,6}))?", text)
    if numbers is None:
        raise SpecError(
            "cv must be a number of folds, folds x repeats such as '5x4' (five folds, four times),"
            " 'groups' (each group left out once) or 'time:5' (five splits in the order of the"
            f" rows); got {quoted(cv)}."
        )
    return FoldScheme(int(numbers[1]), int(numbers[2] or 1))


def split_by(targets: NDArray[Any], parts: NDArray[Any], column: str) -> Split:
    """Return the split that a column gives by the values 'train' and 'test'."""
    words = np.array([str(part).strip().casefold() for part in parts])
    values = sorted(set(words), key=lambda word: word in ("train", "test"))
    if set(values) != {"train", "test"}:
        raise DataError(
            f"The column {quoted(column)} must hold 'train' or 'test' in every row, and both"
            f" somewhere; got {quoted(values[0])}."
        )
    train, test = (np.flatnonzero(words == word) for word in ("train", "test"))
    untrained = np.setdiff1d(targets[test], targets[train])
    if targets.dtype.kind != "f" and len(untrained):
        raise DataError(f"Class {quoted(untrained.tolist()[0])} has no training row.")
    return Split(train, test, f"the split in column {column!r}")


def hold_out(
    labels: NDArray[np.generic], share: float, seed: int, groups: NDArray[Any] | None = None
) -> Split:
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
    groups : ndarray of shape (n_rows,), optional
        The group of each row, such as its patient. Whole groups are held out, at random.

    Returns
    -------
    Split
        No row is held out if ``share`` is 0 or no class has a row to spare.
    """
    every = np.arange(len(labels))
    n_held_out = int(np.ceil(share * len(labels)))
    if n_held_out == 0:
        return Split(every, every[:0], "none")
    _, codes = np.unique(labels, return_inverse=True)
    if groups is not None:
        return _hold_out_groups(codes, groups, n_held_out, seed)
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


def _hold_out_groups(
    codes: NDArray[np.intp], groups: NDArray[Any], n_held_out: int, seed: int
) -> Split:
    """Choose groups to hold out at random; a group of each class stays in training."""
    names, members = np.unique(groups, return_inverse=True)
    counts = np.zeros((len(names), int(codes.max()) + 1), np.intp)
    np.add.at(counts, (members, codes), 1)
    left, held, order = counts.sum(axis=0), [], np.random.default_rng(seed).permutation(len(names))
    for group in order:
        rest = left - counts[group]
        if rest.all() and len(codes) - rest.sum() <= n_held_out:
            left = rest
            held.append(group)
    if not held:  # All are larger than the share.
        held = [group for group in order if (left - counts[group]).all()][:1]
    chosen = np.isin(members, held)
    kind = f"{counted(len(held), 'group')} of {len(names)} at random" if held else "none"
    return Split(np.flatnonzero(~chosen), np.flatnonzero(chosen), kind)


def hold_out_any(
    targets: NDArray[Any], share: float, seed: int, groups: NDArray[Any] | None = None
) -> Split:
    """Choose rows to hold out at random, or groups; two stay in training."""
    n_rows = len(targets)
    if groups is not None and share > 0:
        alike = np.zeros(n_rows, np.intp)
        return _hold_out_groups(alike, groups, int(np.ceil(share * n_rows)), seed)
    order = np.random.default_rng(seed).permutation(n_rows)
    count = max(0, min(int(np.ceil(share * n_rows)), n_rows - 2))
    kind = "at random" if count else "none"
    return Split(np.sort(order[count:]), np.sort(order[:count]), kind)


def held_out_mask(
    codes: NDArray[np.integer], share: float, seed: int
) -> tuple[NDArray[np.bool_], str]:
    """Return which of millions of rows are held out, chosen with little memory, and how.

    Rows with the class number -1 do not count. With few rows, :func:`hold_out` chooses.
    """
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
