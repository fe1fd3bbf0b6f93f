"""Views and what learners see of them, against whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import ids, in_blocks, views_of, weights_by
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from mklkit.feature_maps import Implicit
from mklkit.kernels import RBF, Precomputed
from mklkit.numerics.class_moments import ClassMoments
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.feature_statistics import moment_products
from mklkit.views.kernel_rows import InnerProduct, KernelRows
from mklkit.views.sides import GramSide
from mklkit.views.tiles import kernel_products
from mklkit.views.view_set import ViewSet

TILE_EDGES = [1, 2, 255, 256, 257, 1281]
TRIO = ["linear", "rbf(gamma=0.3)", "polynomial(degree=2)"]


def dense_trio(rows):
    return [
        linear_kernel(rows),
        rbf_kernel(rows, gamma=0.3),
        polynomial_kernel(rows, degree=2, gamma=1.0, coef0=1.0),
    ]


@pytest.mark.parametrize("n_rows", TILE_EDGES)
def test_matrices_are_whole_whatever_the_tiles(rng, n_rows):
    rows, weights = rng.normal(size=(n_rows, 3)), np.array([0.2, 0.0, 0.8])
    views, dense = views_of(TRIO, rows), dense_trio(rows)
    dense.append(sum(w * k for w, k in zip(weights, dense, strict=True)))
    for side, expected in zip([*views, views.weighted(weights)], dense, strict=True):
        gram = side.gram()
        np.testing.assert_allclose(gram, expected, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(views.weighted(np.zeros(3)).gram(), 0)


def test_kept_matrices_are_computed_once_and_others_not_kept(rng):
    view = views_of("rbf", rng.normal(size=(20, 2)))[0]
    assert view.gram(keep=False) is not view.gram(keep=False)
    assert view.gram() is view.gram() is view.gram(keep=False)
    assert view.spectrum() is view.spectrum()


def test_single_precision_rows_give_single_precision_matrices(rng):
    views = views_of(TRIO, rng.normal(size=(30, 3)).astype(np.float32))
    grams = [side.gram() for side in (*views, views.weighted(np.full(3, 1 / 3)))]
    assert {gram.dtype for gram in grams} == {np.dtype(np.float32)}
    np.testing.assert_allclose(grams[3], sum(dense_trio(views.rows)) / 3, rtol=1e-4, atol=1e-5)


SIDES = {
    "full map": lambda rows: views_of("rbf(gamma=0.3)", rows, "empirical")[0],
    "blocks": lambda rows: in_blocks(views_of(TRIO, rows, "empirical(subset=9)")).weighted(
        np.array([0.2, 0, 0.8])
    ),
    "subset map": lambda rows: views_of("rbf(gamma=0.3)", rows, "empirical(subset=9)")[0],
    "capped rank": lambda rows: views_of("rbf(gamma=0.3)", rows, "empirical(rank=5)")[0],
    "sum of views": lambda rows: views_of(TRIO, rows, "empirical").weighted(
        np.array([0.1, 0.2, 0.7])
    ),
    "one weight": lambda rows: views_of(TRIO, rows, "empirical").weighted(np.array([0, 0.3, 0])),
    "some samples": lambda rows: views_of("rbf(gamma=0.3)", rows, "empirical")[0].restricted(
        np.arange(0, 40, 3)
    ),
}


@pytest.mark.parametrize("name", SIDES)
def test_block_operations_and_spectra_are_those_of_the_features(rng, name):
    make, rows = SIDES[name], rng.normal(size=(1100 if name == "blocks" else 40, 3))
    side, features = make(rows), make(rows).features()
    assert side.n_rows == len(features) == side.normal_matrix().total
    assert side.n_features == features.shape[1]
    normal = side.normal_matrix()
    products = np.diag(normal.products) if normal.is_diagonal else normal.products
    np.testing.assert_allclose(products, features.T @ features, atol=1e-10)
    np.testing.assert_allclose(normal.sums, features.sum(axis=0), atol=1e-10)
    for shape in ((), (3,)):
        coefficients = rng.normal(size=(features.shape[1], *shape))
        targets = rng.normal(size=(len(features), *shape))
        np.testing.assert_allclose(side.project(coefficients), features @ coefficients, atol=1e-10)
        np.testing.assert_allclose(side.project_back(targets), features.T @ targets, atol=1e-10)
    centered, spectrum = features - features.mean(axis=0), side.spectrum()
    rebuilt = (spectrum.vectors * spectrum.values) @ spectrum.vectors.T
    np.testing.assert_allclose(rebuilt, centered.T @ centered, atol=1e-9)


@pytest.mark.parametrize("gram_of", ["view", "matrix"])
def test_the_spectrum_of_an_implicit_side_is_that_of_its_centered_gram_matrix(rng, gram_of):
    # Eigenvalues down to the tolerance, beside the zero of the constant vector.
    rows = rng.normal(size=(40, 2))
    dense = rbf_kernel(rows, gamma=0.02)
    side = views_of("rbf(gamma=0.02)", rows)[0] if gram_of == "view" else GramSide(dense.copy())
    centring = np.eye(len(dense)) - 1 / len(dense)
    spectrum = side.spectrum()
    rebuilt = (spectrum.vectors * spectrum.values) @ spectrum.vectors.T
    np.testing.assert_allclose(rebuilt, centring @ dense @ centring, atol=1e-10)
    np.testing.assert_allclose(spectrum.vectors.sum(axis=0), 0, atol=1e-13)


def test_kernels_see_their_own_columns_alone(rng):
    rows = rng.normal(size=(30, 4))
    bound = [
        BoundKernel("all", RBF(gamma=0.5)),
        BoundKernel("two", RBF(gamma=0.5), np.array([3, 1])),
        BoundKernel("mean", RBF(), np.array([3, 1])),
    ]
    views = ViewSet.fit(bound, Implicit(), rows, np.random.RandomState(0))
    cut = rows[:, [3, 1]]
    np.testing.assert_allclose(views[0].gram(), rbf_kernel(rows, gamma=0.5), rtol=1e-12)
    np.testing.assert_allclose(views[1].gram(), rbf_kernel(cut, gamma=0.5), rtol=1e-12)
    assert views[2].kernel == RBF().fit(cut)
    new = rng.normal(size=(6, 4))
    np.testing.assert_allclose(
        views[1].projector.transform(new), rbf_kernel(new[:, [3, 1]], cut, gamma=0.5), rtol=1e-12
    )
    assert views.labels == ["all", "two", "mean"]


SUBSET = "empirical(subset=7)"
AS_SEEN = ["linear", "rbf(gamma=2)", "polynomial(degree=3)"]


def seen_by_learners(rows):
    views = views_of(AS_SEEN, rows, SUBSET)
    features = [view.projector.map.transform(rows) for view in views]
    return views, [columns @ columns.T for columns in features]


def test_the_gram_matrix_of_a_subset_map_is_that_of_its_features(rng):
    rows = rng.normal(size=(300, 3))
    views, grams = seen_by_learners(rows)
    exact = rbf_kernel(rows, gamma=2)
    assert np.abs(grams[1] - exact).max() > 0.5
    for view, expected in zip(views, grams, strict=True):
        np.testing.assert_allclose(view.gram(), expected, atol=1e-8 * np.abs(expected).max())
    for weights in ([0.2, 0.5, 0.3], [0.0, 1.0, 0.0], [0.0, 0.25, 0.75]):
        expected = sum(w * gram for w, gram in zip(weights, grams, strict=True))
        side = views.weighted(np.array(weights))
        np.testing.assert_allclose(side.gram(), expected, rtol=1e-8, atol=1e-7)
        features = side.features()
        np.testing.assert_allclose(features @ features.T, expected, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize(
    "rule", ["alignment", "centered-alignment", *(f"dimkl{number}" for number in range(1, 7))]
)
@pytest.mark.parametrize("n_rows", [40, 300])
def test_rules_weigh_the_kernel_that_the_learner_sees(rng, rule, n_rows):
    rows = rng.normal(size=(n_rows, 3))
    y = np.where(rows[:, 0] + 0.5 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    views, grams = seen_by_learners(rows)
    of_matrices = views_of([Precomputed((g + g.T) / 2) for g in grams], ids(n_rows))
    expected = weights_by(rule, of_matrices, y)
    np.testing.assert_allclose(weights_by(rule, views, y), expected, rtol=1e-6)


def test_a_full_map_is_weighed_by_its_kernel(rng):
    rows = rng.normal(size=(60, 3))
    for view, expected in zip(views_of(TRIO, rows, "empirical"), dense_trio(rows), strict=True):
        assert view.learner_kernel.kernels == (view.kernel,)
        assert view.learner_kernel.arrays[0] is view.rows
        np.testing.assert_allclose(view.gram(), expected, rtol=1e-11, atol=1e-12)
    cut = views_of(TRIO, rows, "empirical(rank=3)")[1]
    features = cut.features()
    np.testing.assert_allclose(cut.gram(), features @ features.T, atol=1e-12)


def test_products_of_kernels_are_the_same_read_off_features_and_off_tiles(rng):
    rows = rng.normal(size=(300, 3))
    y = np.where(rows[:, 0] > 0.3, 1.0, -1.0)
    features = [rng.normal(size=(300, 4)) + 100, rng.normal(size=(300, 2)) * 1e3]
    by_tiles = kernel_products(KernelRows.of([InnerProduct()] * 2, features), y)
    together = np.hstack(features)
    moments = ClassMoments.of(together, (y > 0).astype(int), 2, together[:20].mean(axis=0))
    parts, sums = [slice(0, 4), slice(4, 6)], together.T @ y
    by_features = moment_products(moments, parts, sums, y.mean(), True, noise=1e-15)
    centring = np.eye(300) - 1 / 300
    grams = [centring @ columns @ columns.T @ centring for columns in features]
    naive = np.array([[np.sum(a * b) for b in grams] for a in grams])
    for products in (by_tiles, by_features):
        scale = np.outer(products.sizes, products.sizes)
        np.testing.assert_allclose(products.products * scale, naive, rtol=1e-9)
        with_labels = products.with_labels * products.sizes
        np.testing.assert_allclose(with_labels, [y @ gram @ y for gram in grams], rtol=1e-9)
