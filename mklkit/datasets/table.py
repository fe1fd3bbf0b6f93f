"""Tables as they are read from files, with a target, or with new rows."""

from __future__ import annotations

from typing import Any

import attrs
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from mklkit.datasets.readings import ColumnReading
from mklkit.errors import counted

# The summary of a data set shows only its largest classes.
CLASSES_SHOWN = 6


@attrs.frozen(eq=False)
class RawTable:
    """A file as its reader returns it."""

    frame: pd.DataFrame
    notes: list[str] = attrs.field(factory=list)
    decimal: str | None = None
    """The decimal mark of a format whose target may be numbers in text."""
    name: str = ""
    origin: str = ""


@attrs.frozen(eq=False)
class Table:
    """Rows for training.

    Attributes
    ----------
    features : pandas.DataFrame of shape (n_rows, n_features)
        Columns of any type, gaps included, under unique text names.
    target : pandas.Series of shape (n_rows,)
        Class labels (text, integers or booleans), or numbers, without gaps.
    name : str
        The name of the data.
    origin : str
        Their origin, such as ``"built into scikit-learn"`` or ``"CSV file heart.csv"``.
    notes : list of str
        Remarks on the data as read.
    dropped : list of str
        Columns that were left out because the user asked for it.
    readings : dict of str to ColumnReading
        How columns of text are read. ``load_features`` and ``TableEncoder`` read later data in the
        same way.
    all_counts : pandas.Series, optional
        The number of rows of each class, where the rows here are a sample of more.
    weights : pandas.Series of shape (n_rows,), optional
        How much each row counts, where a column says so; it is none of the features.
    task : {"classification", "regression"}, default="classification"
        Whether the target holds classes or numbers.
    """

    features: pd.DataFrame
    target: pd.Series
    name: str
    origin: str
    notes: list[str] = attrs.field(factory=list)
    dropped: list[str] = attrs.field(factory=list)
    readings: dict[str, ColumnReading] = attrs.field(factory=dict)
    all_counts: pd.Series | None = None
    weights: pd.Series | None = None
    task: str = "classification"

    def class_counts(self) -> pd.Series:
        """Return the number of rows of each class, the largest first (ties by label)."""
        counts = self.all_counts
        if counts is None:
            counts = self.target.value_counts().sort_index()
        return counts.sort_values(ascending=False, kind="stable")

    def facts(self) -> dict[str, Any]:
        """Return plain values that describe the data, as files of models have them."""
        facts = {
            "name": self.name,
            "origin": self.origin,
            "rows": len(self.target),
            "columns": self.features.columns.tolist(),
            "dropped": self.dropped,
            "readings": {name: reading.notation for name, reading in self.readings.items()},
            "target": str(self.target.name),
            "task": self.task,
            "weights": None if self.weights is None else str(self.weights.name),
            "notes": list(self.notes),
        }
        if self.task == "regression":
            return facts
        counts = self.class_counts()
        classes = [{"label": label, "rows": rows} for label, rows in counts.items()]
        return {**facts, "rows": int(counts.sum()), "classes": classes}

    def summary(self) -> str:
        """Return the data in one line: rows, features, classes or range, target."""
        columns = [self.features[name] for name in self.features]
        n_text = sum(not is_numeric_dtype(c) or is_bool_dtype(c) for c in columns)
        features = counted(len(columns), "feature") + (f" ({n_text} not numeric)" if n_text else "")
        target = f"target {str(self.target.name)!r}"
        if self.task == "regression":
            bounds = f"numbers from {self.target.min():g} to {self.target.max():g}"
            rows = counted(len(self.target), "row")
            return f"{self.name}: {rows}, {features}; {target}, {bounds}"
        counts = self.class_counts()
        classes = [f"{label} ({count})" for label, count in counts.head(CLASSES_SHOWN).items()]
        if len(counts) > CLASSES_SHOWN:
            classes.append(f"{len(counts) - CLASSES_SHOWN} more")
        weights = "" if self.weights is None else f", weights {str(self.weights.name)!r}"
        return (
            f"{self.name}: {counted(int(counts.sum()), 'row')}, {features}, {len(counts)} classes:"
            f" {', '.join(classes)}; {target}{weights}"
        )


@attrs.frozen(eq=False)
class NewRows:
    """New rows for prediction.

    Attributes
    ----------
    features : pandas.DataFrame of shape (n_rows, n_features)
        The requested columns, in that order.
    target : pandas.Series of shape (n_rows,) or None
        The true labels if the data have them (gaps possible), else None.
    notes : list of str
        Remarks on the data as read.
    """

    features: pd.DataFrame
    target: pd.Series | None = None
    notes: list[str] = attrs.field(factory=list)
