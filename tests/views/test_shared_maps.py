"""Maps that all binary problems share: what they make of a block of rows is made once."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit import MKLClassifier
from mklkit.views.deciding import decide_all


@pytest.mark.parametrize("n_rows", [1, 2048, 2049, 4500])
def test_decisions_that_share_maps_decide_as_each_does_alone(rng, n_rows):
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    model = MKLClassifier(
        ["linear", "rbf"], feature_map="empirical(subset=9)", combiner="ifsl", random_state=0
    )
    model.fit(X, y)
    rows = rng.normal(size=(n_rows, 3))
    naive = np.zeros((n_rows, 3))
    for column, decision in enumerate(model.decisions_):
        for weight, projector, learner in zip(
            decision.weights, decision.projectors, decision.learners, strict=True
        ):
            features = projector.map.kernel(rows, projector.map.landmarks) @ projector.map.weights
            naive[:, column] += weight * (features @ learner.coefficients + learner.bias)
    for shared in (True, False):
        values = decide_all(model.decisions_, rows, shared)
        np.testing.assert_allclose(values, naive, atol=1e-9)
    alone = np.column_stack([decision.decide(rows) for decision in model.decisions_])
    np.testing.assert_allclose(alone, naive, atol=1e-9)
