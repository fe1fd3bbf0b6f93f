"""The schema of a table: what its columns hold, what they are for, and how gaps are filled.

A ``Schema`` says of each ``Column`` of a table its name, what it holds, how it is written, its
role, what kernels read in it, and what becomes of its missing values. ``Columns`` keep an array for
each of these properties, because tables may have tens of thousands of columns; code asks them for
masks and arrays, not each column in turn. The ``Table`` that ``load_table`` returns has a schema,
and so has a data set of a comparison. The encoded columns are a schema too, with the column that
each was made from and the median for its missing values. The schema of an estimator is that of the
samples that it gets (``estimators/reading.py``), because it may be used without an encoder. What is
done to columns before a kernel is in no schema, but in the ``BoundKernel`` (``views/scaling.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self, cast, get_args, overload

import attrs
import numpy as np
from attrs.validators import deep_iterable, in_, instance_of, optional
from numpy.typing import NDArray

from mklkit.protocols.rows import Array, Reads

__all__ = ["AS_READ", "Column", "Columns", "Gaps", "Holds", "Role", "Schema", "Source"]

Holds = Literal["numbers", "text", "dates", "complex numbers", "other values"]
"""What a column holds: only these (dates are also times and durations), or mixtures."""

Role = Literal["feature", "identifier", "empty", "target", "weight", "group", "split", "dropped"]
"""What a column is for. Identifiers are omitted unless a kernel reads them as they are; empty ones
have no value in training."""

Gaps = Literal["median", "category", "kept"]
"""What gaps become: the median of training samples, a category of their own, or nothing, because
the kernels skip them or the sample misses its source."""

AS_READ = "as read"
"""The notation of columns that a file reader does not return as text, such as truth values."""

FEW_VALUES = 8
"""Up to this many distinct values of a property, a model file has them as a list."""


@attrs.frozen
class Column:
    """What is known of a column, of a user's table or of an estimator's rows.

    Attributes
    ----------
    name : str, optional
        Its name, unique in the table; None in a table without names.
    holds : str
        What it holds. A column without any value holds text if only kernels on text or categories
        name it, else numbers.
    notation : str
        How its values are written if a file has them as text, such as ``"decimal comma"`` or
        ``"day first"`` (:mod:`mklkit.datasets.notations`).
    role : str
        What it is for.
    reads : tuple of str
        What kernels read in it; empty if the table holds only numbers. In a user's table, what they
        read in it as it is; a column without any is encoded as numbers.
    gaps : str
        What its gaps become.
    fill : float, optional
        The median that replaces a gap, NaN if none does; None if the training samples were read in
        parts, so that it is unknown.
    n_gaps : int
        The number of gaps in the training rows, in an estimator's rows if kernels read more than
        numbers in the table.
    origin : str, optional
        The column of the user's table from which it was encoded.
    """

    name: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    holds: Holds = attrs.field(default="numbers", validator=in_(get_args(Holds)))
    notation: str = attrs.field(default=AS_READ, validator=instance_of(str))
    role: Role = attrs.field(default="feature", validator=in_(get_args(Role)))
    reads: tuple[Reads, ...] = attrs.field(
        default=(), validator=deep_iterable(in_(get_args(Reads)), instance_of(tuple))
    )
    gaps: Gaps = attrs.field(default="median", validator=in_(get_args(Gaps)))
    fill: float | None = attrs.field(default=None, validator=optional(instance_of(float)))
    n_gaps: int = attrs.field(default=0, validator=instance_of(int))
    origin: str | None = attrs.field(default=None, validator=optional(instance_of(str)))


PROPERTIES = attrs.fields(Column)
Values = NDArray[np.object_]


class Columns(Sequence[Column]):
    """The columns of a table, as an array for each property, because tables may be very wide.

    A ``Column`` is made when it is asked for. Only those that are passed to the constructor have
    been validated.

    Parameters
    ----------
    columns : iterable of Column, default=()

    Raises
    ------
    TypeError
        If something else is among them.

    Examples
    --------
    >>> columns = Columns([Column("age"), Column("note", "text", reads=("text",))])
    >>> columns.values("holds").tolist(), columns[1].name
    (['numbers', 'text'], 'note')
    >>> columns.changed(n_gaps=[3, 0])[0].n_gaps
    3
    """

    def __init__(self, columns: Iterable[Column] = ()) -> None:
        columns = tuple(columns)
        if not all(isinstance(column, Column) for column in columns):
            raise TypeError(f"Expected columns of the type Column; got {columns!r:.80}")
        self._values = {
            field.name: _objects(getattr(column, field.name) for column in columns)
            for field in PROPERTIES
        }

    @classmethod
    def named(cls, names: Iterable[str | None], **values: Any) -> Self:
        """Return columns with these names, and other properties as for :meth:`changed`."""
        array = _objects(names)
        columns = cls()
        columns._values = {
            field.name: array if field.name == "name" else _repeated(field.default, len(array))
            for field in PROPERTIES
        }
        return columns.changed(**values)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._values["name"])

    @overload
    def __getitem__(self, place: int) -> Column: ...

    @overload
    def __getitem__(self, place: slice | NDArray[Any]) -> Self: ...

    def __getitem__(self, place: Any) -> Any:
        """Return a column, or those of a slice, a mask or an array of positions."""
        if isinstance(place, slice | np.ndarray):
            return self._with({name: array[place] for name, array in self._values.items()})
        return Column(*(array[place] for array in self._values.values()))

    def __add__(self, others: Iterable[Column]) -> Self:
        """Return these columns and others after them."""
        more = _as_columns(others)
        return self._with(
            {name: np.concatenate([a, more.values(name)]) for name, a in self._values.items()}
        )

    def values(self, name: str) -> Values:
        """Return a property of all columns (d,)."""
        return self._values[name]

    def changed(self, **values: Any) -> Self:
        """Return the columns with other properties: lists or arrays (d,), or a value for all."""
        arrays = {
            name: _objects(new) if isinstance(new, list | np.ndarray) else _repeated(new, len(self))
            for name, new in values.items()
        }
        if any(len(array) != len(self) for array in arrays.values()):
            raise ValueError(f"{len(self)} columns can't have other numbers of values")
        return self._with({**self._values, **arrays})

    def are(self, **wanted: Any) -> NDArray[np.bool_]:
        """Return which columns have these properties (d,); of ``reads``, this one among them."""
        mask = np.ones(len(self), bool)
        for name, value in wanted.items():
            array = self._values[name]
            if name == "reads":
                mask &= np.fromiter((value in reads for reads in array), bool, len(array))
            else:
                mask &= np.asarray(array == value, bool)
        return mask

    @property
    def are_read(self) -> NDArray[np.bool_]:
        """Which columns some kernel reads, in a user's table unencoded (d,)."""
        return self._values["reads"].astype(bool)

    @property
    def are_left_out(self) -> NDArray[np.bool_]:
        """Which columns no kernel gets (d,): no features, and identifiers that none reads."""
        features = self.are(role="feature") | self.are(role="empty")
        return ~features & ~(self.are(role="identifier") & self.are_read)

    def check(self) -> None:
        """Check all properties, which may come from a file; it raises what ``Column`` would."""
        for field in PROPERTIES:
            if field.validator is not None:
                # Equal values may differ in type, such as 1 and True.
                kinds = {(type(value), value): value for value in self._values[field.name]}
                for value in kinds.values():
                    field.validator(self, field, value)

    def _with(self, values: dict[str, Values]) -> Self:
        columns = type(self)()
        columns._values = values
        return columns


