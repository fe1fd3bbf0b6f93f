"""Checks of every component inside an estimator, and of presets, which are whole systems."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mklkit.display.numbers import percentage
from mklkit.errors import MKLKitError, ModelFileError, plain_message, quoted
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.from_preset import preset_classifier
from mklkit.estimators.one_class import MKLOneClass
from mklkit.estimators.regressor import MKLRegressor
from mklkit.persistence import load_model, save_model
from mklkit.protocols import Array, Preset, is_name, traits_of
from mklkit.registry.columns import bind_kernels
from mklkit.registry.composing import choose_components
from mklkit.registry.entries import TRAITS
from mklkit.views.scaling import scaling_named
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.expectations import (
    CheckFailure,
    NotApplicable,
    expect,
    expect_array,
    expect_close,
)

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "two classes": MKLClassifier,
    "numbers": MKLRegressor,
    "none": MKLOneClass,
}

KEEP = "Keep everything that decisions need in attributes of the fitted object."


def classifies_three_classes(case: Case) -> None:
    """A classifier with it handles three classes, with the same result in several threads."""
    if case.task != "two classes":
        raise NotApplicable(f"{case.label} does not learn from classes")
    rows, kinds = case.three_classes()
    table, new_rows = case.table(rows), case.table(case.new_rows)
    scores, threaded = (
        values_of(_estimator(case, n_jobs=n_jobs).fit(table, kinds), new_rows)
        for n_jobs in (None, 2)
    )
    shape = (len(case.new_rows), 3)
    advice = "Each problem is fitted separately: share no state between fits."
    expect(np.shape(scores) == shape, f"scores {shape}", np.shape(scores), advice)
    expect_close(threaded, scores, "the same scores with n_jobs=2", advice, 1e-6)


def sums_are_enough(case: Case) -> None:
    """With from_moments in the traits, sums over samples give the same model as the samples."""
    traits: Any = traits_of(case.component, TRAITS[case.kind])
    able = case.kind in ("combiner", "learner") and case.task == "two classes"
    if not (able and traits.from_moments):
        raise NotApplicable(f"{case.label} does not claim to learn from sums over samples")
    parts: dict[str, Any] = {"feature_map": "empirical(subset=9)", "bandwidths": "all-rows"}
    if case.kind == "combiner":
        parts["learner"] = "kda"
    whole = _estimator(case, **parts).fit(case.rows, case.y)
    advice = "Use class moments alone; or leave from_moments out of the traits."
    try:
        summed = _estimator(case, **parts).partial_fit(case.rows, case.y, np.unique(case.y))
    except Exception as error:
        raise CheckFailure(
            f"Expected partial_fit to learn from sums over samples, as from_moments=True states;"
            f" got {type(error).__name__}: {plain_message(error)} {advice}"
        ) from error
    expected = "the same {} from sums over samples as from the samples, as from_moments=True states"
    expect_close(summed.weights_, whole.weights_, expected.format("weights"), advice, 1e-6)
    values, usual = (values_of(model, case.new_rows) for model in (summed, whole))
    expect_close(values, usual, expected.format("decisions"), advice, 1e-6)


def model_file_round_trip(case: Case) -> None:
    """A model loaded from a model file has the same decisions as the saved one."""
    _expect_same_decisions(case, saved_and_loaded(model_of(case)), "the loaded model", KEEP)


def pickled_model_decides_the_same(case: Case) -> None:
    """A fitted estimator can be pickled, with the same decisions afterwards."""
    again = pickle.loads(pickle.dumps(model_of(case)))
    _expect_same_decisions(case, again, "the unpickled model", KEEP)


def single_precision_is_taken(case: Case) -> None:
    """Samples of 32-bit floats give finite decisions, close to those of 64-bit ones."""
    if case.custom_rows is not None or case.kernel_traits.reads in ("text", "categories"):
        raise NotApplicable("the samples are given, or hold no numbers")
    model = _estimator(case).fit(case.table(case.rows.astype(np.float32)), case.y)
    scores = values_of(model, case.table(case.new_rows.astype(np.float32)))
    expect(np.isfinite(scores).all(), "finite decision values", scores, "Guard overflows.")
    double = values_of(model_of(case), case.table(case.new_rows))
    advice = "Accumulate sums over samples in float64."
    if case.task == "numbers":
        expect_close(scores, double, "the same predictions for float32 samples", advice, 0.05)
    agreed = float(((scores > 0) == (double > 0)).mean())
    expect(
        agreed >= 0.85,
        "the same signs for float32 samples",
        f"{percentage(agreed, 0)} of them",
        advice,
    )


def odd_data_are_learned_or_refused(case: Case) -> None:
    """Constant columns, equal samples and tiny sets give finite decisions or an MKLKitError.

    A constant column must not raise an error, because any table may have one.
    """
    if case.custom_rows is not None:
        raise NotApplicable("the samples are given")
    for label, (rows, y) in _odd_data(case).items():
        try:
            model = _estimator(case).fit(case.table(rows), y)
            scores = values_of(model, case.table(case.new_rows))
        except Exception as error:
            if isinstance(error, MKLKitError) and label != "a constant column":
                continue
            raise CheckFailure(
                f"Expected a fit on {label} or, except for a constant column, an"
                f" MKLKitError; got {type(error).__name__}: {plain_message(error).rstrip('.')}."
                " Raise mklkit.DataError only for data that can't be learned from, with the problem"
                " and a remedy; users of the command line see only the message."
            ) from error
        advice = "Guard divisions by spreads and sums that may be zero."
        expect_array(scores, (len(case.new_rows),), f"decision values after {label}", advice)


def _odd_data(case: Case) -> dict[str, tuple[Array, Array]]:
    rows, y = case.rows, case.y
    pair = np.array([np.flatnonzero(case.labels > 0)[0], np.flatnonzero(case.labels < 0)[0]])
    constant = rows.copy()
    column = slice(None) if case.kernel_traits.reads == "text" else slice(1)
    constant[:, column] = constant[0, column]
    odd = {
        "a constant column": (constant, y),
        "every sample twice": (np.repeat(rows, 2, axis=0), np.repeat(y, 2, axis=0)),
        "one sample per class": (rows[pair], y[pair]),
        "all samples equal": (np.repeat(rows[:1], len(rows), axis=0), y),
    }
    if not case.kernel_traits.examples:
        odd["all values zero"] = np.zeros_like(rows), y
    return odd


def _expect_same_decisions(case: Case, model: Any, label: str, advice: str) -> None:
    rows = case.table(case.new_rows)
    expected = f"{label} to have the same decisions"
    expect_close(values_of(model, rows), values_of(model_of(case), rows), expected, advice, 1e-12)


def _estimator(case: Case, **settings: Any) -> Any:
    """Return an unfitted estimator of the component's task with the component."""
    feature_map, learner = case.partners
    parts: dict[str, Any] = {
        "kernels": [case.component] if case.kind == "kernel" else list(case.kernels),
        "combiner": case.component if case.kind == "combiner" else "uniform",
        "feature_map": feature_map,
        "learner": learner,
        "random_state": 0,
    }
    task = case.packages_task
    estimator = ESTIMATORS[case.task] if task is None else task.estimator
    return estimator(**{**parts, **settings})


