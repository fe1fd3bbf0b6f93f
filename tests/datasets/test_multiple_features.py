"""The part of UCI's multiple features holds what was published, and sources that differ."""

from __future__ import annotations

import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from mklkit.datasets import load_table

# Columns and sum of all values of each source, added up with Python's csv from the original files.
PUBLISHED = {
    "fourier": (76, 5022.36790769),
    "pixel": (240, 361130.0),
    "zernike": (47, 2080446.9589214),
}


@pytest.fixture(scope="module")
def table():
    return load_table("multiple_features")


def test_there_are_fifty_of_each_digit_and_three_sources(table):
    assert table.features.shape == (500, 363)
    assert table.target.value_counts().to_dict() == dict.fromkeys(range(10), 50)
    assert "CC BY 4.0" in table.origin
    for name, (width, total) in PUBLISHED.items():
        values = table.features.filter(like=f"{name}_").to_numpy(float)
        assert values.shape[1] == width
        assert values.sum() == pytest.approx(total, rel=1e-12)


def test_only_pixels_tell_6_from_9(table):
    """Magnitudes do not change when an image is turned."""
    chosen = table.target.isin([6, 9])
    rows, digits = table.features[chosen], table.target[chosen]

    def accuracy(name):
        columns = rows.filter(like=f"{name}_")
        return cross_val_score(KNeighborsClassifier(3), columns / columns.std(), digits).mean()

    assert accuracy("pixel") > 0.95
    assert accuracy("fourier") < 0.65
    assert accuracy("zernike") < 0.65
