"""Making splits from every kind of request, and what the user's words for them mean."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut, TimeSeriesSplit, check_cv
from sklearn.utils import check_random_state

from mklkit.errors import DataError, SpecError, counted, plain_message, quoted
from mklkit.protocols.component import check_whole, is_whole
from mklkit.protocols.splits.dealing import Deal, SplitRows, single_note
from mklkit.protocols.splits.holding_out import held_out
from mklkit.protocols.splits.split import Indices, Split, Splits, splits_by_fold

USUAL_FOLDS = 5
"""As in scikit-learn."""
USUAL_CV = "5x10"
"""Five folds, ten times, at any number of samples: repetition narrows the intervals."""
USUAL_TRAINING = 0.5
"""The share of training samples in Monte-Carlo splits."""
TARGETS = "targets"
"""The value of ``strata`` that stratifies folds by the targets themselves."""
OF_COLUMN = "the split in column"
"""The first words of the description of a column's split."""
MOST_SPLITS = 10_000
"""Far more than a test of differences needs; their row numbers are all in memory."""


class SplitRequest(Protocol):
    """A way to split samples."""

    def _of(self, rows: SplitRows, seed: Any) -> Splits:
        """Return the splits of samples."""


@attrs.frozen
class Folds:
    """Shuffled folds, stratified for classes; fewer, with a note, if samples are few.

    Parameters
    ----------
    number : int
        The number of folds.
    repeats : int, default=1
        How often all samples are dealt to folds.
    least : int, default=1
        The fewest samples of a fold of samples without classes.
    all_scored : bool, default=False
        Whether it is an error if a class has a single sample, which could only be trained on.

    See Also
    --------
    HoldOut : One test part.
    MonteCarlo : Several random test parts.

    Examples
    --------
    >>> splits = make_splits(np.array(list("aabb")), Folds(2, repeats=3))
    >>> [(split.repeat, split.fold) for split in splits]
    [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    """

    number: int
    repeats: int = 1
    least: int = 1
    all_scored: bool = False

    def _of(self, rows: SplitRows, seed: Any) -> Splits:
        """Return the folds of each repetition."""
        check_whole("cv (the number of folds)", self.number, 2)
        check_whole("repeats", self.repeats, 1)
        _check_number(self.number * self.repeats)
        deal = Deal.of(rows, self.number, self.least)
        if self.all_scored and not deal.dealt.all():
            raise DataError(f"Not every sample can be scored: {deal.notes[0]}.")
        generator = check_random_state(seed)
        folds = [
            split
            for repeat in range(self.repeats)
            for split in splits_by_fold(deal.folds(generator), deal.n_folds, repeat)
        ]
        kind = "shuffled" if rows.codes is None else "stratified"
        together = "" if rows.groups is None else f" of {len(np.unique(rows.groups))} groups"
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return Splits(tuple(folds), f"{deal.n_folds} {kind} folds{together}{times}", deal.notes)


@attrs.frozen
class GivenSplits:
    """The splits of a scikit-learn splitter, or a list of (training samples, test samples).

    Parameters
    ----------
    cv : splitter or list of (ndarray of int, ndarray of int)
        What makes the splits, or the positions of the samples of each.
    kind : str, default="as given"
        Where they come from, in words.
    features : array-like of shape (n_rows, d), optional
        What a splitter gets as X.
    kept : ndarray of bool of shape (n,), optional
        Which of the samples that a list counts are there; by default all of them.

    See Also
    --------
    Folds : Splits made from the number of folds.

    Examples
    --------
    >>> splits = make_splits(np.array(list("abab")), GivenSplits([([0, 1], [2, 3])]))
    >>> splits[0].test.tolist(), splits.description
    ([2, 3], '1 split, as given')
    """

    cv: Any
    kind: str = "as given"
    features: Any = None
    kept: NDArray[np.bool_] | None = None

    @property
    def needs_groups(self) -> bool:
        """Whether each group is held out once."""
        return isinstance(self.cv, LeaveOneGroupOut)

    def _of(self, rows: SplitRows, seed: Any) -> Splits:
        """Return the splits; a class of several samples without one to train on is an error."""
        kept = self.kept if isinstance(self.cv, Sequence) else None
        counted_rows = np.arange(len(rows) if kept is None else len(kept))
        targets = rows.targets if rows.codes is None else rows.codes
        features = targets.reshape(len(rows), -1) if self.features is None else self.features
        is_classes = rows.codes is not None
        pairs = given_pairs(self.cv, features, targets, counted_rows, is_classes, rows.groups)
        if kept is not None:
            places = np.cumsum(kept) - 1
            pairs = [
                (places[train[kept[train]]], places[test[kept[test]]]) for train, test in pairs
            ]
        check_apart(pairs, rows.groups)
        notes: tuple[str, ...] = ()
        if is_classes:
            pairs, notes = _training_on_every_class(pairs, rows)
        splits = tuple(Split(*pair, fold=fold) for fold, pair in enumerate(pairs))
        return Splits(splits, f"{counted(len(splits), 'split')}, {self.kind}", notes)


