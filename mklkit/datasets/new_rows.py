"""New rows to predict for, from a name or a path, whole or in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike

import attrs
import pandas as pd

from mklkit.datasets.files import ChunkedTable, Progress, RawTable, is_large, read_whole
from mklkit.datasets.readings import read_as_text, read_later
from mklkit.datasets.table import check_rows, read_target
from mklkit.datasets.table_schema import notations_in
from mklkit.errors import DataError, listed, suggest
from mklkit.protocols import Schema


@attrs.frozen(eq=False)
class NewRows:
    """New rows for prediction.

    Parameters
    ----------
    features : pandas.DataFrame of shape (n_rows, n_features)
        The requested columns, in that order.
    targets : pandas.DataFrame
        The requested target columns that the data have, such as the true labels (gaps possible).
    notes : list of str
        Remarks on the data as read.

    See Also
    --------
    load_features : Reads them from a file.

    Examples
    --------
    >>> rows = NewRows(pd.DataFrame({"length": [1.0]}), pd.DataFrame({"species": ["a"]}))
    >>> rows.features.shape, rows.notes
    ((1, 1), [])
    """

    features: pd.DataFrame
    targets: pd.DataFrame
    notes: list[str] = attrs.field(factory=list)

    @property
    def target(self) -> pd.Series | None:
        """The first of the targets, None if there is none."""
        return next((column for _, column in self.targets.items()), None)


def load_features(
    source: str | PathLike[str],
    columns: Sequence[str],
    target: str | Sequence[str] | None = None,
    needed: Sequence[str] | None = None,
    schema: Schema | None = None,
) -> NewRows:
    """Read new rows to predict for.

    Parameters
    ----------
    source : str or path
        As for ``load_table``.
    columns : sequence of str
        The feature columns the model was fitted on. Others are ignored.
    target : str or sequence of str, optional
        Columns that are not features, such as the true labels; they may be absent.
    needed : sequence of str, optional
        The columns that affect predictions, all by default; the others may be absent, and are
        returned without values.
    schema : Schema, optional
        How the training table's columns were read, as in ``Table.schema``; by default unknown.

    Returns
    -------
    NewRows
        All rows, in the order of the file.

    Raises
    ------
    DataError
        If the data can't be read, have no rows, lack a feature column, or hold values unlike those
        of training.

    See Also
    --------
    load_table : Reads the training table.

    Examples
    --------
    >>> rows = load_features("wine", ["alcohol", "hue"])
    >>> rows.features.shape
    (178, 2)
    """
    raw = read_whole(source, read_as_text(schema or Schema()))
    wanted = list(columns if needed is None else needed)
    frame = raw.frame
    if raw.origin.startswith("libsvm"):
        # The format omits zeros, and trailing columns that are zero in all rows.
        absent = [column for column in wanted if column not in frame]
        frame = pd.concat([frame, pd.DataFrame(0.0, frame.index, absent)], axis=1)
    _check_needed(raw.name, frame.columns.tolist(), wanted, columns)
    targets = [target] if isinstance(target, str) else list(target or ())
    (rows,) = _as_trained(raw, [frame], columns, wanted, targets, schema)
    return rows


def load_in_chunks(
    source: str | PathLike[str],
    columns: Sequence[str],
    target: str | Sequence[str] | None = None,
    needed: Sequence[str] | None = None,
    schema: Schema | None = None,
    progress: Progress | None = None,
) -> Iterator[NewRows]:
    """Read new rows as :func:`mklkit.datasets.load_features` does, large files in chunks.

    Small files are one chunk. For large CSV and Parquet files, globs and folders of them, some
    thousand rows are in memory at a time, numbered from 1. Columns that training did not read are
    read as in the first chunk that holds text in them.
    """
    if not is_large(source):
        yield load_features(source, columns, target, needed, schema)
        return
    table = ChunkedTable.opened(source)
    wanted = list(columns if needed is None else needed)
    _check_needed(table.name, table.columns, wanted, columns)
    targets = [target] if isinstance(target, str) else list(target or ())
    table.read_only([*wanted, *targets])
    table.as_text |= {*read_as_text(schema or Schema())}
    # Messages name rows by their number in the file.
    frames = (
        chunk.set_axis((chunk.index + 1).rename("row"))
        for chunk in table.chunks(progress, uniform=False)
    )
    yield from _as_trained(table, frames, columns, wanted, targets, schema)


def _check_needed(
    name: str, present: Sequence[str], wanted: Sequence[str], columns: Sequence[str]
) -> None:
    """Refuse new rows without a column that the model needs."""
    there = {*present}
    missing = [column for column in wanted if column not in there]
    if missing:
        known = {*columns}
        others = [column for column in present if column not in known]
        raise DataError(
            f"{name} lacks {len(missing)} of the {len(wanted)} columns that the model needs:"
            f" {listed(missing)}.{suggest(missing[0], others)} If its samples miss a source, add"
            " the source's columns without values."
        )


def _as_trained(
    source: RawTable | ChunkedTable,
    frames: Iterable[pd.DataFrame],
    columns: Sequence[str],
    wanted: list[str],
    targets: list[str],
    schema: Schema | None,
) -> Iterator[NewRows]:
    """Yield the rows of each frame as training would read them, with notes on new values."""
    n_rows = 0
    told = set[str]()
    notes = list(source.notes)
    known = notations_in(schema or Schema())
    for frame in frames:
        n_rows += len(frame)
        labels = {
            name: read_target(frame[name], source.decimal, []) for name in targets if name in frame
        }
        features, now, read = read_later(frame[wanted], known, source.decimal or ".", told)
        notes += read
        told, known = told | {*now}, now | known
        labeled = pd.DataFrame(labels, index=frame.index)
        yield NewRows(features.reindex(columns=list(columns)), labeled, notes)
        notes = []
    check_rows(source.name, n_rows, least=1)
