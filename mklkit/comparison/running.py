"""The runs of a comparison: every method on every split of every data set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any

import attrs
import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mklkit.comparison.data import DataSet, check_labels
from mklkit.comparison.measures import BINS, measured, peak_memory
from mklkit.comparison.methods import Method
from mklkit.comparison.splits import RowSplit, SplitPlan, check_number
from mklkit.errors import DataError, plain_message, quoted, type_name
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.shared_views import SharedViews, SharesViews
from mklkit.protocols.component import is_whole

__all__ = ["Cell", "Encoded", "run_cells"]

NAN = float("nan")
LARGEST = 2**63
"""Above any count, time or memory; integers of JSON have no bound."""


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value < LARGEST


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or NaN; null stands for it in JSON."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return known and not abs(value) >= LARGEST


def _is_calibration(bins: Any) -> bool:
    return (
        bins.keys() == {"rows", "probability", "hits"}
        and all(len(values) == BINS for values in bins.values())
        and all(map(_is_count, [*bins["rows"], *bins["hits"]]))
        and all(map(_is_number, bins["probability"]))
    )


# What a value must be, as cells are read from files that are edited, joined and cut.
KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "count": _is_count,
    "number": _is_number,
    "share": lambda value: _is_number(value) and not (value < 0 or value > 1),
    "amount": lambda value: _is_number(value) and not value < 0,
    "params": lambda params: isinstance(params, dict),
    "weights": lambda weights: all(w is None or _is_number(w) for w in weights.values()),
    "confusion": lambda rows: all(len(r) == len(rows) and all(map(_is_count, r)) for r in rows),
    "calibration": _is_calibration,
}


def _is(kind: str) -> Callable[[Any, Any, Any], None]:
    """Return a validator of a kind of values, or None where that is the default."""

    def check(_cell: Any, field: Any, value: Any) -> None:
        if not (value is None and field.default is None) and not KINDS[kind](value):
            raise ValueError(f"{field.name} can't be {quoted(value)}")

    return check


def _measured_as(kind: str) -> Any:
    """Return a field of a number that may be missing: NaN, or null in JSON."""
    return attrs.field(
        default=NAN,
        converter=lambda value: NAN if value is None else value,
        validator=_is(kind),
    )


@attrs.frozen(kw_only=True)
class Cell:
    """One method on one split of one data set.

    Attributes
    ----------
    data, method, kind : str
    repeat, fold : int
    n_train, n_test : int
    accuracy, balanced_accuracy, auc, log_loss : float
        NaN where the method failed or can't say.
    seconds, predict_seconds : float
        Of the fit, tuning included, and of predicting the test rows; encoding and scaling, which
        are the same for all methods, are not counted.
        What methods share on the same rows, such as distances, is made once, and counted with
        the method that came first.
    refit_seconds : float
        Of the last fit alone, with the parameters that a search chose; where nothing was searched,
        the same as ``seconds``.
    memory : float
        By how much the process's highest use of memory during the fit exceeded that before it, in
        bytes; NaN where the system does not tell. It is low where memory of fits before is used
        again, and has what is shared as ``seconds`` has it.
    params : dict, optional
        What a search chose.
    weights : dict of str to float, optional
        Per kernel, the mean over binary problems.
    confusion : list of list of int, optional
        Counts by true and predicted class, in the order of the data's classes.
    calibration : dict, optional
        See :func:`mklkit.comparison.measures.calibration`.
    reason : str, optional
        Why the method failed.
    """

    data: str = attrs.field(validator=_is("text"))
    method: str = attrs.field(validator=_is("text"))
    kind: str = attrs.field(validator=_is("text"))
    repeat: int = attrs.field(validator=_is("count"))
    fold: int = attrs.field(validator=_is("count"))
    n_train: int = attrs.field(validator=_is("count"))
    n_test: int = attrs.field(validator=_is("count"))
    accuracy: float = _measured_as("share")
    balanced_accuracy: float = _measured_as("share")
    auc: float = _measured_as("share")
    log_loss: float = _measured_as("number")
    seconds: float = _measured_as("amount")
    predict_seconds: float = _measured_as("amount")
    refit_seconds: float = _measured_as("amount")
    memory: float = _measured_as("amount")
    params: dict[str, Any] | None = attrs.field(default=None, validator=_is("params"))
    weights: dict[str, float] | None = attrs.field(default=None, validator=_is("weights"))
    confusion: list[list[int]] | None = attrs.field(default=None, validator=_is("confusion"))
    calibration: dict[str, list[float]] | None = attrs.field(
        default=None, validator=_is("calibration")
    )
    reason: str | None = attrs.field(default=None, validator=_is("text"))


class Encoded:
    """The encoded and scaled rows of one split, made once for all methods with the same steps."""

    def __init__(self, data: DataSet, split: RowSplit) -> None:
        self.data, self.split = data, split
        self.labels = data.target[split.train], data.target[split.test]
        self._rows: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {}

    def rows_for(self, method: Method) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a method's training and test rows."""
        steps = clone(method.pipeline[:-1])
        key = joblib.hash(steps)
        if key not in self._rows:
            steps.named_steps["encode"].set_params(**self.data.encoding)
            train, test = (
                self.data.features.iloc[rows] for rows in (self.split.train, self.split.test)
            )
            self._rows[key] = steps.fit_transform(train, self.labels[0]), steps.transform(test)
        return self._rows[key]


