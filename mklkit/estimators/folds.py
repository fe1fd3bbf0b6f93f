"""The folds of a search or a comparison: a number of them, or folds that are given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from mklkit.errors import DataError, IncompatibleError, SpecError, plain_message, quoted, type_name
from mklkit.estimators.introspection import classifier_in
from mklkit.protocols.component import is_whole
from mklkit.protocols.folds import Rows, dealt, plan_folds, single_note

USUAL_FOLDS = 5
"""As in scikit-learn."""

Folds = tuple[list[tuple[Rows, Rows]], list[str]]
"""The rows to train on and to score in each fold, and notes."""


def splits_of(
    cv: Any,
    X: Any,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    seed: int,
    kept: NDArray[np.bool_] | None = None,
    repeats: int = 1,
    groups: NDArray[Any] | None = None,
) -> Folds:
    """Return the rows to train on and to score in each fold, and notes on the folds.

    ``cv`` is a number of shuffled stratified folds (None: five), a splitter, or a list of (training
    rows, scored rows), whose row numbers may count rows that are not ``kept`` in X. A fold is
    refused if its training rows lack a class of several rows, or if it divides a group of rows.
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
    """Return the folds of a splitter or list, which may refer to ``rows``."""
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
            f" test rows); got {cv!r:.80}: {reason.rstrip('.'):.200}."
        )
    return splits


def check_apart(splits: Sequence[tuple[Rows, Rows]], groups: NDArray[Any] | None) -> None:
    """Raise a DataError if a group is among both training and scored rows of a fold."""
    for fold, (training, scored) in enumerate([] if groups is None else splits):
        assert groups is not None
        both = np.intersect1d(groups[training], groups[scored])
        if len(both):
            raise DataError(
                f"Fold {fold} has rows of group {quoted(both.tolist()[0])} both to train on and to"
                " score. Give cv as a number of folds, 'groups', or a splitter that keeps groups"
                " together, such as scikit-learn's GroupKFold."
            )


def fit_in_groups(
    estimator: Any, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
) -> dict[str, Any]:
    """Return the arguments that make ``fit`` keep groups of rows (N,) together.

    A scikit-learn search that is the estimator, or its last step, is set to folds of groups, and
    boosting to hold out no rows at random. Raises if a search would divide a group.
    """
    if groups is None:
        return {}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        params = fit_in_groups(last, X, y, groups)
        return {f"{name}__{key}": value for key, value in params.items()}
    if isinstance(estimator, BaseSearchCV):
        inside = classifier_in(estimator.estimator)
        if has_fit_parameter(inside, "groups"):
            raise IncompatibleError(
                f"{type_name(estimator)} passes no groups to {type_name(inside)}, which splits rows"
                " too: use MKLSearchCV, or scikit-learn's cross_validate and metadata routing."
            )
        splits = given_splits(
            estimator.cv, X, y, np.arange(len(y)), is_classifier(estimator), groups
        )
        check_apart(splits, groups)
        estimator.set_params(cv=splits)
        return {}
    if estimator.get_params(deep=False).get("early_stopping") == "auto":
        estimator.set_params(early_stopping=False)
    return {"groups": groups} if has_fit_parameter(estimator, "groups") else {}


def stratified_folds(
    cv: Any, labels: NDArray[Any], seed: Any, repeats: int = 1, groups: NDArray[Any] | None = None
) -> Folds:
    """Return the folds of a number, splitter or list; those of a number are stratified."""
    classes, codes = np.unique(labels, return_inverse=True)
    return splits_of(cv, codes[:, None], codes, classes, seed, repeats=repeats, groups=groups)


def shuffled_folds(
    cv: Any, numbers: NDArray[Any], seed: Any, repeats: int = 1, groups: NDArray[Any] | None = None
) -> Folds:
    """Return the folds of a number, splitter or list; those of a number have two rows or more."""
    rows, notes = np.arange(len(numbers)), []
    if is_whole(cv) and cv >= 2:
        if len(rows) < 4:
            raise DataError(f"R² on folds needs at least four rows; there are {len(rows)}.")
        n_groups = len(rows) if groups is None else len(np.unique(groups))
        n_folds = min(int(cv), len(rows) // 2, n_groups)
        if n_folds < cv:
            there_are = f"{len(rows)} rows" if groups is None else f"{n_groups} groups"
            notes.append(f"{n_folds} folds instead of {cv}: there are {there_are}")
        if n_folds < 2:
            raise DataError("All rows belong to one group, so there is no other group to score.")
        generator = check_random_state(seed)
        repeated = (dealt(n_folds, generator, rows, groups, False) for _ in range(repeats))
        cv = [
            (np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
            for fold_of in repeated
            for fold in range(n_folds)
        ]
    splits = given_splits(cv, rows[:, None], numbers, rows, False, groups)
    check_apart(splits, groups)
    return splits, notes