@attrs.frozen
class HoldOut:
    """A share of the samples, or of their groups, held out at random.

    Parameters
    ----------
    share : float
        The share that is held out, above 0 and below 1.

    See Also
    --------
    Folds : Cross-validation.

    Examples
    --------
    >>> (split,) = make_splits(np.arange(8) % 2, HoldOut(0.25))
    >>> len(split.train), len(split.test)
    (6, 2)
    """

    share: float

    def _of(self, rows: SplitRows, seed: Any) -> Splits:
        """Return one split; no sample is held out if no class has a sample to spare."""
        test, kind = held_out(rows, self.share, seed)
        return Splits((Split(np.setdiff1d(np.arange(len(rows)), test), test),), kind)


@attrs.frozen
class MonteCarlo:
    """Several random splits, with a share of the samples for training.

    Parameters
    ----------
    number : int
        The number of splits.
    train : float
        The share of the samples for training.

    See Also
    --------
    Folds : Test parts that do not overlap.

    Examples
    --------
    >>> splits = make_splits(np.arange(8) % 2, MonteCarlo(3, train=0.5))
    >>> [len(split.test) for split in splits]
    [4, 4, 4]
    """

    number: int
    train: float = USUAL_TRAINING

    def _of(self, rows: SplitRows, seed: Any) -> Splits:
        """Return the splits, each of its own seed."""
        check_whole("mccv", self.number, 1)
        _check_number(int(self.number))
        if not 0 < self.train < 1:
            raise SpecError(
                f"train must be a share of the samples between 0 and 1; got {quoted(self.train)}."
            )
        seeds = np.random.RandomState(seed).randint(2**31 - 1, size=self.number).tolist()
        drawn = [HoldOut(1 - self.train)._of(rows, each) for each in seeds]
        kind = drawn[0].description
        if len(drawn[0][0].test) == 0:
            raise DataError(f"No sample is left for testing with train={self.train}: {kind}.")
        splits = tuple(attrs.evolve(part[0], repeat=place) for place, part in enumerate(drawn))
        times = counted(self.number, "random split")
        return Splits(splits, f"{times}, {100 * self.train:g} % for training, {kind}")


@attrs.frozen(eq=False)
class PartsColumn:
    """The split that a column of the data gives by the values 'train' and 'test'.

    Parameters
    ----------
    parts : ndarray of shape (n_rows,)
        The part of each sample.
    name : str
        The name of the column.

    See Also
    --------
    GivenSplits : User-supplied splits in Python.

    Examples
    --------
    >>> parts = np.array(["train", "train", "test"])
    >>> (split,) = make_splits(np.array(list("aba")), PartsColumn(parts, "split"))
    >>> split.train.tolist(), split.test.tolist()
    ([0, 1], [2])
    """

    parts: NDArray[Any]
    name: str

    def _of(self, rows: SplitRows, seed: Any) -> Splits:
        """Return one split; a class without training samples is an error."""
        words = np.array([str(part).strip().casefold() for part in self.parts])
        values = sorted(set(words.tolist()), key=lambda word: word in ("train", "test"))
        if set(values) != {"train", "test"}:
            raise DataError(
                f"The column {quoted(self.name)} must hold 'train' or 'test' in every row, and both"
                f" somewhere; got {quoted(values[0])}."
            )
        train, test = (np.flatnonzero(words == word) for word in ("train", "test"))
        if rows.codes is not None:
            untrained = np.setdiff1d(rows.targets[test], rows.targets[train])
            if len(untrained):
                raise DataError(f"Class {quoted(untrained.tolist()[0])} has no training sample.")
        return Splits((Split(train, test),), f"{OF_COLUMN} {self.name!r}")


