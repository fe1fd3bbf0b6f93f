"""Progress without a terminal: a line every ten seconds at most, so that the result stands out."""

from __future__ import annotations

import itertools

import pytest

from mklkit.cli import console
from mklkit.cli.console import counting


@pytest.mark.parametrize(("seconds", "parts"), [(0.9, 100), (3.0, 60), (25.0, 8)])
def test_a_pipe_gets_a_line_every_ten_seconds(
    seconds: float, parts: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(0.0, seconds)
    times = []

    def tick() -> float:
        times.append(next(clock))
        return times[-1]

    monkeypatch.setattr(console, "monotonic", tick)
    with counting("runs", lines=True) as report:
        for done in range(parts):
            report(done, parts, f"part{done}")
        report(parts, parts)
    lines = capsys.readouterr().err.splitlines()
    # The report of part k comes k + 1 ticks after the start.
    step = max(1, -(-10 // seconds))
    assert len(lines) == parts // step
    for line, place in zip(lines, itertools.count(step, step), strict=False):
        assert line.startswith(f"{int(place) - 1} of {parts} after ")
        assert line.endswith(f"now part{int(place) - 1}")


def test_short_work_in_a_pipe_reports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for lines in (True, False):
        with counting("runs", lines=lines) as report:
            for done in range(60):
                report(done, 60, "uniform")
    assert capsys.readouterr().err == ""
