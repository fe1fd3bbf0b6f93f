"""
Your own weighting rule
=======================

A function of one view and the labels is a strategy like any other: it works with every learner, in
searches, comparisons and model files. In a package of your own, registered by one line of
``pyproject.toml``, the command line finds it by its name, too.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from mklkit import MKLClassifier
from mklkit.plugin import weighting_rule


@weighting_rule("class-gap")
def class_gap(view, y):
    """Weight a kernel by how much more similar samples are within classes than between them."""
    blocks = view.quadrants(y)
    within = (blocks.within_positive.mean + blocks.within_negative.mean) / 2
    return max(0.0, within - blocks.between.mean)


X, y = load_breast_cancer(return_X_y=True)
kernels = ["cosine(linear)", "rbf(sigma='mean')", "rbf(sigma='mean/8')"]
for combiner in ("uniform", class_gap()):
    model = MKLClassifier(kernels, combiner=combiner, scale="standard")
    accuracies = cross_val_score(model, X, y, cv=5)
    weights = model.fit(X, y).weights_frame()["weight"]
    print(f"accuracy {np.mean(accuracies):.3f}, weights {weights.round(3).tolist()}")
