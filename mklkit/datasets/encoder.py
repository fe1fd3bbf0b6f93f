"""Encoding of text, gaps and any column type as a DataFrame of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.asked_columns import check_no_identifier
from mklkit.datasets.columns import (
    all_as_numbers,
    as_frame,
    read_as_told,
    text_of,
)
from mklkit.datasets.dates import DAYS, date_parts, parts_in_use
from mklkit.datasets.identifiers import identifiers_of
from mklkit.datasets.kernel_columns import chosen_columns, passed_on
from mklkit.datasets.kinds import kind_as_it_is, kind_of
from mklkit.datasets.layout import lay_out_columns, one_hot_columns
from mklkit.datasets.numerals import TEXT, WRITTEN
from mklkit.datasets.wording import described, input_columns
from mklkit.errors import DataError, named

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table of any column types into a DataFrame of numbers without gaps.

    Numeric columns keep their name and place; gaps become the training median (0 where a column
    has no values at all). Columns of text are read as numbers or dates where they hold those as
    people write them: ``1,200``, ``0,5``, ``31.12.2019``. Other text, boolean and categorical
    columns become one 0/1 column per value, named ``column_value``; gaps count as the value
    ``missing``, values not seen in training as none of them. Dates become the days since the
    first in training, under the column's name, and where they vary ``column_month``,
    ``column_weekday`` (Monday is 0) and ``column_hour``. Durations and times of day become
    seconds. Identifiers (text, or whole numbers in a column called id, with a different value in
    each of 20 rows or more, and columns that count the rows) are dropped. ``fit`` determines the
    type of each column; later data are read accordingly, whatever type a file reader chose.

    Parameters
    ----------
    max_categories : int, default=100
        The maximum of one-hot columns per text column; its rarest values share ``column_other``.
    identifiers : sequence of str, optional
        Columns to leave out. Those that ``fit`` takes for identifiers by default, which may depend
        on the rows that it sees.
    readings : mapping of str to str, optional
        How columns of text are read, as ``load_table(...).readings`` tells. ``fit`` settles it by
        default, by the rows that it sees.
    as_they_are : sequence, default=()
        Columns to pass on, as kernels name theirs (names, globs, lists of names; None for all that
        are no identifiers): numbers keep their gaps, and all others are text.
    imputed : sequence, default=()
        Those among them whose gaps become the training median.
    asked : sequence of (kernel, column), default=()
        The columns that kernels on numbers name: one that would be dropped is refused.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
        The input columns.
    n_features_in_ : int
        The number of input columns.
    numeric_ : list of str
        Those treated as numbers.
    dates_ : list of str
        Those treated as dates.
    text_ : list of str
        Those one-hot encoded.
    as_they_are_ : list of str
        Those passed on, whatever they hold.
    kept_ : list of str
        Those of them that hold no numbers.
    identifiers_ : list of str
        Those that are dropped.
    readings_ : dict of str to str
        How columns of text are read: as numbers or dates of some form, or as ``"text"``.
    notes_ : list of str
        What ``fit`` read differently from how it is written.
    gaps_ : dict of str to int
        The number of missing values per column in training.
    medians_ : ndarray
        The values that replace gaps, of numeric columns and then of each part of dates.
    ranges_ : ndarray of shape (2, n_numeric)
        The least and the largest number of each numeric column.
    feature_names_out_ : list of str
        The output columns.
    sources_ : list of str
        The input column from which each was derived.

    See Also
    --------
    MKLClassifier : Learns from the numbers; kernels may choose columns by name.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m", None], "age": [30.0, None, 50.0]})
    >>> TableEncoder().fit_transform(frame)
       sex_f  sex_m  sex_missing   age
    0    1.0    0.0          0.0  30.0
    1    0.0    1.0          0.0  40.0
    2    0.0    0.0          1.0  50.0

    In front of a classifier, with a scaler between them:

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mklkit import MKLClassifier
    >>> model = make_pipeline(TableEncoder(), StandardScaler(), MKLClassifier())
    >>> model.fit(frame, ["ill", "well", "well"]).predict(frame).tolist()
    ['ill', 'well', 'well']
    """

    # Of models that were saved before it was a parameter.
    asked: Sequence[tuple[str, str]] = ()

    def __init__(
        self,
        max_categories: int = 100,
        identifiers: Sequence[str] | None = None,
        readings: Mapping[str, str] | None = None,
        as_they_are: Sequence[Any] = (),
        imputed: Sequence[Any] = (),
        asked: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.max_categories = max_categories
        self.identifiers = identifiers
        self.readings = readings
        self.as_they_are = as_they_are
        self.imputed = imputed
        self.asked = asked

    def fit(self, X: Any, y: Any = None) -> Self:
        """Determine column types, medians and categories from the training rows.

        Raises
        ------
        DataError
            If column names repeat, a number is infinite or too large to square, all columns are
            identifiers, or a kernel on numbers names one.
        """
        frame = as_frame(X)
        if frame.shape[1] == 0:
            raise DataError("There are no feature columns.")
        self.feature_names_in_ = frame.columns.to_numpy(dtype=object)
        self.n_features_in_ = frame.shape[1]
        frame, found, self.notes_ = read_as_told(frame, self.readings)
        self.readings_ = found if self.readings is None else dict(self.readings)
        self._settle_kinds(frame)
        numbers = self._numbers(frame)
        gaps = np.isnan(numbers)
        self.gaps_ = {str(name): int(number) for name, number in frame.isna().sum().items()}
        self.medians_ = np.zeros(numbers.shape[1])
        filled = np.asarray(~gaps.all(axis=0))
        self.medians_[filled] = np.nanmedian(numbers[:, filled], axis=0) if filled.any() else 0.0
        self.ranges_ = np.zeros((2, len(self.numeric_)))
        known = np.flatnonzero(~gaps[:, : len(self.numeric_)].all(axis=0))
        self.ranges_[0, known] = np.nanmin(numbers[:, known], axis=0)
        self.ranges_[1, known] = np.nanmax(numbers[:, known], axis=0)
        self.one_hot_ = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=self.max_categories,
            sparse_output=False,
        )
        if self.text_:
            self.one_hot_.fit(text_of(frame[self.text_]))
        layout = lay_out_columns(
            self.feature_names_in_.tolist(),
            self._number_columns,
            one_hot_columns(self.text_, self.one_hot_),
            self.kept_,
        )
        self.feature_names_out_: list[str] = layout.names
        self.sources_: list[str] = layout.sources
        self._numeric_places, self._text_places = layout.numeric_places, layout.text_places
        self._kept_places = layout.kept_places
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
            Numbers (float64) without gaps, but for columns that are passed on as they are.

        Raises
        ------
        DataError
            If a column is missing, or one that was numeric holds text.
        """
        check_is_fitted(self)
        frame = as_frame(X, self.feature_names_in_.tolist(), [*self.identifiers_, *self.empty_])
        frame, _, _ = read_as_told(frame, self.readings_)
        numbers = self._numbers(frame)
        gaps = np.isnan(numbers)
        gaps[:, : len(self.numeric_)] &= ~np.isin(self.numeric_, self._with_gaps)
        rows, columns = np.nonzero(gaps)
        numbers[rows, columns] = self.medians_[columns]
        out = np.empty((len(frame), len(self.feature_names_out_)))
        out[:, self._numeric_places] = numbers
        if self.text_:
            out[:, self._text_places] = self.one_hot_.transform(text_of(frame[self.text_]))
        encoded = pd.DataFrame(out, columns=self.feature_names_out_, index=frame.index)
        for place, name in zip(self._kept_places, self.kept_, strict=True):
            encoded.isetitem(place, text_of(frame[[name]], gap=None)[:, 0])
        return encoded

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_out_, dtype=object)

    def describe(self) -> list[str]:
        """Describe the encoding of the training rows, one line per step."""
        check_is_fitted(self)
        return described(self)

    def columns(self) -> list[dict[str, Any]]:
        """Return how each input column was treated in training.

        Returns
        -------
        list of dict
            ``name``, ``kind`` (``"number"``, ``"date"``, ``"category"`` or ``"identifier"``, which
            is dropped, or ``"text"``, which is passed on), ``gaps``, for a category the number of
            its ``values``, and ``kept`` (True) for a column left as it is for its kernels.
        """
        check_is_fitted(self)
        return input_columns(self)

    def __sklearn_tags__(self) -> Any:
        """Declare that text and gaps are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _settle_kinds(self, frame: pd.DataFrame) -> None:
        """Determine the type of each column, and the parts of dates to use."""
        self.numeric_: list[str] = []
        self.dates_: list[str] = []
        self.text_: list[str] = []
        self.identifiers_: list[str] = []
        self.kept_: list[str] = []
        names = frame.columns.tolist()
        identifiers = identifiers_of(frame, self.identifiers)
        self.as_they_are_ = passed_on(self.as_they_are, names, identifiers)
        imputed = chosen_columns(self.imputed, names)
        self._with_gaps = [name for name in self.as_they_are_ if name not in imputed]
        kinds = {"number": self.numeric_, "date": self.dates_, "text": self.text_}
        for name, column in frame.items():
            way = self.readings_.get(str(name), TEXT) if column.notna().any() else TEXT
            if name in self.as_they_are_:
                numeric = kind_as_it_is(column, way) == "number"
                kind = self.numeric_ if numeric else self.kept_
            elif name in identifiers:
                kind = self.identifiers_
            else:
                kind = kinds[kind_of(column, way)]
            kind.append(str(name))
        check_no_identifier(self.asked, self.identifiers_, self.readings_)
        for name in [*self.text_, *self.kept_]:
            if self.readings_.get(name) != WRITTEN:
                self.readings_[name] = TEXT
        if len(self.identifiers_) == frame.shape[1]:
            raise DataError(
                f"No feature is left: {named(self.identifiers_)} left out, with a different value"
                " in every row, like identifiers."
            )
        without_values = frame[self.numeric_].isna().all()
        self.empty_: list[str] = without_values.index[without_values].tolist()
        self._number_columns = [(name, "") for name in self.numeric_]
        self.first_days_: dict[str, float] = {}
        for name in self.dates_:
            self.first_days_[name], parts = parts_in_use(frame[name])
            self._number_columns += [(name, part) for part in parts]

    def _numbers(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return numeric columns and the parts of dates as floats with NaN for gaps."""
        # A column without values in training is ignored, whatever it contains now.
        full = frame[self.numeric_].assign(**dict.fromkeys(self.empty_, np.nan))
        blocks = [all_as_numbers(full)]
        for name in self.dates_:
            parts = date_parts(frame[name])
            parts[DAYS] -= self.first_days_[name]
            kept = [parts[part] for column, part in self._number_columns if column == name]
            blocks.append(np.column_stack(kept))
        return np.hstack(blocks)
