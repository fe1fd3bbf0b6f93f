"""Sources of the same samples, joined into one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from mklkit.errors import DataError, counted, quoted
from mklkit.numerics.sparse import refuse_sparse

Places = dict[str, NDArray[np.intp]]
"""The positions of the columns of each source, by its name."""


def join_sources(sources: Mapping[str, Any]) -> pd.DataFrame:
    """Join the columns of several sources of the same samples into one table.

    ``fit`` of an estimator does this if it gets a mapping; use it where a function of scikit-learn
    needs one table, such as ``cross_validate``.

    Parameters
    ----------
    sources : mapping of str to DataFrame, Series or array-like of shape (N, d) or (N,)
        The sources by name, with the same samples in the same order.

    Returns
    -------
    DataFrame of shape (N, sum of all d)
        Columns are named ``source_column``, by position if they have no names; that of a source
        with one unnamed column is named like the source.

    Raises
    ------
    DataError
        If there is no source, a name is no text, or sources differ in their samples: in number, or
        in the index of data frames.

    See Also
    --------
    MKLClassifier.fit : Takes such a mapping.

    Examples
    --------
    >>> table = join_sources({"lab": [[1.0, 2.0], [3.0, 4.0]], "note": ["well", "tired"]})
    >>> list(table.columns)
    ['lab_0', 'lab_1', 'note']
    """
    return _joined(sources)[0]


def joined_and_places(X: Any) -> tuple[Any, Places | None]:
    """Return a mapping of sources as one table, and the columns of each; others unchanged."""
    is_mapping = isinstance(X, Mapping) and not issparse(X)
    return _joined(X) if is_mapping else (X, None)


def _joined(sources: Mapping[str, Any]) -> tuple[pd.DataFrame, Places]:
    if not sources:
        raise DataError("Expected at least one source, as in {'mrna': X}; got an empty mapping.")
    frames: dict[str, pd.DataFrame] = {}
    for name, source in sources.items():
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"Sources are named by text, as in {{'mrna': X}}; got {quoted(name)}.")
        frames[name] = _frame(name, source)
    lengths = {name: len(frame) for name, frame in frames.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(f"Sources must have the same samples; their numbers differ: {told}.")
    _check_index(frames, sources)
    places: Places = {}
    start = 0
    for name, frame in frames.items():
        places[name] = np.arange(start, start + frame.shape[1])
        start += frame.shape[1]
    table = pd.concat([frame.reset_index(drop=True) for frame in frames.values()], axis=1)
    if not table.columns.is_unique:
        repeated = table.columns[table.columns.duplicated()][0]
        raise DataError(
            f"Two columns would be named {quoted(str(repeated))}: rename sources or columns."
        )
    first = next((s for s in sources.values() if isinstance(s, pd.DataFrame | pd.Series)), None)
    return table if first is None else table.set_axis(first.index), places


def _frame(name: str, source: Any) -> pd.DataFrame:
    refuse_sparse(source)
    if isinstance(source, pd.DataFrame):
        return source.set_axis([f"{name}_{column}" for column in source.columns], axis=1)
    if isinstance(source, pd.Series):
        return source.to_frame(name)
    try:
        array = np.asarray(source)
    except ValueError as error:  # Rows of different lengths.
        raise DataError(f"Source {quoted(name)} is no table: {error}") from error
    if array.ndim == 1 and len(array):
        return pd.DataFrame({name: source if isinstance(source, list) else array})
    if array.ndim != 2 or not array.shape[1]:
        raise DataError(
            f"Source {quoted(name)} must have rows and columns, or a value per sample; got shape"
            f" {array.shape}."
        )
    columns = [f"{name}_{place}" for place in range(array.shape[1])]
    frame = pd.DataFrame(array, columns=columns)
    return frame.infer_objects() if array.dtype == object else frame


def _check_index(frames: Mapping[str, pd.DataFrame], sources: Mapping[str, Any]) -> None:
    """Refuse data frames whose indices name other samples, or the same in another order."""
    indexed = {
        name: source.index
        for name, source in sources.items()
        if isinstance(source, pd.DataFrame | pd.Series)
        and not isinstance(source.index, pd.RangeIndex)
    }
    if len(indexed) < 2:
        return
    first, *others = indexed
    for name in others:
        differ = np.flatnonzero(np.asarray(indexed[name] != indexed[first]))
        if len(differ):
            row = int(differ[0])
            raise DataError(
                f"Sources {quoted(first)} and {quoted(name)} have different indices in"
                f" {counted(len(differ), 'row')}: row {row} (counted from 0) is"
                f" {quoted(indexed[first][row])} in one and {quoted(indexed[name][row])} in the"
                " other. Put their samples into the same order, as in X2.loc[X1.index]."
            )
