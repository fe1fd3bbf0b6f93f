"""The splits of a comparison: one list of training and test rows, the same for all methods."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, SpecError, counted, quoted
from mklkit.estimators.folds import Rows
from mklkit.evaluation.tasks import Classes
from mklkit.protocols.component import check_whole, is_whole

TASK = Classes()
"""What is compared so far."""
MOST_SPLITS = 10_000
"""Far more than a test of differences needs; the row numbers of all are in memory."""
DEFAULT_CV = "5x2"
"""Five stratified folds, twice: ten splits, the least from which a deviation can be judged."""
DEFAULT_TRAIN = 0.5
"""The share of training rows of Monte-Carlo splits."""


@attrs.frozen(eq=False)
class RowSplit:
    """Row numbers to train on and to test on."""

    repeat: int
    fold: int
    train: Rows
    test: Rows


@attrs.frozen(eq=False)
class SplitPlan:
    """The splits of one data set, with a description and notes on what differs from the request."""

    description: str
    splits: list[RowSplit]
    notes: list[str] = attrs.field(factory=list)

    def digest(self) -> str:
        """Return a digest of all row numbers."""
        digest = sha256()
        for split in self.splits:
            for rows in (split.train, split.test):
                digest.update(np.asarray(rows, dtype=np.int64).tobytes() + b"|")
        return digest.hexdigest()[:16]


def _check_number(splits: int) -> None:
    if splits > MOST_SPLITS:
        raise SpecError(
            f"{splits:,} splits are too many: at most {MOST_SPLITS:,} (folds x repeats) are"
            " allowed, and some tens are usual."
        )


def read_cv(cv: Any) -> tuple[int, int] | None:
    """Return the folds and repeats of ``5`` or ``"5x4"``; None for anything but a number or text.

    Examples
    --------
    >>> read_cv("5x4"), read_cv(10)
    ((5, 4), (10, 1))
    """
    if is_whole(cv):
        return int(cv), 1
    if not isinstance(cv, str):
        return None
    numbers = re.fullmatch(r"\s*(\d{1,6})\s*(?:[xX×]\s*(\d{1,6})\s*)?", cv)
    if numbers is None:
        raise SpecError(
            f"cv must be a number of folds, or folds x repeats such as '5x4' (five folds, four"
            f" times); got {quoted(cv)}."
        )
    return int(numbers[1]), int(numbers[2] or 1)


def check_splits(cv: Any, mccv: Any, train: Any, split_column: Any) -> None:
    """Refuse, by a SpecError, to choose splits in two ways at once; None is what was not given."""
    ways = {"cv": cv, "mccv": mccv, "split column": split_column}
    chosen = [name for name, value in ways.items() if value is not None]
    if len(chosen) > 1:
        raise SpecError(
            f"Splits are chosen in one way, but {' and '.join(chosen)} are given. Leave out all but"
            " one of them."
        )
    if train is not None and mccv is None:
        raise SpecError(
            "train is the share of training rows of Monte-Carlo splits, whose number mccv is"
            " missing. Give both, or leave out train."
        )
    read_cv(cv)


def make_splits(
    labels: NDArray[Any],
    cv: Any = None,
    mccv: int | None = None,
    train: float | None = None,
    seed: int = 0,
) -> SplitPlan:
    """Divide rows into training and test rows, several times, as :func:`mklkit.compare` does."""
    if mccv is not None:
        return _monte_carlo(labels, mccv, DEFAULT_TRAIN if train is None else train, seed)
    cv = DEFAULT_CV if cv is None else cv
    numbers = read_cv(cv)
    n_folds, repeats = numbers or (cv, 1)
    if numbers:
        _check_number(n_folds * repeats)
    folds, notes = TASK.folds(n_folds, labels, seed, repeats)
    n_folds = len(folds) // repeats
    splits = [RowSplit(*divmod(place, n_folds), *rows) for place, rows in enumerate(folds)]
    if numbers is None:
        _check_number(len(splits))
        return SplitPlan(f"{counted(n_folds, 'split')}, as given", splits, notes)
    times = f", {repeats} times" if repeats > 1 else ""
    return SplitPlan(f"{n_folds} {TASK.folds_are} folds{times}", splits, notes)


def _monte_carlo(labels: NDArray[Any], number: int, train: float, seed: int) -> SplitPlan:
    check_whole("mccv", number, 1)
    _check_number(int(number))
    if not 0 < train < 1:
        raise SpecError(f"train must be a share of the rows between 0 and 1; got {quoted(train)}.")
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=number)
    parts = [TASK.hold_out(labels, 1 - train, drawn) for drawn in seeds.tolist()]
    kind = parts[0].kind
    if len(parts[0].held_out) == 0:
        raise DataError(f"No row can be tested with train={train}: {kind}.")
    splits = [RowSplit(place, 0, part.train, part.held_out) for place, part in enumerate(parts)]
    description = f"{counted(number, 'random split')}, {100 * train:g} % for training, {kind}"
    return SplitPlan(description, splits)


def published_split(labels: NDArray[Any], parts: NDArray[Any], column: str) -> SplitPlan:
    """Return the one split that a column of the data gives by the values 'train' and 'test'."""
    words = np.array([str(part).strip().casefold() for part in parts])
    values = sorted(set(words), key=lambda word: word in ("train", "test"))
    if set(values) != {"train", "test"}:
        raise DataError(
            f"The column {quoted(column)} must say 'train' or 'test' in every row, and both"
            f" somewhere; got {quoted(values[0])}."
        )
    train, test = (np.flatnonzero(words == word) for word in ("train", "test"))
    untrained = np.setdiff1d(labels[test], labels[train])
    if len(untrained):
        raise DataError(f"No row of class {quoted(untrained.tolist()[0])} is for training.")
    return SplitPlan(f"the split in column {column!r}", [RowSplit(0, 0, train, test)])
