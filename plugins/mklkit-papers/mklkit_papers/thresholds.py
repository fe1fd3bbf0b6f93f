"""A discriminant's threshold where classes differ in size."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

__all__ = ["ShareThreshold"]


class ShareThreshold(ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis of a classifier's output, for two classes.

    The outputs of each class are normal with the same variance, and classes have their shares of
    the training rows: the threshold is m + s² log(π₀/π₁)/(m₁ − m₀) for the mean m of both classes'
    means m₀ and m₁. With π₀ = π₁ it is the nearest class mean.

    Parameters
    ----------
    classifier : estimator
        Has ``decision_function``.

    Attributes
    ----------
    classifier_ : estimator
        Fitted.
    threshold_ : float
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mklkit import MKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ShareThreshold(MKLClassifier("rbf", learner="kda")).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, and the threshold to its outputs for the same rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        """
        self.classifier_ = clone(self.classifier).fit(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        outputs = np.asarray(self.classifier_.decision_function(X), dtype=np.float64)
        counts = np.bincount(codes)
        means = np.bincount(codes, outputs) / counts
        variance = float(np.square(outputs - means[codes]).sum()) / max(len(outputs) - 2, 1)
        apart = float(means[1] - means[0])
        shift = variance * float(np.log(counts[0] / counts[1])) / apart if apart > 0 else 0.0
        self.threshold_ = float(means.mean()) + shift
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels of rows."""
        above = self.classifier_.decision_function(X) > self.threshold_
        return self.classes_[above.astype(int)]
