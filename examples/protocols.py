"""The common parts of the scripts of papers 000, 002 and 004: data, halves, scalings, tables.

All three papers repeat a random division of the rows into a training and a test part, and choose c
and λ on the training part. Their accuracies are multiples of 1/(10·half the rows): ten halves.

None of them states whether features are scaled. So everything is run with and without scaling, and
per division the result that cross-validation on the training part prefers is compared.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import get_registry

__all__ = [
    "SCALINGS",
    "DataSet",
    "Fitted",
    "Scores",
    "compare",
    "folds",
    "parser",
    "print_table",
    "read",
    "require_plugins",
    "wanted",
]

SCALINGS = ("raw", "standardised")


class DataSet(NamedTuple):
    """Rows (N, d), missing values as NaN, and class labels (N,)."""

    rows: NDArray[np.float64]
    labels: NDArray[Any]


class Fitted(NamedTuple):
    """A fitted classifier and its cross-validated accuracy on the training part."""

    model: Any
    cv_score: float


class Scores(NamedTuple):
    """Test accuracies in per cent, one per division: of each scaling, and of the preferred one."""

    raw: NDArray[np.float64]
    standardised: NDArray[np.float64]
    preferred: NDArray[np.float64]


def parser(description: str | None, sets: Iterable[str], splits: int) -> argparse.ArgumentParser:
    """Return the arguments that the scripts have in common."""
    common = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    common.add_argument("--data", type=Path, required=True, help="folder of CSV files (or .csv.gz)")
    common.add_argument("--splits", type=int, default=splits, help=f"halves (default {splits})")
    common.add_argument(
        "--only",
        nargs="+",
        choices=list(sets),
        metavar="NAME",
        help="some of the data sets",
    )
    return common


def require_plugins(needed: Mapping[str, str]) -> None:
    """Exit with installation instructions unless all combiners are registered.

    Parameters
    ----------
    needed : mapping of str to str
        The distribution that each combiner comes from.
    """
    known = {entry.name for entry in get_registry().entries("combiner")}
    if missing := sorted(needed.keys() - known):
        absent = ", ".join(sorted({needed[name] for name in missing}))
        print(
            f"Expected the combiners {', '.join(missing)} of {absent}: install them first (pip"
            " install ./plugins/NAME), and leave MKLKIT_DISABLE_PLUGINS unset.",
            file=sys.stderr,
        )
        raise SystemExit(2)


def wanted(arguments: argparse.ArgumentParser, options: Any, files: dict[str, str]) -> list[str]:
    """Return the data sets given by --only, by default all; their files must exist."""
    names = [name for name in files if not options.only or name in options.only]
    if missing := [files[name] for name in names if _path(options.data, files[name]) is None]:
        arguments.error(f"expected {', '.join(f'{file}.csv' for file in missing)} in --data")
    return names


def read(folder: Path, name: str, columns: int | None = None) -> DataSet:
    """Return a data set: y, n and missing become 1, -1 and 0; other missing values stay NaN.

    Parameters
    ----------
    folder : Path
    name : str
        The file is ``name.csv`` or ``name.csv.gz``: a header row, the class in column ``target``.
    columns : int, optional
        Use only the first features.
    """
    path = _path(folder, name)
    if path is None:
        raise FileNotFoundError(f"expected {name}.csv or {name}.csv.gz in {folder}")
    table = pd.read_csv(path)
    labels = table.pop("target").to_numpy()
    votes = table.select_dtypes(exclude="number").columns
    table[votes] = table[votes].apply(lambda column: column.map({"y": 1, "n": -1}).fillna(0))
    return DataSet(table.iloc[:, :columns].to_numpy(dtype=float), labels)


def _path(folder: Path, name: str) -> Path | None:
    paths = [folder / f"{name}.csv", folder / f"{name}.csv.gz"]
    return next((path for path in paths if path.is_file()), None)


def folds(
    labels: NDArray[Any], n_folds: int, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return stratified folds; rows of classes that are too small are in all training parts."""
    classes, codes = np.unique(labels, return_inverse=True)
    divisible = np.bincount(codes, minlength=len(classes))[codes] >= n_folds
    rows, others = np.flatnonzero(divisible), np.flatnonzero(~divisible)
    cut = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, codes[rows])
    return [(np.concatenate([rows[training], others]), rows[test]) for training, test in cut]


def compare(
    data: DataSet,
    n_splits: int,
    fit: Callable[[NDArray[np.float64], NDArray[Any], int], dict[str, Fitted]],
) -> dict[str, Scores]:
    """Return each method's accuracies over random halves, stratified by class.

    Parameters
    ----------
    data : DataSet
    n_splits : int
    fit : callable
        ``fit(rows, labels, seed)`` on a training part returns the fitted methods by name.
    """
    halves = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0)
    # At the ends of the papers' grids the iteration stops at max_iter or the papers' criterion.
    warnings.simplefilter("ignore", ConvergenceWarning)
    accuracies: dict[str, list[list[float]]] = {}
    cv_scores: dict[str, list[list[float]]] = {}
    for seed, (training, test) in enumerate(halves.split(data.rows, data.labels)):
        for scaling in SCALINGS:
            gaps = SimpleImputer(keep_empty_features=True)
            scaler = make_pipeline(gaps, StandardScaler()) if scaling == "standardised" else gaps
            known = scaler.fit_transform(data.rows[training])
            unseen = scaler.transform(data.rows[test])
            for name, (model, score) in fit(known, data.labels[training], seed).items():
                accuracy = 100 * model.score(unseen, data.labels[test])
                if scaling == SCALINGS[0]:
                    accuracies.setdefault(name, []).append([])
                    cv_scores.setdefault(name, []).append([])
                accuracies[name][-1].append(accuracy)
                cv_scores[name][-1].append(score)
    return {
        name: _scores(np.array(accuracies[name]), np.array(cv_scores[name])) for name in accuracies
    }


def _scores(accuracies: NDArray[np.float64], cv_scores: NDArray[np.float64]) -> Scores:
    preferred = cv_scores.round(12).argmax(axis=1)  # the first of equal ones: raw
    chosen = np.take_along_axis(accuracies, preferred[:, None], axis=1)[:, 0]
    return Scores(accuracies[:, 0], accuracies[:, 1], chosen)


def print_table(
    names: Sequence[str],
    rows_of: Callable[[str], Iterable[tuple[str, Scores, float]]],
) -> None:
    """Print a Markdown table of our and the published results, row by row.

    Parameters
    ----------
    names : sequence of str
        Data sets.
    rows_of : callable
        ``rows_of(name)`` returns the method, our accuracies and the published one, row by row.
    """
    print("| set | method | raw | standardised | compared | published | gap |")
    print("|---|---|--:|--:|--:|--:|--:|", flush=True)
    talk = Console(stderr=True)
    for name in track(names, "data sets", console=talk, disable=not talk.is_terminal):
        for method, ours, published in rows_of(name):
            cells = [name, method, *(_mean(scores) for scores in ours)]
            cells += [f"{published:.2f}", f"{ours.preferred.mean() - published:+.2f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


def _mean(accuracies: NDArray[np.float64]) -> str:
    # One division has no standard deviation.
    spread = np.std(accuracies, ddof=1) if len(accuracies) > 1 else np.nan
    return f"{np.mean(accuracies):.2f} ({spread:.2f})"
