"""A paper's experiment as data: its data sets, divisions of samples, and systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import attrs
import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from mklkit._version import __version__
from mklkit.comparison.data import DataSet
from mklkit.comparison.design import Design
from mklkit.comparison.methods import CLASSIFIER, Method, estimator_method
from mklkit.errors import DataError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation import Splits, make_splits

SEED = 0


@attrs.frozen
class Division:
    """Random divisions of the samples into a training and a test part.

    ``train`` is the share of training samples, or the number per class in the order of labels; with
    ``stratified`` each part has the classes in the same shares.
    """

    train: float | tuple[int, ...]
    stratified: bool = True

    def splits(self, labels: Any, repeats: int) -> Splits:
        """Return the divisions of samples with these labels; fewer are the first of more.

        DataError if there are classes other than the counted ones, or one has no samples left to
        test.
        """
        if isinstance(self.train, tuple):
            plan = make_splits(labels, cv=_counted(self.train, labels, repeats))
            how = f"{_enumerated(self.train)} samples of each class for training"
        else:
            kind = StratifiedShuffleSplit if self.stratified else ShuffleSplit
            cut = kind(repeats, train_size=self.train, random_state=SEED)
            plan = make_splits(labels, cv=cut)
            how = f"{100 * self.train:g} % for training"
            how += ", stratified by class" if self.stratified else ""
        return attrs.evolve(plan, description=f"{repeats} random divisions, {how}")


def _counted(train: tuple[int, ...], labels: Any, repeats: int) -> list[tuple[Any, ...]]:
    """Return pairs of training and test samples with numbers of training samples per class."""
    draws = np.random.RandomState(SEED)
    by_class = [np.flatnonzero(np.asarray(labels) == label) for label in np.unique(labels)]
    sizes = [len(rows) for rows in by_class]
    enough = [size > count for size, count in zip(sizes, train, strict=False)]
    if len(sizes) != len(train) or not all(enough):
        raise DataError(
            f"its classes have {_enumerated(sizes)} samples; expected more than"
            f" {_enumerated(train)}, to leave samples for testing"
        )
    cut = []
    for _ in range(repeats):
        mixed = [draws.permutation(rows) for rows in by_class]
        pairs = list(zip(mixed, train, strict=True))
        parts = [rows[:count] for rows, count in pairs], [rows[count:] for rows, count in pairs]
        cut.append(tuple(np.sort(np.concatenate(part)) for part in parts))
    return cut


def _enumerated(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


@attrs.frozen
class DataUse:
    """A data set as a paper uses it: its label there, and its name in :mod:`mklkit_papers.sources`.

    Only the first ``columns`` features are used. Its samples are divided ``repeats`` times, or
    ``quick`` times in a quick run, which skips a set with 0. ``change(data)`` returns a data
    set, with its own name, to use in place of the one that is read.
    """

    label: str
    name: str
    columns: int | None = None
    repeats: int = 10
    quick: int = 2
    change: Callable[[DataSet], DataSet] | None = None
    division: Division | None = None


@attrs.frozen(eq=False)
class System:
    """A system as the paper names it: a classifier of encoded samples, and the package it needs."""

    name: str
    estimator: Any
    package: str | None = None


@attrs.frozen(eq=False)
class Experiment:
    """Systems on the same divisions of data sets, whose numbers several tables show.

    ``systems(use)`` returns those for a data set; ``division`` applies to sets without their own.
    Features are scaled ("none", "standard" or "minmax") on the training part before every system.
    The name is also that of the folder of stored runs.
    """

    name: str
    sets: tuple[DataUse, ...]
    division: Division
    systems: Callable[[DataUse], Sequence[System]]
    scale: str = "none"

    def method(self, system: System) -> Method:
        """Return a system as a method of a comparison; stored runs are those of its versions."""
        design = Design(settings=ModelSettings.named({"scale": self.scale, "seed": SEED}))
        origin = f"mklkit {__version__}"
        if system.package is not None:
            origin += f", {system.package} {version(system.package)}"
        return estimator_method(design, system.estimator, system.name, CLASSIFIER, origin)
