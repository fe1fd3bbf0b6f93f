"""Lines are the means, deviations and tests of the runs."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np
import pytest
from mklkit_papers.protocol import Experiment, System
from mklkit_papers.scores import accuracy_lines, second_lines, weight_lines
from mklkit_papers.session import Session
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit
from small_paper import EXPERIMENT, MORE, TABLE, USES, WEIGHTS, Counted


class Failing(Counted):
    """It fails at every other fit."""

    fits: ClassVar[list[float]] = []

    def fit(self, X, y):
        if len(self.fits) % 2:
            self.fits.append(0)
            raise ZeroDivisionError("odd")
        return super().fit(X, y)


class Looking(Counted):
    """It keeps the rows that it is fitted on."""

    seen: ClassVar[list[np.ndarray]] = []

    def fit(self, X, y):
        self.seen.append(np.asarray(X))
        return super().fit(X, y)


def by_column(lines):
    return {line.column: line for line in lines}


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(only=["iris"])


@pytest.fixture(scope="module")
def lines(session):
    extra = ["flat"]
    return by_column(accuracy_lines(EXPERIMENT, TABLE, against="sharp", extra=extra)(session))


@pytest.fixture(scope="module")
def by_hand():
    """Accuracies in per cent on scikit-learn's own divisions."""
    data = Session().data(USES[0])
    X, y = data.features.to_numpy(), data.target
    by_system = {}
    for name, smoothing in (("sharp", 1e-9), ("smooth", 0.5), ("flat", 10.0)):
        splits = StratifiedShuffleSplit(3, test_size=0.5, random_state=0).split(X, y)
        model = Counted(var_smoothing=smoothing)
        scores = [clone(model).fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits]
        by_system[name] = 100 * np.array(scores)
    return by_system


def test_columns_are_those_of_the_table_that_are_run_and_further_ones(lines):
    assert list(lines) == ["sharp", "absent", "smooth", "flat"]
    assert lines["sharp"].printed.value == 95.0
    assert lines["flat"].printed is None
    assert all(line.row == "Iris" for line in lines.values())


@pytest.mark.parametrize("name", ["sharp", "smooth", "flat"])
def test_means_and_deviations(lines, by_hand, name):
    assert lines[name].ours == pytest.approx(by_hand[name].mean(), abs=1e-9)
    assert lines[name].spread == pytest.approx(by_hand[name].std(ddof=1), abs=1e-9)
    assert lines[name].repeats == 3


def test_p_values(lines, by_hand):
    assert math.isnan(lines["sharp"].p_paired)
    corrected = {}
    for name in ("smooth", "flat"):
        # The corrected test has the variance of the mean larger by test rows / training rows.
        test = stats.ttest_rel(by_hand[name], by_hand["sharp"])
        t = test.statistic * math.sqrt((1 / 3) / (1 / 3 + 75 / 75))
        corrected[name] = 2 * stats.t.sf(abs(t), 2)
        assert lines[name].p_paired == pytest.approx(test.pvalue)
    smaller, larger = sorted(corrected, key=corrected.__getitem__)
    holm = {smaller: min(1, 2 * corrected[smaller])}
    holm[larger] = max(holm[smaller], corrected[larger])
    for name, p_value in holm.items():
        assert lines[name].p_corrected == pytest.approx(p_value)


def test_one_repeat_has_no_deviation_and_no_test():
    lines = accuracy_lines(EXPERIMENT, TABLE, against="sharp")(Session(only=["iris"], repeats=1))
    line = by_column(lines)["smooth"]
    assert line.repeats == 1
    assert math.isnan(line.spread)
    assert math.isnan(line.p_paired)


def test_a_system_that_fails_once_has_its_reason_and_no_part_in_the_tests(lines):

    def systems(use):
        failing = EXPERIMENT.systems(use)[:3]
        return [*failing, System("absent", Failing(var_smoothing=0.1))]

    other = Experiment("other", USES, EXPERIMENT.division, systems)
    failing = by_column(accuracy_lines(other, TABLE, "sharp", ["flat"])(Session(only=["iris"])))
    assert failing["absent"].reason == "ZeroDivisionError: odd"
    assert math.isnan(failing["absent"].ours)
    for name in ("ours", "p_paired", "p_corrected"):
        assert getattr(failing["smooth"], name) == getattr(lines["smooth"], name)
    alone = accuracy_lines(other, TABLE, against="absent")(Session(only=["iris"]))
    assert all(math.isnan(line.p_paired) for line in alone)


def test_seconds_are_those_of_the_last_fit(session):
    (line,) = second_lines(EXPERIMENT, MORE)(session)
    cells = session.cells(EXPERIMENT, USES[0], ["flat"])[0]
    assert line.ours == pytest.approx(np.mean([cell.refit_seconds for cell in cells]))
    assert line.measure.better == "lower"
    (left_out,) = second_lines(EXPERIMENT, TABLE)(Session(only=["nowhere"]))
    assert left_out.measure is line.measure


def test_weights_by_kernel_and_system(session):
    lines = list(weight_lines(EXPERIMENT, "Iris", WEIGHTS, [("sharp", "even")])(session))
    by_cell = {(line.row, line.column): line for line in lines}
    names = ["even", "aligned", "sharp"]
    assert list(by_cell) == [(row, name) for row in ("κ1", "κ2") for name in names]
    for row in ("κ1", "κ2"):
        assert by_cell[row, "even"].ours == pytest.approx(0.5)
        assert by_cell[row, "even"].holds
        # It is shown beside the column that it is named with.
        assert by_cell[row, "sharp"].printed.value == 0.5
        assert by_cell[row, "sharp"].reason == "it gives no such number"
    assert by_cell["κ1", "aligned"].printed is None
    assert by_cell["κ1", "aligned"].ours + by_cell["κ2", "aligned"].ours == pytest.approx(1)
    assert list(weight_lines(EXPERIMENT, "Iris", WEIGHTS)(Session(only=["wine"]))) == []


def test_runs_with_fewer_weights_than_the_table_has_kernels():
    three = WEIGHTS | {"κ3": WEIGHTS["κ1"]}
    lines = weight_lines(EXPERIMENT, "Iris", three)(Session(only=["iris"], repeats=1))
    by_cell = {(line.row, line.column): line for line in lines}
    assert by_cell["κ2", "even"].ours == pytest.approx(0.5)
    assert by_cell["κ3", "even"].reason == "it gives no such number"


def test_features_are_scaled_before_every_system():
    """Where scaling matters, it is that of the experiment."""
    Looking.seen.clear()

    def systems(use):
        return [System("flat", Looking())]

    for scale in ("none", "standard", "minmax"):
        experiment = attrs.evolve(EXPERIMENT, systems=systems, scale=scale, name=scale)
        list(accuracy_lines(experiment, MORE)(Session(repeats=1)))
    plain, standard, minmax = Looking.seen
    assert plain.min() > 0
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(standard.std(axis=0), 1)
    np.testing.assert_allclose(minmax.min(axis=0), -1)
    np.testing.assert_allclose(minmax.max(axis=0), 1)