def fit_model(case: Case) -> Any:
    """Return an estimator, or a preset's system, fitted to the samples; labels are text."""
    labels = np.where(case.y > 0, "well", "ill") if case.task == "two classes" else case.y
    if case.kind == "preset":
        return preset_classifier(case.component, random_state=0).fit(case.rows, labels)
    return _estimator(case).fit(case.table(case.rows), labels)


def model_of(case: Case) -> Any:
    """Return the result of :func:`fit_model`; read-only checks share it."""
    if "model" not in case.fits:
        case.fits["model"] = fit_model(case)
    return case.fits["model"]


def values_of(model: Any, rows: Array) -> Array:
    """Return an estimator's decision values, or its predictions if these are numbers."""
    numbers = isinstance(model, MKLRegressor)
    return np.asarray(model.predict(rows) if numbers else model.decision_function(rows))


def saved_and_loaded(model: Any) -> Any:
    """Return a model after saving it to a model file and loading it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mkl"
        try:
            save_model(model, path)
            return load_model(path)
        except ModelFileError as error:
            raise CheckFailure(
                f"Expected a model that can be saved and loaded; got: {error} Decorate the"
                " class of each fitted object by @register, and install the package"
                " (pip install -e .), so that it is found."
            ) from error


def parts_exist(case: Case) -> None:
    """It has a name and a line of help; its parts are registered and work together."""
    preset: Preset = case.component
    name = "a name of letters, digits, '_', '.', '-'"
    expect(is_name(preset.name), name, quoted(preset.name), "Write Preset('my-name', ...).")
    helps = preset.help.strip() and "\n" not in preset.help
    expect(helps, "one line of help", repr(preset.help), "Write Preset('my-name', 'Help.', ...).")
    try:
        scales = [preset.scale, *(kernel.scale for kernel in bind_kernels(preset.kernels))]
        for scale in filter(None, scales):
            scaling_named(scale)
        choose_components(preset.combiner, preset.feature_map, preset.learner)
    except MKLKitError as error:
        raise CheckFailure(
            f"Expected spec strings of registered components; got: {error} Install its package,"
            " or correct the spec."
        ) from error


def learns_two_and_three_classes(case: Case) -> None:
    """It is better than predicting the largest class, on held-out samples of separated classes."""
    two = case.rows, np.where(case.y > 0, "well", "ill")
    for rows, labels in (two, case.three_classes()):
        model = preset_classifier(case.component, random_state=0).fit(rows[::2], labels[::2])
        right = float((model.predict(rows[1::2]) == labels[1::2]).mean())
        largest = max(float((labels[1::2] == label).mean()) for label in set(labels))
        expect(
            right > largest,
            f"more than {percentage(largest, 0)} of held-out samples right, for"
            f" {len(set(labels))} classes",
            percentage(right, 0),
            "Check the kernels' widths: they are fitted to 21 standardised samples here.",
        )


def one_seed_gives_one_system(case: Case) -> None:
    """Fitted twice with the same seed, or saved and loaded, it makes the same decisions."""
    advice = "See the checks of its components."
    _expect_same_decisions(case, fit_model(case), "a system of one seed", advice)
    _expect_same_decisions(case, saved_and_loaded(model_of(case)), "the loaded system", advice)


ESTIMATOR_CHECKS = (
    classifies_three_classes,
    sums_are_enough,
    model_file_round_trip,
    pickled_model_decides_the_same,
    single_precision_is_taken,
    odd_data_are_learned_or_refused,
)
PRESET_CHECKS = (parts_exist, learns_two_and_three_classes, one_seed_gives_one_system)
