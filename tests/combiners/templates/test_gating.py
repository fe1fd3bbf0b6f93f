"""The gating template through small subclasses with known answers."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
from helpers.builders import TRIO, trio_grams
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.errors import ComponentError, IncompatibleError
from mklkit.plugin import GatingCombiner


@attrs.frozen
class FirstFeatureGates:
    """The first kernel on one side of the first feature, the last on the other."""

    def gates(self, rows):
        share = 1 / (1 + np.exp(-rows[:, 0]))
        return np.column_stack([share, np.full(len(rows), 0.2), 1 - share])


@attrs.frozen
class Product(GatingCombiner):
    name: ClassVar[str] = "product-gates"
    made: object = None

    def fit_gates(self, views, y, random_state):
        return self.made


@attrs.frozen
class Sum(Product):
    name: ClassVar[str] = "sum-gates"
    composition: ClassVar[str] = "sum"


@pytest.mark.filterwarnings("ignore:The sum composite of sum-gates is not positive")
@pytest.mark.parametrize("combiner", [Product(FirstFeatureGates()), Sum(FirstFeatureGates())])
@pytest.mark.parametrize("n_rows", [70, 600])
def test_gates_of_each_row_weigh_its_similarities(rng, combiner, n_rows):
    rows, new = rng.normal(size=(n_rows, 4)), rng.normal(size=(25, 4))
    y = np.where(rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=n_rows) > 0, 1.0, -1.0)

    def composite(a, b):
        gates, second_gates = FirstFeatureGates().gates(a), FirstFeatureGates().gates(b)
        total = np.zeros((len(a), len(b)))
        for m, values in enumerate(trio_grams(a, b)):
            if combiner.composition == "product":
                total += np.outer(gates[:, m], second_gates[:, m]) * values
            else:
                total += np.add.outer(gates[:, m], second_gates[:, m]) * values
        return total

    model = MKLClassifier(TRIO, combiner=combiner, learner="svm(C=1.0)").fit(rows, y)
    machine = SVC(kernel="precomputed").fit(composite(rows, rows), y)
    np.testing.assert_allclose(
        model.decision_function(new), machine.decision_function(composite(new, rows)), atol=1e-6
    )
    means = FirstFeatureGates().gates(rows).mean(axis=0)
    np.testing.assert_allclose(model.weights_, [means], rtol=1e-12)
    np.testing.assert_allclose(
        model.decisions_[0].gate_weights(new), FirstFeatureGates().gates(new)
    )


def test_an_explicit_map_and_gates_of_a_wrong_shape_are_refused(two_classes):
    combiner = Product(FirstFeatureGates())
    model = MKLClassifier(TRIO, combiner=combiner, feature_map="empirical")
    with pytest.raises(IncompatibleError, match=r"product-gates .* needs feature_map='implicit'"):
        model.fit(*two_classes)
    with pytest.raises(ComponentError, match=r"product-gates .*, 2\).*, 3\)"):
        MKLClassifier(TRIO[:2], combiner=combiner).fit(*two_classes)
