"""Scaling of all columns except those that kernels need as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.kernel_columns import chosen_columns

__all__ = ["ScaledColumns"]


class ScaledColumns(TransformerMixin, BaseEstimator):
    """A scaler for the columns of numbers, and others passed on as they are.

    Parameters
    ----------
    scaler : transformer
        Of scikit-learn, one output column per column.
    as_they_are : sequence
        The columns not to scale, as kernels name theirs; None among them for all.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    scaler_ : transformer
        Fitted to the columns ``scaled_``; those ``left_`` are not scaled.

    Examples
    --------
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> frame = pd.DataFrame({"word": ["a", "b"], "count": [4.0, 2.0], "age": [30.0, 50.0]})
    >>> ScaledColumns(MinMaxScaler(), ["word", "count"]).fit_transform(frame)
      word  count  age
    0    a    4.0  0.0
    1    b    2.0  1.0
    """

    def __init__(self, scaler: Any, as_they_are: Sequence[Any]) -> None:
        self.scaler = scaler
        self.as_they_are = as_they_are

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Fit the scaler to its columns of the training rows."""
        self._begin(X)
        if self.scaled_:
            self.scaler_.fit(X[self.scaled_])
        return self

    def partial_fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Fit the scaler to more training rows."""
        if not hasattr(self, "scaler_"):
            self._begin(X)
        if self.scaled_:
            self.scaler_.partial_fit(X[self.scaled_])
        return self

    def _begin(self, X: pd.DataFrame) -> None:
        self.feature_names_in_ = X.columns.to_numpy(dtype=object)
        self.n_features_in_ = X.shape[1]
        names = X.columns.tolist()
        left = chosen_columns(self.as_they_are, names)
        left |= {name for name in names if not is_numeric_dtype(X[name].dtype)}
        self.left_ = [name for name in names if name in left]
        self.scaled_ = [name for name in names if name not in left]
        self.scaler_ = clone(self.scaler)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the same columns, some of them scaled."""
        check_is_fitted(self)
        if not self.scaled_:
            return X
        scaled = np.asarray(self.scaler_.transform(X[self.scaled_]))
        return X.assign(**dict(zip(self.scaled_, scaled.T, strict=True)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_in_, dtype=object)
