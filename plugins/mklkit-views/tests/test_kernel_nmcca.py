"""The transformer of rows: scikit-learn's contract, and what it does on empirical maps."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_views import KernelNmCCA, NmCCA
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import MKLClassifier, MKLKitError, load_model, save_model


@parametrize_with_checks([KernelNmCCA(["linear", "rbf"])])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_it_is_nmcca_of_features_whose_products_are_the_kernels():
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(40, 3)), rng.normal(size=(9, 3))

    def quadratic(x):
        """Return features whose inner products are (⟨x, z⟩ + 1)²."""
        pairs = [
            x[:, i] * x[:, j] * (1 if i == j else 2**0.5) for i in range(3) for j in range(i + 1)
        ]
        return np.column_stack([np.ones(len(x)), 2**0.5 * x, *pairs])

    model = KernelNmCCA(["linear", "polynomial(degree=2)"], alpha=0.1).fit(rows)
    reference = NmCCA(alpha=0.1).fit([rows, quadratic(rows)])
    ours = model.transform(new)
    expected = np.hstack(reference.transform([new, quadratic(new)]))
    assert ours.shape == (9, 6)
    np.testing.assert_allclose(np.abs(ours), np.abs(expected), atol=1e-6)
    assert list(model.get_feature_names_out()) == [f"kernelnmcca{i}" for i in range(6)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature_map": "implicit"}, "empirical"),
        ({"kernels": "rbf"}, "list"),
        ({"kernels": []}, "one or more"),
        ({"kernels": ["rfb"]}, "rbf"),
    ],
)
def test_mistakes_are_told(parameters, message):
    with pytest.raises(MKLKitError, match=message):
        KernelNmCCA(**parameters).fit(np.eye(4))


def test_a_pipeline_with_the_transformer_is_saved(tmp_path):
    rng = np.random.default_rng(4)
    rows, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    model = make_pipeline(KernelNmCCA(["linear", "rbf"], n_components=2), MKLClassifier("linear"))
    save_model(model.fit(rows, y), tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(restored.predict(rows), model.predict(rows))
