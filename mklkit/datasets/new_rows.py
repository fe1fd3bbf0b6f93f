"""New rows to predict for, from a name or a path, whole or in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike

import attrs
import numpy as np
import pandas as pd

from mklkit.datasets.files import ChunkedTable, Progress, RawTable, is_large
from mklkit.datasets.readings import read_as_text, read_later
from mklkit.datasets.selecting import chosen_columns
from mklkit.datasets.study_files import StudyFiles, read_data
from mklkit.datasets.table import check_rows, read_target
from mklkit.datasets.table_schema import notations_in
from mklkit.errors import DataError, counted, listed, quoted, suggest
from mklkit.estimators.declaring import missable
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
    ids : pandas.Series of shape (n_rows,), optional
        What identifies each row, if a column was named for it.

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
    ids: pd.Series | None = None

    @property
    def target(self) -> pd.Series | None:
        """The first of the targets, None if there is none."""
        return next((column for _, column in self.targets.items()), None)


def load_features(
    source: str | PathLike[str] | StudyFiles,
    columns: Sequence[str],
    target: str | Sequence[str] | None = None,
    needed: Sequence[str] | None = None,
    schema: Schema | None = None,
    by: str | None = None,
    may_miss_sources: bool = True,
) -> NewRows:
    """Read new rows to predict for.

    Parameters
    ----------
    source : str, path or StudyFiles
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
    by : str, optional
        A column that identifies the rows, which is returned as it is written.
    may_miss_sources : bool, default=True
        Whether all columns of a source may be absent: its samples then miss the source.

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
    as_text = [*read_as_text(schema or Schema()), *([] if by is None else [by])]
    if isinstance(source, StudyFiles):
        raw = source.read(as_text, only_first=True)
        _check_sources(source, raw, columns)
    else:
        raw = read_data(source, as_text)
    wanted = list(columns if needed is None else needed)
    frame = raw.frame
    if raw.origin.startswith("libsvm"):
        # The format omits zeros, and trailing columns that are zero in all rows.
        zero = [column for column in wanted if column not in frame]
        frame = pd.concat([frame, pd.DataFrame(0.0, frame.index, zero)], axis=1)
    frame = _with_identifiers(frame, raw.ids, wanted, schema or Schema())
    present = frame.columns.tolist()
    sources = schema if schema is not None and may_miss_sources else Schema()
    absent = _check_needed(raw.name, present, wanted, columns, sources)
    raw.notes.extend(_notes_on_absent(absent))
    targets = [target] if isinstance(target, str) else list(target or ())
    of_file = raw.ids is not None and by in (None, raw.joined_by)
    ids = None if of_file else _identifiers(raw.name, present, by)
    (rows,) = _as_trained(raw, [frame], columns, wanted, targets, schema, ids)
    return attrs.evolve(rows, ids=raw.ids) if of_file else rows


def load_in_chunks(
    source: str | PathLike[str] | StudyFiles,
    columns: Sequence[str],
    target: str | Sequence[str] | None = None,
    needed: Sequence[str] | None = None,
    schema: Schema | None = None,
    progress: Progress | None = None,
    by: str | None = None,
) -> Iterator[NewRows]:
    """Read new rows as :func:`mklkit.datasets.load_features` does, large files in chunks.

    Small files are one chunk. For large CSV and Parquet files, globs and folders of them, some
    thousand rows are in memory at a time, numbered from 1. Columns that training did not read are
    read as in the first chunk that holds text in them.
    """
    if isinstance(source, StudyFiles) or not is_large(source):
        yield load_features(source, columns, target, needed, schema, by)
        return
    table = ChunkedTable.opened(source)
    wanted = list(columns if needed is None else needed)
    absent = _check_needed(table.name, table.columns, wanted, columns, schema or Schema())
    table.notes.extend(_notes_on_absent(absent))
    targets = [target] if isinstance(target, str) else list(target or ())
    ids = _identifiers(table.name, table.columns, by)
    table.read_only([*wanted, *targets, *([] if ids is None else [ids])])
    table.as_text |= {*read_as_text(schema or Schema()), *([] if ids is None else [ids])}
    # Messages name rows by their number in the file.
    frames = (
        chunk.set_axis((chunk.index + 1).rename("row"))
        for chunk in table.chunks(progress, uniform=False)
    )
    yield from _as_trained(table, frames, columns, wanted, targets, schema, ids)


