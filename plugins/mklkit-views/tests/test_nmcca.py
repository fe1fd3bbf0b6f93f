"""Near-mean CCA against a dense eigenproblem, against CCA, and against its own definition."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_views import NmCCA
from scipy.linalg import block_diag, eigh, qr
from sklearn.base import clone

from mklkit import MKLKitError

WIDTHS = (4, 3, 6)


def related_views(seed=0, n_rows=60, widths=WIDTHS):
    """Return views of a few common numbers, each mixed with noise of its own."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_rows, 2))
    return [
        common @ rng.normal(size=(2, width)) + rng.normal(size=(n_rows, width)) + rng.normal()
        for width in widths
    ]


def centered(views):
    return [view - view.mean(axis=0) for view in views]


def ridges_of(views, alpha):
    return [alpha * np.linalg.svd(view, compute_uv=False)[0] ** 2 for view in views]


def dense_problem(views, alpha):
    """Return C and D of C w = λ D w."""
    products = [view.T @ view for view in views]
    ridges = ridges_of(views, alpha)
    pairs = zip(products, ridges, strict=True)
    joined = np.hstack(views)
    return joined.T @ joined, block_diag(*(p + r * np.eye(len(p)) for p, r in pairs))


def near_mean(views, directions):
    parts = [view @ part for view, part in zip(views, directions, strict=True)]
    mean = sum(parts) / len(parts)
    return sum(np.linalg.norm(part - mean) ** 2 for part in parts)


@pytest.mark.parametrize("alpha", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("widths", [WIDTHS, (3, 3), (5,), (30, 40, 3)])
def test_components_are_those_of_the_dense_generalized_eigenproblem(widths, alpha):
    views = related_views(widths=widths)
    model = NmCCA(alpha=alpha).fit(views)
    whole, blocks = dense_problem(centered(views), alpha)
    values, vectors = eigh(whole, blocks)
    count = min(widths)
    np.testing.assert_allclose(model.agreement_, values[::-1][:count] / len(widths), atol=1e-9)
    ours = np.vstack(model.directions_) / np.sqrt(60 * len(widths))
    if len(widths) == 1 and alpha == 0:
        return  # A view agrees with itself along any direction: all eigenvalues are 1.
    reference = vectors[:, ::-1][:, :count]
    signs = np.sign(np.einsum("ij,ij->j", ours, blocks @ reference))
    np.testing.assert_allclose(ours, reference * signs, atol=1e-6)


def test_more_features_than_rows():
    views = related_views(n_rows=12, widths=(20, 5, 40))
    model = NmCCA(alpha=0.1, n_components=4).fit(views)
    values = eigh(*dense_problem(centered(views), 0.1), eigvals_only=True)
    np.testing.assert_allclose(model.agreement_, values[::-1][:4] / 3, atol=1e-9)
    perfect = NmCCA(alpha=0.0).fit([views[0], views[2]])
    np.testing.assert_allclose(perfect.agreement_, 1)


@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_the_constraint_holds_and_the_objective_is_what_agreement_says(alpha):
    views = related_views()
    model = NmCCA(n_components=3, alpha=alpha).fit(views)
    moved = centered(views)
    stacked = np.vstack(model.directions_)
    blocks = dense_problem(moved, alpha)[1]
    np.testing.assert_allclose(stacked.T @ blocks @ stacked, 60 * 3 * np.eye(3), atol=1e-8)
    penalty = sum(
        ridge * np.linalg.norm(part) ** 2
        for ridge, part in zip(ridges_of(moved, alpha), model.directions_, strict=True)
    )
    objective = near_mean(moved, model.directions_) + penalty
    assert objective == pytest.approx(60 * 3 * (1 - model.agreement_).sum())


def test_two_views_are_canonical_correlation_analysis():
    views = related_views(seed=1, widths=(4, 3))
    model = NmCCA(alpha=0.0).fit(views)
    # Björck and Golub (1973): correlations are the singular values of Q_Aᵀ Q_B.
    first, second = (qr(view, mode="economic")[0] for view in centered(views))
    correlations = np.linalg.svd(first.T @ second, compute_uv=False)
    np.testing.assert_allclose(2 * model.agreement_ - 1, correlations, atol=1e-10)
    ours = model.transform(views)
    for component, correlation in enumerate(correlations):
        pair = np.corrcoef(ours[0][:, component], ours[1][:, component])
        assert pair[0, 1] == pytest.approx(correlation)
        np.testing.assert_allclose([part[:, component].var() for part in ours], 1)


def test_unregularized_projections_do_not_depend_on_the_views_coordinates():
    views = related_views(seed=5)
    rng = np.random.default_rng(2)
    turned = [view @ rng.normal(size=(view.shape[1],) * 2) + 7 for view in views]
    ours, reference = (NmCCA(n_components=2, alpha=0.0).fit_transform(v) for v in (views, turned))
    for a, b in zip(ours, reference, strict=True):
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-8)


