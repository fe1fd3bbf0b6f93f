"""The runs of a comparison: every method on every split of every data set, with measurements."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs
import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import has_fit_parameter

from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import BASELINE, Method
from mklkit.comparison.stored import LEFT_OUT, Cell
from mklkit.datasets.pipeline import for_table, match_class_weights
from mklkit.display.numbers import whole
from mklkit.errors import DataError, plain_message, quoted, type_name
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.classifier import MKLClassifier
from mklkit.evaluation.fit_and_score import Samples, fit_and_predict
from mklkit.evaluation.one_split import OneSplit, Recorder, plain, read_responses
from mklkit.numerics.sparse import count_gaps
from mklkit.persistence.metadata import json_ready
from mklkit.protocols import Array
from mklkit.protocols.score import values_of
from mklkit.protocols.splits.split import Split, Splits
from mklkit.registry.specs import to_spec
from mklkit.views.cache import Cache

PROCESS = Path("/proc/self")
DEAR_SECONDS = 60
"""A baseline that takes fewer seconds on a split is never omitted."""
RESET_PEAK = "5"
"""Written to Linux's clear_refs, this resets the peak use of memory (man 5 proc)."""


class Encoded:
    """The encoded and scaled samples of one split, made once for methods with the same steps."""

    def __init__(self, data: DataSet, plan: Splits, place: int, score: str) -> None:
        self.data = data
        self.split = plan[place]
        self.place = place
        split = self.split
        self.held_out = data.task.held_out(data.truth, plan.tests)
        self.one_split = one_split_of(data, plan, score)
        self.complete = not count_gaps(data.features).any()
        self.labels = data.truth[split.train], data.truth[split.test]
        self.weights = None if data.weights is None else data.weights[split.train]
        self.groups = None if data.groups is None else data.groups[split.train]
        self._rows: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {}
        self._guesses: dict[str, float] = {}

    def guess(self, score: str) -> float:
        """Return the score of a guess without any feature, NaN where it has none."""
        if score not in self._guesses:
            self._guesses[score] = np.nan
            with suppress(ValueError):
                guess = self.data.task.guess_score(score, *self.labels, self.variance())
                self._guesses[score] = guess if np.isfinite(guess) else np.nan
        return self._guesses[score]

    def variance(self, members: NDArray[np.bool_] | None = None) -> Array | None:
        """Return what R² of the split needs of all splits, for all samples or some of them (N,)."""
        return None if self.held_out is None else self.held_out.variance(self.place, members)

    def rows_for(self, method: Method) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a method's training and test samples."""
        steps = clone(method.pipeline[:-1])
        encoder = steps.named_steps["encode"]
        if self.complete and encoder.schema.missing_value is None:
            # Then methods with other kernels share the samples.
            encoder.set_params(schema=encoder.schema.complete())
        key = joblib.hash(steps)
        if key not in self._rows:
            steps = for_table(steps, self.data.schema)
            features, split = self.data.features, self.split
            train = steps.fit_transform(features.iloc[split.train], self.labels[0])
            self._rows[key] = train, steps.transform(features.iloc[split.test])
        return self._rows[key]


def one_split_of(data: DataSet, plan: Splits, score: str) -> OneSplit | None:
    """Return the test samples of the only split; None if there are several splits."""
    if len(plan) > 1:
        return None
    task, ranking, test = data.task, data.task.score_named(score), plan[0].test
    training, truth = data.truth[plan[0].train], data.truth[test]
    held_out = task.held_out(data.truth, plan.tests)
    variance = None if held_out is None else held_out.variance(0)

    def value(model: Any, rows: Any, truth: NDArray[Any]) -> float:
        predictions = np.asarray(model.predict(rows))
        answers = task.answers(model, rows, truth, predictions, training, variance)
        if ranking.of is not None and answers.has(ranking.needs):
            return ranking.sign * float(ranking.of(answers))
        return float(task.scorer(score, variance, training)(model, rows, truth))

    classes = np.unique(data.truth) if task.has_classes else None
    groups = None if data.groups is None else data.groups[test]
    return OneSplit(task, ranking, truth, value, classes, groups)


def answers_of_cells(one_split: OneSplit, cells: Iterable[Cell]) -> OneSplit:
    """Return the test samples of a split with the answers of the methods."""
    n_samples = len(one_split.truth)
    n_classes = None if one_split.classes is None else len(one_split.classes)
    return one_split.having(
        {cell.method: read_responses(cell.responses, n_samples, n_classes) for cell in cells}
    )


