"""What stage two needs, against Mu and Zhou 2011's equations with every N × N matrix formed."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import views_of
from oracles.gated import composite, discriminant_matrices, naive_forms

from mklkit.combiners.cluster_gating.stages import (
    KeptTiles,
    gated_blocks,
    quadratic_forms,
    smoothness_form,
)
from mklkit.combiners.templates.gating import composite_gram
from mklkit.numerics.graph_embedding import discriminant_graphs

TRIO = ["linear", "rbf(gamma=0.3)", "polynomial(degree=2)"]


def problem(rng, n_rows=60, n_clusters=4, n_components=2, n_classes=3, kernels=TRIO):
    """Return views, Gram matrices, memberships, a projection and labels, all at random."""
    rows = rng.normal(size=(n_rows, 4))
    views = views_of(kernels, rows)
    memberships = rng.dirichlet(np.full(n_clusters, 0.5), size=n_rows)
    projection = rng.normal(size=(n_rows, n_components))
    labels = np.arange(n_rows) % n_classes
    return views, [view.gram() for view in views], memberships, projection, labels


def assert_same_forms(forms, naive):
    for name in ("upper", "lower", "linear"):
        expected = getattr(naive, name)
        np.testing.assert_allclose(
            getattr(forms, name), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max()
        )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_components", [1, 2, 5])
@pytest.mark.parametrize("n_clusters", [1, 4])
def test_forms_are_those_of_the_paper(rng, n_classes, n_components, n_clusters):
    views, grams, memberships, projection, y = problem(rng, 60, n_clusters, n_components, n_classes)
    blocks = gated_blocks(views, memberships, projection)
    naive = naive_forms(grams, memberships, projection, *discriminant_matrices(y), 1e-3)
    assert_same_forms(quadratic_forms(blocks, projection, discriminant_graphs(y), 1e-3), naive)


@pytest.mark.parametrize("composition", ["sum", "product"])
@pytest.mark.parametrize("n_rows", [60, 530])
def test_composite_is_summed_from_tiles(rng, composition, n_rows):
    views, grams, memberships, _, _ = problem(rng, n_rows)
    gates = memberships @ rng.dirichlet(np.ones(3), size=4)
    np.testing.assert_allclose(
        composite_gram(views, gates, composition),
        composite(grams, gates, composition),
        rtol=1e-12,
        atol=1e-12,
    )


def test_product_form_is_linearized_by_its_derivative(rng):
    views, grams, memberships, projection, _ = problem(rng)
    theta = rng.dirichlet(np.ones(len(views)), size=memberships.shape[1])
    blocks = gated_blocks(views, memberships, projection, memberships @ theta)

    def seen(weights):
        return composite(grams, memberships @ weights, "product") @ projection

    for position, block in enumerate(blocks):
        step = np.zeros(theta.size)
        step[position] = 1e-3
        # Of a quadratic function a central difference is the derivative itself.
        change = seen(theta + step.reshape(theta.shape)) - seen(theta - step.reshape(theta.shape))
        np.testing.assert_allclose(block, change / 2e-3, rtol=1e-8, atol=1e-8)
    # Euler: a quadratic form is half its derivative along itself.
    np.testing.assert_allclose(np.tensordot(theta.ravel(), blocks, 1) / 2, seen(theta), rtol=1e-10)


def test_smoothness_is_the_spread_between_clusters(rng):
    theta = rng.dirichlet(np.ones(3), size=5)
    spread = sum((theta[c, p] - theta[:, p].mean()) ** 2 for c in range(5) for p in range(3))
    assert theta.ravel() @ smoothness_form(5, 3) @ theta.ravel() == pytest.approx(spread)
    same = np.tile(theta[:1], (5, 1)).ravel()
    assert same @ smoothness_form(5, 3) @ same == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("most", [0, 1 << 22])
def test_tiles_that_are_kept_are_those_computed_anew(rng, most):
    views, grams, memberships, *_ = problem(rng, n_rows=300, n_clusters=3)
    tiles = KeptTiles(views, most)
    for _ in range(2):
        gram = composite_gram(views, memberships, "sum", tiles.read())
        np.testing.assert_allclose(gram, composite(grams, memberships, "sum"), rtol=1e-12)
