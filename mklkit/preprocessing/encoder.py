"""Text, gaps and any column type to a DataFrame of numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import DataError
from mklkit.preprocessing.columns import MISSING, as_frame, as_numbers, counted, is_numeric, text_of

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table of any column types into a DataFrame of numbers without gaps.

    Numeric columns keep their name and place; gaps become the training median (0 where a column
    has no values at all). Text, boolean and categorical columns become one 0/1 column a value,
    named ``column_value``; gaps count as the value ``missing``, values not seen in training as
    none of them. What a column is, is settled in ``fit``; later data are read accordingly,
    whatever type a file reader gave them.

    Parameters
    ----------
    max_categories : int, default=100
        One-hot columns at most for one text column; its rarest values share ``column_other``.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
        The input columns.
    n_features_in_ : int
        Their number.
    numeric_ : list of str
        Those taken as numbers.
    text_ : list of str
        Those one-hot encoded.
    medians_ : ndarray of shape (n_numeric,)
        What gaps become.
    feature_names_out_ : list of str
        The output columns.

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

    def __init__(self, max_categories: int = 100) -> None:
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle column types, medians and categories on the training rows.

        Raises
        ------
        DataError
            If column names repeat, or a number is infinite or too large to square.
        """
        frame = as_frame(X)
        repeated = frame.columns[frame.columns.duplicated()]
        if len(repeated):
            raise DataError(f"Column names must be unique; {repeated[0]!r} stands there twice.")
        if frame.shape[1] == 0:
            raise DataError("There are no feature columns.")
        self.feature_names_in_ = frame.columns.to_numpy(dtype=object)
        self.n_features_in_ = frame.shape[1]
        self.numeric_: list[str] = [
            name for name in frame.columns.tolist() if is_numeric(frame[name])
        ]
        self.text_: list[str] = [
            name for name in frame.columns.tolist() if name not in set(self.numeric_)
        ]
        self.empty_ = [name for name in self.numeric_ if frame[name].isna().all()]
        numbers = self._numbers(frame)
        gaps = np.isnan(numbers)
        self.n_gaps_in_numbers_ = int(gaps.sum()) - len(frame) * len(self.empty_)
        self.n_gaps_in_text_ = int(frame[self.text_].isna().to_numpy().sum())
        self.medians_ = np.zeros(len(self.numeric_))
        filled = ~gaps.all(axis=0)
        self.medians_[filled] = np.nanmedian(numbers[:, filled], axis=0) if filled.any() else 0.0
        self.one_hot_ = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=self.max_categories,
            sparse_output=False,
        )
        if self.text_:
            self.one_hot_.fit(text_of(frame[self.text_]))
        self._lay_out_columns()
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n, n_features_in_)
            A DataFrame may have its columns in any order, and more of them.

        Returns
        -------
        DataFrame of shape (n, n_features_out)
            Numbers (float64) without gaps.

        Raises
        ------
        DataError
            If a column is missing, or one that was numeric holds text.
        """
        check_is_fitted(self)
        frame = as_frame(X, self.feature_names_in_)
        numbers = self._numbers(frame)
        rows, columns = np.nonzero(np.isnan(numbers))
        numbers[rows, columns] = self.medians_[columns]
        out = np.empty((len(frame), len(self.feature_names_out_)))
        out[:, self._numeric_places] = numbers
        if self.text_:
            out[:, self._text_places] = self.one_hot_.transform(text_of(frame[self.text_]))
        return pd.DataFrame(out, columns=self.feature_names_out_, index=frame.index)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_out_, dtype=object)

    def describe(self) -> list[str]:
        """Say in one line each what was done to the training rows."""
        check_is_fitted(self)
        lines = []
        if self.text_:
            lines.append(
                f"{counted(len(self.text_), 'text column')} one-hot encoded into"
                f" {len(self._text_places)}"
            )
        for name, rare in zip(self.text_, self._rare(), strict=True):
            if rare:
                lines.append(f"{rare} rare values of {name!r} joined as '{name}_other'")
        if self.n_gaps_in_text_:
            gaps = counted(self.n_gaps_in_text_, "gap")
            lines.append(f"{gaps} in text columns taken as the value '{MISSING}'")
        if self.n_gaps_in_numbers_:
            lines.append(f"{counted(self.n_gaps_in_numbers_, 'gap')} imputed by the median")
        if self.empty_:
            lines.append(f"{counted(len(self.empty_), 'column')} without any value set to 0")
        return lines

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that text and gaps are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _numbers(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the numeric columns as floats with NaN for gaps."""
        out = np.full((len(frame), len(self.numeric_)), np.nan)
        for place, name in enumerate(self.numeric_):
            # A column without values in training says nothing, whatever it holds now.
            if name not in self.empty_:
                out[:, place] = as_numbers(frame[name])
        return out

    def _lay_out_columns(self) -> None:
        """Name the output columns and settle their places, in the order of the input."""
        blocks: dict[str, list[str]] = {name: [name] for name in self.numeric_}
        if self.text_:
            numbered = [str(place) for place in range(len(self.text_))]
            for coded in self.one_hot_.get_feature_names_out(numbered):
                place, _, value = coded.partition("_")
                value = "other" if value == "infrequent_sklearn" else value
                name = self.text_[int(place)]
                blocks.setdefault(name, []).append(f"{name}_{value}")
        taken: set[str] = set(self.numeric_)
        self.feature_names_out_: list[str] = []
        numeric = set(self.numeric_)
        places: dict[bool, list[int]] = {True: [], False: []}
        for name in self.feature_names_in_:
            for column in blocks.get(name, []):
                places[name in numeric].append(len(self.feature_names_out_))
                self.feature_names_out_.append(
                    column if name in numeric else _unique(column, taken)
                )
        self._numeric_places, self._text_places = places[True], places[False]

    def _rare(self) -> list[int]:
        """Return how many values of each text column share one."""
        if not self.text_:
            return []
        return [0 if rare is None else len(rare) for rare in self.one_hot_.infrequent_categories_]


def _unique(name: str, taken: set[str]) -> str:
    """Return the name, numbered apart where another column has it, and take it."""
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    taken.add(unique)
    return unique