def _check_sources(files: StudyFiles, raw: RawTable, columns: Sequence[str]) -> None:
    """Raise an error for a file of which the model reads no column, such as one misnamed."""
    known = {*columns}
    of_files = raw.of_files or {}
    for name in files.sources:
        of_file = {*of_files[name]}
        if not of_file & known:
            begun = [column.partition("_")[0] for column in columns]
            raise DataError(
                f"The model reads none of the {counted(len(of_file), 'column')} of the source"
                f" {quoted(name)}: {listed(sorted(of_file))}.{suggest(name, begun)}"
                " Name sources as the model's were, or leave the file out."
            )


def _with_identifiers(
    frame: pd.DataFrame, ids: pd.Series | None, wanted: Sequence[str], schema: Schema
) -> pd.DataFrame:
    """Return a table with a column of identifiers for each kernel that looks up rows by them.

    They are those of files that were joined, or else a column for another such kernel.
    """
    columns = schema.columns[schema.places(reads="row ids")].values("name").tolist()
    if ids is None:
        ids = next((frame[name] for name in columns if name in frame), None)
    absent = [name for name in wanted if name in columns and name not in frame]
    if ids is None or not absent:
        return frame
    return frame.assign(**dict.fromkeys(absent, ids.to_numpy(dtype=object)))


def _identifiers(name: str, present: Sequence[str], by: str | None) -> str | None:
    """Return the column that identifies rows, which must be there, or None."""
    if by is not None and by not in present:
        raise DataError(f"{name} has no column {quoted(by)} of identifiers.{suggest(by, present)}")
    return by


def _check_needed(
    name: str,
    present: Sequence[str],
    wanted: Sequence[str],
    columns: Sequence[str],
    schema: Schema,
) -> dict[str, list[str]]:
    """Return the sources of which new rows have no column, by label, with their columns.

    Rows that lack some columns of a source, or one that belongs to no source, raise an error.
    """
    there = {*present}
    missing = [column for column in wanted if column not in there]
    if not missing:
        return {}
    needed = {*wanted}
    of_sources = {
        label: [column for column in columns if column in needed and column in chosen]
        for label, selector in missable(schema.sources).items()
        if (chosen := chosen_columns([selector], columns))
    }
    lost = {*missing}
    absent = {label: own for label, own in of_sources.items() if own and lost.issuperset(own)}
    lost.difference_update(column for own in absent.values() for column in own)
    if not lost and len(missing) < len(wanted):
        return absent
    first = [column for column in missing if column in lost] or missing
    known = {*columns}
    others = [column for column in present if column not in known]
    parts = [label for label, own in of_sources.items() if lost.intersection(own)]
    which = f" (of the source{'s' * (len(parts) > 1)} {listed(parts)})" if parts else ""
    raise DataError(
        f"{name} lacks {len(first)} of the {len(wanted)} columns that the model needs{which}:"
        f" {listed(first)}.{suggest(first[0], others)} Samples may miss a source, but then the"
        " table has none of its columns."
    )


def with_missing_sources(
    name: str, frame: pd.DataFrame, columns: Sequence[str], schema: Schema
) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns of a model, without values where all of a source are absent, and notes.

    A ``DataError`` lists those of a source of which others are there.
    """
    wanted = [*columns]
    absent = _check_needed(name, frame.columns.tolist(), wanted, wanted, schema)
    return _with_absent(frame, wanted, schema), _notes_on_absent(absent)


def _notes_on_absent(absent: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note on each source that no row has."""
    return [
        f"no sample has the source {quoted(label)}:"
        f" none of its {counted(len(own), 'column')} is there"
        for label, own in absent.items()
    ]


def _with_absent(frame: pd.DataFrame, wanted: list[str], schema: Schema | None) -> pd.DataFrame:
    """Return some columns of a table; those that are absent have no values."""
    lost = [column for column in wanted if column not in frame]
    if not lost:
        return frame[wanted]
    words = {*schema.named(holds="text")} if schema is not None else set()
    empty = {
        column: pd.Series(np.nan, frame.index, object if column in words else float)
        for column in lost
    }
    return pd.concat([frame, pd.DataFrame(empty, frame.index)], axis=1)[wanted]


def _as_trained(
    source: RawTable | ChunkedTable,
    frames: Iterable[pd.DataFrame],
    columns: Sequence[str],
    wanted: list[str],
    targets: list[str],
    schema: Schema | None,
    ids: str | None,
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
        there = _with_absent(frame, wanted, schema)
        features, now, read = read_later(there, known, source.decimal or ".", told)
        notes += read
        told, known = told | {*now}, now | known
        labeled = pd.DataFrame(labels, index=frame.index)
        of_rows = None if ids is None else frame[ids]
        yield NewRows(features.reindex(columns=list(columns)), labeled, notes, of_rows)
        notes = []
    check_rows(source.name, n_rows, least=1)