def make_splits(
    targets: NDArray[Any],
    cv: Any = USUAL_FOLDS,
    *,
    seed: Any = 0,
    groups: NDArray[Any] | None = None,
    strata: Any = TARGETS,
) -> Splits:
    """Divide samples into training and test samples, once or several times.

    Parameters
    ----------
    targets : ndarray of shape (n_rows,) or (n_rows, n_targets)
        The classes or numbers to be learned.
    cv : request, or as for :func:`read_cv`
        :class:`Folds`, :class:`GivenSplits`, :class:`HoldOut`, :class:`MonteCarlo` or
        :class:`PartsColumn`, or their names as users write them.
    seed : int, RandomState or None, default=0
        The seed of the random order.
    groups : ndarray of shape (n_rows,), optional
        The group of each sample, such as its patient. Samples of a group are on the same side of
        each split.
    strata : ndarray of shape (n_rows,) or None, optional
        Classes by which folds are stratified, each of which is trained on in every fold; by default
        the targets. None for targets that are no classes.

    Returns
    -------
    Splits
        The positions of the samples of each split, and how they differ from the request.

    Raises
    ------
    SpecError
        If there are fewer than two folds, no repeats, too many splits, or no splits.
    DataError
        If nothing can be tested, or a given split divides a group or lacks a class.

    Examples
    --------
    >>> make_splits(np.array(list("aaabbc")), 5).notes  # doctest: +NORMALIZE_WHITESPACE
    ('1 class has a single sample, always trained on and never scored',
     '2 folds instead of 5: the smallest class has 2 samples')
    >>> patients = np.array([1, 1, 2, 2, 3, 3])
    >>> splits = make_splits(np.array(list("abaabb")), 2, groups=patients)
    >>> [set(patients[split.train]) & set(patients[split.test]) for split in splits]
    [set(), set()]
    """
    targets = np.asarray(targets)
    classes = targets if isinstance(strata, str) else strata
    codes = None if classes is None else np.asarray(np.unique(classes, return_inverse=True)[1])
    rows = SplitRows(targets if classes is None else np.asarray(classes), codes, groups)
    splits = read_cv(cv)._of(rows, seed)
    _check_number(len(splits))
    check_apart(splits, groups)
    return splits


def read_cv(cv: Any) -> Any:
    """Return the request that ``cv`` means, the same for all commands and functions.

    Parameters
    ----------
    cv : int, str, splitter, list or request
        A number of folds, folds and repeats as ``"5x4"``, each group once as ``"groups"``, splits
        in the order of the samples as ``"time:5"``, a splitter of scikit-learn, a list of (training
        samples, test samples), or a request, which is returned unchanged.

    Returns
    -------
    Folds, GivenSplits, HoldOut, MonteCarlo or PartsColumn
        What :func:`make_splits` takes.

    Raises
    ------
    SpecError
        If a text can't be read.

    See Also
    --------
    make_splits : Makes the splits.

    Examples
    --------
    >>> request = read_cv("5x4")
    >>> request.number, request.repeats, read_cv(10).number, read_cv("time:3").cv.n_splits
    (5, 4, 10, 3)
    """
    if isinstance(cv, Folds | GivenSplits | HoldOut | MonteCarlo | PartsColumn):
        return cv
    if not isinstance(cv, str):
        return Folds(int(cv)) if is_whole(cv) else GivenSplits(cv)
    text = cv.strip().casefold()
    if text == "groups":
        return GivenSplits(LeaveOneGroupOut(), "each group held out once")
    if in_time := re.fullmatch(r"time:([2-9]|[1-9]\d{1,5})", text):
        splitter = TimeSeriesSplit(int(in_time[1]))
        return GivenSplits(splitter, "in the order of the samples: earlier ones train")
    numbers = re.fullmatch(r"(\d{1,6})\s*(?:[x×]\s*(\d{1,6}))?", text)
    if numbers is None:
        raise SpecError(
            "cv must be a number of folds, folds x repeats such as '5x4' (five folds, four times),"
            " 'groups' (each group held out once) or 'time:5' (five splits in the order of the"
            f" samples); got {quoted(cv)}."
        )
    return Folds(int(numbers[1]), int(numbers[2] or 1))


