"""The splits of a comparison: one list of training and test rows, the same for all methods."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, SpecError, counted, quoted
from mklkit.estimators.folds import check_apart
from mklkit.evaluation.splits import USUAL_CV, read_cv, split_by
from mklkit.evaluation.tasks import Classes, Task
from mklkit.protocols.component import check_whole, is_whole
from mklkit.protocols.folds import Rows

MOST_SPLITS = 10_000
"""Far more than a test of differences needs; their row numbers are all in memory."""
DEFAULT_TRAIN = 0.5
"""The share of training rows in Monte-Carlo splits."""


@attrs.frozen(eq=False)
class RowSplit:
    """Row numbers to train on and to test on."""

    repeat: int
    fold: int
    train: Rows
    test: Rows


@attrs.frozen(eq=False)
class SplitPlan:
    """The splits of one data set, a description, and notes on differences from the request."""

    description: str
    splits: list[RowSplit]
    notes: list[str] = attrs.field(factory=list)

    @property
    def training(self) -> list[int]:
        """The fewest and the most training rows of a split."""
        sizes = [len(split.train) for split in self.splits]
        return [min(sizes), max(sizes)]

    def repeats_in(self, n_splits: int) -> int:
        """Return how many repetitions are whole in the first splits."""
        begun = [split.repeat for split in self.splits[: n_splits + 1]]
        whole = n_splits == len(self.splits)
        return len({*begun}) - (not whole)

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
            " allowed, and a few dozen are usual."
        )


def check_splits(cv: Any, mccv: Any, train: Any, split_column: Any, groups: Any = None) -> None:
    """Raise a SpecError if splits are chosen in two ways at once; None means not given."""
    ways = {"cv": cv, "mccv": mccv, "split column": split_column}
    chosen = [name for name, value in ways.items() if value is not None]
    if len(chosen) > 1:
        raise SpecError(
            f"Splits can be chosen in only one way, but {' and '.join(chosen)} are given. Leave out"
            " all but one of them."
        )
    if train is not None and mccv is None:
        raise SpecError(
            "train is the share of training rows in Monte-Carlo splits, but their number mccv is"
            " missing. Give both, or leave out train."
        )
    if read_cv(cv).needs_groups and groups is None:
        raise SpecError("cv='groups' leaves out each group once: give groups too (--groups).")


def make_splits(
    labels: NDArray[Any],
    cv: Any = None,
    mccv: int | None = None,
    train: float | None = None,
    seed: int = 0,
    groups: NDArray[Any] | None = None,
    task: Task | None = None,
) -> SplitPlan:
    """Divide rows into training and test rows, several times, as :func:`mklkit.compare` does."""
    task = task or Classes()
    if mccv is not None:
        share = DEFAULT_TRAIN if train is None else train
        return _monte_carlo(labels, mccv, share, seed, groups, task)
    scheme = read_cv(USUAL_CV if cv is None else cv)
    if is_whole(scheme.cv):
        _check_number(scheme.cv * scheme.repeats)
    rows, notes = task.folds(scheme.cv, labels, seed, scheme.repeats, groups)
    _check_number(len(rows))
    n_folds = len(rows) // scheme.repeats
    splits = [RowSplit(*divmod(place, n_folds), *parts) for place, parts in enumerate(rows)]
    return SplitPlan(scheme.described(n_folds, task.folds_are, groups), splits, notes)


def _monte_carlo(
    labels: NDArray[Any],
    number: int,
    train: float,
    seed: int,
    groups: NDArray[Any] | None,
    task: Task,
) -> SplitPlan:
    check_whole("mccv", number, 1)
    _check_number(int(number))
    if not 0 < train < 1:
        raise SpecError(f"train must be a share of the rows between 0 and 1; got {quoted(train)}.")
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=number)
    parts = [task.hold_out(labels, 1 - train, drawn, groups) for drawn in seeds.tolist()]
    kind = parts[0].kind
    if len(parts[0].held_out) == 0:
        raise DataError(f"No row is left for testing with train={train}: {kind}.")
    splits = [RowSplit(place, 0, part.train, part.held_out) for place, part in enumerate(parts)]
    description = f"{counted(number, 'random split')}, {100 * train:g} % for training, {kind}"
    return SplitPlan(description, splits)


def published_split(
    labels: NDArray[Any], parts: NDArray[Any], column: str, groups: NDArray[Any] | None = None
) -> SplitPlan:
    """Return the one split that a column of the data gives by the values 'train' and 'test'."""
    split = split_by(labels, parts, column)
    check_apart([(split.train, split.held_out)], groups)
    return SplitPlan(split.kind, [RowSplit(0, 0, split.train, split.held_out)])