def run_cells(
    data: DataSet,
    plan: Splits,
    methods: Sequence[Method],
    known: Callable[[int, Method], Cell | None],
    begin: Callable[[Method], None],
    max_memory: int | str | None = None,
    score: str | None = None,
    capped: bool = False,
) -> Iterator[tuple[int, Method, Cell]]:
    """Yield the number of the split, the method and its cell, one after another.

    ``known`` returns the cell of a split and a method that has been run before, or None; ``begin``
    is called before a method is run. Views that methods share are kept up to ``max_memory``.
    Labels that can't be learned, and known cells of another split, raise an error before the first
    run. A ``capped`` baseline that takes most of the time of the first split is omitted later.
    """
    data.check()
    score = score or data.task.ranked_by[0]
    split_of_all = one_split_of(data, plan, score)
    for place, split in enumerate(plan):
        for method in methods:
            cell = known(place, method)
            if cell is None:
                continue
            numbers = cell.repeat, cell.fold, cell.n_train, cell.n_test
            if numbers != tuple(_numbers(split).values()):
                raise DataError(
                    f"The file of results is damaged: its line of {quoted(cell.method)} on"
                    f' {cell.data} with "split": {place} has the numbers of another split. Delete'
                    " this line to repeat its run."
                )
            if split_of_all is not None and cell.responses:
                known_answers = answers_of_cells(split_of_all, [cell]).responses[cell.method]
                if not split_of_all.is_of(known_answers, cell.score):
                    raise DataError(
                        f"The file of results is damaged: the responses of {quoted(cell.method)} on"
                        f" {cell.data} do not have its score. Delete this line to repeat its run."
                    )
    seconds: dict[str, float] = {}
    for place in range(len(plan)):
        encoded = Encoded(data, plan, place, score)
        shared = Cache(max_memory)
        reasons = too_slow(methods, seconds) if capped else {}
        for method in methods:
            cell = known(place, method)
            if cell is None and method.name in reasons:
                cell = attrs.evolve(_cell(encoded, method), reason=reasons[method.name])
            elif cell is None:
                begin(method)
                _warm_up()
                cell = _run(encoded, method, shared, score)
            if place == 0:
                seconds[method.name] = float(np.nan_to_num(cell.seconds + cell.predict_seconds))
            yield place, method, cell


def too_slow(methods: Sequence[Method], seconds: dict[str, float]) -> dict[str, str]:
    """Return why to leave out baselines that took longer on a split than all other methods."""
    total = sum(seconds.values())
    return {
        method.name: f"{LEFT_OUT}, where it took {whole(seconds[method.name])} of {whole(total)}"
        " seconds; name it among the baselines to run it on all splits"
        for method in methods
        if method.kind == BASELINE and seconds.get(method.name, 0) > max(DEAR_SECONDS, total / 2)
    }


def _numbers(split: Split) -> dict[str, Any]:
    """Return a cell's fields on its split."""
    sizes = {"n_train": len(split.train), "n_test": len(split.test)}
    return {"repeat": split.repeat, "fold": split.fold, **sizes}


@cache
def _warm_up() -> None:
    """Load and compile, once per process, what would add time and memory to the first fit."""
    MKLClassifier(["linear", "rbf"], combiner="uniform").fit(np.eye(8), np.arange(8) % 2)


def _cell(encoded: Encoded, method: Method) -> Cell:
    """Return a method's cell of a split, without any score."""
    return Cell(data=encoded.data.name, **method.in_runs(), **_numbers(encoded.split))


def _run(encoded: Encoded, method: Method, shared: Cache, score: str) -> Cell:
    """Return a method's cell of a split, with the reason if it raises any error."""
    cell = _cell(encoded, method)
    # Encoding is ours: its errors count against a method only if the data cause them.
    try:
        rows = encoded.rows_for(method)
    except (ValueError, MemoryError) as error:
        return attrs.evolve(cell, reason=_reason(error))
    try:
        with warnings.catch_warnings():
            # Every fold of every baseline would repeat it; the scores show the effect.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return attrs.evolve(cell, **_fitted(encoded, method, *rows, shared, score))
    except Exception as error:
        return attrs.evolve(cell, reason=_reason(error))