def requested(
    cv: Any, mccv: int | None, train: float | None, split_column: Any, groups: Any = None
) -> Any:
    """Return the request of the arguments of a comparison; None means not given.

    The request of a column is None, since its values are not read yet. A SpecError says if splits
    are chosen in two ways at once.
    """
    ways = {"cv": cv, "mccv": mccv, "split column": split_column}
    chosen = [name for name, value in ways.items() if value is not None]
    if len(chosen) > 1:
        raise SpecError(
            f"Splits can be chosen in only one way, but {' and '.join(chosen)} are given. Leave out"
            " all but one of them."
        )
    if train is not None and mccv is None:
        raise SpecError(
            "train is the share of training samples in Monte-Carlo splits, but their number mccv is"
            " missing. Give both, or leave out train."
        )
    if split_column is not None:
        return None
    if mccv is not None:
        return MonteCarlo(mccv, USUAL_TRAINING if train is None else train)
    request = read_cv(USUAL_CV if cv is None else cv)
    if isinstance(request, GivenSplits) and request.needs_groups and groups is None:
        raise SpecError("cv='groups' leaves out each group once: give groups too (--groups).")
    return request


def given_pairs(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    rows: Indices,
    classifier: bool,
    groups: NDArray[Any] | None = None,
) -> list[tuple[Indices, Indices]]:
    """Return the training and test samples of a splitter or list, which may refer to ``rows``."""
    reason = "it gives no fold"
    try:
        with warnings.catch_warnings():
            # Whether a splitter that ignores groups divides one is checked by check_apart.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            parts = check_cv(cv, y, classifier=classifier).split(X, y, groups)
            pairs = [(rows[training], rows[scored]) for training, scored in parts]
    except (TypeError, ValueError, IndexError) as error:
        pairs = []
        reason = plain_message(error)
    if not pairs:
        raise SpecError(
            "cv must be a number of folds (at least 2), a splitter, or a list of (training samples,"
            f" test samples); got {cv!r:.80}: {reason.rstrip('.'):.200}."
        )
    return pairs


def check_apart(splits: Iterable[Iterable[Indices]], groups: NDArray[Any] | None) -> None:
    """Raise a DataError if a group is among both training and test samples of a split."""
    if groups is None:
        return
    for fold, (train, test) in enumerate(splits):
        both = np.intersect1d(groups[train], groups[test])
        if len(both):
            raise DataError(
                f"Fold {fold} has members of group {quoted(both.tolist()[0])} both to train on and"
                " to score. Give cv as a number of folds, 'groups', or a splitter that keeps groups"
                " together, such as scikit-learn's GroupKFold."
            )


def _training_on_every_class(
    pairs: Sequence[tuple[Indices, Indices]], rows: SplitRows
) -> tuple[list[tuple[Indices, Indices]], tuple[str, ...]]:
    """Return splits with the only sample or group of a class in training, and a note on them."""
    codes = rows.codes
    units = rows.units
    counts = rows.units_of_classes()
    assert codes is not None
    splits: list[tuple[Indices, Indices]] = []
    moved: set[int] = set()
    for fold, (train, test) in enumerate(pairs):
        absent = np.setdiff1d(codes, codes[train])
        if (counts[absent] > 1).any():
            raise DataError(
                f"The training samples of fold {fold} lack class"
                f" {np.unique(rows.targets).tolist()[absent[0]]!r}; use stratified folds."
            )
        moved.update(absent.tolist())
        single = np.isin(units[test], units[test[np.isin(codes[test], absent)]])
        splits.append((np.concatenate([train, test[single]]), test[~single]))
    scoring = [split for split in splits if len(split[1])]
    if not scoring:
        raise DataError("No fold has samples to score: each has the only samples of a class.")
    return scoring, (single_note(len(moved), rows.unit),) if moved else ()


def _check_number(splits: int) -> None:
    if splits > MOST_SPLITS:
        raise SpecError(
            f"{splits:,} splits are too many: at most {MOST_SPLITS:,} (folds x repeats) are"
            " allowed, and a few dozen are usual."
        )