def _as_columns(columns: Iterable[Column]) -> Columns:
    """Return columns as they are, those of a schema, or made of single ones."""
    if isinstance(columns, Schema):
        return columns.columns
    return columns if isinstance(columns, Columns) else Columns(columns)


def _objects(values: Iterable[Any]) -> Values:
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return np.fromiter(listed, object, len(listed))


def _repeated(value: Any, count: int) -> Values:
    return np.fromiter([value] * count, object, count)


@attrs.frozen
class Source:
    """Columns that a kernel reads, as an estimator declares them before any table is known.

    Attributes
    ----------
    label : str
        The name of the kernel in results.
    columns : object
        The columns as the kernel names them; None for all, or for those that its label names.
    reads : str, optional
        What the kernel reads in them; None if kernels will be proposed for them.
    skips_gaps : bool
        Whether the kernel skips gaps, so that they need not be filled.
    missing : {"kept", "filled"}, optional
        What becomes of the gaps of samples in which all of its columns are missing; None if no
        sample is said to miss it, as for a kernel that reads all columns.
    by_name : {"always", "if large"}, optional
        Whether it stands for each source that the names of columns tell: always, or only if one of
        these is large enough to be taken for a source unasked. None if it is a source itself.

    Examples
    --------
    >>> Source("lab", "lab_*, age").names
    ('lab_*', 'age')
    """

    label: str = attrs.field(validator=instance_of(str))
    columns: Any = None
    reads: Reads | None = attrs.field(default="numbers", validator=optional(in_(get_args(Reads))))
    skips_gaps: bool = attrs.field(default=False, validator=instance_of(bool))
    missing: Literal["kept", "filled"] | None = attrs.field(
        default=None, validator=optional(in_(("kept", "filled")))
    )
    by_name: Literal["always", "if large"] | None = attrs.field(
        default=None, validator=optional(in_(("always", "if large")))
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The single names and globs among its columns."""
        names = self.columns.split(",") if isinstance(self.columns, str) else self.columns
        if not isinstance(names, list):
            return ()
        return tuple(name.strip() for name in names if isinstance(name, str))

    @property
    def unchanged(self) -> bool:
        """Whether the kernel needs its columns as they are, neither encoded nor scaled."""
        return self.reads not in (None, "numbers")


@attrs.frozen(slots=False, eq=False)
class Schema:
    """The columns of a table, in their order, and the sources that kernels read.

    It is settled once, from the training table and the kernels, and then only read: by the encoder,
    the reader of new rows, the plan, searches, explanations and model files. What is *done* to a
    column before a kernel belongs to the kernel's binding, because two kernels may read one column
    differently.

    Attributes
    ----------
    columns : Columns
        Those of a table; none until a table is known.
    sources : tuple of Source
        What kernels read, from :func:`mklkit.estimators.declaring.declared_sources`.
    infer : bool
        Whether columns of free text are passed on as they are, and categories too, because kernels
        will be proposed for them.
    missing_value : str or float, optional
        A value that marks a gap, such as ``-9``.
    settled : bool
        Whether the columns are settled for these sources, so that other samples change nothing.

    Examples
    --------
    >>> schema = Schema([Column("age"), Column("note", "text", reads=("text",))])
    >>> schema.names, schema.places(reads="text").tolist()
    (('age', 'note'), [1])
    >>> schema.with_fills(np.array([50.0, np.nan])).columns[0].fill
    50.0
    """

    columns: Columns = attrs.field(
        factory=Columns,
        converter=_as_columns,
        validator=instance_of(Columns),
        repr=lambda columns: f"<{len(columns)} columns>",
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
        return cls(Columns.named([None] * n_columns if names is None else names))

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Column:
        """Return the column of this name."""
        return self.columns[self._places[name]]

    @cached_property
    def _places(self) -> dict[str | None, int]:
        return {name: place for place, name in enumerate(self.columns.values("name"))}

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns, None if they have none."""
        names = tuple(self.columns.values("name"))
        return None if None in names else cast(tuple[str, ...], names)

    def places(self, **wanted: Any) -> NDArray[np.intp]:
        """Return the positions of the columns with these properties; of ``reads``, with this one.

        Examples
        --------
        >>> Schema([Column(), Column(gaps="kept")]).places(gaps="kept").tolist()
        [1]
        """
        return np.flatnonzero(self.columns.are(**wanted))

    def named(self, **wanted: Any) -> list[str]:
        """Return the names of the columns with these properties.

        Examples
        --------
        >>> Schema([Column("id", role="identifier"), Column("age")]).named(role="feature")
        ['age']
        """
        return self.names_of(self.columns.are(**wanted))

    def columns_named(self, names: Iterable[str]) -> Columns:
        """Return the columns of these names, in their order."""
        return self.columns[np.array([self._places[name] for name in names], np.intp)]

    def names_of(self, mask: NDArray[np.bool_]) -> list[str]:
        """Return the names of the columns in a mask (d,)."""
        return [str(name) for name in self.columns.values("name")[mask]]

    @property
    def unchanged(self) -> list[Any]:
        """The columns that kernels need as they are, as the kernels name them; None for all."""
        return [source.columns for source in self.sources if source.unchanged]

    @cached_property
    def fills(self) -> Array | None:
        """The values that replace gaps (d,), NaN where none does; None if they are unknown."""
        values = self.columns.values("fill").tolist()
        return None if None in values else np.array(values, np.float64)

    @cached_property
    def plain(self) -> bool:
        """Whether kernels read numbers without gaps in all columns, which scikit-learn checks."""
        reads = set().union(*dict.fromkeys(self.columns.values("reads")))
        filled = self.columns.are(holds="numbers", gaps="median").all()
        return bool(filled) and reads <= {"numbers", "amounts"}

    def with_fills(self, fills: Array) -> Self:
        """Return the schema with the values (d,) that replace gaps, such as medians."""
        values = np.asarray(fills, np.float64)
        return attrs.evolve(self, columns=self.columns.changed(fill=values))

    def with_n_gaps(self, n_gaps: Mapping[str, int]) -> Self:
        """Return the schema with the numbers of gaps in training, by the columns' names."""
        counts = [int(n_gaps[str(name)]) for name in self.columns.values("name")]
        return attrs.evolve(self, columns=self.columns.changed(n_gaps=counts))

    def of_table(self, columns: Iterable[Column]) -> Self:
        """Return these sources with the columns of a table, to be settled for the sources."""
        return attrs.evolve(self, columns=columns, settled=False)

    def complete(self) -> Self:
        """Return the schema without the sources that matter only to samples that miss them."""
        sources = [s for s in self.sources if s.missing is None or s.unchanged]
        kept = [attrs.evolve(source, missing=None) for source in sources]
        return attrs.evolve(self, sources=kept)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return an array for each property of the columns, so that files of wide tables are small.

        Of a property with few values, the array has places among these.
        """
        others = [field.name for field in attrs.fields(Schema) if field.name != "columns"]
        state: dict[str, Any] = {"table": {name: getattr(self, name) for name in others}}
        if not self.columns:
            return state
        for field in PROPERTIES:
            values = self.columns.values(field.name).tolist()
            distinct = list(dict.fromkeys(values))
            if len(distinct) > FEW_VALUES and _fill_an_array(values):
                state[field.name] = np.array(values), None
                continue
            ranks = {value: rank for rank, value in enumerate(distinct)}
            state[field.name] = np.array([ranks[value] for value in values], np.intp), distinct
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        properties = {}
        for field in PROPERTIES if len(state) > 1 else ():
            array, distinct = state[field.name]
            values = array.tolist()
            if distinct is not None:
                values = [distinct[rank] for rank in values]
            properties[field.name] = values
        columns = Columns.named(properties.pop("name"), **properties) if properties else Columns()
        columns.check()
        self.__init__(columns, **state["table"])  # type: ignore[misc]


def _fill_an_array(values: list[Any]) -> bool:
    """Return whether an array holds these values without changing any."""
    (kind, *others) = {type(value) for value in values}
    # NumPy's text ends before trailing null characters.
    plain = kind in (int, float) or (kind is str and not any(v.endswith("\0") for v in values))
    return plain and not others
