"""Kernel weights of rows with weights, and coupled fits: those of rows that occur as often."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import views_of

from mklkit import MKLClassifier

KERNELS = ["linear", "rbf(sigma=1.5)", "polynomial(degree=2)"]


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical(subset=8)"])
def test_alignments_follow_their_formula(two_classes, rng, feature_map, centered):
    rows, y = two_classes
    weights = rng.uniform(0.1, 3, len(y))
    views = views_of(KERNELS, rows, feature_map)
    centring = np.eye(len(y)) - np.outer(np.ones(len(y)), weights / weights.sum())
    for view in views:
        gram, labels = view.gram(), y
        if centered:
            gram, labels = centring @ gram @ centring.T, centring @ y
        pairs = np.outer(weights, weights)
        top = (pairs * gram * np.outer(labels, labels)).sum()
        norms = (pairs * gram**2).sum(), (pairs * np.outer(labels, labels) ** 2).sum()
        alignment = view.label_alignment(y, centered, weights)
        assert np.isclose(alignment, top / np.sqrt(norms[0] * norms[1]), rtol=1e-9)
        # Asked again without weights, nothing is left of them.
        assert np.isclose(
            view.label_alignment(y, centered, np.ones(len(y))),
            view.label_alignment(y, centered),
            rtol=1e-9,
        )


def test_the_best_kernel_is_right_where_rows_count():
    draw = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    first = np.arange(60) < 20
    # The first column tells the classes of the first twenty rows, the second of the others.
    rows = np.column_stack([np.where(first, y, 0), np.where(first, 0, y)])
    rows += 0.01 * draw.normal(size=rows.shape)
    model = MKLClassifier(
        ["linear@0", "linear@1"], combiner="best-single", learner="svm(C=1)", random_state=0
    )
    for weights, best in ((None, 1), (np.where(first, 9.0, 1.0), 0)):
        assert model.fit(rows, y, sample_weight=weights).weights_.argmax() == best