def run_cells(
    data: DataSet,
    plan: SplitPlan,
    methods: Sequence[Method],
    known: Callable[[int, Method], Cell | None],
    begin: Callable[[Method], None],
    max_memory: int | str | None = None,
) -> Iterator[tuple[int, Method, Cell]]:
    """Yield the number of the split, the method and its cell, one after another.

    Parameters
    ----------
    data : DataSet
    plan : SplitPlan
    methods : sequence of Method
    known : callable
        Returns the cell of a split and a method that has been run before, or None.
    begin : callable
        Called before a method is run.
    max_memory : int or str, optional
        What methods share on the same rows is kept up to it; see
        :class:`mklkit.estimators.shared_views.SharedViews`.

    Raises
    ------
    MKLKitError
        Before the first run, if labels can't be learnt, there are too many splits, or a known cell
        is not of its split.
    """
    check_labels(data.name, data.target)
    check_number(len(plan.splits))
    for place, split in enumerate(plan.splits):
        for method in methods:
            _check_rows(known(place, method), place, split)
    for place, split in enumerate(plan.splits):
        encoded = Encoded(data, split)
        shared = SharedViews(max_memory)
        for method in methods:
            cell = known(place, method)
            if cell is None:
                begin(method)
                _warm_up()
                cell = _run(encoded, method, shared)
            yield place, method, cell


@cache
def _warm_up() -> None:
    """Load and compile, once in a process, what would count as time and memory of the first fit."""
    MKLClassifier(["linear", "rbf"], combiner="uniform").fit(np.eye(8), np.arange(8) % 2)


def _check_rows(cell: Cell | None, place: int, split: RowSplit) -> None:
    """Refuse the known cell of a split if it says that it is of another one."""
    if cell is None:
        return
    numbers = cell.repeat, cell.fold, cell.n_train, cell.n_test
    if numbers != (split.repeat, split.fold, len(split.train), len(split.test)):
        raise DataError(
            f"The file of results is damaged: its line of {quoted(cell.method)} on {cell.data} with"
            f' "split": {place} has the numbers of another split. Delete this line, and its run is'
            " done again."
        )


def _run(encoded: Encoded, method: Method, shared: SharedViews) -> Cell:
    split = encoded.split
    cell = Cell(
        data=encoded.data.name,
        method=method.name,
        kind=method.kind,
        repeat=split.repeat,
        fold=split.fold,
        n_train=len(split.train),
        n_test=len(split.test),
    )
    try:
        with warnings.catch_warnings():
            # Every fold of every baseline would say it; the scores show what it costs.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return attrs.evolve(cell, **_measured(encoded, method, shared))
    # MKLKitError and LinAlgError are ValueErrors, as is what scores say of NaN in answers.
    except (ValueError, MemoryError) as error:
        reason = plain_message(error) if isinstance(error, ValueError) else _named(error)
        return attrs.evolve(cell, reason=reason)


def _named(error: BaseException) -> str:
    return f"{type_name(error)}: {plain_message(error)}"


@contextmanager
def _of_method() -> Iterator[None]:
    """Turn any error of a method's own code, which may be a user's, into one with its reason."""
    try:
        yield
    except (ValueError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(_named(error)) from error


def _measured(encoded: Encoded, method: Method, shared: SharedViews) -> dict[str, Any]:
    train, test = encoded.rows_for(method)
    training_labels, labels = encoded.labels
    with _of_method():
        classifier = clone(method.pipeline[-1])
        start = perf_counter()
        with peak_memory() as peak:
            if isinstance(classifier, SharesViews):
                classifier.fit_sharing(shared, train, training_labels)
            else:
                classifier.fit(train, training_labels)
        fitted = perf_counter()
        answers = classifier.predict(test)
        predicted = perf_counter()
        scores = measured(classifier, test, labels, answers, encoded.data.target)
    return {
        **scores,
        "seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "refit_seconds": getattr(classifier, "refit_time_", fitted - start),
        "memory": peak.bytes,
    }
