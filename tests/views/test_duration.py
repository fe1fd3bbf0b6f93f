"""Whether it is said how long kernels will take, and only where that is long."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from mklkit.errors import MKLKitWarning
from mklkit.protocols import Rows
from mklkit.registry.columns import bind_kernels
from mklkit.views import bound_kernels as duration

ROWS = Rows.of(np.random.default_rng(0).normal(size=(60, 3)))
MANY = 30 * 60.0**2 * 1e5
"""Pairs of rows, of which a trial on 60 rows has 60²."""


def trials_take(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=seconds)
    monkeypatch.setattr(duration, "perf_counter", lambda: next(clock))


def test_a_trial_is_scaled_by_the_pairs_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    trials_take(2.0, monkeypatch)
    bound = bind_kernels(["linear", "rbf"])
    assert duration.kernel_minutes(bound, ROWS, 30 * 60.0**2) == pytest.approx(1.0)
    huge = Rows.of(np.full((60, 3), 1e200))
    overflowing = bind_kernels(["polynomial(degree=9)"])
    assert np.isnan(duration.kernel_minutes(overflowing, huge, 1e9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        duration.say_if_long(overflowing, huge, MANY)


@pytest.mark.parametrize(
    ("minutes", "said"), [(0.9, None), (1.2, "1 minute;"), (7.4, "7 minutes"), (260, "4 hours")]
)
def test_a_long_fit_is_announced(
    monkeypatch: pytest.MonkeyPatch, minutes: float, said: str | None
) -> None:
    trials_take(2e-5 * minutes, monkeypatch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        duration.say_if_long(bind_kernels(["linear", "rbf"]), ROWS, MANY)
    told = [str(each.message) for each in caught if each.category is MKLKitWarning]
    assert (len(told) == 1 and f"about {said}" in told[0]) if said else not told


def test_short_fits_are_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    trials_take(1e9, monkeypatch)
    duration.say_if_long(bind_kernels(["linear", "rbf"]), ROWS, 3 * 40.0**2)
