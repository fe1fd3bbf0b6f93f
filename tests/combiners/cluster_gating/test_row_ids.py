"""Gates are functions of features: ids of precomputed kernels are not shown to them."""

from __future__ import annotations

import numpy as np
import pytest
from problems import checkered
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import IncompatibleError, MKLClassifier, load_model, save_model
from mklkit.combiners.cluster_gating.combiner import ClusterGating
from mklkit.kernels import Cosine, Precomputed

GAMMAS = (0.1, 1.0)


def test_gates_see_the_features_beside_the_ids(tmp_path) -> None:
    rows, y = checkered(np.random.default_rng(7), 80)
    gating = ClusterGating(n_clusters=2)
    plain = MKLClassifier([f"rbf(gamma={g})" for g in GAMMAS], combiner=gating, random_state=0)
    plain.fit(rows[:60], y[:60])
    beside = np.column_stack([rows[:, :1], np.arange(len(rows)), rows[:, 1:]])
    graphs = [(f"g{g}", Precomputed(rbf_kernel(rows, gamma=g)), [1]) for g in GAMMAS]
    looked_up = MKLClassifier(graphs, combiner=gating, random_state=0).fit(beside[:60], y[:60])
    np.testing.assert_allclose(
        looked_up.gate_weights(beside), plain.gate_weights(rows), rtol=1e-6, atol=1e-9
    )
    save_model(looked_up, tmp_path / "model.mkl")
    for model in (looked_up, load_model(tmp_path / "model.mkl")):
        np.testing.assert_allclose(
            model.decision_function(beside), plain.decision_function(rows), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("wrapped", [False, True])
def test_ids_alone_are_nothing_to_gate_by(wrapped: bool) -> None:
    rows, y = checkered(np.random.default_rng(7), 40)
    kernel = Precomputed(rbf_kernel(rows))
    model = MKLClassifier(Cosine(kernel) if wrapped else kernel, combiner="cluster-gating")
    with pytest.raises(IncompatibleError, match="only columns of ids"):
        model.fit(np.arange(len(rows), dtype=float)[:, None], y)
