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
from mklkit.testing.places import expect_untouched
from mklkit.testing.states import has_drawn

__all__ = ["FEATURE_MAP_CHECKS"]


def says_whether_it_is_explicit(case: Case) -> None:
    """The class and the fitted map agree on whether columns are features or similarities."""
    advice = (
        "Write facts = FeatureMapFacts(explicit=...) in the class, explicit in the fitted map's."
    )
    declared = facts_of(case.component, FeatureMapFacts).explicit
    fitted = getattr(case.fit(), "explicit", None)
    wanted = f"explicit = {declared} in the fitted map too"
    expect(fitted is declared, wanted, repr(fitted), advice)


def columns_have_their_shapes(case: Case) -> None:
    """The number of columns is the same for one row and for many: N if the map is not explicit."""
    fitted = case.fitted()
    n_columns = fitted.transform(case.rows).shape[1]
    if not fitted.explicit:
        n_columns = len(case.rows)
    for n in (1, len(case.new_rows)):
        expect_array(fitted.transform(case.new_rows[:n]), (n, n_columns), "transform(rows)")


def rows_are_left_as_they_are(case: Case) -> None:
    """Neither fitting nor transforming writes into the rows."""
    rows, new_rows = case.rows.copy(), case.new_rows.copy()

    def use() -> None:
        fitted = case.component.fit(case.kernel(case.rows), rows, np.random.RandomState(0))
        fitted.transform(new_rows)

    expect_untouched({"training rows": rows, "new rows": new_rows}, use, case.component)


def each_row_by_itself(case: Case) -> None:
    """A row's columns do not depend on the other rows in the call."""
    fitted = case.fitted()
    together = fitted.transform(case.new_rows)
    alone = np.vstack([fitted.transform(row[None]) for row in case.new_rows])
    advice = "Compute statistics of rows in fit, not in transform."
    expect_close(alone, together, "the same columns for a row alone", advice)


def one_seed_gives_one_map(case: Case) -> None:
    """Fitted twice with the same seed, it is the same map."""
    first, second = (case.fit(seed=3).transform(case.new_rows) for _ in range(2))
    advice = "Draw from the random_state that fit gets."
    expect_close(second, first, "the same columns from the same seed", advice, 1e-12)


def training_order_does_not_matter(case: Case) -> None:
    """Reordered training rows give the same map, up to a rotation of features."""
    if _draws(case):
        raise NotApplicable(f"{case.label} draws rows at random")
    usual = case.fit()
    for order in case.orders:
        columns = usual.transform(case.new_rows)
        others = case.fit(case.rows[order]).transform(case.new_rows)
        if usual.explicit:
            columns, others = columns @ columns.T, others @ others.T
            what = "the same inner products of features"
        else:
            columns = columns[:, order]
            what = "the same similarities, in the rows' new order,"
        advice = "What fit computes from the rows must not depend on their order."
        expect_close(others, columns, f"{what} from reordered training rows", advice, 1e-6)


def implicit_columns_are_similarities(case: Case) -> None:
    """The columns of a map that is not explicit are the kernel's values at the training rows."""
    fitted = case.fitted()
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
    fitted: Any = case.fitted()
    columns = fitted.transform(case.rows)
    advice = "Correct it, or leave it out: it is optional."
    applicable = False
    if fitted.from_landmarks:
        applicable = True
        values = fitted.from_similarities(fitted.kernel(case.rows, fitted.landmarks))
        what = "from_similarities(kernel(rows, landmarks)) to be transform(rows)"
        expect_close(values, columns, what, advice)
    ready = fitted.training_features()
    if ready is not None:
        applicable = True
        what = "training_features() to be transform(training rows)"
        expect_close(ready, columns, what, advice, 1e-6)
    if fitted.from_landmarks and not fitted.explicit:
        applicable = True
        some = np.arange(0, len(case.rows), 3)
        fewer = fitted.with_landmarks(case.rows[some]).transform(case.new_rows)
        what = "with_landmarks(rows) to give the columns of those rows"
        expect_close(fewer, fitted.transform(case.new_rows)[:, some], what, advice)
    diagonal = fitted.squared_lengths()
    if diagonal is not None:
        applicable = True
        what = "features.T @ features to be diag(squared_lengths())"
        expect_close(columns.T @ columns, np.diag(diagonal), what, advice, 1e-6)
    if not applicable:
        raise NotApplicable(f"{case.label} has no such methods")


def _draws(case: Case) -> bool:
    random_state = np.random.RandomState(0)
    case.component.fit(case.kernel(case.rows), case.rows, random_state)
    return has_drawn(random_state, 0)


FEATURE_MAP_CHECKS = (
    rows_are_left_as_they_are,
    says_whether_it_is_explicit,
    columns_have_their_shapes,
    each_row_by_itself,
    one_seed_gives_one_map,
    training_order_does_not_matter,
    implicit_columns_are_similarities,
    shortcuts_agree_with_transform,
)
