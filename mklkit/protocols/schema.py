"""The schema of a table: what its columns hold, what kernels read, and how gaps are filled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, Self, cast, get_args

import attrs
import numpy as np
from attrs.validators import deep_iterable, in_, instance_of, optional
from numpy.typing import NDArray

from mklkit.protocols.rows import Array, Reads

__all__ = ["Column", "Gaps", "Holds", "Schema"]

Holds = Literal["numbers", "text", "dates", "complex numbers", "other values"]
"""What a column holds: only these (dates are also times and durations), or mixtures."""

Gaps = Literal["median", "category", "kept"]
"""What gaps become: the median of the training rows, a category of their own, or nothing, because
the kernels skip them or the sample misses its source."""

FEW_VALUES = 8
"""Up to this many distinct values of a property, a model file has them as a list."""


@attrs.frozen
class Column:
    """What is known of a column of an estimator's rows.

    Attributes
    ----------
    name : str, optional
        Its name, unique in the table; None in a table without names.
    holds : str
        What it holds. A column without any value holds text if only kernels on text or categories
        name it, else numbers.
    reads : tuple of str
        What kernels read in it; empty if the table holds only numbers.
    gaps : str
        What its gaps become.
    fill : float, optional
        The median that replaces a gap, NaN if none does; None if the training rows were read in
        parts, so that it is unknown.
    n_gaps : int
        The number of gaps in the training rows, if kernels read more than numbers in the table.
    """

    name: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    holds: Holds = attrs.field(default="numbers", validator=in_(get_args(Holds)))
    reads: tuple[Reads, ...] = attrs.field(
        default=(), validator=deep_iterable(in_(get_args(Reads)), instance_of(tuple))
    )
    gaps: Gaps = attrs.field(default="median", validator=in_(get_args(Gaps)))
    fill: float | None = attrs.field(default=None, validator=optional(instance_of(float)))
    n_gaps: int = attrs.field(default=0, validator=instance_of(int))


@attrs.frozen(slots=False, eq=False)
class Schema:
    """The columns of an estimator's rows, in their order.

    It is settled once, from the training rows and the kernels, and then only read: by the plan, the
    reader of new rows, searches and model files. What is *done* to a column before a kernel belongs
    to the kernel's binding, because two kernels may read one column differently.

    Attributes
    ----------
    columns : tuple of Column

    Examples
    --------
    >>> schema = Schema([Column("age"), Column("note", "text", reads=("text",))])
    >>> schema.names, schema.places(reads="text").tolist()
    (('age', 'note'), [1])
    >>> schema.with_fills(np.array([50.0, np.nan])).columns[0].fill
    50.0
    """

    columns: tuple[Column, ...] = attrs.field(
        converter=tuple[Column, ...], validator=deep_iterable(instance_of(Column))
    )

    @classmethod
    def of_numbers(cls, names: Sequence[str] | None, n_columns: int) -> Self:
        """Return the schema of a table that holds only numbers."""
        return cls(map(Column, [None] * n_columns if names is None else names))

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns, None if they have none."""
        names = tuple(column.name for column in self.columns)
        return None if None in names else cast(tuple[str, ...], names)

    def places(self, **wanted: Any) -> NDArray[np.intp]:
        """Return the positions of the columns with these properties; of ``reads``, with this one.

        Examples
        --------
        >>> Schema([Column(), Column(gaps="kept")]).places(gaps="kept").tolist()
        [1]
        """
        matches = (_matches(column, wanted) for column in self.columns)
        return np.flatnonzero(np.fromiter(matches, bool, len(self.columns)))

    @cached_property
    def fills(self) -> Array | None:
        """The values that replace gaps (d,), NaN where none does; None if they are unknown."""
        values = [column.fill for column in self.columns]
        return None if None in values else np.array(values, np.float64)

    @cached_property
    def plain(self) -> bool:
        """Whether kernels read numbers without gaps in all columns, which scikit-learn checks."""
        return all(
            column.holds == "numbers"
            and column.gaps == "median"
            and {"numbers", "amounts"}.issuperset(column.reads)
            for column in self.columns
        )

    def with_fills(self, fills: Array) -> Self:
        """Return the schema with the values (d,) that replace gaps, such as medians."""
        pairs = zip(self.columns, fills.tolist(), strict=True)
        return type(self)([attrs.evolve(column, fill=float(fill)) for column, fill in pairs])

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return an array for each property of the columns, so that files of wide tables are small.

        Of a property with few values, the array has places among these.
        """
        state: dict[str, Any] = {}
        for field in attrs.fields(Column):
            values = [getattr(column, field.name) for column in self.columns]
            distinct = list(dict.fromkeys(values))
            if len(distinct) > FEW_VALUES and _fill_an_array(values):
                state[field.name] = np.array(values), None
                continue
            ranks = {value: rank for rank, value in enumerate(distinct)}
            state[field.name] = np.array([ranks[value] for value in values], np.intp), distinct
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        properties = {}
        for field in attrs.fields(Column):
            array, distinct = state[field.name]
            values = array.tolist()
            if distinct is not None:
                values = [distinct[rank] for rank in values]
            properties[field.name] = values
        rows = zip(*properties.values(), strict=True)
        columns = [Column(**dict(zip(properties, row, strict=True))) for row in rows]
        object.__setattr__(self, "columns", tuple(columns))


def _fill_an_array(values: list[Any]) -> bool:
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