def test_units_do_not_matter_even_with_a_regularizer():
    views = related_views(seed=6)
    scaled = [1000.0 * views[0], views[1], 1e-3 * views[2]]
    ours, reference = (NmCCA(alpha=0.3).fit_transform(v) for v in (views, scaled))
    for a, b in zip(ours, reference, strict=True):
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-8)


def test_kernel_cca_from_gram_matrices():
    """On maps with ΦΦᵀ = K it is [K_kK_l] a = λ blockdiag(K_k² + κ_kK_k) a (Bach and Jordan)."""
    views = centered(related_views(n_rows=25, widths=(3, 4)))
    grams = [view @ view.T for view in views]
    ridges = [0.2 * np.linalg.eigvalsh(gram)[-1] for gram in grams]
    left = np.block([[a @ b for b in grams] for a in grams])
    right = block_diag(*(k @ k + r * k for k, r in zip(grams, ridges, strict=True)))
    values = eigh(left, right + 1e-9 * np.eye(50), eigvals_only=True)[::-1]
    model = NmCCA(alpha=0.2).fit(views)
    np.testing.assert_allclose(model.agreement_, values[:3] / 2, atol=1e-6)


def test_new_rows_and_clones():
    views = related_views(seed=8)
    new = [view[:7] for view in views]
    model = clone(NmCCA(n_components=2, alpha=0.1)).fit(views)
    for part, whole in zip(model.transform(new), model.transform(views), strict=True):
        np.testing.assert_allclose(part, whole[:7])
        np.testing.assert_allclose(whole.mean(axis=0), 0, atol=1e-12)


def test_a_view_with_dependent_columns_gives_no_more_components_than_its_rank():
    views = related_views(widths=(4, 3))
    doubled = [np.hstack([views[0][:, :2]] * 2), views[1]]
    model = NmCCA(alpha=0.0).fit(doubled)
    assert len(model.agreement_) == 2
    expected = NmCCA(alpha=0.0).fit([views[0][:, :2], views[1]])
    np.testing.assert_allclose(model.agreement_, expected.agreement_)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([], "at least one view"),
        (np.ones((3, 2)), "list of views"),
        ([np.eye(3), np.eye(4)], "same samples"),
        ([np.eye(3), np.ones((3, 2))], "View 1 has the same values"),
        # A mean of these is not exactly 0.1.
        ([np.eye(11), np.full((11, 2), 0.1)], "View 1 has the same values"),
        ([np.full((3, 2), np.nan)], "NaN"),
    ],
)
def test_views_that_cannot_be_used_are_refused(views, message):
    with pytest.raises(ValueError, match=message):
        NmCCA().fit(views)


def test_other_views_than_in_fit_are_refused():
    model = NmCCA().fit(related_views())
    with pytest.raises(MKLKitError, match=r"widths \[4, 3, 6\]"):
        model.transform(related_views(widths=(4, 3)))


@pytest.mark.parametrize("parameters", [{"alpha": -1}, {"alpha": np.nan}, {"n_components": 0}])
def test_impossible_parameters_of_nmcca_are_refused(parameters):
    with pytest.raises(MKLKitError, match=next(iter(parameters))):
        NmCCA(**parameters).fit(related_views())
