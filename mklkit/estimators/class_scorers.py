"""Scorers of a search for classes, which see class scores in place of a fitted classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from mklkit.errors import SpecError, quoted
from mklkit.protocols import Array

Scorer = Callable[[Any, Any, Any], float]


def check_scorer(scorer: Any, name: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> None:
    """Reject a scorer that needs more than predictions and decision values, before any fit."""
    try:
        if scorer is None or not needs_probabilities(scorer, codes, classes):
            return
    except ValueError:
        return  # An error on these labels is raised where the scorer is used.
    raise SpecError(
        f"The scorer {quoted(name)} needs more than predictions and decision values, such as"
        " probabilities, which are not calibrated in a search. Choose one that needs no more:"
        " 'accuracy', 'balanced_accuracy', 'f1_macro' or, of two classes, 'roc_auc'."
    )


def needs_probabilities(scorer: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> bool:
    """Return whether a scorer needs more than predictions and decision values.

    A ValueError says why it can't score these labels.
    """
    perfect = ScoredClasses(classes, np.eye(len(classes))[codes])
    try:
        scorer(perfect, np.zeros((len(codes), 1)), classes[codes])
    except AttributeError:
        return True
    return False


class ScoredClasses(ClassifierMixin, BaseEstimator):
    """Class scores (n, C) in the form of a fitted classifier, for scikit-learn's scorers."""

    def __init__(self, classes: Any, scores: Any) -> None:
        self.classes = classes
        self.scores = scores
        self.classes_ = classes

    def decision_function(self, X: Any) -> Array:
        """Return the scores; for two classes, those of the second."""
        scores = np.asarray(self.scores)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest score."""
        return np.asarray(self.classes_[np.asarray(self.scores).argmax(axis=1)])
