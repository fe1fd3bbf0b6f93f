"""Weights by alignment against the dense formula."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import TRIO, ids, trio_grams, views_of, weights_by
from oracles.blocks import alignment, centered_alignment

from mklkit import MKLClassifier
from mklkit.errors import WeightsWarning
from mklkit.kernels import Precomputed

ORACLES = {"alignment": alignment, "centered-alignment": centered_alignment}
each_rule = pytest.mark.parametrize("rule", ORACLES)


@each_rule
def test_weights_are_the_alignments_divided_by_their_sum(two_classes, rule):
    rows, y = two_classes
    expected = np.array([ORACLES[rule](gram, y) for gram in trio_grams(rows)])
    assert (expected > 0).all()
    model = MKLClassifier(TRIO, combiner=rule).fit(rows, y)
    np.testing.assert_allclose(model.weights_, [expected / expected.sum()], rtol=1e-10)


@each_rule
def test_a_kernel_against_the_labels_has_no_weight(two_classes, rule):
    _, y = two_classes
    against = Precomputed(-np.outer(y, y))
    views = views_of([against, Precomputed(np.outer(y, y) + np.eye(70))], ids(70))
    np.testing.assert_array_equal(weights_by(rule, views, y), [0, 1])
    alone = views_of([against, against], ids(70))
    with pytest.warns(WeightsWarning, match=f"{rule} gives every kernel the weight zero"):
        np.testing.assert_array_equal(weights_by(rule, alone, y), [0.5, 0.5])


def test_centring_removes_what_unbalanced_classes_give_a_constant():
    y = np.where(np.arange(50) < 45, 1.0, -1.0)
    constant = Precomputed(np.full((50, 50), 0.1))
    informed = Precomputed(np.outer(y, y) + 5 * np.eye(50))
    views = views_of([constant, informed], ids(50))
    assert weights_by("alignment", views, y)[0] > 0.3
    np.testing.assert_array_equal(weights_by("centered-alignment", views, y), [0, 1])
