"""Checks of every strategy for samples with a missing source."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle, product
from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.display.numbers import percentage, significant
from mklkit.errors import DataError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.learners import SVM
from mklkit.protocols import Array, Learner, LearnerTraits, Target
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.common import (
    name_and_description,
    parameters_round_trip,
    values_that_are_no_numbers_are_refused,
)
from mklkit_authors.testing.estimators import KEEP, saved_and_loaded
from mklkit_authors.testing.expectations import NotApplicable, expect, expect_close

SOURCES = {"a": slice(0, 2), "b": slice(2, 3), "c": slice(3, 6)}
KERNELS = tuple(f"{n}:rbf(gamma=0.2)@{s.start}:{s.stop}" for n, s in SOURCES.items())
PATTERNS = [pattern for pattern in product((True, False), repeat=3) if any(pattern)]
"""The sources that a sample has: first all, never none."""


def rows_of(seed: int, n_rows: int, patterns: list[tuple[bool, ...]]) -> tuple[Array, Array]:
    """Return samples (n, 6) of two classes, with the sources of patterns in turn, and labels."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n_rows) < 0.4, 1.0, -1.0)
    rows = random.normal(size=(n_rows, 6)) + 1.2 * y[:, None]
    for row, pattern in zip(rows, cycle(patterns), strict=False):
        for source, present in zip(SOURCES.values(), pattern, strict=True):
            row[source] = row[source] if present else np.nan
    return rows, y


def fitted(case: Case, rows: Array, y: Array, **settings: Any) -> MKLClassifier:
    """Return a classifier with the strategy."""
    parts = {"missing": case.component, "learner": "svm(C=1, tol=1e-9)", **settings}
    return MKLClassifier(KERNELS, **parts).fit(rows, y)


def on_all_patterns(case: Case) -> tuple[MKLClassifier, Array]:
    """Return a model, and new samples that it takes, some with patterns not seen in training."""
    if "model" not in case.fits:
        case.fits["model"] = fitted(case, *rows_of(1, 84, PATTERNS[:6]))
    patterns = PATTERNS[:1] if case.component.drops else PATTERNS
    return case.fits["model"], rows_of(2, 28, patterns)[0]


def complete_rows_are_as_without(case: Case) -> None:
    """If no source is missing, decisions are those without a strategy."""
    rows, y = rows_of(3, 60, PATTERNS[:1])
    usual = fitted(case, rows, y, missing="present").decision_function(rows)
    values = fitted(case, rows, y).decision_function(rows)
    advice = "Don't change kernels and combiner for samples that have all sources."
    # Support vector machines on kernels that differ only in centring agree up to a tolerance.
    expect_close(values, usual, "the decisions of no strategy on complete samples", advice, 1e-6)


def learns_from_rows_that_lack(case: Case) -> None:
    """It separates distinct classes, whatever sources new samples have."""
    model, new = on_all_patterns(case)
    right = float((model.predict(new) == rows_of(2, 28, PATTERNS)[1]).mean())
    advice = "Samples of the class +1 get decision values above zero, the others below."
    expect(
        right >= 0.75,
        "at least 75 % of new samples with the correct sign",
        percentage(right, 0),
        advice,
    )


def each_new_row_by_itself(case: Case) -> None:
    """A sample's decision does not depend on others: alone, among many, in another order."""
    model, new = on_all_patterns(case)
    values, order = model.decision_function(new), np.random.default_rng(0).permutation(28 * 40)
    alone = np.concatenate([model.decision_function(row[None]) for row in new])
    many = model.decision_function(np.tile(new, (40, 1))[order])
    advice = "Compute statistics in fit, not in a call."
    expect_close(alone, values, "the same decision of one sample", advice, 1e-8)
    expect_close(many, np.tile(values, 40)[order], "the same decision among many", advice, 1e-8)


def saved_strategies_decide_the_same(case: Case) -> None:
    """A model loaded from a model file has the same decisions as the saved one."""
    model, new = on_all_patterns(case)
    values, usual = (m.decision_function(new) for m in (saved_and_loaded(model), model))
    expect_close(values, usual, "the loaded model to have the same decisions", KEEP, 1e-12)


def other_rows_are_refused(case: Case) -> None:
    """Samples without sources, and with ``drops`` those with a missing one, raise a DataError."""
    if case.component.fills:
        raise NotApplicable(f"{case.label} fills all gaps")
    pattern = (True, True, False) if case.component.drops else (False, False, False)
    came: object = None
    with suppress(DataError):
        came = on_all_patterns(case)[0].decision_function(rows_of(5, 4, [pattern])[0])
    expect(came is None, "a DataError", came, "Leave it to mklkit which samples raise an error.")


@attrs.frozen
class _Watched(Learner):
    """A support vector machine that keeps the Gram matrices that it is fitted to."""

    name: ClassVar[str] = "watched"
    traits: ClassVar[LearnerTraits] = LearnerTraits(on_gram=True)

    grams: list[Array] = attrs.field(factory=list)

    def fit(self, side: Any, target: Target) -> Any:
        self.grams.append(np.array(side.gram(), dtype=np.float64))
        return SVM(C=1.0).fit(side, target)


def gram_matrices_are_definite(case: Case) -> None:
    """The learner's Gram matrix has no eigenvalue below zero, whichever sources are missing."""
    watched, random = _Watched(), np.random.default_rng(6)
    for seed in range(5):
        patterns = [PATTERNS[0], *(PATTERNS[k] for k in random.integers(7, size=10))]
        fitted(case, *rows_of(seed, 42, patterns), learner=watched)
    for gram in watched.grams:
        expect_close(gram, gram.T, "a symmetric Gram matrix", "Treat both samples alike.", 1e-12)
        least = float(np.linalg.eigvalsh(gram)[0])
        size = len(gram) * float(np.abs(gram).max())
        advice = "Scale samples, or sum positive semi-definite parts."
        expect(least >= -1e-9 * size, "no eigenvalue below zero", significant(least, 3), advice)


MISSING_CHECKS = (
    name_and_description,
    parameters_round_trip,
    values_that_are_no_numbers_are_refused,
    complete_rows_are_as_without,
    learns_from_rows_that_lack,
    each_new_row_by_itself,
    saved_strategies_decide_the_same,
    other_rows_are_refused,
    gram_matrices_are_definite,
)
