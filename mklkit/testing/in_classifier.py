"""Checks of every component inside an estimator: labels, seeds, files, bad data."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from mklkit.errors import MKLKitError, ModelFileError, plain_message
from mklkit.persistence import load_model, save_model
from mklkit.protocols import Array, CombinerFacts, LearnerFacts
from mklkit.testing.cases import Case, values_of
from mklkit.testing.expectations import CheckFailure, NotApplicable, expect, expect_close

__all__ = ["CLASSIFIER_CHECKS", "saved_and_loaded"]


def decides_every_row(case: Case) -> None:
    """An estimator with it has one finite value for each row."""
    scores = values_of(case.model(), case.table(case.new_rows))
    shape = (len(case.new_rows),)
    advice = "Decision values are one number per row."
    expect(np.shape(scores) == shape, f"values {shape}", np.shape(scores), advice)
    expect(bool(np.isfinite(scores).all()), "finite values", scores, "Guard against overflow.")


def classifies_two_classes(case: Case) -> None:
    """A classifier with it accepts text labels, and predicts only those."""
    model = _classifier_of(case)
    predicted = set(model.predict(case.table(case.new_rows)))
    advice = "Labels inside are -1 and +1; the classifier turns them into the user's."
    expect(predicted <= {"well", "ill"}, "the labels 'well' and 'ill'", predicted, advice)


def classifies_three_classes(case: Case) -> None:
    """A classifier with it handles three classes, with the same result in several threads."""
    _classifier_of(case)
    rows, kinds = case.three_classes()
    table, new_rows = case.table(rows), case.table(case.new_rows)
    model = case.estimator().fit(table, kinds)
    scores = values_of(model, new_rows)
    shape = (len(case.new_rows), 3)
    advice = "Each binary problem is fitted separately; look for shared state."
    expect(np.shape(scores) == shape, f"scores {shape}", np.shape(scores), advice)
    threaded = values_of(case.estimator(n_jobs=2).fit(table, kinds), new_rows)
    expect_close(
        threaded, scores, "the same scores with n_jobs=2", "Share no state between fits.", 1e-6
    )


def one_seed_gives_one_model(case: Case) -> None:
    """Fitting twice with the same seed gives the same decisions."""
    again = case.fit_model()
    expect_close(
        values_of(again, case.table(case.new_rows)),
        values_of(case.model(), case.table(case.new_rows)),
        "the same decisions from random_state=0 twice",
        "Draw from the random_state that fit gets, and keep no state between fits.",
        1e-12,
    )


def new_rows_alone_or_together(case: Case) -> None:
    """New rows have the same decisions one at a time and all at once."""
    model, new_rows = case.model(), case.table(case.new_rows)
    together = values_of(model, new_rows)
    alone = np.concatenate([values_of(model, row[None]) for row in new_rows])
    expect_close(
        alone,
        together,
        "the same decision for a row alone as among others",
        "Compute means, scales and orders from the training rows, never from new rows.",
        1e-8,
    )


def sums_are_enough(case: Case) -> None:
    """With from_moments in the facts, sums over rows give the model that the rows give."""
    facts = getattr(case.component, "facts", None)
    claims = isinstance(facts, CombinerFacts | LearnerFacts) and facts.from_moments
    if not (claims and case.learns_classes):
        raise NotApplicable(f"{case.label} does not claim to learn from sums over rows")
    parts: dict[str, Any] = {"feature_map": "empirical(subset=9)", "bandwidths": "all-rows"}
    if case.kind == "combiner":
        parts["learner"] = "kda"
    whole = case.estimator(**parts).fit(case.rows, case.y)
    advice = "Use class moments alone; or leave from_moments out of the facts."
    try:
        summed = case.estimator(**parts).partial_fit(case.rows, case.y, np.unique(case.y))
    except Exception as error:
        raise CheckFailure(
            f"Expected partial_fit to learn from sums over rows, as from_moments=True states; got"
            f" {type(error).__name__}: {plain_message(error)} {advice}"
        ) from error
    what = "{} from sums over rows to be those from the rows, as from_moments=True states"
    expect_close(summed.weights_, whole.weights_, what.format("weights"), advice, 1e-6)
    expect_close(
        values_of(summed, case.new_rows),
        values_of(whole, case.new_rows),
        what.format("decisions"),
        advice,
        1e-6,
    )


def model_file_round_trip(case: Case) -> None:
    """A model loaded from a model file has the same decisions as the saved one."""
    model = case.model()
    again = saved_and_loaded(model)
    expect_close(
        values_of(again, case.table(case.new_rows)),
        values_of(model, case.table(case.new_rows)),
        "the loaded model to have the decisions of the saved one",
        "Keep everything that decisions need in attributes of the fitted object.",
        1e-12,
    )


def pickled_model_decides_the_same(case: Case) -> None:
    """A fitted estimator can be pickled, with the same decisions afterwards."""
    model = case.model()
    again = pickle.loads(pickle.dumps(model))
    expect_close(
        values_of(again, case.table(case.new_rows)),
        values_of(model, case.table(case.new_rows)),
        "the unpickled model to have the same decisions",
        "Keep everything that decisions need in attributes of the fitted object.",
        1e-12,
    )


def single_precision_is_taken(case: Case) -> None:
    """Rows of 32-bit floats give finite decisions, close to those of 64-bit ones."""
    if case.custom_rows or case.reads in ("text", "categories"):
        raise NotApplicable("the rows are given, or hold no numbers")
    model = case.estimator().fit(case.table(case.rows.astype(np.float32)), case.y)
    scores = values_of(model, case.table(case.new_rows.astype(np.float32)))
    expect(bool(np.isfinite(scores).all()), "finite decision values", scores, "Guard overflows.")
    double = values_of(case.model(), case.table(case.new_rows))
    agreed = float(((scores > 0) == (double > 0)).mean())
    expect(
        agreed >= 0.85,
        "the same predictions for float32 rows as for float64 rows",
        f"{agreed:.0%} of the new rows with the same prediction",
        "Accumulate sums over rows in float64.",
    )


def odd_data_are_learned_or_refused(case: Case) -> None:
    """Constant columns, equal rows and tiny sets give finite decisions or an MKLKitError.

    Only a constant column must not be refused, as any table may have one.
    """
    if case.custom_rows:
        raise NotApplicable("the rows are given")
    rows, y = case.rows, case.y
    first, second = np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]
    constant = rows.copy()
    column = slice(None) if case.reads == "text" else slice(1)
    constant[:, column] = constant[0, column]
    pair = np.array([first, second])
    odd: dict[str, tuple[Array, Array]] = {
        "a constant column": (constant, y),
        "every row twice": (np.repeat(rows, 2, axis=0), np.repeat(y, 2)),
        "one row per class": (rows[pair], y[pair]),
        "all rows equal": (np.repeat(rows[:1], len(rows), axis=0), y),
    }
    if not case.examples:
        odd["all values zero"] = np.zeros_like(rows), y
    for what, (some_rows, some_y) in odd.items():
        try:
            model = case.estimator().fit(case.table(some_rows), some_y)
            scores = values_of(model, case.table(case.new_rows))
        except Exception as error:
            if isinstance(error, MKLKitError) and some_rows is not constant:
                continue
            way = "" if some_rows is constant else ", or refused by an MKLKitError"
            raise CheckFailure(
                f"Expected {what} to be learned from{way}; got {type(error).__name__}:"
                f" {plain_message(error).rstrip('.')}. Raise mklkit.DataError only for data that"
                " can't be learned from, with the problem and a remedy; users of the command line"
                " see only its message."
            ) from error
        n_bad = int((~np.isfinite(scores)).sum())
        expect(
            n_bad == 0,
            f"finite decision values after {what}",
            f"{n_bad} of {len(scores)} that are not finite",
            "Guard divisions by spreads and sums that may be zero.",
        )


def _classifier_of(case: Case) -> Any:
    """Return the case's model where the component learns from classes."""
    if not case.learns_classes:
        raise NotApplicable(f"{case.label} does not learn from classes")
    return case.model()


def saved_and_loaded(model: Any) -> Any:
    """Return a model after it was saved to a model file and loaded."""
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


CLASSIFIER_CHECKS = (
    decides_every_row,
    classifies_two_classes,
    classifies_three_classes,
    one_seed_gives_one_model,
    new_rows_alone_or_together,
    sums_are_enough,
    model_file_round_trip,
    pickled_model_decides_the_same,
    single_precision_is_taken,
    odd_data_are_learned_or_refused,
)
