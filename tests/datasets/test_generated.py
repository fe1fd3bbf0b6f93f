"""The tables that are computed, drawn or stored in the package hold what they say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

from mklkit import MKLClassifier
from mklkit.datasets import load_table
from mklkit.datasets.pipeline import build_pipeline


def local_patterns(image: np.ndarray) -> list[float]:
    """Count an image's uniform local binary patterns by their angle and length, then the others."""
    wrap = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]
    counts: dict[str, float] = {"0" * 8: 0, "1" * 8: 0, "other": 0}
    for length in range(1, 8):
        for start in range(8):
            word = "1" * length + "0" * (8 - length)
            counts[word[start:] + word[:start]] = 0
    outside = np.pad(image, 1)
    for row, column in np.ndindex(8, 8):
        ring = [outside[1 + row + down, 1 + column + right] for down, right in wrap]
        word = "".join("1" if value >= image[row, column] else "0" for value in ring)
        counts[word if word in counts else "other"] += 1
    return list(counts.values())


def test_sources_are_computed_from_the_digits():
    """Against transcriptions of the definitions, pixel by pixel, on a few images."""
    bunch = load_digits()
    chosen = np.isin(bunch.target, (1, 3, 8, 9))
    table = load_table("digits_sources")
    np.testing.assert_array_equal(table.target, bunch.target[chosen])
    for row in (0, 100, 718):
        image, features = bunch.images[chosen][row], table.features.iloc[row]
        sums = [*image.sum(axis=1), *image.sum(axis=0)]
        np.testing.assert_allclose(features.filter(like="profile_"), sums)
        # Each magnitude of the whole transform, none of a pair of conjugates twice.
        whole = np.abs(np.fft.fft2(image))
        once = [whole[u, v] for u, v in np.ndindex(8, 8) if (u, v) <= ((8 - u) % 8, (8 - v) % 8)]
        np.testing.assert_allclose(sorted(features.filter(like="fourier_")), sorted(once))
        assert sorted(features.filter(like="pattern_")) == sorted(local_patterns(image))


SOURCES = {
    "site": "spectrum(k=4)@sequence",
    "level": "rbf@level_*",
    "kind": "overlap@tissue,stage",
}


def accuracy(table, kernels):
    # Of half of the rows: the ordinary run is short.
    pipeline = build_pipeline(MKLClassifier(kernels, learner="svm(C=1)"))
    return cross_val_score(pipeline, table.features[:300], table.target[:300], cv=2).mean()


def test_three_kinds_of_columns_together_are_better_than_each_alone():
    table = load_table("mixed_sources", as_written=["sequence"])
    together = accuracy(table, list(SOURCES.values()))
    assert together > 0.8
    assert together > max(accuracy(table, kernel) for kernel in SOURCES.values()) + 0.02


# Columns and sum of all values of each source, added up with Python's csv from the original files.
PUBLISHED = {
    "fourier": (76, 5022.36790769),
    "pixel": (240, 361130.0),
    "zernike": (47, 2080446.9589214),
}


def test_there_are_fifty_of_each_digit_and_three_sources():
    table = load_table("multiple_features")
    assert table.features.shape == (500, 363)
    assert table.target.value_counts().to_dict() == dict.fromkeys(range(10), 50)
    assert "CC BY 4.0" in table.origin
    for name, (width, total) in PUBLISHED.items():
        values = table.features.filter(like=f"{name}_").to_numpy(float)
        assert values.shape[1] == width
        assert values.sum() == pytest.approx(total, rel=1e-12)
