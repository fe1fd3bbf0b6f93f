"""Weights without labels: naive transcriptions of both rules, and their programs by other means."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from mklkit_optimize.consensus import (
    consensus_weights,
    distortions,
    near_sphere,
    neighbor_graph,
)
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import mklkit
from mklkit import MKLClassifier, WeightsWarning, get_registry
from mklkit.learners import KDA
from mklkit.plugin import Target
from mklkit.registry.columns import bind_kernels
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.view_set import ViewSet

RANDOM = np.random.default_rng(8)
ROWS = RANDOM.normal(size=(37, 4)) * [1, 2, 1, 3]
SPECS = ["rbf(sigma='mean')", "linear", "cosine(polynomial)", "laplacian"]


def views_of(kernels: object, rows: np.ndarray, feature_map: str = "implicit") -> ViewSet:
    """Return the views of some kernels on all columns of the rows."""
    bound = [BoundKernel(kernel.label, kernel.kernel) for kernel in bind_kernels(kernels)]
    fitted_map = get_registry().create("feature_map", feature_map)
    return ViewSet.fit(bound, fitted_map, rows, np.random.RandomState(0))


def weights_of(name: str, views: ViewSet) -> np.ndarray:
    combiner = get_registry().create("combiner", name)
    target = Target.two_classes(np.ones(len(views.rows)))
    return combiner.prepare(views, target, KDA(), np.random.RandomState(0))[0]


def centered_grams(views: ViewSet) -> list[np.ndarray]:
    centring = np.eye(len(views.rows)) - 1 / len(views.rows)
    return [centring @ view.gram() @ centring for view in views]


def naive_statis(grams: list[np.ndarray]) -> np.ndarray:
    """mixKernel's STATIS-UMKL on centred matrices, by traces and powers of C."""
    cosines = np.array(
        [[np.trace(a @ b) / np.linalg.norm(a) / np.linalg.norm(b) for b in grams] for a in grams]
    )
    v = np.ones(len(grams))
    for _ in range(500):
        v = cosines @ v
        v /= v.sum()
    return v


def naive_distortion(grams: list[np.ndarray], n_neighbors: int, beta: np.ndarray) -> float:
    """Σ_ij W_ij ‖Δ_i(β) − Δ_j(β)‖², written out, for kernels scaled by their own distortion."""
    n_rows = len(grams[0])
    near = np.zeros((n_rows, n_rows))
    for gram in grams:
        for i in range(n_rows):
            distances = [gram[i, i] + gram[j, j] - 2 * gram[i, j] for j in range(n_rows)]
            distances[i] = np.inf
            for j in np.argsort(distances)[:n_neighbors]:
                near[i, j] += 1
    near = near + near.T

    def distortion(gram: np.ndarray) -> float:
        pairs = product(range(n_rows), repeat=2)
        return sum(near[i, j] * np.sum((gram[i] - gram[j]) ** 2) for i, j in pairs)

    scaled = [gram / np.sqrt(distortion(gram)) for gram in grams]
    return distortion(sum(weight * gram for weight, gram in zip(beta, scaled, strict=True)))


@pytest.mark.parametrize("mapped", ["implicit", "empirical", "empirical(subset=20)"])
def test_consensus_is_the_first_eigenvector(mapped: str) -> None:
    views = views_of(SPECS, ROWS, mapped)
    expected = naive_statis(centered_grams(views))
    np.testing.assert_allclose(weights_of("consensus", views), expected, rtol=1e-8)


def test_kernels_with_nothing_in_common_count_the_same() -> None:
    np.testing.assert_allclose(consensus_weights(np.eye(3)), np.ones(3))
    np.testing.assert_array_equal(consensus_weights(np.zeros((2, 2))), 0)


def test_a_constant_kernel_has_no_weight() -> None:
    constant = "polynomial(gamma=1e-18)"
    for combiner in ("consensus", "graph-consensus"):
        weights = weights_of(combiner, views_of(["linear", constant, "laplacian"], ROWS))
        assert weights[1] == 0
        assert weights.sum() == pytest.approx(1)
        with pytest.warns(WeightsWarning, match="uniform weights"):
            np.testing.assert_allclose(weights_of(combiner, views_of([constant] * 2, ROWS)), 0.5)


@pytest.mark.parametrize("mapped", ["implicit", "empirical(subset=20)"])
@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_graph_consensus_has_the_least_distortion(mapped: str, n_neighbors: int) -> None:
    rows = ROWS[:18]
    views = views_of(SPECS, rows, mapped)
    grams = centered_grams(views)
    # S of the written-out form, by its values at corners and edges of the simplex.
    corners = np.eye(4)
    at = np.array(
        [[naive_distortion(grams, n_neighbors, (a + b) / 2) for b in corners] for a in corners]
    )
    form = 2 * at - (np.diag(at)[:, None] + np.diag(at)) / 2
    solved = scipy.optimize.minimize(
        lambda beta: beta @ form @ beta,
        np.full(4, 0.25),
        jac=lambda beta: 2 * form @ beta,
        method="SLSQP",
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda beta: beta.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    weights = weights_of(f"graph-consensus(n_neighbors={n_neighbors})", views)
    np.testing.assert_allclose(weights, solved.x, atol=1e-5)
    assert weights @ form @ weights <= solved.fun * (1 + 1e-8)


def test_rows_in_several_panels_have_the_distortions_written_out() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 4))  # of which a panel holds 256
    views = views_of(SPECS[:2], rows)
    bank = views.learner_kernels
    near = neighbor_graph(bank, 5)
    grams = np.array(centered_grams(views))
    firsts, seconds = near.nonzero()
    sides = grams[:, firsts] - grams[:, seconds]
    expected = np.einsum("mpn,lpn,p->ml", sides, sides, near.toarray()[firsts, seconds])
    np.testing.assert_allclose(distortions(bank, near), expected, rtol=1e-9)


