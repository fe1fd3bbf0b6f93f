"""Scores by which models are ranked, as scikit-learn calls them: larger is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.metrics import get_scorer

from mklkit.errors import UnknownNameError, quoted, suggest

AVERAGED = ("f1", "precision", "recall", "jaccard")
"""Scores of one class, which also exist as means over classes."""
OF_CLASSES = (
    *("accuracy", "balanced_accuracy", "roc_auc", "average_precision"),
    *("roc_auc_ovr", "roc_auc_ovo", "neg_log_loss", "neg_brier_score"),
    *("matthews_corrcoef", *AVERAGED),
    *(f"{name}_{mean}" for name in AVERAGED for mean in ("macro", "micro", "weighted")),
)
OF_NUMBERS = (
    *("r2", "explained_variance", "neg_mean_absolute_error", "neg_median_absolute_error"),
    *("neg_mean_squared_error", "neg_root_mean_squared_error"),
    *("neg_mean_absolute_percentage_error", "d2_absolute_error_score", "neg_max_error"),
)
OF_OUTLIERS = ("roc_auc", "balanced_accuracy")
OF_SAMPLES = ("accuracy", "recall_weighted", "f1_micro", "precision_micro", "recall_micro")
"""Scores of classes in which all samples count equally: other names of the accuracy."""
MEAN_RECALL = ("balanced_accuracy", "recall_macro")
"""Means over classes of the share of a class's samples that are predicted correctly."""


def is_error(score: str) -> bool:
    """Return whether a score is an error, negated because larger is better."""
    return score.startswith("neg_")


def named_scorer(name: str, known: Sequence[str], values: str) -> Callable[[Any, Any, Any], float]:
    """Return scikit-learn's scorer (a function of model, rows and targets); refuse other names."""
    if name not in known:
        raise UnknownNameError(
            f"There is no score {quoted(name)} for {values}.{suggest(name, known)}"
            f" Choose one of {', '.join(known)}.",
            name,
        )
    score: Callable[[Any, Any, Any], float] = get_scorer(name)
    return score


def words_of(score: str) -> str:
    """Return a score's name in words: of an error, without the sign.

    Examples
    --------
    >>> words_of("neg_mean_absolute_error")
    'mean absolute error'
    """
    return score.removeprefix("neg_").replace("_", " ")
