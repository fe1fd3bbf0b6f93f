"""The evaluation of classifiers: splits, scores, cross-validation, kernel alignment.

Examples
--------
>>> from mklkit import MKLClassifier
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> split = hold_out(y, share=0.2, seed=0)
>>> model = MKLClassifier().fit(X[split.train], y[split.train])
>>> found = score(y[split.held_out], model.predict(X[split.held_out]), y[split.train])
>>> found["rows"], found["accuracy"] > 0.9
(30, True)
"""

from mklkit.estimators.folds import FoldPlan, plan_folds
from mklkit.evaluation.cross_validation import CrossValidation, cross_validate
from mklkit.evaluation.scores import score, score_confusion
from mklkit.evaluation.splits import Split, hold_out

__all__ = [
    "CrossValidation",
    "FoldPlan",
    "Split",
    "cross_validate",
    "hold_out",
    "plan_folds",
    "score",
    "score_confusion",
]