def test_more_neighbors_than_rows_are_all_others() -> None:
    bank = views_of("linear", ROWS[:4]).learner_kernels
    np.testing.assert_array_equal(neighbor_graph(bank, 9).toarray(), 2 * (1 - np.eye(4)))


def test_sizes_of_kernels_and_order_do_not_matter_to_weights() -> None:
    homogeneous = "polynomial(coef0=0)"
    usual = views_of(["linear", "rbf(sigma=2)", homogeneous], ROWS)
    larger = views_of(["linear", "rbf(sigma=200)", homogeneous], ROWS * 100)
    for combiner in ("consensus", "graph-consensus"):
        weights = weights_of(combiner, usual)
        np.testing.assert_allclose(weights_of(combiner, larger), weights, rtol=1e-5)
        back = views_of([homogeneous, "rbf(sigma=2)", "linear"], ROWS)
        np.testing.assert_allclose(weights_of(combiner, back)[::-1], weights, rtol=1e-6)


def naive_full_umkl(form: np.ndarray) -> np.ndarray:
    """The alternating iteration of full-UMKL with ρ = 20, each program by a generic solver."""
    count = len(form)
    z, u = np.full(count, count**-0.5), np.zeros(count)
    for number in range(100):
        pull = 20 * z - u

        def objective(x: np.ndarray, pull: np.ndarray = pull) -> float:
            return float(x @ form @ x + 10 * x @ x - pull @ x)

        bounds = [(0, None)] * count
        x = scipy.optimize.minimize(objective, z, bounds=bounds, options={"ftol": 1e-15}).x
        new = x / np.linalg.norm(x)
        if number and np.abs(z - new).sum() < 0.01:
            return z
        z = new
        u = u + 20 * (x - z)
    raise AssertionError("the iteration has no end")


@pytest.mark.parametrize("count", [2, 4])
def test_the_weights_of_length_one_are_those_of_the_published_iteration(count: int) -> None:
    factor = np.abs(np.random.default_rng(count).normal(size=(count, 6)))
    form = factor @ factor.T
    form /= np.sqrt(np.outer(np.diag(form), np.diag(form)))
    np.testing.assert_allclose(near_sphere(form), naive_full_umkl(form), atol=1e-5)


def test_consensus_has_the_weights_of_statis_on_normalized_centered_matrices() -> None:
    """As the page about mixKernel says."""
    X = StandardScaler().fit_transform(load_wine().data)
    matrices = []
    for part in (X[:, :5], X[:, 5:9], X[:, 9:]):
        lengths = np.linalg.norm(part, axis=1)
        matrices.append(part @ part.T / np.outer(lengths, lengths))
    centring = np.eye(len(X)) - 1 / len(X)
    expected = naive_statis([centring @ matrix @ centring for matrix in matrices])
    sources = [f"cosine(linear)@{columns}" for columns in ("0:5", "5:9", "9:13")]
    weights = mklkit.MKLTransformer(sources, combiner="consensus").fit(X).weights_[0]
    np.testing.assert_allclose(weights, expected, atol=1e-8)


def test_rows_in_parts_give_the_weights_of_all_rows() -> None:
    y = np.arange(37) % 2
    rows = ROWS + y[:, None]
    model = MKLClassifier(
        ["linear", "linear@0:2", "polynomial"],
        combiner="consensus",
        feature_map="empirical(subset=9)",
        learner="kda(alpha=0.1)",
        random_state=0,
    )
    for part in (slice(0, 20), slice(20, 21), slice(21, 37)):
        model.partial_fit(rows[part], y[part], classes=[0, 1])
    # The features of all rows on the maps of the first part, whose products are centred.
    features = [projector.transform(rows) for projector in model.partial_sums_.projectors]
    centring = np.eye(37) - 1 / 37
    grams = [centring @ columns @ columns.T @ centring for columns in features]
    np.testing.assert_allclose(model.weights_[0], naive_statis(grams), rtol=1e-8)


def test_text_and_numbers_are_sources_alike() -> None:
    words = np.array(["gattaca", "gattaga", "cccgggt", "cccgggg"])[np.arange(36) % 4]
    frame = pd.DataFrame({"size": ROWS[:36, 0], "gene": words})
    kernels = ["rbf(sigma=1)@size", "spectrum(k=2)@gene"]
    model = mklkit.MKLTransformer(kernels, combiner="graph-consensus")
    gram = model.fit_transform(frame)
    np.testing.assert_allclose(model.transform(frame[:5]), gram[:5], rtol=1e-9)
