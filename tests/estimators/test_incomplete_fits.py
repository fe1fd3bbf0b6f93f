"""Counts of rows that lack a source, and when the gap alone predicts the class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from mklkit.estimators.missing_sources import WARNING, counts


def warned(n_absent: list[int], n_rows: int) -> bool:
    """Whether the counts of rows that lack the source, among the same number per class, warn."""
    codes = np.repeat(np.arange(len(n_absent)), n_rows)
    absent = np.concatenate([np.arange(n_rows) < n for n in n_absent])
    (text,) = counts(["mri"], absent[:, None], codes, ["a", "b", "c"][: len(n_absent)])
    assert text.startswith(f"{sum(n_absent)} of {len(codes)} samples lack mri (a ")
    return text.endswith(WARNING)


@pytest.mark.parametrize("first", [10, 30])
def test_two_classes_are_warned_of_by_pearsons_test_with_yates_correction(first: int) -> None:
    for second in range(0, 61, 2):
        expected = (first + second) / 2
        apart = max(abs(first - expected) - 0.5, 0)
        statistic = 2 * apart**2 * (1 / expected + 1 / (100 - expected))
        assert warned([first, second], 100) == (chi2.sf(statistic, 1) < 0.001), second


def test_several_classes_are_warned_of_by_pearsons_test() -> None:
    outcomes = set()
    for third in range(0, 50, 3):
        absent = np.array([20, 25, third])
        expected = absent.mean()
        statistic = ((absent - expected) ** 2).sum() * (1 / expected + 1 / (80 - expected))
        outcomes.add(warned(absent.tolist(), 80))
        assert warned(absent.tolist(), 80) == (chi2.sf(statistic, 2) < 0.001), third
    assert outcomes == {True, False}


def test_sources_that_the_same_rows_lack_are_told_together() -> None:
    lacks = np.zeros((10, 4), bool)
    lacks[:3, :2] = lacks[4:5, 2] = True
    codes = np.repeat([0, 1], 5)
    assert list(counts(["a", "b", "c", "d"], lacks, codes, ["ill", "well"])) == [
        "3 of 10 samples lack a, b (ill 60 %, well 0 %)",
        "1 of 10 samples lacks c (ill 20 %, well 0 %)",
    ]
    assert list(counts(["a"], lacks[:, :1], codes, [])) == ["3 of 10 samples lack a"]
