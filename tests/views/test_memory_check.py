"""Memory that a Gram matrix needs is said before it is computed, with what needs less."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mklkit import DataError, MKLClassifier, MKLKitWarning
from mklkit.views.memory import available_memory, check_gram_fits, refuse_large_gram

N_ROWS = 2_000_000
"""The Gram matrix takes 29 TiB, more than any machine of the tests has."""


@pytest.mark.skipif(available_memory() is None, reason="the free memory is not known")
class TestAMatrixThatDoesNotFitIsRefusedWithAMapThatDoes:
    rows, labels = np.arange(N_ROWS, dtype=float)[:, None], np.arange(N_ROWS) % 2
    refusal = r"of 2000000 samples .* are free\..*empirical\(subset=1000\)"

    def test_as_a_kernel_whose_time_is_told_first(self) -> None:
        told = pytest.warns(MKLKitWarning, match="Computing the kernels of a fit will take about")
        with told, pytest.raises(DataError, match=self.refusal):
            MKLClassifier("linear").fit(self.rows, self.labels)

    def test_as_features_whose_time_is_not(self) -> None:
        model = MKLClassifier("linear", feature_map="empirical", learner="mhks")
        with pytest.raises(DataError, match=self.refusal):
            model.fit(self.rows, self.labels)


def test_only_what_exceeds_the_free_memory_is_refused():
    refuse_large_gram(40, 8, 8 * 40**2, "are free")
    with pytest.raises(DataError, match=r"A Gram matrix of 40 samples .* are free\..*subset="):
        refuse_large_gram(40, 8, 8 * 40**2 - 1, "are free")
    # If the free memory is unknown, no size raises an error.
    refuse_large_gram(40, 8, None, "are free")


def test_what_fits_but_is_large_is_said():
    free = available_memory()
    if free is not None and free < 2**31:
        pytest.skip("a gigabyte does not fit here")
    check_gram_fits(2**13, 8)
    with pytest.warns(MKLKitWarning, match=r"Gram matrix of 11600 samples takes .* learner='mhks'"):
        check_gram_fits(11_600, 8)


def test_a_containers_share_counts(tmp_path: Path):
    info, group = tmp_path / "meminfo", tmp_path / "cgroup"
    assert available_memory(info, group) is None
    info.write_text("MemTotal: 99 kB\nMemAvailable:   10 kB\n")
    group.mkdir()
    (group / "memory.current").write_text("3000\n")
    (group / "memory.max").write_text("max\n")
    assert available_memory(info, group) == 10240
    (group / "memory.max").write_text("8000\n")
    assert available_memory(info, group) == 5000
