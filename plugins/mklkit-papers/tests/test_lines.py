"""What it means that a number holds."""

from __future__ import annotations

import json
import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mklkit_papers.lines import ACCURACY, Line, Measure, Printed

from mklkit.persistence.facts import json_ready

NAN = math.nan
values = st.floats(-1e4, 1e4)
spreads = st.one_of(st.just(NAN), st.floats(0, 100))
measures = st.builds(
    Measure,
    st.just("measure"),
    st.sampled_from(["higher", "lower", "near"]),
    st.integers(0, 4),
    st.floats(0, 5),
)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    """Draw a line that has a number of ours and a printed one."""
    theirs = Printed(draw(values), draw(spreads))
    own = {"ours": draw(values), "spread": draw(spreads), "repeats": 2}
    return Line(row="r", column="c", measure=draw(measures), printed=theirs, **own)


def better(line: Line, by: float) -> Line:
    """Return a line whose number is better by so much, or nearer to the printed one."""
    sign = {"higher": 1, "lower": -1, "near": -math.copysign(1, line.difference)}
    return attrs.evolve(line, ours=line.ours + sign[line.measure.better] * by)


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
    own = {"ours": ours, "spread": 50.0}
    line = Line(row="r", column="c", measure=measure, printed=Printed(80.0, 1.0), **own)
    assert line.holds is holds


def test_without_a_printed_deviation_ours_counts_or_the_slack():
    line = Line(row="r", column="c", measure=ACCURACY, ours=78.0, printed=Printed(80.0))
    assert (line.tolerance, line.holds) == (0.0, False)
    assert attrs.evolve(line, spread=2.0).holds
    assert attrs.evolve(line, measure=attrs.evolve(ACCURACY, slack=2.0)).holds
    assert attrs.evolve(line, spread=3.0, measure=attrs.evolve(ACCURACY, slack=2.0)).tolerance == 3
    assert attrs.evolve(line, printed=None).holds is None


@given(lines())
def test_the_printed_number_itself_holds(line):
    assert attrs.evolve(line, ours=line.printed.value).holds


@given(lines(), st.floats(0, 1))
def test_what_is_better_holds_too(line, share):
    if line.holds:
        by = share * abs(line.difference) if line.measure.better == "near" else 100 * share
        assert better(line, by).holds


@given(lines())
def test_it_holds_exactly_within_the_tolerance(line):
    # One step of what is shown is what rounding may decide.
    step = 10.0**-line.measure.digits
    behind = {
        "higher": line.printed.value - line.ours,
        "lower": line.ours - line.printed.value,
        "near": abs(line.ours - line.printed.value),
    }[line.measure.better]
    if behind <= line.tolerance - step:
        assert line.holds
    if behind > line.tolerance + 1.01 * step:
        assert not line.holds


@given(lines())
def test_a_line_is_plain_values(line):
    found = json_ready(line.as_dict())
    json.dumps(found, allow_nan=False)
    assert found["holds"] is line.holds
    assert found["measure"] == "measure"
    assert found["printed"]["value"] == line.printed.value


def test_one_repeat_without_a_printed_deviation_counts_both_ways():
    line = Line(row="a", column="b", measure=ACCURACY, ours=60.0, repeats=1, printed=Printed(90.0))
    assert line.holds is False
    assert attrs.evolve(line, ours=93.0).holds is True
    assert attrs.evolve(line, repeats=2, spread=0.1).holds is False
    assert attrs.evolve(line, printed=Printed(90.0, spread=0.1)).holds is False


@pytest.mark.parametrize(
    ("measure", "rule"),
    [
        (ACCURACY, "lower by no more than the published deviation"),
        (Measure("s", "lower", 1), "higher by no more than the published deviation"),
        (
            Measure("w", "near", 2, slack=0.05),
            "off by no more than 0.05 or the published deviation",
        ),
    ],
)
def test_the_rule_of_a_measure_is_in_words(measure, rule):
    assert rule in measure.rule
