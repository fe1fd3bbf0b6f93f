"""What a file that is read whole holds: a table, and perhaps the names of its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array, issparse

from mklkit.numerics.sparse import as_matrix, of_zeros, sparse_frame, take_rows
from mklkit.numerics.sparse_rows import gaps_filled
from mklkit.views.scaling import fits_dense

UNNAMED = "id"
"""What the names of samples are called if their file does not say."""


@attrs.frozen(eq=False)
class FileContents:
    """The table in a file, which may name its samples and divide its columns into sources.

    Attributes
    ----------
    frame : DataFrame of shape (N, d)
    notes : list of str
        How the file was read.
    ids : Series of shape (N,), optional
        The names of the samples, if the file keeps these apart from the columns.
    sources : mapping of str to sequence of str, optional
        The columns of each source, outcomes first, if the file divides them.
    unnamed : bool
        Whether the file holds numbers alone: no names of samples, and no outcomes.
    labels : DataFrame of shape (N, k), optional
        The labels of rows that pandas wrote, by their names, which are no columns.
    """

    frame: pd.DataFrame
    notes: list[str] = attrs.field(factory=list)
    ids: pd.Series | None = None
    sources: Mapping[str, Sequence[str]] | None = None
    unnamed: bool = False
    labels: pd.DataFrame | None = None


def matrix_columns(matrix: Any, names: Sequence[str]) -> pd.DataFrame:
    """Return a matrix, sparse or not, as a table: a large sparse one as pandas' sparse columns."""
    if not issparse(matrix):
        return pd.DataFrame(matrix, columns=list(names))
    if fits_dense(matrix, matrix.shape[0]):
        return pd.DataFrame(matrix.toarray(), columns=list(names))
    columns = csc_array(matrix)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return sparse_frame(columns, names)


def in_rows(table: pd.DataFrame, labels: pd.Index) -> pd.DataFrame:
    """Return the rows with these labels, in their order, without values where there is none.

    Sparse columns stay sparse.
    """
    if len(of_zeros(table)) < table.shape[1]:
        return table.reindex(labels)
    places = table.index.get_indexer(labels)
    absent = places < 0
    if not absent.any():
        return take_rows(table, places)
    there = csr_array(as_matrix(table))[places[~absent]]
    ends = np.concatenate([[0], np.cumsum(~absent)])
    # An absent sample is an empty row before its gaps are filled in.
    ends = there.indptr[ends]
    rows = csr_array((there.data, there.indices, ends), (len(labels), table.shape[1]))
    gaps = np.full(table.shape[1], np.nan)
    return sparse_frame(gaps_filled(rows, absent, gaps), table.columns.tolist(), labels)
