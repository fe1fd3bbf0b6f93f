"""Whether it is said how long kernels will take, and only where that is long."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from mklkit import MKLClassifier
from mklkit.errors import MKLKitWarning
from mklkit.protocols import Rows
from mklkit.registry.columns import bind_kernels
from mklkit.views import bound_kernels as duration

ROWS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = np.arange(60) % 3


def test_a_trial_is_scaled_by_the_pairs_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=2.0)  # every trial takes two seconds
    monkeypatch.setattr(duration, "perf_counter", lambda: next(clock))
    bound = bind_kernels(["linear", "rbf"])
    assert duration.kernel_minutes(bound, Rows.of(ROWS), 30 * 60.0**2) == pytest.approx(1.0)
    huge = Rows.of(np.full((60, 3), 1e200))
    assert np.isnan(duration.kernel_minutes(bind_kernels(["polynomial(degree=9)"]), huge, 1e9))


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(0.9, None), (np.nan, None), (1.2, "1 minute;"), (7.4, "7 minutes"), (260, "4 hours")],
)
def test_a_long_fit_is_announced(
    monkeypatch: pytest.MonkeyPatch, minutes: float, said: str | None
) -> None:
    asked = []
    monkeypatch.setattr(duration, "WORTH_TIMING", 0)
    monkeypatch.setattr(
        duration, "kernel_minutes", lambda *arguments: asked.append(arguments) or minutes
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MKLClassifier(["linear", "rbf"]).fit(ROWS, LABELS)
    told = [str(each.message) for each in caught if each.category is MKLKitWarning]
    assert (len(told) == 1 and f"about {said}" in told[0]) if said else not told
    assert asked[0][2] == 3 * 40**2  # three pairs of classes, 20 rows each


def test_short_fits_and_explicit_maps_make_no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> float:
        raise AssertionError(given)

    monkeypatch.setattr(duration, "kernel_minutes", refuse)
    MKLClassifier("linear").fit(ROWS, LABELS)
    monkeypatch.setattr(duration, "WORTH_TIMING", 0)
    MKLClassifier("linear", feature_map="empirical(subset=9)", learner="mhks").fit(ROWS, LABELS)
