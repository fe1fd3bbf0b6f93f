"""Three sources of columns: one that carries the labels, one of noise, one a copy of the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mklkit import MKLClassifier, MKLRegressor
from mklkit.explanation import Explanation

KERNELS = ["scan:rbf@scan_*", "noise:rbf@noise_*", "copy:rbf@copy_*"]
FIRST_TWO = KERNELS[:2]


def three_sources(n_rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows and classes; a row of class 'ill' is shifted by two deviations."""
    random = np.random.default_rng(5)
    labels = np.array(["ill", "well"])[np.arange(n_rows) % 2]
    scan = random.normal(size=(n_rows, 2)) + np.where(labels == "ill", 1.0, -1.0)[:, None]
    columns = np.hstack([scan, random.normal(size=(n_rows, 2)), scan])
    names = [f"{source}_{place}" for source in ("scan", "noise", "copy") for place in "ab"]
    return pd.DataFrame(columns, columns=names), labels


def fitted(kernels: Any = KERNELS, **settings: Any) -> tuple[Any, pd.DataFrame, np.ndarray]:
    """Return a classifier fitted on the three sources, with rows and classes."""
    # The learner's own choice of C would take most of the time.
    settings = {"learner": "svm(C=1)", "random_state": 0, **settings}
    data = three_sources()
    return MKLClassifier(kernels, **settings).fit(*data), *data


def three_numbers(n_rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the rows and a number that is the sum of the first source, with a little noise."""
    rows, _ = three_sources(n_rows)
    noise = np.random.default_rng(6).normal(size=n_rows)
    return rows, 50 + 10 * (rows["scan_a"] + rows["scan_b"]).to_numpy() + noise


def fitted_numbers(kernels: Any = KERNELS, **settings: Any) -> tuple[Any, pd.DataFrame, np.ndarray]:
    """Return a regressor fitted on the three sources, with rows and numbers."""
    settings = {"learner": "ridge(alpha=0.1)", "random_state": 0, **settings}
    data = three_numbers()
    return MKLRegressor(kernels, **settings).fit(*data), *data


def notes_of(explanation: Explanation, about: str) -> str:
    """Return the sentences on a subject."""
    return " ".join(explanation.notes.loc[explanation.notes["about"] == about, "note"])
