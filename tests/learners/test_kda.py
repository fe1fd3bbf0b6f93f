"""The discriminant embedding against scikit-learn's LDA and dense eigenproblems.

For one component the best ratio λ is the top eigenvalue of S_t w = λ(S_w + γI)w. With S_t = S_w +
S_b this is S_b w = (λ − 1)(S_w + γλ/(λ − 1)·I)w: linear discriminant analysis with a ridge of
γλ/(λ − 1) on the scatter within classes, where λ > 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracles.gated import best_trace_ratio, discriminant_matrices
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.errors import MKLKitError
from mklkit.learners.kda import KDA
from mklkit.numerics.graph_embedding import discriminant_graphs, embed_gram
from mklkit.registry.registry import get_registry


class Ridged(BaseEstimator):
    """A class covariance with a ridge on its diagonal."""

    def __init__(self, ridge: float = 0.0) -> None:
        self.ridge = ridge

    def fit(self, X: np.ndarray) -> Ridged:
        self.covariance_ = np.cov(X, rowvar=False, bias=True) + self.ridge * np.eye(X.shape[1])
        return self


def feature_space(a: np.ndarray, landmarks: np.ndarray, gamma: float) -> np.ndarray:
    """Return the empirical map of an rbf kernel, by numpy alone."""
    values, vectors = np.linalg.eigh(rbf_kernel(landmarks, gamma=gamma))
    kept = values > 1e-12 * values[-1]
    return rbf_kernel(a, landmarks, gamma=gamma) @ (vectors[:, kept] / np.sqrt(values[kept]))


def lda_values(
    features: np.ndarray, y: np.ndarray, new: np.ndarray, alpha: float, solver: str
) -> np.ndarray:
    """Return what LDA with the ridge of the same problem says, without the sizes of classes."""
    similarity, constraint = discriminant_matrices(y)
    upper = features.T @ constraint @ features
    lower = features.T @ similarity @ features + alpha * np.eye(len(upper))
    best = best_trace_ratio(upper, lower, 1)
    assert best > 1
    ridge = alpha * best / (best - 1) / len(y)
    peer = LinearDiscriminantAnalysis(solver, covariance_estimator=Ridged(ridge)).fit(features, y)
    return peer.decision_function(new) - np.log(peer.priors_[1] / peer.priors_[0])


@pytest.mark.parametrize("solver", ["eigen", "lsqr"])
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_two_classes_are_decided_as_by_lda_in_feature_space(
    two_classes, rng, solver, alpha, feature_map
):
    rows, y = two_classes
    new = rng.normal(size=(200, 4))
    model = MKLClassifier("rbf(gamma=0.3)", feature_map=feature_map, learner=KDA(alpha=alpha)).fit(
        rows, y
    )
    ours = model.decision_function(new)
    features = feature_space(rows, rows, 0.3)
    reference = lda_values(features, y, feature_space(new, rows, 0.3), alpha, solver)
    scale = ours @ reference / (reference @ reference)
    assert scale > 0
    np.testing.assert_allclose(ours, scale * reference, atol=1e-6 * np.abs(ours).max())
    np.testing.assert_array_equal(model.predict(new), np.where(reference > 0, 1, -1))


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_many_classes_go_to_the_nearest_mean(feature_map):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = MKLClassifier(
        "rbf(gamma=0.1)", feature_map=feature_map, learner="kda(alpha=0.01)", multiclass="native"
    ).fit(X, y)
    decision = model.decisions_[0].learner
    columns = rbf_kernel(X, gamma=0.1)
    if feature_map == "empirical":
        columns = model.decisions_[0].projectors[0].transform(X)
    points = decision.embed(columns)
    assert points.shape == (len(X), 2)
    np.testing.assert_array_equal(
        model.predict(X), NearestCentroid().fit(points, y).predict(points)
    )
    # The scatter within classes, with its ridge, is the same in all directions.
    means = np.stack([points[y == label].mean(axis=0) for label in np.unique(y)])
    within = points - means[y]
    projection = decision.projection
    metric = columns if feature_map == "implicit" else np.eye(len(projection))
    ridge = 0.01 * projection.T @ metric @ projection
    np.testing.assert_allclose(within.T @ within + ridge, np.eye(2), atol=1e-8)
    # And the embedding has the largest ratio there is.
    features = feature_space(X, X, 0.1)
    similarity, constraint = discriminant_matrices(y)
    lower = features.T @ similarity @ features + 0.01 * np.eye(features.shape[1])
    best = best_trace_ratio(features.T @ constraint @ features, lower, 2)
    assert decision.history[-1] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("n_components", [1, 2, 5, 69, 500])
def test_more_components_than_classes(two_classes, n_components):
    rows, y = two_classes
    learner = KDA(alpha=0.1, n_components=n_components)
    decision = MKLClassifier("rbf(gamma=3.0)", learner=learner).fit(rows, y).decisions_[0].learner
    assert decision.projection.shape == (70, min(n_components, 69))
    gram = rbf_kernel(rows, gamma=3.0)
    projection = embed_gram(gram, discriminant_graphs(y), 0.1, min(n_components, 69)).projection
    # Orthonormal in feature space, and spanning what the decision's whitened directions span.
    np.testing.assert_allclose(
        projection.T @ gram @ projection, np.eye(projection.shape[1]), atol=1e-8
    )
    spread = projection @ np.linalg.lstsq(projection, decision.projection, rcond=None)[0]
    np.testing.assert_allclose(spread, decision.projection, atol=1e-6 * np.abs(spread).max())


def test_an_indefinite_kernel_is_used_by_its_positive_part(two_classes):
    rows, y = two_classes
    kernel = "tanh(gamma=0.5, coef0=-1.0)"
    model = MKLClassifier(kernel, learner="kda(alpha=0.1)").fit(rows, y)
    gram = np.tanh(0.5 * rows @ rows.T - 1.0)
    values, vectors = np.linalg.eigh(gram)
    assert values[0] < -0.1 * values[-1]
    positive = vectors[:, values > 0] * np.sqrt(values[values > 0])
    reference = lda_values(positive, y, positive, 0.1, "lsqr")
    np.testing.assert_array_equal(model.predict(rows), np.where(reference > 0, 1, -1))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("kda(alpha=-1)", "'alpha' must be >= 0"),
        ("kda(alpha='inf')", "'alpha' must be a finite number"),
        ("kda(n_components=0)", "'n_components' must be >= 1"),
        ("kda(n_components=1.5)", "n_components"),
        ("kda(graphs='lda')", "'graphs' must be callable"),
        ("kda(ridge=1)", "alpha"),
    ],
)
def test_wrong_parameters_are_told(spec, said):
    with pytest.raises(MKLKitError, match=said):
        get_registry().create("learner", spec)
