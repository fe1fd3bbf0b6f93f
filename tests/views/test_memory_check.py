"""Memory that a Gram matrix needs is said before it is computed, with what needs less."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit import DataError, MKLClassifier, MKLKitWarning
from mklkit.views import memory

ROWS = np.random.default_rng(0).normal(size=(40, 3))
LABELS = np.arange(40) % 2


@pytest.fixture
def small_machine(monkeypatch, tmp_path):
    """Let 10 kB be free, and kilobytes be worth saying."""
    (tmp_path / "meminfo").write_text("MemTotal: 99 kB\nMemAvailable:   10 kB\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CONTAINER", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "WORTH_SAYING", 8 * 30**2)
    return tmp_path


def test_a_matrix_that_does_not_fit_is_refused_with_a_map_that_does(small_machine):
    with pytest.raises(DataError, match=r"of 40 rows .* are free\..*empirical\(subset=1000\)"):
        MKLClassifier("rbf").fit(ROWS, LABELS)
    MKLClassifier("rbf", feature_map="empirical(subset=0.2)", learner="mhks").fit(ROWS, LABELS)
    with pytest.raises(DataError, match=r"of 40 rows .* free\..*empirical\(subset="):
        MKLClassifier("rbf", feature_map="empirical", learner="mhks").fit(ROWS, LABELS)


def test_what_fits_but_is_large_is_said(small_machine):
    with pytest.warns(MKLKitWarning, match=r"Gram matrix of 32 rows takes .* learner='mhks'"):
        MKLClassifier("rbf").fit(ROWS[:32], LABELS[:32])


def test_a_containers_share_counts(small_machine):
    group = small_machine / "cgroup"
    group.mkdir()
    (group / "memory.current").write_text("3000\n")
    (group / "memory.max").write_text("max\n")
    assert memory.available_memory() == 10240
    (group / "memory.max").write_text("8000\n")
    assert memory.available_memory() == 5000


def test_nothing_is_refused_where_nothing_is_known(small_machine):
    (small_machine / "meminfo").unlink()
    assert memory.available_memory() is None
    with pytest.warns(MKLKitWarning, match="40 rows"):
        MKLClassifier("rbf").fit(ROWS, LABELS)
