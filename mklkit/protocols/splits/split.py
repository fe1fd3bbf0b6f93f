"""A split of samples, and the splits of a fit, a search or a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import overload

import attrs
import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
"""Positions of samples."""


@attrs.frozen(eq=False)
class Split:
    """The samples to train on and to test on, and their place among the splits.

    ``train, test = split`` unpacks the samples, so scikit-learn takes a list of splits as ``cv``.

    Parameters
    ----------
    train, test : ndarray of int
        Positions of samples.
    repeat, fold : int
        The repetition, and the fold in it.

    See Also
    --------
    Splits : Several of them.

    Examples
    --------
    >>> train, test = Split(np.array([0, 2]), np.array([1]))
    >>> test.tolist()
    [1]
    """

    train: Indices
    test: Indices
    repeat: int = 0
    fold: int = 0

    def __iter__(self) -> Iterator[Indices]:
        """Yield the training samples, then the test samples."""
        yield self.train
        yield self.test


@attrs.frozen(eq=False)
class Splits(Sequence[Split]):
    """Splits of the same samples, where they come from, and how they differ from the request.

    Parameters
    ----------
    splits : tuple of Split
        In the order of repetitions and folds.
    description : str
        Where they come from, in words.
    notes : tuple of str
        How they differ from the request, a sentence each.

    See Also
    --------
    mklkit.evaluation.make_splits : Makes them.

    Examples
    --------
    >>> splits = Splits((Split(np.array([0, 2]), np.array([1])),), "one row held out")
    >>> len(splits), splits[0].test.tolist()
    (1, [1])
    """

    splits: tuple[Split, ...]
    description: str = ""
    notes: tuple[str, ...] = ()

    @overload
    def __getitem__(self, place: int) -> Split: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Split, ...]: ...
    def __getitem__(self, place: int | slice) -> Split | tuple[Split, ...]:
        """Return a split, or some of them."""
        return self.splits[place]

    def __len__(self) -> int:
        """Return the number of splits."""
        return len(self.splits)

    @property
    def repeats(self) -> int:
        """The number of repetitions."""
        return len({split.repeat for split in self.splits})

    @property
    def n_folds(self) -> int:
        """The number of splits of a repetition."""
        return len(self.splits) // max(self.repeats, 1)

    @property
    def tests(self) -> list[Indices]:
        """The test samples of each split."""
        return [split.test for split in self.splits]

    @property
    def training(self) -> list[int]:
        """The fewest and the most training samples of a split."""
        sizes = [len(split.train) for split in self.splits]
        return [min(sizes), max(sizes)]

    def repeats_in(self, n_splits: int) -> int:
        """Return how many repetitions are whole in the first splits.

        Parameters
        ----------
        n_splits : int
            The number of splits from the first one.

        Returns
        -------
        int
            From 0 to :attr:`repeats`.
        """
        begun = [split.repeat for split in self.splits[: n_splits + 1]]
        whole = n_splits == len(self.splits)
        return len({*begun}) - (not whole)

    def digest(self) -> str:
        """Return a digest of all positions.

        Returns
        -------
        str
            16 hexadecimal digits.
        """
        digest = sha256()
        for split in self.splits:
            for rows in split:
                digest.update(np.asarray(rows, dtype=np.int64).tobytes() + b"|")
        return digest.hexdigest()[:16]


def splits_by_fold(fold_of: Indices, n_folds: int, repeat: int = 0) -> list[Split]:
    """Return a split for each fold, from the fold of each sample (N,); -1 is always in training.

    Examples
    --------
    >>> [split.train.tolist() for split in splits_by_fold(np.array([0, 1, -1, 0]), 2)]
    [[1, 2], [0, 2, 3]]
    """
    return [
        Split(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold), repeat, fold)
        for fold in range(n_folds)
    ]
