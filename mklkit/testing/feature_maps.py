"""Checks of a feature map by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit.protocols import (
    FeatureMapFacts,
    facts_of,
)
from mklkit.testing.cases import Case
from mklkit.testing.expectations import NotApplicable, expect, expect_array, expect_close

__all__ = [
    "columns_have_their_shapes",
    "implicit_columns_are_similarities",
    "says_whether_it_is_explicit",
    "shortcuts_agree_with_transform",
]


def says_whether_it_is_explicit(case: Case) -> None:
    """The class and the fitted map agree on whether columns are features or similarities."""
    advice = (
        "Write facts = FeatureMapFacts(explicit=...) in the class, explicit in the fitted map's."
    )
    declared = facts_of(case.component, FeatureMapFacts).explicit
    fitted = getattr(case.fit().fitted, "explicit", None)
    wanted = f"explicit = {declared} in the fitted map too"
    expect(fitted is declared, wanted, repr(fitted), advice)


def columns_have_their_shapes(case: Case) -> None:
    """The number of columns is the same for one row and for many: N if the map is not explicit."""
    fitted = case.fitted().fitted
    n_columns = fitted.transform(case.rows).shape[1]
    if not fitted.explicit:
        n_columns = len(case.rows)
    for n in (1, len(case.new_rows)):
        expect_array(fitted.transform(case.new_rows[:n]), (n, n_columns), "transform(rows)")


def implicit_columns_are_similarities(case: Case) -> None:
    """The columns of a map that is not explicit are the kernel's values at the training rows."""
    fitted = case.fitted().fitted
    if fitted.explicit:
        raise NotApplicable(f"{case.label} is explicit")
    expect_close(
        fitted.transform(case.new_rows),
        case.kernel(case.rows)(case.new_rows, case.rows),
        "transform(rows) to be kernel(rows, training rows)",
        "Learners are fitted on the kernel's Gram matrix; a map with other values must be"
        " explicit.",
    )


def shortcuts_agree_with_transform(case: Case) -> None:
    """The map's optional methods for saving work give the same columns."""
    fitted: Any = case.fitted().fitted
    columns, new_columns = fitted.transform(case.rows), fitted.transform(case.new_rows)
    shortcuts: list[tuple[str, Any, Any]] = []
    if fitted.from_landmarks:
        values = fitted.from_similarities(fitted.kernel(case.rows, fitted.landmarks))
        label = "from_similarities(kernel(rows, landmarks)) to be transform(rows)"
        shortcuts.append((label, values, columns))
    if fitted.training_features() is not None:
        label = "training_features() to be transform(training rows)"
        shortcuts.append((label, fitted.training_features(), columns))
    if fitted.from_landmarks and not fitted.explicit:
        members = np.arange(0, len(case.rows), 3)
        fewer = fitted.with_landmarks(case.rows[members]).transform(case.new_rows)
        label = "with_landmarks(rows) to give the columns of those rows"
        shortcuts.append((label, fewer, new_columns[:, members]))
    lengths = fitted.squared_lengths()
    if lengths is not None:
        label = "features.T @ features to be diag(squared_lengths())"
        shortcuts.append((label, columns.T @ columns, np.diag(lengths)))
    if not shortcuts:
        raise NotApplicable(f"{case.label} has no such methods")
    for label, values, usual in shortcuts:
        expect_close(values, usual, label, "Correct it, or leave it out: it is optional.", 1e-6)
