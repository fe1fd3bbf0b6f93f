"""The schema of a table: what its columns hold, what they are for, and how gaps are filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, Self, cast, get_args

import attrs
import numpy as np
from attrs.validators import deep_iterable, in_, instance_of, optional
from numpy.typing import NDArray

from mklkit.protocols.rows import Array, Reads

__all__ = ["AS_READ", "Column", "Gaps", "Holds", "Role", "Schema", "Source"]

Holds = Literal["numbers", "text", "dates", "complex numbers", "other values"]
"""What a column holds: only these (dates are also times and durations), or mixtures."""

Role = Literal[
    "feature", "identifier", "left out", "target", "weight", "group", "split", "covariate"
]
"""What a column is for. Identifiers are features only for the kernels that name them."""

Gaps = Literal["median", "category", "kept"]
"""What gaps become: the median of the training rows, a category of their own, or nothing, because
the kernels skip them or the sample misses its source."""

AS_READ = "as read"
"""The notation of columns that a file reader does not return as text, such as truth values."""


def _tuple_of(words: Any) -> Any:
    return deep_iterable(in_(get_args(words)), instance_of(tuple))


@attrs.frozen
class Column:
    """What is known of a column.

    Attributes
    ----------
    name : str, optional
        Its name, unique in the table; None in a table without names.
    holds : str
        What it holds.
    notation : str
        How its values are written, if a file has them as text, such as ``"decimal comma"`` or
        ``"day first"`` (:mod:`mklkit.datasets.notations`).
    role : str
        What it is for.
    reason : str
        Why it is left out, if it is.
    sources : tuple of str
        The kernels that name it, by their labels.
    reads : tuple of str
        What kernels read in it as it is; a column without any is encoded as numbers.
    gaps : str
        What its gaps become.
    fill : float, optional
        The median that replaces a gap, NaN if none does; None if the training rows are not in
        memory, so that it is unknown.
    n_gaps : int
        The number of gaps in the training rows.
    origin : str, optional
        The column of the user's table that it was made from; None if it is one.
    """

    name: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    holds: Holds = attrs.field(default="numbers", validator=in_(get_args(Holds)))
    notation: str = attrs.field(default=AS_READ, validator=instance_of(str))
    role: Role = attrs.field(default="feature", validator=in_(get_args(Role)))
    reason: str = attrs.field(default="", validator=instance_of(str))
    sources: tuple[str, ...] = attrs.field(
        default=(), validator=deep_iterable(instance_of(str), instance_of(tuple))
    )
    reads: tuple[Reads, ...] = attrs.field(default=(), validator=_tuple_of(Reads))
    gaps: Gaps = attrs.field(default="median", validator=in_(get_args(Gaps)))
    fill: float | None = attrs.field(default=None, validator=optional(instance_of(float)))
    n_gaps: int = attrs.field(default=0, validator=instance_of(int))
    origin: str | None = attrs.field(default=None, validator=optional(instance_of(str)))

    @property
    def passes(self) -> bool:
        """Whether a kernel reads it as it is, so that it is neither encoded nor scaled."""
        return any(reads != "numbers" for reads in self.reads)


@attrs.frozen
class Source:
    """Columns that a kernel reads, as the user names them, and what it reads there.

    Attributes
    ----------
    name : str
        The label of the kernel, or the name of columns for which kernels are proposed.
    columns : object
        Names, globs, positions or a slice, as for a kernel; None for all that are left to it.
    reads : str
        The kind of values that it reads.
    skips_gaps : bool
        Whether the kernel skips missing values.
    may_miss : bool
        Whether samples without any value in these columns miss the source; else such gaps are
        filled like others.
    proposed : bool
        Whether kernels will be proposed for these columns.
    """

    name: str = attrs.field(validator=instance_of(str))
    columns: Any = None
    reads: Reads = attrs.field(default="numbers", validator=in_(get_args(Reads)))
    skips_gaps: bool = attrs.field(default=False, validator=instance_of(bool))
    may_miss: bool = attrs.field(default=False, validator=instance_of(bool))
    proposed: bool = attrs.field(default=False, validator=instance_of(bool))


@attrs.frozen(slots=False, eq=False)
class Schema:
    """The columns of a table, in their order, and the sources that kernels read.

    It is settled once, from the training table and the kernels, and then only read: by the reader
    of new rows, the encoder, the binding of kernels, covariates, remarks, explanations and model
    files. What is *done* to a column before a kernel belongs to the kernel's binding, because two
    kernels may read one column differently.

    Attributes
    ----------
    columns : tuple of Column
        Empty until a table is known.
    sources : tuple of Source
        What kernels read, from :func:`mklkit.estimators.declaring.declared_schema`.
    infer : bool
        Whether columns of free text pass as they are because kernels will be proposed for them.
    missing_value : str or float, optional
        A value that marks a gap, such as ``-9``.
    settled : bool
        Whether the columns are settled for these sources, so that other rows change nothing.

    Examples
    --------
    >>> schema = Schema((Column("age"), Column("note", "text", reads=("text",))))
    >>> schema["note"].holds, schema.places(reads="text").tolist()
    ('text', [1])
    >>> schema.with_fills(np.array([50.0, np.nan]))["age"].fill
    50.0
    """

    columns: tuple[Column, ...] = attrs.field(
        default=(), converter=tuple[Column, ...], validator=deep_iterable(instance_of(Column))
    )
    sources: tuple[Source, ...] = attrs.field(
        default=(), converter=tuple[Source, ...], validator=deep_iterable(instance_of(Source))
    )
    infer: bool = attrs.field(default=False, validator=instance_of(bool))
    missing_value: Any = None
    settled: bool = attrs.field(default=False, validator=instance_of(bool))

    @classmethod
    def of_numbers(cls, names: Sequence[str] | None, n_columns: int) -> Self:
        """Return the schema of a table that holds only numbers."""
        if names is None:
            return cls((Column(),) * n_columns)
        return cls(tuple(Column(name) for name in names))

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Column:
        """Return the column of this name."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str | None, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns, None if they have none."""
        names = tuple(column.name for column in self.columns)
        return None if None in names else cast(tuple[str, ...], names)

    @cached_property
    def holds(self) -> tuple[Holds, ...]:
        """What each column holds."""
        return tuple(column.holds for column in self.columns)

    def places(self, **wanted: Any) -> NDArray[np.intp]:
        """Return the positions of the columns with these values; ``reads`` may be among others."""
        return np.array(
            [place for place, column in enumerate(self.columns) if _matches(column, wanted)],
            np.intp,
        )

    def named(self, **wanted: Any) -> list[str]:
        """Return the names of the columns with these values."""
        return [str(column.name) for column in self.columns if _matches(column, wanted)]

    @cached_property
    def fills(self) -> Array | None:
        """The values that replace gaps (d,), NaN where none does; None if they are unknown."""
        values = [column.fill for column in self.columns]
        return None if None in values else np.array(values, np.float64)

    @cached_property
    def plain(self) -> bool:
        """Whether kernels read numbers without gaps in all columns."""
        usual = {"numbers", "amounts"}
        return all(
            column.holds == "numbers" and column.gaps == "median" and usual.issuperset(column.reads)
            for column in self.columns
        )

    def with_fills(self, fills: Array) -> Self:
        """Return the schema with the values (d,) that replace gaps, such as medians."""
        pairs = zip(self.columns, fills.tolist(), strict=True)
        columns = (attrs.evolve(column, fill=float(fill)) for column, fill in pairs)
        return attrs.evolve(self, columns=columns)

    def with_columns(self, columns: Iterable[Column]) -> Self:
        """Return the schema with changed columns, found by their names."""
        changed = {column.name: column for column in columns}
        columns = (changed.get(column.name, column) for column in self.columns)
        return attrs.evolve(self, columns=columns)

    def without(self, *names: str) -> Self:
        """Return the schema without some columns."""
        columns = (column for column in self.columns if column.name not in names)
        return attrs.evolve(self, columns=columns)

    def of_table(self, table: Schema) -> Self:
        """Return these sources with the columns of a table."""
        return attrs.evolve(self, columns=table.columns, settled=False)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return an array for each property of the columns, so that files of wide tables are small.

        Of properties other than numbers and names, an array has the places among the distinct
        values.
        """
        own = [field.name for field in attrs.fields(Schema) if field.name != "columns"]
        state: dict[str, Any] = {"own": {name: getattr(self, name) for name in own}}
        for field in attrs.fields(Column):
            values = [getattr(column, field.name) for column in self.columns]
            distinct = list(dict.fromkeys(values))
            if len(distinct) > FEW_VALUES and _fills_an_array(values):
                state[field.name] = np.array(values), None
                continue
            ranks = {value: rank for rank, value in enumerate(distinct)}
            state[field.name] = np.array([ranks[value] for value in values], np.intp), distinct
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns: dict[str, list[Any]] = {}
        for field in attrs.fields(Column):
            array, distinct = state[field.name]
            values = array.tolist()
            columns[field.name] = (
                values if distinct is None else [distinct[rank] for rank in values]
            )
        rows = zip(*columns.values(), strict=True)
        made = [Column(**dict(zip(columns, row, strict=True))) for row in rows]
        self.__init__(made, **state["own"])  # type: ignore[misc]


FEW_VALUES = 8
"""Up to this many distinct values of a property, a model file has them as a list."""


def _fills_an_array(values: list[Any]) -> bool:
    """Return whether an array holds these values without changing any."""
    (kind, *others) = {type(value) for value in values}
    # NumPy's text ends before trailing null characters.
    plain = kind in (int, float) or (kind is str and not any(v.endswith("\0") for v in values))
    return plain and not others


def _matches(column: Column, wanted: dict[str, Any]) -> bool:
    for name, value in wanted.items():
        held = getattr(column, name)
        if not (value in held if isinstance(held, tuple) else held == value):
            return False
    return True
