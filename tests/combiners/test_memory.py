"""How much memory a fit takes beside its data: numpy reports to tracemalloc."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
from helpers.builders import Mean, views_of

from mklkit import MKLClassifier

N_ROWS = 1600
ONE_GRAM = 8 * N_ROWS**2
FIVE = ["rbf(gamma=0.01)", "rbf(gamma=0.1)", "rbf(gamma=1)", "polynomial(degree=2)", "linear"]


@pytest.fixture(scope="module")
def many_rows():
    rng = np.random.default_rng(5)
    y = np.where(rng.random(N_ROWS) < 0.4, 1.0, -1.0)
    rows = rng.normal(size=(N_ROWS, 4)) + 0.8 * y[:, None]
    # What the first fit of a process loads and compiles is not what is measured.
    MKLClassifier(FIVE, combiner="dimkl1").fit(rows[:99], y[:99])
    return rows, y


@pytest.fixture
def peak_of():
    """Return a function that says how many bytes a call allocates at its peak."""

    def measure(call):
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak - before

    return measure


def test_the_measure_sees_a_gram_matrix(many_rows, peak_of):
    rows, _ = many_rows
    assert peak_of(lambda: rows @ rows.T) == pytest.approx(ONE_GRAM, rel=0.01)


# Of the rules on class blocks one reads quartiles, the other means and deviations.
@pytest.mark.parametrize("number", [1, 5])
def test_a_whole_fit_stays_below_one_and_a_half_gram_matrices(many_rows, peak_of, number):
    rows, y = many_rows
    model = MKLClassifier(FIVE, combiner=f"dimkl{number}")
    assert peak_of(lambda: model.fit(rows, y)) < 1.5 * ONE_GRAM


@pytest.mark.parametrize("statistic", ["quadrants", "label_alignment"])
def test_statistics_hold_no_gram_matrix(many_rows, peak_of, statistic):
    rows, y = many_rows
    view = views_of(FIVE, rows)[0]
    view_statistic = getattr(view, statistic)
    assert peak_of(lambda: view_statistic(y)) < 0.5 * ONE_GRAM


def test_predictions_hold_no_matrix_of_all_rows(many_rows, peak_of):
    rows, y = many_rows
    model = MKLClassifier(["rbf(gamma=0.1)", "linear"]).fit(rows[:1000], y[:1000])
    new = np.tile(rows, (7, 1))
    peak = peak_of(lambda: model.decision_function(new))
    assert peak < 0.5 * len(new) * 1000 * 8


@pytest.mark.parametrize("combiner", [Mean(), "best-single(cv=2)"])
def test_kernel_by_kernel_one_gram_matrix_is_held_at_a_time(many_rows, peak_of, combiner):
    rows, y = many_rows
    model = MKLClassifier(FIVE, combiner=combiner, learner="svm(C=1)")
    assert peak_of(lambda: model.fit(rows, y)) < 2.75 * ONE_GRAM
