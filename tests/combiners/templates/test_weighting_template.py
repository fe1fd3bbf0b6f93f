"""The weighting template through small rules with known answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import attrs
import numpy as np
import pytest
from helpers.builders import TRIO, ids, views_of, weights_by
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from mklkit import MKLClassifier, SpecError, load_model, save_model
from mklkit.combiners.templates.weighting import on_simplex
from mklkit.errors import ComponentError, WeightsWarning
from mklkit.kernels import Precomputed
from mklkit.plugin import WeightingCombiner


@attrs.frozen
class Fixed(WeightingCombiner):
    """Weights as they are given."""

    name: ClassVar[str] = "fixed"

    values: tuple[float, ...] = ()

    def weights(self, views, y):
        return np.array(self.values)


@given(st.lists(st.floats(0, 1.7e308), min_size=1, max_size=6).filter(any))
def test_weights_land_on_the_simplex_in_their_proportions(raw):
    views = SimpleNamespace(labels=[str(i) for i in range(len(raw))])
    weights = on_simplex(np.array(raw), views, "rule")
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    largest = int(np.argmax(raw))
    np.testing.assert_allclose(
        weights / weights[largest], np.array(raw) / raw[largest], rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ((np.nan, 1, 1), "fixed has no finite weight for linear; uniform weights are used"),
        (
            (1, np.inf, np.nan),
            r"no finite weight for rbf\(gamma=0.3\), polynomial\(degree=2\); uniform",
        ),
        ((0, 0, 0), "fixed gives every kernel the weight zero; uniform weights are used"),
    ],
)
def test_weights_that_can_not_be_used_are_uniform_and_said(two_classes, raw, message):
    rows, y = two_classes
    with pytest.warns(WeightsWarning, match=message):
        weights = weights_by(Fixed(raw), views_of(TRIO, rows), y)
    np.testing.assert_allclose(weights, 1 / 3)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ((1, -0.5, 1), "fixed .*.0.5"),
        ((1, 1), r"fixed .*\(3,\).*\(2,\)"),
        (((1, 1, 1),), r"fixed .*\(3,\).*\(1, 3\)"),
    ],
)
def test_rules_that_break_their_contract_are_told(two_classes, raw, message):
    rows, y = two_classes
    with pytest.raises(ComponentError, match=message):
        weights_by(Fixed(raw), views_of(TRIO, rows), y)


def test_kernels_without_weight_are_not_evaluated_again(two_classes):
    rows, y = two_classes
    gram = rbf_kernel(rows, gamma=0.2)
    unused = Precomputed(np.eye(10))  # knows no row beyond the tenth
    few, few_y = ids(10), y[:10]
    kernels = [unused, Precomputed(gram)]
    model = MKLClassifier(kernels, combiner=Fixed((0, 1)), learner="svm(C=1.0)").fit(few, few_y)
    expected = SVC(kernel="precomputed").fit(gram[:10, :10], few_y).decision_function(gram[:, :10])
    np.testing.assert_allclose(model.decision_function(ids(70)), expected, atol=1e-9)


def test_only_support_vectors_stay_in_the_model(two_classes):
    rows, y = two_classes
    rows = rows + 3 * y[:, None]  # well apart: few support vectors
    model = MKLClassifier(["rbf(gamma=0.1)", "linear"], learner="svm(C=1.0)").fit(rows, y)
    (decision,) = model.decisions_
    kept = {len(projector.map.landmarks) for projector in decision.projectors}
    gram = (rbf_kernel(rows, gamma=0.1) + linear_kernel(rows)) / 2
    assert kept == {len(SVC(kernel="precomputed").fit(gram, y).support_)}
    assert kept.pop() < 30


def test_weights_that_you_have_are_used_saved_and_checked(two_classes, tmp_path):
    rows, y = two_classes
    model = MKLClassifier(["linear", "rbf"], combiner="given(weights=[1, 3])").fit(rows, y)
    np.testing.assert_array_equal(model.weights_, [[0.25, 0.75]])
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))
    for weights in ([1], [1, -1]):
        with pytest.raises(SpecError, match="weights"):
            MKLClassifier(["linear", "rbf"], combiner=f"given(weights={weights})").fit(rows, y)
