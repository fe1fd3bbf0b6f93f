"""The folds of a search or a comparison: a number of them, or those that are given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from mklkit.errors import DataError, SpecError, plain_message, quoted
from mklkit.protocols.component import is_whole
from mklkit.protocols.folds import plan_folds, single_note

Rows = NDArray[np.intp]

USUAL_FOLDS = 5
"""As in scikit-learn."""


def splits_of(
    cv: Any,
    X: Any,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    seed: int,
    kept: NDArray[np.bool_] | None = None,
    repeats: int = 1,
    groups: NDArray[Any] | None = None,
) -> tuple[list[tuple[Rows, Rows]], list[str]]:
    """Return the rows to train on and to score of each fold, and notes on the folds.

    ``cv`` is a number of shuffled stratified folds (None: five), a splitter, or a list of (training
    rows, scored rows), which may number rows that are not all ``kept`` in X. A fold whose training
    rows lack a class of several rows is refused, and one that divides a group of rows.
    """
    if cv is None:
        cv = USUAL_FOLDS
    if is_whole(cv) and cv >= 2:
        plan = plan_folds(codes, int(cv), repeats, groups)
        return list(plan.splits(codes, seed)), plan.notes
    if not isinstance(cv, Sequence):
        kept = None
    rows = np.arange(len(codes) if kept is None else len(kept))
    splits_given = given_splits(cv, X, codes, rows, True, groups)
    if kept is not None:
        places = np.cumsum(kept) - 1
        splits_given = [(places[a[kept[a]]], places[b[kept[b]]]) for a, b in splits_given]
    check_apart(splits_given, groups)
    splits = []
    moved: set[int] = set()
    units = np.arange(len(codes)) if groups is None else groups
    counts = np.bincount(np.unique(np.column_stack([codes, units]), axis=0)[:, 0])
    for fold, (training, scored) in enumerate(splits_given):
        absent = np.setdiff1d(codes, codes[training])
        if (counts[absent] > 1).any():
            raise DataError(
                f"The training rows of fold {fold} lack class"
                f" {classes.tolist()[absent[0]]!r}; use stratified folds."
            )
        moved.update(absent.tolist())
        single = np.isin(units[scored], units[scored[np.isin(codes[scored], absent)]])
        splits.append((np.concatenate([training, scored[single]]), scored[~single]))
    scoring = [split for split in splits if len(split[1])]
    if not scoring:
        raise DataError("No fold has rows to score: each has the only rows of a class.")
    unit = "row" if groups is None else "group"
    return scoring, [single_note(len(moved), unit)] if moved else []


def given_splits(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    rows: Rows,
    classifier: bool,
    groups: NDArray[Any] | None = None,
) -> list[tuple[Rows, Rows]]:
    """Return the folds of a splitter or list, of which ``rows`` are the rows that it may name."""
    reason = "it gives no fold"
    try:
        with warnings.catch_warnings():
            # Whether a splitter that ignores groups divides one is checked by check_apart.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            parts = check_cv(cv, y, classifier=classifier).split(X, y, groups)
            splits = [(rows[training], rows[scored]) for training, scored in parts]
    except (TypeError, ValueError, IndexError) as error:
        splits, reason = [], plain_message(error)
    if not splits:
        raise SpecError(
            "cv must be a number of folds (at least 2), a splitter, or a list of (training rows,"
            f" test rows); got {cv!r:.80}: {reason:.200}."
        )
    return splits


def check_apart(splits: Sequence[tuple[Rows, Rows]], groups: NDArray[Any] | None) -> None:
    """Refuse, by a DataError, folds with rows of a group among training and scored rows."""
    for fold, (training, scored) in enumerate([] if groups is None else splits):
        assert groups is not None
        both = np.intersect1d(groups[training], groups[scored])
        if len(both):
            raise DataError(
                f"Fold {fold} has rows of group {quoted(both.tolist()[0])} both to train on and to"
                " score. Give cv as a number of folds, 'groups', or a splitter that keeps groups"
                " together, such as scikit-learn's GroupKFold."
            )
