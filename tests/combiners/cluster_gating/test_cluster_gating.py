"""Cluster gating: what it reduces to, what it never does, and what it makes of odd input."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from helpers.builders import views_of
from oracles.gated import composite, discriminant_matrices, ratio_of
from problems import FOUR, Bands, checkered
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.combiners.cluster_gating.combiner import ClusterGating
from mklkit.errors import DataError, IncompatibleError, MKLKitError, MKLKitWarning, SpecError
from mklkit.learners.kda import KDA
from mklkit.numerics.graph_embedding import discriminant_graphs, embed_gram
from mklkit.plugin import Target
from mklkit.views.sides import GramSide

ROWS, Y = checkered(np.random.default_rng(7), 80)
WITH_ZERO = np.column_stack([ROWS, np.zeros(len(ROWS))])


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        return X[::2], y[::2]
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(X)[:100], y[:100]
    return ROWS, Y


def grams_of(kernels, rows):
    return [view.gram() for view in views_of(kernels, rows)]


def gated(rows, y, kernels=FOUR, learner=None, **options) -> MKLClassifier:
    combiner = ClusterGating(**options)
    return MKLClassifier(kernels, combiner=combiner, learner=learner, random_state=0).fit(rows, y)


def gates_of(model):
    return model.decisions_[0].gates


def best_ratio(gram, y, alpha=1e-3, n_components=1):
    return embed_gram(gram, discriminant_graphs(y), alpha, n_components).ratio


@pytest.mark.parametrize(
    ("name", "composition", "pairs", "smoothness"),
    [
        *itertools.product(["checkered"], ["sum", "product"], ["gradient", "random"], [0.0, 10.0]),
        # Of data with more classes and more columns, each value of each setting once.
        ("iris", "sum", "random", 0.0),
        ("iris", "product", "gradient", 10.0),
        ("breast cancer", "sum", "gradient", 10.0),
        ("breast cancer", "product", "random", 0.0),
    ],
)
def test_the_ratio_never_decreases(name, composition, pairs, smoothness):
    rows, y = problem(name)
    model = gated(rows, y, composition=composition, pairs=pairs, smoothness=smoothness, max_iter=8)
    history = np.array(gates_of(model).history)
    assert np.isfinite(history).all()
    assert (np.diff(history) >= 0).all()
    assert history[-1] > history[0]
    assert (model.weights_ >= 0).all()
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("composition", ["sum", "product"])
@pytest.mark.parametrize("smoothness", [0.0, 5.0])
def test_the_last_ratio_is_that_of_the_composite_and_the_first_that_of_uniform_weights(
    composition, smoothness
):
    """Positive composites only: of others the embedding leaves a part out."""
    kernels = ["rbf(sigma=0.7)", "rbf(sigma=1.0)"]
    model = gated(
        ROWS, Y, kernels, composition=composition, smoothness=smoothness, n_clusters=2, tol=1e-12
    )
    gates, grams = gates_of(model), grams_of(kernels, ROWS)
    memberships = gates.memberships(ROWS)
    uniform = composite(grams, memberships @ np.full((2, 2), 0.5), composition)
    assert gates.history[0] == pytest.approx(best_ratio(uniform, Y), rel=1e-6)
    composed = composite(grams, memberships @ gates.weights, composition)
    spread = smoothness * ((gates.weights - gates.weights.mean(axis=0)) ** 2).sum()
    similarity, constraint = discriminant_matrices(Y)
    projection = embed_gram(composed, discriminant_graphs(Y), 1e-3, 1, spread).projection
    reached = ratio_of(composed, projection, similarity, constraint, 1e-3, spread)
    assert gates.history[-1] == pytest.approx(reached, rel=1e-6)


@pytest.mark.parametrize(("composition", "power", "factor"), [("sum", 1, 2), ("product", 2, 1)])
def test_one_cluster_is_the_same_weights_for_all_rows(composition, power, factor):
    model = gated(ROWS, Y, n_clusters=1, composition=composition)
    assert model.weights_.shape == (1, 4)
    np.testing.assert_allclose(model.gate_weights(ROWS), np.tile(model.weights_, (len(ROWS), 1)))
    weights = factor * model.weights_[0] ** power
    gram = sum(w * g for w, g in zip(weights, grams_of(FOUR, ROWS), strict=True))
    peer = KDA(alpha=1e-3).fit(GramSide(gram), Target.two_classes(Y))
    scores = model.decision_function(ROWS)
    np.testing.assert_allclose(scores, peer.decide(gram), atol=1e-8 * np.abs(scores).max())
    np.testing.assert_array_equal(model.predict(ROWS), (peer.decide(gram) > 0).astype(int))


@pytest.mark.parametrize("composition", ["sum", "product"])
@pytest.mark.parametrize(
    ("kernels", "alpha"),
    [(["rbf(sigma=0.7)", "linear"], 0.01), (["polynomial", "rbf(sigma=1)"], 2.0)],
)
def test_two_clusters_find_the_best_of_a_grid_of_weights(composition, kernels, alpha):
    rows, y = checkered(np.random.default_rng(3), 50)
    model = gated(
        rows, y, kernels, clusterer=Bands((0.0,)), composition=composition, alpha=alpha, tol=1e-9
    )
    memberships, grams = gates_of(model).memberships(rows), grams_of(kernels, rows)
    shares = np.linspace(0, 1, 7)
    ratios = [
        best_ratio(composite(grams, memberships @ [[s, 1 - s], [t, 1 - t]], composition), y, alpha)
        for s in shares
        for t in shares
    ]
    assert gates_of(model).history[-1] > gates_of(model).history[0]
    assert gates_of(model).history[-1] >= max(ratios) * (1 - 1e-3)


def test_a_strong_prior_ties_the_clusters_together():
    free, tied = (gated(ROWS, Y, smoothness=s, tol=1e-8) for s in (0.0, 1e6))
    assert np.ptp(free.weights_, axis=0).max() > 1e-3
    np.testing.assert_allclose(tied.weights_, np.tile(tied.weights_[:1], (4, 1)), atol=1e-4)
    # Tied, they still move together, towards what one cluster finds.
    single = gated(ROWS, Y, n_clusters=1, tol=1e-8)
    assert 2 * gates_of(tied).history[0] < gates_of(tied).history[-1]
    assert gates_of(tied).history[-1] <= gates_of(single).history[-1] * (1 + 1e-6)
    assert tied.weights_[0].argmax() == single.weights_[0].argmax()


@pytest.mark.parametrize("composition", ["sum", "product"])
def test_new_rows_are_decided_by_the_gated_kernel(rng, composition):
    new = rng.normal(size=(30, 3))
    model = gated(ROWS, Y, ["linear", "rbf(gamma=0.4)"], composition=composition)
    weights, others = model.gate_weights(new), model.gate_weights(ROWS)
    distances = ((new[:, None] - ROWS[None]) ** 2).sum(axis=2)
    join = np.add.outer if composition == "sum" else np.multiply.outer
    similar = join(weights[:, 0], others[:, 0]) * (new @ ROWS.T)
    similar += join(weights[:, 1], others[:, 1]) * np.exp(-0.4 * distances)
    decision = model.decisions_[0].learner
    points = similar @ decision.projection
    gaps = ((points[:, None] - decision.means[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.decision_function(new), gaps[:, 0] - gaps[:, 1], atol=1e-8)


def test_weights_are_told_by_cluster():
    model = gated(ROWS, Y, n_clusters=3)
    frame = model.weights_frame()
    assert list(frame.columns) == ["problem", "cluster", "kernel", "weight"]
    np.testing.assert_array_equal(frame["weight"].to_numpy().reshape(3, 4), model.weights_)
    assert frame["cluster"].tolist() == sorted([0, 1, 2] * 4)
    assert frame["kernel"].tolist() == model.kernel_names_ * 3
    X, labels = problem("iris")
    ovo = MKLClassifier(
        FOUR, combiner="cluster-gating(n_clusters=2)", multiclass="ovo", random_state=0
    ).fit(X, labels)
    assert ovo.weights_.shape == (6, 4)
    assert ovo.weights_frame().groupby("problem")["cluster"].nunique().tolist() == [2, 2, 2]
    gates = [decision.gate_weights(X) for decision in ovo.decisions_]
    np.testing.assert_allclose(ovo.gate_weights(X), np.mean(gates, axis=0))


def test_weights_that_are_no_gates_say_so():
    model = MKLClassifier(FOUR, combiner="dimkl3").fit(ROWS, Y)
    with pytest.raises(
        IncompatibleError, match=r"dimkl3 has the same kernel weights for all samples"
    ):
        model.gate_weights(ROWS)


class TestOddClusters:
    @pytest.mark.parametrize("composition", ["sum", "product"])
    def test_an_empty_cluster_changes_nothing(self, composition):
        plain, with_empty = (
            gated(ROWS, Y, clusterer=Bands((0.0,), empty), composition=composition)
            for empty in (0, 2)
        )
        assert with_empty.weights_.shape == (4, 4)
        np.testing.assert_allclose(with_empty.weights_[:2], plain.weights_, atol=1e-3)
        np.testing.assert_allclose(with_empty.weights_[2:], 0.25)
        assert gates_of(with_empty).history[-1] == pytest.approx(
            gates_of(plain).history[-1], rel=1e-3
        )

    @pytest.mark.parametrize("n_rows", [2, 3, 5])
    def test_more_clusters_than_rows(self, n_rows):
        y = np.arange(n_rows) % 2
        with pytest.warns(MKLKitWarning, match=f"uses {n_rows} clusters, as there are {n_rows}"):
            model = gated(ROWS[:n_rows], y, n_clusters=9)
        assert model.weights_.shape == (n_rows, 4)
        assert np.isfinite(model.decision_function(ROWS)).all()

    def test_rows_that_are_all_the_same(self):
        rows, y = np.ones((20, 2)), np.arange(20) % 2
        with pytest.warns(MKLKitWarning, match="4 clusters .*fewer") as warned:
            model = gated(rows, y, ["linear", "rbf(gamma=1.0)"])
        assert len(warned) == 1
        assert np.isfinite(model.decision_function(rows)).all()

    def test_a_mixture_that_is_stopped_is_told_once_in_our_words(self):
        with pytest.warns(MKLKitWarning, match="stopped before its 4 clusters converged") as warned:
            gated(ROWS, Y, clusterer="gaussian-mixture(max_iter=1)")
        assert len(warned) == 1


@pytest.mark.parametrize("composition", ["sum", "product"])
class TestOddKernels:
    def test_the_same_twice(self, composition):
        twice = gated(ROWS, Y, ["rbf(gamma=0.5)"] * 2, composition=composition)
        assert np.isfinite(twice.weights_).all()
        np.testing.assert_allclose(twice.weights_.sum(axis=1), 1)
        if composition == "sum":  # the same composite, however the two share
            once = gated(ROWS, Y, "rbf(gamma=0.5)")
            np.testing.assert_allclose(
                twice.decision_function(ROWS), once.decision_function(ROWS), atol=1e-6
            )

    def test_all_zero(self, composition):
        zero = [("a", "linear", [3]), ("b", "linear", [3])]
        model = gated(WITH_ZERO, Y, zero, composition=composition)
        np.testing.assert_allclose(model.weights_, 0.5)
        assert len(set(model.predict(WITH_ZERO))) == 1

    def test_one_that_is_zero_gets_no_weight(self, composition):
        some = [("nothing", "linear", [3]), ("something", "rbf(gamma=0.5)", [0, 1])]
        model = gated(WITH_ZERO, Y, some, composition=composition)
        assert model.weights_[:, 0].max() < 0.01

    def test_an_indefinite_one(self, composition):
        model = gated(ROWS, Y, ["tanh(gamma=0.5, coef0=-1.0)", "linear"], composition=composition)
        assert (np.diff(gates_of(model).history) >= 0).all()
        assert np.isfinite(model.decision_function(ROWS)).all()


class TestOtherLearners:
    @pytest.mark.parametrize("learner", ["svm", "kmhks"])
    def test_an_indefinite_sum_is_told_and_a_product_is_none(self, learner):
        # Two bands of rows, a line in one of them and a circle in the other.
        rows = np.random.default_rng(0).normal(size=(80, 3))
        circle = (rows[:, 1:] ** 2).sum(axis=1) > 1.5
        y = np.where(rows[:, 0] > 0, rows[:, 1] > 0, circle).astype(int)
        options = {"kernels": ["linear", "polynomial(degree=2)"], "clusterer": Bands((0.0,))}
        gates = gates_of(gated(rows, y, **options)).gates(rows)
        least = np.linalg.eigvalsh(composite(grams_of(options["kernels"], rows), gates, "sum"))[0]
        assert least < -1e-3
        with pytest.warns(MKLKitWarning, match=rf"not positive semi-definite.*{learner}.*product"):
            gated(rows, y, learner=learner, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            product = gated(rows, y, learner=learner, composition="product", **options)
            gated(rows, y, learner="kda", **options)
        assert product.score(rows, y) > 0.7

    def test_features_are_refused(self):
        with pytest.raises(IncompatibleError, match="feature_map='implicit'"):
            gated(ROWS, Y, learner="mhks")


class TestClusterers:
    def test_a_specification_reaches_the_mixture(self):
        spec = (
            "bayesian-gaussian-mixture(weight_concentration_prior=0.1, covariance_type='diag',"
            " max_iter=2000)"
        )
        mixture = gates_of(gated(ROWS, Y, n_clusters=3, clusterer=spec)).clusterer
        assert type(mixture).__name__ == "BayesianGaussianMixture"
        assert mixture.weight_concentration_prior == 0.1
        assert mixture.covariance_type == "diag"
        assert mixture.n_components == 3

    def test_an_object_is_fitted_as_a_copy(self):
        mixture = GaussianMixture(2, random_state=0)
        model = gated(ROWS, Y, clusterer=mixture)
        assert not hasattr(mixture, "means_")
        expected = GaussianMixture(2, random_state=0).fit(ROWS).predict_proba(ROWS)
        np.testing.assert_allclose(gates_of(model).memberships(ROWS), expected)
        assert model.weights_.shape == (2, 4)

    @pytest.mark.parametrize(
        ("clusterer", "said"),
        [
            ("gausian-mixture", "Did you mean 'gaussian-mixture'"),
            ("k-means", "must be one of gaussian-mixture, bayesian-gaussian-mixture"),
            (GaussianMixture, "must be an object with fit and predict_proba"),
            (3, "must be an object with fit and predict_proba"),
        ],
    )
    def test_wrong_ones_are_told_at_once(self, clusterer, said):
        with pytest.raises(SpecError, match=said):
            ClusterGating(clusterer=clusterer)

    @pytest.mark.parametrize(
        ("clusterer", "said"),
        [
            ("gaussian-mixture(clusters=3)", "unexpected keyword argument 'clusters'"),
            ("gaussian-mixture(covariance_type='round')", "Got 'round' instead"),
            ("gaussian-mixture(n_components=100)", "n_samples >= n_components"),
        ],
    )
    def test_wrong_settings_are_told_when_fitted(self, clusterer, said):
        with pytest.raises(MKLKitError, match=said):
            gated(ROWS, Y, clusterer=clusterer)


def test_rows_whose_squares_overflow_are_refused():
    # Alike, so that no variance shows it.
    rows, y = np.full((4, 1), -1e299), np.array([0, 1, 0, 1])
    with pytest.raises(DataError, match="overflow float64"):
        gated(rows, y, kernels=["rbf"])