def _reason(error: Exception) -> str:
    """Return why a method failed; MKLKitError and LinAlgError are self-explanatory ValueErrors."""
    message = plain_message(error)
    return message if isinstance(error, ValueError) else f"{type_name(error)}: {message}"


@runtime_checkable
class Search(Protocol):
    """A classifier that has searched for its parameters."""

    best_params_: dict[str, Any]
    refit_time_: float


def _fitted(
    encoded: Encoded, method: Method, train: Any, test: Any, shared: Cache, score: str
) -> dict[str, Any]:
    """Fit a method and return its measurements."""
    training_labels, _ = encoded.labels
    classifier = match_class_weights(clone(method.pipeline[-1]), np.unique(encoded.data.target))
    weights: dict[str, Any] = {}
    if encoded.weights is not None:
        weights = {"sample_weight": encoded.weights}
        fits = classifier.estimator if isinstance(classifier, GridSearchCV) else classifier
        if not has_fit_parameter(fits, "sample_weight"):
            raise DataError("it takes no sample weights")
    training = Samples(train, training_labels, weights, encoded.groups)
    peak: dict[str, float] = {}
    fit = fit_and_predict(classifier, training, test, shared, lambda _: peak_memory(peak))
    refit = fit.model.refit_time_ if isinstance(fit.model, Search) else fit.seconds
    return {
        **measured(fit.model, test, fit.predictions, encoded, score),
        "seconds": fit.seconds,
        "predict_seconds": fit.predict_seconds,
        "refit_seconds": refit,
        **peak,
    }


def measured(
    classifier: Any, rows: Any, answers: Any, encoded: Encoded, score: str
) -> dict[str, Any]:
    """Return a fitted model's scores on test samples, its weights and the choices of its search.

    ``answers`` are its predictions.
    """
    task, (training, labels) = encoded.data.task, encoded.labels
    task.check_predicted(answers, labels)
    variance = encoded.variance()
    one_split = encoded.one_split
    model = classifier if one_split is None else Recorder(classifier, rows, answers)
    evidence = task.answers(model, rows, labels, answers, training, variance)
    cell: dict[str, Any] = {"details": task.details(evidence, labels, answers, encoded.data.target)}
    cell["scores"] = values_of(evidence, task.measured)
    ranking = task.score_named(score)
    value = cell["scores"].get(ranking.key)
    if value is None:
        value = ranking.sign * task.scorer(score, variance, training)(model, rows, labels)
    cell["score"] = float(ranking.sign * value)
    if one_split is not None and np.isfinite(cell["score"]):
        cell["responses"] = plain(one_split.essential(model))
    cell["guess"] = encoded.guess(score)
    if encoded.data.incomplete is not None:
        incomplete, test = encoded.data.incomplete, encoded.split.test
        for part, members in (("complete", ~incomplete), ("incomplete", incomplete)):
            scorer = task.scorer(score, encoded.variance(members), training)
            mask = members[test]
            with suppress(ValueError):  # It may be undefined on few samples.
                cell[f"{part}_score"] = scorer(classifier, rows[mask], labels[mask])
    if not np.isfinite(cell["score"]):
        cell |= {"score": np.nan, "reason": f"{score} is not defined on the test samples"}
    if isinstance(classifier, Search):
        cell["params"] = {name: _plain(value) for name, value in classifier.best_params_.items()}
    if isinstance(classifier, FittedKernels):
        means = classifier.weights_frame().groupby("kernel", sort=False)["weight"].mean()
        cell["weights"] = {str(name): float(weight) for name, weight in means.items()}
    return cell


def _plain(value: Any) -> Any:
    try:
        return json_ready(value)
    except TypeError:  # a component, or a parameter of a plugin's own kind
        return to_spec(value) if attrs.has(type(value)) else quoted(value)


@contextmanager
def peak_memory(peak: dict[str, float]) -> Iterator[None]:
    """Add to a dict, after the block, the rise of peak memory in bytes if the system reports it."""
    before = None
    with suppress(OSError, ValueError, StopIteration):
        (PROCESS / "clear_refs").write_text(RESET_PEAK)
        before = _status("VmRSS")
    try:
        yield
    finally:
        if before is not None:
            peak["memory"] = float(max(_status("VmHWM") - before, 0))


def _status(key: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(f"{key}:")).split()[1])
