"""Features made again block by block, and what is computed from their moments."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import in_blocks, views_of

from mklkit import DataError
from mklkit.views.stored_rows import StoredRows

N_ROWS = 1100
"""More than the rows of a block."""
TRIO = ["linear", "rbf(gamma=0.1)", "polynomial(degree=2)"]


@pytest.fixture
def problem(rng):
    rows = rng.normal([0, 1, 0, 3], size=(N_ROWS, 4))
    return rows, np.where(rows[:, 0] + rng.normal(size=N_ROWS) > 0.4, 1.0, -1.0)


def test_quartiles_of_many_rows_come_from_pairs_of_each_class(rng):
    """Of 23,000 rows of a class, 20,000 are drawn, and of their pairs 64 per row."""
    n_rows = 46_000
    y = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    rows = rng.normal(size=(n_rows, 2)) + 1 + 0.5 * y[:, None]
    view = views_of("polynomial(degree=2)", rows, "empirical(subset=10)")[0]
    sampled = view.quadrants(y)
    positive, negative = (view.features()[y == label] for label in (1, -1))
    for block, first, second in (
        (sampled.within_positive, positive, positive),
        (sampled.between, positive, negative),
        (sampled.within_negative, negative, negative),
    ):
        assert block.mean == pytest.approx(first.mean(axis=0) @ second.mean(axis=0), rel=1e-9)
        known = np.quantile(first[:2000] @ second[2000:4000].T, [0.25, 0.75])
        # Of 2,000 rows, the quartiles' standard error is about 2 % of their distance.
        assert block.quartiles() == pytest.approx(known, abs=0.1 * (known[1] - known[0]))


def test_sums_that_exceed_the_memory_are_refused_before_they_are_made(problem):
    rows, _ = problem
    views = views_of(TRIO, rows, "empirical(subset=20)")
    views.blocks.max_memory = 100_000
    with pytest.raises(DataError, match=r"Sums over .* features take .* max_memory"):
        views[0].normal_matrix()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("feature_map", ["empirical(subset=9)", "empirical(subset=20, rank=3)"])
def test_moments_of_similarities_are_those_of_the_features(problem, feature_map, weighted, rng):
    """Of few features, moments are summed over these; of others over similarities."""
    rows, y = problem
    weights = rng.uniform(0.5, 2, size=N_ROWS) if weighted else None
    views = views_of([*TRIO, "rbf(gamma=1)"], rows, feature_map)
    features = np.hstack([view.features() for view in views])
    views = in_blocks(views_of([*TRIO, "rbf(gamma=1)"], rows, feature_map))
    moments = views.weighted(np.ones(4))
    moments = moments.class_moments(y, weights)
    for code, label in enumerate((-1, 1)):
        members = y == label
        counts = np.ones(members.sum()) if weights is None else weights[members]
        mean = np.average(features[members], axis=0, weights=counts)
        spread = np.cov(features[members].T, aweights=counts, ddof=0)
        assert moments.counts[code] == pytest.approx(counts.sum())
        size = np.abs(features).max() ** 2
        np.testing.assert_allclose(moments.means[code], mean, atol=1e-9 * np.sqrt(size))
        np.testing.assert_allclose(moments.covariance(code), spread, atol=1e-9 * size)


def test_rows_read_in_parts_are_refused_where_they_change_or_have_gaps(problem, tmp_path):
    rows, y = problem
    rows.tofile(tmp_path / "rows")
    stored = StoredRows(tmp_path / "rows", rows.shape, rows.dtype)
    views = in_blocks(views_of(TRIO, stored, "empirical(subset=9)"))
    views[0].normal_matrix()
    np.append(rows, rows).tofile(tmp_path / "rows")
    with pytest.raises(DataError, match=r"rows has changed since it was opened"):
        views[0].project_back(y)
    rows[77, 2] = np.nan
    rows.tofile(tmp_path / "rows")
    stored = StoredRows(tmp_path / "rows", rows.shape, rows.dtype)
    with pytest.raises(DataError, match=r"Sample 77 \(counted from 0\) has NaN or infinity"):
        in_blocks(views_of("linear", stored, "empirical(subset=9)"))[0].normal_matrix()
