"""Curves are drawn as given, and can be told apart."""

from __future__ import annotations

import math
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.session import Session
from small_paper import ENTRIES

NAN = math.nan


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    mpl.use("Agg")
    yield
    pyplot.close("all")


def test_points_bands_and_axes():
    curves = {
        "κ": [(1, 0.5, 0.1), (2, 0.75, 0.2), (4, 1.0, 0.0)],
        "no deviation": [(1, 0.25, NAN), (4, 0.5, NAN)],
    }
    display = CurvesDisplay(curves, "λ", "accuracy, %", base=2).plot()
    ax = display.ax_
    for line, points in zip(ax.lines, curves.values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), [point[:2] for point in points])
    (band,) = ax.collections
    low, high = band.get_paths()[0].get_extents().get_points()
    assert (low[1], high[1]) == pytest.approx((0.4, 1.0))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("λ", "accuracy, %", "log")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(curves)
    display.figure_.canvas.draw()
    assert display.figure_.bbox.containsx(ax.get_legend().get_window_extent().x1)


def test_no_curve_is_an_empty_picture():
    assert CurvesDisplay({}, "x", "y").plot().ax_.get_legend() is None


def test_a_figure_has_a_curve_for_each_row_with_numbers():
    figure = ENTRIES[-1]
    metadata = figure.run(Session(repeats=1))
    assert figure.draw is not None
    ax = figure.draw(metadata.lines).ax_
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["Iris", "Two of Wine"]
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [[1, 150], [10, 15]])
