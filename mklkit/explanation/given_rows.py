"""The rows, with their classes or numbers, by which a model is explained."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import DataError, counted, named, suggest
from mklkit.estimators.introspection import column_names
from mklkit.explanation.tasks import ScoredTask
from mklkit.protocols import RowSource
from mklkit.views.dask import is_dask

__all__ = ["GivenRows"]


@attrs.frozen(eq=False)
class GivenRows:
    """A table with the user's columns, and what is to be predicted.

    Attributes
    ----------
    table : DataFrame of shape (N, d)
    targets : ndarray of shape (N,) or (N, T)
    task : ScoredTask
    as_array : bool
        Whether the model was fitted on rows without column names.
    """

    table: pd.DataFrame
    targets: NDArray[Any]
    task: ScoredTask
    as_array: bool

    @classmethod
    def of(cls, model: Any, task: ScoredTask, X: Any, y: Any) -> Self:
        """Return checked rows, with the columns that the model was fitted on, in their order.

        Raises
        ------
        DataError
            If rows are not in memory, a column is missing, or y is not what the model can be
            scored by.
        """
        if isinstance(X, RowSource) or is_dask(X):
            raise DataError("Explaining needs rows in memory: pass a sample of them.")
        table = X if isinstance(X, pd.DataFrame) else _frame(X)
        names = column_names(model)
        as_array = bool(np.issubdtype(names.dtype, np.integer))
        if not as_array and isinstance(X, pd.DataFrame):
            table = _with_columns(table, names.tolist())
        elif table.shape[1] != len(names):
            raise DataError(
                f"The model was fitted on {counted(len(names), 'column')}; the rows have"
                f" {table.shape[1]}."
            )
        elif not as_array:
            table = table.set_axis(names, axis=1)
        return cls(table, task.checked(y, len(table)), task, as_array)

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""
        return [str(name) for name in self.table.columns]

    def given(self, table: pd.DataFrame) -> Any:
        """Return rows of the table in the form on which the model was fitted."""
        return table.to_numpy() if self.as_array else table

    def sampled(self, most: int | None, seed: int) -> tuple[Self, list[str]]:
        """Return a sample of at most so many rows, and a note if there are more."""
        if most is None or len(self.table) <= most:
            return self, []
        kept, how = self.task.sample(self.targets, most, seed)
        note = f"{len(kept):,} rows of {len(self.table):,}, drawn {how}"
        return attrs.evolve(self, table=self.table.iloc[kept], targets=self.targets[kept]), [note]


def _frame(X: Any) -> pd.DataFrame:
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise DataError(f"Expected a table of rows and columns; got shape {rows.shape}.")
    return pd.DataFrame(rows)


def _with_columns(table: pd.DataFrame, wanted: list[str]) -> pd.DataFrame:
    found = [str(name) for name in table.columns]
    missing = [name for name in wanted if name not in found]
    if missing:
        others = [name for name in found if name not in wanted]
        raise DataError(
            f"The data lack {named(missing)} of the model.{suggest(missing[0], others)}"
        )
    return table[wanted]
