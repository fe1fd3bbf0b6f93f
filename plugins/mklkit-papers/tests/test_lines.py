"""What it means that a number holds."""

from __future__ import annotations

import math

import attrs
import pytest
from mklkit_papers.lines import ACCURACY, Line, Measure, Printed

NAN = math.nan


@pytest.mark.parametrize(
    ("better", "ours", "holds"),
    [
        ("higher", 79.0, True),
        ("higher", 78.94, False),
        ("higher", 78.951, True),  # shown as 79.0
        ("higher", 99.0, True),
        ("lower", 81.0, True),
        ("lower", 81.1, False),
        ("lower", 1.0, True),
        ("near", 79.0, True),
        ("near", 81.1, False),
        ("near", 78.9, False),
        ("higher", NAN, None),
    ],
)
def test_a_printed_deviation_of_one(better, ours, holds):
    # Our own deviation does not count where the paper prints one.
    measure = Measure("m", better, 1)
    numbers = {"ours": ours, "spread": 50.0}
    line = Line(row="r", column="c", measure=measure, printed=Printed(80.0, 1.0), **numbers)
    assert line.holds is holds


def test_without_a_printed_deviation_ours_counts_or_the_slack():
    line = Line(row="r", column="c", measure=ACCURACY, ours=78.0, printed=Printed(80.0))
    assert (line.tolerance, line.holds) == (0.0, False)
    assert attrs.evolve(line, ours=83.0).holds
    assert attrs.evolve(line, repeats=2, spread=0.1).holds is False
    assert attrs.evolve(line, spread=2.0).holds
    assert attrs.evolve(line, measure=attrs.evolve(ACCURACY, slack=2.0)).holds
    assert attrs.evolve(line, spread=3.0, measure=attrs.evolve(ACCURACY, slack=2.0)).tolerance == 3
    assert attrs.evolve(line, printed=None).holds is None


@pytest.mark.parametrize(
    ("measure", "rule"),
    [
        (ACCURACY, "lower by no more than the published standard deviation"),
        (Measure("s", "lower", 1), "higher by no more than the published standard deviation"),
        (
            Measure("w", "near", 2, slack=0.05),
            "off by no more than 0.05 or the published standard deviation",
        ),
    ],
)
def test_the_rule_of_a_measure_is_in_words(measure, rule):
    assert rule in measure.rule
