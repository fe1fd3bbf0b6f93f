"""How good a classifier's answers are."""

from mklkit.evaluation.scores import score, score_confusion

__all__ = ["score", "score_confusion"]
