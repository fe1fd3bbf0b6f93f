"""Checks of a feature map by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit.protocols import (
    FeatureMapFacts,
    LandmarkMap,
    OrthogonalFeatures,
    RememberedFeatures,
    TrimmableMap,
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
    columns = fitted.transform(case.rows)
    advice = "Correct it, or leave it out: it is optional."
    applicable = False
    if isinstance(fitted, LandmarkMap):
        applicable = True
        values = fitted.from_similarities(fitted.kernel(case.rows, fitted.landmarks))
        what = "from_similarities(kernel(rows, landmarks)) to be transform(rows)"
        expect_close(values, columns, what, advice)
    ready = fitted.training_features() if isinstance(fitted, RememberedFeatures) else None
    if ready is not None:
        applicable = True
        what = "training_features() to be transform(training rows)"
        expect_close(ready, columns, what, advice, 1e-6)
    if isinstance(fitted, TrimmableMap):
        applicable = True
        some = np.arange(0, len(case.rows), 3)
        fewer = fitted.with_landmarks(case.rows[some]).transform(case.new_rows)
        what = "with_landmarks(rows) to give the columns of those rows"
        expect_close(fewer, fitted.transform(case.new_rows)[:, some], what, advice)
    diagonal = fitted.squared_lengths() if isinstance(fitted, OrthogonalFeatures) else None
    if diagonal is not None:
        applicable = True
        what = "features.T @ features to be diag(squared_lengths())"
        expect_close(columns.T @ columns, np.diag(diagonal), what, advice, 1e-6)
    if not applicable:
        raise NotApplicable(f"{case.label} has no such methods")
