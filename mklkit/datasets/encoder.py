"""Encoding of text, gaps and any column type as a DataFrame of numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.columns import (
    DateParts,
    all_as_numbers,
    as_frame,
    stay_sparse,
    text_of,
    unique_name,
    without_value,
)
from mklkit.datasets.identifiers import LIKE_IDENTIFIERS
from mklkit.datasets.notations import NUMBER, TEXT, WRITTEN
from mklkit.datasets.readings import read_later
from mklkit.datasets.row_hashes import hashes_of_rows
from mklkit.datasets.selecting import (
    Lack,
    chosen_columns,
    leave_missing,
    missing_by_source,
    sparse_and_missing,
)
from mklkit.datasets.table_schema import notations_in, settled
from mklkit.datasets.training_digest import digest_of_rows
from mklkit.errors import DataError, counted, named
from mklkit.estimators.declaring import missable
from mklkit.estimators.joining import one_table, with_absent_sources
from mklkit.estimators.reading import StoresNames, column_medians
from mklkit.numerics.moments import column_moments
from mklkit.numerics.sparse import as_matrix, count_gaps
from mklkit.protocols import AS_READ, Array, Columns, Schema
from mklkit.registry.composing import kernels_on
from mklkit.registry.readings import MISSING_CATEGORY

EXTREMES = (np.fmin, np.fmax)
"""The beginning of advice to the user, which is no part of what was done."""


class TableEncoder(TransformerMixin, StoresNames):
    """Turns a table of any column types into a DataFrame of numbers without gaps.

    Numeric columns keep their name and place; gaps become the training median (0 if a column
    has no values at all). Columns of text are read as numbers or dates if they hold these as
    people write them: ``1,200``, ``0,5``, ``31.12.2019``. Other text, boolean and categorical
    columns become one 0/1 column per value, named ``column_value``; gaps count as the value
    ``missing``. A value not seen in training counts as ``column_other`` if rare values share that
    column, else as none of them. Dates become the days since the first in training, under the
    column's name, and, if they vary, ``column_month``, ``column_weekday`` (Monday is 0) and
    ``column_hour``. Durations and times of day become seconds. Identifiers (text, or whole numbers
    in a column called id, with a different value in each of 20 rows or more, and columns that count
    the rows) are dropped. ``fit`` determines the type of each column; later data are read
    accordingly, whatever type a file reader chose.

    Parameters
    ----------
    max_categories : int, default=100
        The maximum of one-hot columns per text column; its rarest values share ``column_other``.
    schema : Schema, optional
        What is known of the columns, as in ``load_table(...).schema``, and the sources that kernels
        read, as in ``build_pipeline(classifier)[0].schema``. Columns that kernels read as text,
        categories, amounts or row ids are passed on as they are. By default, ``fit`` decides on
        the columns by the rows that it sees, and passes on none.
    sparse : bool, default=True
        Whether sparse columns of numbers stay sparse, as mklkit's estimators take them.

    Attributes
    ----------
    feature_names_in_, n_features_in_ : ndarray of str, int
        The input columns, and their number.
    schema_ : Schema
        The input columns: what they hold, how they are written, what kernels read in them, their
        gaps in training, and what becomes of these.
    encoded_ : Schema
        The output columns, the input column from which each was derived (``origin``), and the
        training medians that replace gaps in numbers (``fill``).
    dates_ : dict of str to DateParts
        The dates, and the numbers that replace each.
    one_hot_ : sklearn.preprocessing.OneHotEncoder
        The encoder of the categories.
    notes_ : list of str
        Notes on values that ``fit`` read differently from how they are written.
    ranges_ : ndarray of shape (2, n_numeric)
        The smallest and the largest number of each numeric column.
    moments_ : ndarray of shape (4, n_numeric)
        The number of values of each numeric column, their mean, standard deviation and kurtosis.
    row_digest_ : ndarray of uint64
        Hashes of the samples, by which new ones are recognised as the same; at most 10,000.
    gaps_left_ : ndarray of shape (n_features_in,)
        How many gaps of each column are left, because samples lack a whole source.

    See Also
    --------
    build_pipeline : The encoder, scaling and a classifier.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m", None], "age": [30.0, None, 50.0]})
    >>> TableEncoder().fit_transform(frame)
       sex_f  sex_m  sex_missing   age
    0    1.0    0.0          0.0  30.0
    1    0.0    1.0          0.0  40.0
    2    0.0    0.0          1.0  50.0
    """

    _names: ClassVar[tuple[str, ...]] = ("feature_names_in_", "numbers_")

    def __init__(
        self, max_categories: int = 100, schema: Schema | None = None, sparse: bool = True
    ) -> None:
        self.max_categories = max_categories
        self.schema = schema
        self.sparse = sparse

    def fit(self, X: Any, y: Any = None) -> Self:
        """Determine column types, medians and categories from the training samples.

        Parameters
        ----------
        X : DataFrame or array of shape (N, d)
            The training samples, with columns of any type.
        y : object, optional
            Nothing is learned from it; the samples of a mapping of sources must be those of its
            index.

        Returns
        -------
        TableEncoder
            The fitted encoder itself.

        Raises
        ------
        DataError
            If names repeat, a number is too large, or only identifiers are left.
        """
        schema = Schema() if self.schema is None else self.schema
        written = without_value(as_frame(X, y=y), schema.missing_value)
        if written.shape[1] == 0:
            raise DataError("There are no feature columns.")
        self.feature_names_in_ = written.columns.to_numpy(dtype=object)
        self.n_features_in_ = written.shape[1]
        frame, schema, self.notes_ = settled(written, schema)
        n_gaps = count_gaps(frame)
        columns = _in_training(schema.columns, n_gaps, len(frame))
        self.schema_ = attrs.evolve(schema, columns=columns)
        self.dates_ = {name: DateParts.of(frame[name]) for name in self._of_kind("date")}
        sparse = self._sparse(frame)
        numbers = self._numbers(frame, sparse)
        medians = self._medians_and_ranges(frame, sparse, numbers)
        self.one_hot_ = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=self.max_categories,
            sparse_output=False,
        )
        if self.category_:
            self.one_hot_.fit(text_of(frame[self.category_]))
        self._name_outputs(medians)
        self.gaps_left_ = self.gaps_left_in(frame)
        self.row_digest_ = digest_of_rows(self._hashes(frame, sparse, numbers))
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            A DataFrame may have its columns in any order, have additional columns, and lack those
            that are dropped.

        Returns
        -------
        DataFrame of shape (n, n_features_out)
            Numbers (float64) without gaps, except columns passed on and sources that a sample
            misses.

        Raises
        ------
        DataError
            If a column is missing, or one that was numeric holds text.
        """
        check_is_fitted(self)
        unread = [*self.identifiers_, *self.empty_]
        names = self.feature_names_in_.tolist()
        if isinstance(X, Mapping):
            selectors = missable(self.schema_.sources).values()
            sources = [chosen_columns([selector], names) for selector in selectors]
            X = with_absent_sources(one_table(X), names, map(list, sources))
        frame = as_frame(X, names, unread)
        frame = without_value(frame.drop(columns=unread), self.schema_.missing_value)
        frame, _, _ = read_later(frame, notations_in(self.schema_))
        sparse = self._sparse(frame)
        numbers = self._numbers(frame, sparse)
        of_numbers = self.numbers_
        if sparse:
            of_numbers = of_numbers[~np.isin(of_numbers.astype(str), sparse)]
        gaps = np.isnan(numbers) & ~np.isin(of_numbers.astype(str), self.with_gaps_)
        rows, columns = np.nonzero(gaps)
        names = [*of_numbers, *self.one_hot_names_]
        medians = self.encoded_.columns_named(of_numbers).values("fill").astype(np.float64)
        numbers[rows, columns] = medians[columns]
        if self.category_:
            numbers = np.hstack([numbers, self.one_hot_.transform(text_of(frame[self.category_]))])
        encoded = pd.DataFrame(numbers, frame.index, names)
        kept = [s.columns for s in self.schema_.sources if s.missing == "kept"]
        outputs = self.feature_names_out_
        lacks = missing_by_source(frame, kept, outputs, self.sources_, self.words_)
        leave_missing(encoded, lacks)
        for name in self.words_:
            encoded[name] = text_of(frame[[name]], gap=None)[:, 0]
        if sparse:
            encoded = pd.concat([encoded, self._filled(frame[sparse], lacks)], axis=1)
        return encoded if encoded.columns.tolist() == outputs else encoded[outputs]

    @property
    def numeric_(self) -> list[str]:
        """The columns of numbers, also those without any value in training."""
        return self._of_kind("number")

    @property
    def category_(self) -> list[str]:
        """The columns that are one-hot encoded."""
        return self._of_kind("category")

    @property
    def identifiers_(self) -> list[str]:
        """The columns that are dropped."""
        return self._of_kind("identifier")

    @property
    def empty_(self) -> list[str]:
        """The columns without any value in training, which are ignored."""
        return self.schema_.named(role="empty")

    @property
    def words_(self) -> list[str]:
        """The columns of text in the output.

        If kernels are chosen for what columns hold, so are categories, except those of which a
        kernel reads the one-hot columns.
        """
        if not self.schema_.infer:
            return self._of_kind("text")
        of_numbers = [
            source.columns
            for source in self.schema_.sources
            if source.reads == "numbers" and source.columns is not None
        ]
        encoded = chosen_columns(of_numbers, self.feature_names_in_.tolist())
        return [*self._of_kind("text"), *(n for n in self.category_ if n not in encoded)]

    @property
    def with_gaps_(self) -> list[str]:
        """The columns whose gaps are left to their kernels."""
        return self.schema_.named(gaps="kept")

    @property
    def passthrough_(self) -> list[str]:
        """The columns that are passed on unchanged."""
        return self.schema_.names_of(self.schema_.columns.are_read)

    @property
    def gaps_(self) -> dict[str, int]:
        """The number of gaps in each column in training."""
        n_gaps = self.schema_.columns.values("n_gaps").tolist()
        return dict(zip(self.schema_.named(), n_gaps, strict=True))

    @property
    def feature_names_out_(self) -> list[str]:
        """The output columns."""
        return self.encoded_.named()

    @property
    def sources_(self) -> list[str]:
        """The input column from which each output column was derived."""
        return [str(origin) for origin in self.encoded_.columns.values("origin")]

    def _of_kind(self, kind: str) -> list[str]:
        return self.schema_.names_of(_kinds_of(self.schema_.columns) == kind)

    def unseen_values(self, frame: pd.DataFrame) -> Iterator[tuple[str, NDArray[np.object_]]]:
        """Yield each available column of categories with its values that training does not have.

        Parameters
        ----------
        frame : DataFrame of shape (n, d)
            New samples, as read.

        Yields
        ------
        name : str
            The name of the column.
        values : ndarray of object
            The new values as text, one for each sample with such a value, in their order.
        """
        categories = self.one_hot_.categories_ if self.category_ else []
        for name, known in zip(self.category_, categories, strict=True):
            if name in frame:
                codes, distinct = pd.factorize(text_of(frame[[name]])[:, 0])
                new = ~np.isin(distinct.astype(str), known.astype(str))
                yield name, distinct[codes[new[codes]]]

    def row_hashes(self, frame: pd.DataFrame) -> NDArray[np.uint64]:
        """Return a hash of the values of each sample, which the same sample in training has too.

        Parameters
        ----------
        frame : DataFrame of shape (n, d)
            Samples, as read, with all columns.

        Returns
        -------
        ndarray of shape (n,)
            The hashes; none if the table is sparse.
        """
        frame = without_value(frame, self.schema_.missing_value)
        frame = read_later(frame, notations_in(self.schema_))[0]
        sparse = self._sparse(frame)
        return self._hashes(frame, sparse, self._numbers(frame, sparse))

    def _hashes(
        self, frame: pd.DataFrame, sparse: Collection[str], numbers: NDArray[np.float64]
    ) -> NDArray[np.uint64]:
        """Return hashes of the values in single precision, whatever type a file stores them in."""
        if sparse:
            return np.zeros(0, np.uint64)
        words = list(dict.fromkeys([*self.category_, *self.words_]))
        texts = text_of(frame[words], gap=None) if words else np.empty((len(frame), 0), object)
        with np.errstate(over="ignore"):
            return hashes_of_rows(texts, [numbers.astype(np.float32)])

    def gaps_left_in(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Return how many gaps of each column are left, because samples lack a whole source.

        Parameters
        ----------
        frame : DataFrame of shape (n, d)
            Samples, as read.

        Returns
        -------
        ndarray of shape (n_features_in,)
            The numbers of gaps, without those that kernels read.
        """
        names = [str(name) for name in self.feature_names_in_]
        kept = [source.columns for source in self.schema_.sources if source.missing == "kept"]
        left = np.zeros(len(names), np.intp)
        if not kept or not count_gaps(frame).any():
            return left
        origins = dict(zip(self.feature_names_out_, self.sources_, strict=True))
        unread = {*self.identifiers_, *self.empty_}
        lacks = missing_by_source(
            frame.drop(columns=[n for n in unread if n in frame]), kept, [*origins], self.sources_
        )
        if not lacks:
            return left
        members = np.array(
            [np.isin(names, [origins[output] for output in outputs]) for outputs, _ in lacks]
        )
        members &= ~np.isin(names, [*unread, *self.with_gaps_])
        # Few sets of sources have columns in common.
        sets, owners = np.unique(members, axis=1, return_inverse=True)
        missing = np.array([mask for _, mask in lacks])
        counts = [int(missing[among].any(axis=0).sum()) for among in sets.T]
        left[:] = np.array(counts)[owners.ravel()]
        return left

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : object, optional
            Ignored; scikit-learn passes it.

        Returns
        -------
        ndarray of object
            The names.
        """
        check_is_fitted(self)
        return np.asarray(self.feature_names_out_, dtype=object)

    def describe(self) -> list[str]:
        """Describe the encoding of the training samples.

        Returns
        -------
        list of str
            One line per step.
        """
        check_is_fitted(self)
        value = self.schema_.missing_value
        code = [] if value is None else [f"{value} taken as missing"]
        lines = [*code, *self.notes_]
        if self.identifiers_:
            lines.append(f"{named(self.identifiers_)} dropped: {LIKE_IDENTIFIERS}")
        if self.passthrough_:
            lines.append(f"{named(self.passthrough_)} kept for kernels on such columns")
        lines += [parts.described(name) for name, parts in self.dates_.items()]
        if self.category_:
            n_one_hot = len(self.one_hot_names_)
            lines.append(
                f"{counted(len(self.category_), 'category column')} one-hot encoded into"
                f" {n_one_hot}"
            )
            rare_values = self.one_hot_.infrequent_categories_
            for name, rare in zip(self.category_, rare_values, strict=True):
                if rare is not None:
                    lines.append(f"{len(rare)} rare values of {name!r} joined as '{name}_other'")
        return lines + self._fates_of_gaps()

    def advice(self) -> list[str]:
        """Return what users may do about the encoding of the training samples.

        Returns
        -------
        list of str
            The kernels that could learn from columns of text that were dropped.
        """
        check_is_fitted(self)
        texts = [name for name in self.identifiers_ if self.schema_[name].notation == TEXT]
        if not texts:
            return []
        return [f"to learn from the text of {named(texts)}, {kernels_on('text', texts[0])}"]

    def columns(self) -> list[dict[str, Any]]:
        """Return how each input column was treated in training.

        Returns
        -------
        list of dict
            Its ``name``, ``kind`` (``"number"``, ``"date"``, ``"category"`` if it is one-hot
            encoded, ``"text"`` if it is passed on, ``"identifier"`` if it is dropped) and ``gaps``,
            the number of ``values`` of a category, and ``kept`` (True) for a column left unchanged
            for its kernels.
        """
        check_is_fitted(self)
        categories = self.one_hot_.categories_ if self.category_ else []
        values = dict(zip(self.category_, map(len, categories), strict=True))
        rows: list[dict[str, Any]] = []
        columns = self.schema_.columns
        kinds = _kinds_of(columns).tolist()
        properties = (columns.values(name) for name in ("name", "n_gaps", "notation", "reads"))
        for kind, name, n_gaps, notation, reads in zip(kinds, *properties, strict=True):
            row = {"name": name, "kind": kind, "gaps": n_gaps}
            if notation not in (TEXT, WRITTEN, AS_READ, NUMBER):
                row["reading"] = notation
            if reads:
                row["kept"] = True
            if name in values:
                row["values"] = values[name]
            rows.append(row)
        return rows

    def __sklearn_tags__(self) -> Any:
        """Declare that text and gaps are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _fates_of_gaps(self) -> list[str]:
        """Return a line on the gaps of each kind of columns, if there are any."""
        filled = {*self.numeric_, *self.dates_} - {*self.empty_, *self.with_gaps_}
        fates = [
            (self.category_, f"in category columns taken as the value '{MISSING_CATEGORY}'"),
            (self.with_gaps_, "left to the kernels of their columns"),
            (filled, "imputed by the median"),
        ]
        lines = []
        left = dict(zip(self.gaps_, self.gaps_left_.tolist(), strict=True))
        gaps = {name: n_gaps - left[name] for name, n_gaps in self.gaps_.items()}
        for columns, fate in fates:
            n_gaps = sum(gaps[name] for name in columns)
            if n_gaps:
                lines.append(f"{counted(n_gaps, 'gap')} {fate}")
        if n_left := sum(left.values()):
            lines.append(f"{counted(n_left, 'gap')} left where a sample misses the whole source")
        if self.empty_:
            lines.append(f"{counted(len(self.empty_), 'column')} without any value set to 0")
        return lines

    def _sparse(self, frame: pd.DataFrame) -> list[str]:
        """Return the numeric columns that are sparse in a table and stay so."""
        stay = stay_sparse(frame)
        if not (self.sparse and stay.any()):
            return []
        numeric = {*self.numeric_}
        return [name for name in frame.columns[stay] if name in numeric]

    def _numbers(self, frame: pd.DataFrame, sparse: Collection[str]) -> NDArray[np.float64]:
        """Return numeric columns and the parts of dates as floats with NaN for gaps.

        Those that stay ``sparse`` are dropped.
        """
        numeric = self.numeric_
        empty = {*self.empty_}
        if sparse:
            others = {*sparse}
            numeric = [name for name in numeric if name not in others]
        if empty or numeric != frame.columns.tolist():
            filled = [name for name in numeric if name not in empty]
            of_numbers = all_as_numbers(frame[filled].reindex(columns=numeric))
        else:  # Tables may be very wide.
            of_numbers = all_as_numbers(frame)
        dates = [parts.numbers(frame[name]) for name, parts in self.dates_.items()]
        return np.hstack([of_numbers, *dates]) if dates else of_numbers

    def _medians_and_ranges(
        self, frame: pd.DataFrame, sparse: list[str], numbers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return medians of numbers and parts of dates; set ranges and moments of the former."""
        dense = ~np.isin(self.numeric_, sparse)
        n_dense = int(dense.sum())
        medians = np.zeros(len(dense) + numbers.shape[1] - n_dense)
        medians[np.append(dense, np.ones(numbers.shape[1] - n_dense, bool))] = column_medians(
            numbers
        )
        of_dense = [ufunc.reduce(numbers[:, :n_dense], initial=np.nan) for ufunc in EXTREMES]
        self.ranges_ = np.zeros((2, len(dense)))
        self.ranges_[:, dense] = np.nan_to_num(np.stack(of_dense))
        self.moments_ = np.zeros((4, len(dense)))
        self.moments_[:, dense] = column_moments(numbers[:, :n_dense])
        if sparse:
            matrix = as_matrix(frame[sparse]).tocsc()
            medians[np.flatnonzero(~dense)] = column_medians(matrix)
            self.ranges_[:, ~dense] = _sparse_ranges(matrix)
            self.moments_[:, ~dense] = column_moments(matrix)
        return medians

    def _filled(self, frame: pd.DataFrame, lacks: Sequence[Lack]) -> pd.DataFrame:
        """Return columns that stay sparse with medians in the gaps that are filled."""
        if not count_gaps(frame).any():
            return frame
        names = frame.columns.tolist()
        medians = self.encoded_.columns_named(names).values("fill").astype(np.float64)
        kept = {*self.with_gaps_}.intersection(names), np.ones(len(frame), bool)
        return sparse_and_missing(frame, [*lacks, kept], medians)

    def _name_outputs(self, medians: Array) -> None:
        """Name the output columns by columns and values, in the order of their sources."""
        # Each with its source, in the order of computation.
        outputs = [(name, name) for name in self.numeric_]
        for source, parts in self.dates_.items():
            outputs += [(source, name) for name in parts.names(source)]
        if self.category_:
            numbered = [str(place) for place in range(len(self.category_))]
            category = self.category_
            for coded in self.one_hot_.get_feature_names_out(numbered):
                place, _, value = coded.partition("_")
                source = category[int(place)]
                rest = value == "infrequent_sklearn"
                outputs.append((source, f"{source}_{'other' if rest else value}"))
        words = self.words_
        taken = {*self.numeric_, *self.dates_, *words}
        outputs = [(source, n if n == source else unique_name(n, taken)) for source, n in outputs]
        names = [name for _, name in outputs]
        self.numbers_ = np.array(names[: len(medians)], object)
        self.one_hot_names_ = names[len(medians) :]
        fills = [*medians.tolist(), *[np.nan] * len(self.one_hot_names_)]
        origins = [source for source, _ in outputs]
        columns = Columns.named(names, fill=fills, origin=origins)
        columns += Columns.named(words, holds="text", gaps="kept", fill=np.nan, origin=words)
        rank = {name: place for place, name in enumerate(self.feature_names_in_)}
        ranks = [rank[origin] for origin in columns.values("origin")]
        self.encoded_ = Schema(columns[np.argsort(ranks, kind="stable")])


def _sparse_ranges(matrix: Any) -> NDArray[np.float64]:
    """Return the smallest and the largest known number of each column of a sparse matrix (2, k)."""
    both = matrix.nanmin(axis=0), matrix.nanmax(axis=0)
    return np.nan_to_num(np.stack([np.ravel(extremes.toarray()) for extremes in both]))


def _kinds_of(columns: Columns) -> NDArray[np.object_]:
    """Return how each input column is encoded (d,)."""
    kinds = np.full(len(columns), "category", object)
    kinds[columns.are(holds="dates")] = "date"
    kinds[columns.are_read] = "text"
    kinds[columns.are(holds="numbers")] = "number"
    kinds[columns.are_left_out] = "identifier"
    return kinds


def _in_training(columns: Columns, n_gaps: NDArray[np.intp], n_rows: int) -> Columns:
    """Return columns with their numbers of gaps in training; without any value, empty."""
    empty = (n_gaps >= n_rows) & columns.are(role="feature")
    numbers, dates, text = (columns.are(holds=of) for of in ("numbers", "dates", "text"))
    # Empty columns of dates and text are numbers from now on.
    others = empty & ~columns.are_read & (dates | text)
    return columns.changed(
        n_gaps=n_gaps,
        role=np.where(others | (empty & numbers), "empty", columns.values("role")),
        holds=np.where(others, "numbers", columns.values("holds")),
        gaps=np.where(others, "median", columns.values("gaps")),
    )
