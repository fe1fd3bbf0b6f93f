"""Encoding of text, gaps and any column type as a DataFrame of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.columns import (
    DateParts,
    all_as_numbers,
    as_frame,
    is_date,
    is_numeric,
    text_of,
    unique_name,
    without_value,
)
from mklkit.datasets.identifiers import LIKE_IDENTIFIERS, identifiers_of
from mklkit.datasets.kernel_columns import (
    check_no_identifier,
    chosen_columns,
    leave_missing,
    passed_on,
)
from mklkit.datasets.notations import AS_READ, NUMBER, TEXT, WRITTEN
from mklkit.datasets.readings import ColumnReading, read_later, settle_readings
from mklkit.datasets.remarks import notes_on
from mklkit.errors import DataError, counted, named
from mklkit.estimators.sources import is_free_text
from mklkit.registry.composing import kernels_on
from mklkit.registry.readings import MISSING_CATEGORY


class TableEncoder(TransformerMixin, BaseEstimator):
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
    identifiers : sequence of str, optional
        Columns to leave out. By default those that ``fit`` recognises as identifiers, which may
        depend on the rows that it sees.
    readings : mapping of str to ColumnReading, optional
        How to read columns of text, as in ``load_table(...).readings``. By default ``fit`` decides
        from the rows that it sees.
    passthrough : sequence, default=()
        Columns to pass on unchanged, as for kernels (names, globs, lists of names; None for all
        but identifiers): numbers keep their gaps, and all others are text.
    imputed : sequence, default=()
        Those among them whose gaps become the training median.
    required : sequence of (kernel, column), default=()
        The columns that kernels on numbers name; they must not be dropped.
    infer : bool, default=False
        Whether kernels will be proposed: then columns of free text are passed on too, and
        categories in addition to their one-hot columns.
    sources : sequence, default=()
        Columns whose gaps stay in samples in which all of them are missing.
    missing_value : str or float, optional
        A value that marks a missing one.

    Attributes
    ----------
    feature_names_in_, n_features_in_ : ndarray of str, int
        The input columns, and their number.
    kinds_ : dict of str to str
        The kind of each column: ``"number"``, ``"date"``, ``"category"`` (one-hot encoded),
        ``"text"`` (passed on) or ``"identifier"`` (dropped).
    numeric_, category_, text_, identifiers_, words_ : list of str
        The numbers, categories, text passed on, identifiers, and all text columns of the output.
    dates_ : dict of str to DateParts
        The dates, and the numbers that replace each.
    passthrough_, with_gaps_ : list of str
        The columns passed on, and those of them whose gaps stay.
    readings_ : dict of str to ColumnReading
        How columns of text are read: as numbers or dates of some form, or as text.
    notes_ : list of str
        Notes on values that ``fit`` read differently from how they are written.
    gaps_ : dict of str to int
        The number of missing values per column in training.
    empty_ : list of str
        The numeric columns that have no value in training; they are ignored.
    medians_ : ndarray
        The values that replace gaps, of numeric columns and then of each part of dates.
    ranges_ : ndarray of shape (2, n_numeric)
        The smallest and the largest number of each numeric column.
    feature_names_out_, sources_ : list of str
        The output columns, and the input column from which each was derived.

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

    def __init__(
        self,
        max_categories: int = 100,
        identifiers: Sequence[str] | None = None,
        readings: Mapping[str, ColumnReading] | None = None,
        passthrough: Sequence[Any] = (),
        imputed: Sequence[Any] = (),
        required: Sequence[tuple[str, str]] = (),
        infer: bool = False,
        sources: Sequence[Any] = (),
        missing_value: Any = None,
    ) -> None:
        self.max_categories = max_categories
        self.identifiers = identifiers
        self.readings = readings
        self.passthrough = passthrough
        self.imputed = imputed
        self.required = required
        self.infer = infer
        self.sources, self.missing_value = sources, missing_value

    def fit(self, X: Any, y: Any = None) -> Self:
        """Determine column types, medians and categories from the training samples.

        Parameters
        ----------
        X : DataFrame or array of shape (N, d)
            The training samples, with columns of any type.
        y : object, optional
            Ignored; scikit-learn's pipelines pass it.

        Returns
        -------
        TableEncoder
            The fitted encoder itself.

        Raises
        ------
        DataError
            If names repeat, a number is too large, or only identifiers are left.
        """
        frame = without_value(as_frame(X), self.missing_value)
        if frame.shape[1] == 0:
            raise DataError("There are no feature columns.")
        self.feature_names_in_ = frame.columns.to_numpy(dtype=object)
        self.n_features_in_ = frame.shape[1]
        frame = self._settle_columns(frame)
        self.gaps_ = {str(name): int(number) for name, number in frame.isna().sum().items()}
        numbers = pd.DataFrame(self._numbers(frame))
        self.medians_ = np.nan_to_num(numbers.median().to_numpy())
        ranges = np.stack([numbers.min(), numbers.max()])
        self.ranges_ = np.nan_to_num(ranges[:, : len(self.numeric_)])
        self.one_hot_ = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=self.max_categories,
            sparse_output=False,
        )
        if self.category_:
            self.one_hot_.fit(text_of(frame[self.category_]))
        self._name_outputs()
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
            Numbers (float64) without gaps, except columns passed on and missing ``sources``.

        Raises
        ------
        DataError
            If a column is missing, or one that was numeric holds text.
        """
        check_is_fitted(self)
        unread = [*self.identifiers_, *self.empty_]
        frame = as_frame(X, self.feature_names_in_.tolist(), unread)
        frame, _ = read_later(
            without_value(frame.drop(columns=unread), self.missing_value), self.readings_
        )
        numbers = self._numbers(frame)
        gaps = np.isnan(numbers)
        gaps[:, : len(self.numeric_)] &= ~np.isin(self.numeric_, self.with_gaps_)
        rows, columns = np.nonzero(gaps)
        numbers[rows, columns] = self.medians_[columns]
        if self.category_:
            numbers = np.hstack([numbers, self.one_hot_.transform(text_of(frame[self.category_]))])
        encoded = pd.DataFrame(numbers, frame.index, self._number_names)
        leave_missing(encoded, frame, self.sources, self.feature_names_out_, self.sources_)
        for name in self.words_:
            encoded[name] = text_of(frame[[name]], gap=None)[:, 0]
        return encoded[self.feature_names_out_]

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
        code = [] if self.missing_value is None else [f"{self.missing_value} taken as missing"]
        lines = [*code, *self.notes_]
        if self.identifiers_:
            lines.append(self._left_out())
        if self.passthrough_:
            lines.append(f"{named(self.passthrough_)} kept for kernels on such columns")
        lines += [parts.described(name) for name, parts in self.dates_.items()]
        if self.category_:
            n_one_hot = sum(source in self.category_ for source in self.sources_)
            lines.append(
                f"{counted(len(self.category_), 'category column')} one-hot encoded into"
                f" {n_one_hot}"
            )
            rare_values = self.one_hot_.infrequent_categories_
            for name, rare in zip(self.category_, rare_values, strict=True):
                if rare is not None:
                    lines.append(f"{len(rare)} rare values of {name!r} joined as '{name}_other'")
        return lines + self._fates_of_gaps()

    def columns(self) -> list[dict[str, Any]]:
        """Return how each input column was treated in training.

        Returns
        -------
        list of dict
            Its ``name``, ``kind`` (as in ``kinds_``) and ``gaps``, the number of ``values`` of a
            category, and ``kept`` (True) for a column left unchanged for its kernels.
        """
        check_is_fitted(self)
        categories = self.one_hot_.categories_ if self.category_ else []
        values = dict(zip(self.category_, map(len, categories), strict=True))
        rows: list[dict[str, Any]] = []
        for name in self.feature_names_in_:
            row = {"name": name, "kind": self.kinds_[name], "gaps": self.gaps_[name]}
            notation = self.readings_.get(name, ColumnReading()).notation
            if notation not in (TEXT, WRITTEN, AS_READ, NUMBER):
                row["reading"] = notation
            if name in self.passthrough_:
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

    def _settle_columns(self, written: pd.DataFrame) -> pd.DataFrame:
        """Determine how to read and treat each column, and return the columns as read."""
        names = written.columns.tolist()
        if self.readings is None:
            frame, self.readings_ = settle_readings(written)
            readings = self.readings_
        else:
            frame, readings = read_later(written, self.readings)
            self.readings_ = readings | dict(self.readings)
        self.notes_ = notes_on(readings)
        identifiers = identifiers_of(frame, self.identifiers)
        texts = [name for name in names if self.infer and is_free_text(frame[name])]
        self.passthrough_ = passed_on([*self.passthrough, texts], names, identifiers)
        imputed = chosen_columns(self.imputed, names)
        self.with_gaps_ = [name for name in self.passthrough_ if name not in imputed]
        self.kinds_ = {name: self._kind(frame[name], identifiers) for name in names}
        self.numeric_, self.category_, self.text_, self.identifiers_ = (
            [name for name in names if self.kinds_[name] == kind]
            for kind in ("number", "category", "text", "identifier")
        )
        self.words_ = [*self.text_, *(self.category_ if self.infer else ())]
        dates = [name for name in names if self.kinds_[name] == "date"]
        self.dates_ = {name: DateParts.of(frame[name]) for name in dates}
        plain = ColumnReading(AS_READ)
        for name in self.category_:
            if self.readings_.setdefault(name, plain).holds != "text":
                self.readings_[name] = plain
        for name in self.text_ if self.readings is None else ():
            if self.readings_.get(name, plain).holds != "text":
                # Text for its kernel, even if it looks like dates.
                frame[name], self.readings_[name] = written[name], plain
        check_no_identifier(self.required, self.identifiers_, self.readings_)
        if len(self.identifiers_) == len(names):
            raise DataError(
                f"No feature is left: {named(self.identifiers_)} left out, with a different value"
                " in every row, like identifiers."
            )
        without_values = frame[self.numeric_].isna().all()
        self.empty_: list[str] = without_values.index[without_values].tolist()
        return frame

    def _kind(self, column: pd.Series, identifiers: Sequence[str]) -> str:
        """Return the kind of a column."""
        name = column.name
        if name in self.passthrough_:
            written = name in self.readings_ and self.readings_[name].notation == WRITTEN
            numeric = is_numeric(column) or is_bool_dtype(column)
            return "number" if numeric and not written else "text"
        if name in identifiers:
            return "identifier"
        if is_date(column):
            return "date"
        return "number" if is_numeric(column) else "category"

    def _left_out(self) -> str:
        """Return a line on columns that are left out, with kernels that could read the texts."""
        line = f"{named(self.identifiers_)} left out: {LIKE_IDENTIFIERS}"
        readings = self.readings_
        texts = [n for n in self.identifiers_ if n in readings and readings[n].notation == TEXT]
        if texts:
            which = f" of {named(texts)}" if len(self.identifiers_) > 1 else ""
            line += f" (to learn from the text{which}, {kernels_on('text', texts[0])})"
        return line

    def _fates_of_gaps(self) -> list[str]:
        """Return a line on the gaps of each kind of columns, if there are any."""
        filled = {*self.numeric_, *self.dates_} - {*self.empty_, *self.with_gaps_}
        but = ", or left where a row lacks the whole source" if self.sources else ""
        fates = [
            (self.category_, f"in category columns taken as the value '{MISSING_CATEGORY}'"),
            (self.with_gaps_, "left to the kernels of their columns"),
            (filled, f"imputed by the median{but}"),
        ]
        lines = []
        for columns, fate in fates:
            n_gaps = sum(self.gaps_[name] for name in columns)
            if n_gaps:
                lines.append(f"{counted(n_gaps, 'gap')} {fate}")
        if self.empty_:
            lines.append(f"{counted(len(self.empty_), 'column')} without any value set to 0")
        return lines

    def _numbers(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return numeric columns and the parts of dates as floats with NaN for gaps."""
        filled = frame[[name for name in self.numeric_ if name not in self.empty_]]
        dates = [parts.numbers(frame[name]) for name, parts in self.dates_.items()]
        return np.hstack([all_as_numbers(filled.reindex(columns=self.numeric_)), *dates])

    def _name_outputs(self) -> None:
        """Name the output columns by columns and values, in the order of their sources."""
        # Each with its source, in the order of computation.
        outputs = [(name, name) for name in self.numeric_]
        for source, parts in self.dates_.items():
            outputs += [(source, name) for name in parts.names(source)]
        if self.category_:
            numbered = [str(place) for place in range(len(self.category_))]
            for coded in self.one_hot_.get_feature_names_out(numbered):
                place, _, value = coded.partition("_")
                source = self.category_[int(place)]
                rest = value == "infrequent_sklearn"
                outputs.append((source, f"{source}_{'other' if rest else value}"))
        taken = {*self.numeric_, *self.dates_, *self.words_}
        outputs = [(source, n if n == source else unique_name(n, taken)) for source, n in outputs]
        self._number_names = [name for _, name in outputs]
        rank = {name: place for place, name in enumerate(self.feature_names_in_)}
        outputs += [(name, name) for name in self.words_]
        outputs.sort(key=lambda output: rank[output[0]])
        self.sources_: list[str] = [source for source, _ in outputs]
        self.feature_names_out_: list[str] = [name for _, name in outputs]
