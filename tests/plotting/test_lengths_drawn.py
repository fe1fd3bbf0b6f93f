"""Points, bars, bands and whiskers stand where the numbers of the table are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer, ErrorbarContainer

from mklkit.plotting import (
    ColumnEffectsDisplay,
    ComparisonDisplay,
    CurvesDisplay,
    KernelWorthDisplay,
)
from mklkit.protocols.score import Score

COMPARED = pd.DataFrame(
    {
        "method": ["dimkl3", "uniform", "svm", "broken", "majority"],
        "kind": ["method", "method", "classifier", "classifier", "baseline"],
        "score": [0.93, 0.91, 0.9, np.nan, 0.5],
        "low": [0.9, 0.9, 0.85, np.nan, 0.5],
        "high": [0.99, 0.915, 0.91, np.nan, 0.5],
    }
)


def texts(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def segments(ax: Axes) -> list[tuple[float, float, float]]:
    """Return the height and both ends of each horizontal whisker."""
    drawn = [bars for c in ax.containers if isinstance(c, ErrorbarContainer) for bars in c[2]]
    ends = [segment for bars in drawn for segment in bars.get_segments()]
    return sorted((float(a[1]), float(a[0]), float(b[0])) for a, b in ends)


def bars(ax: Axes) -> list[tuple[float, float]]:
    """Return the place and the length of each bar."""
    drawn = [bar for c in ax.containers if isinstance(c, BarContainer) for bar in c]
    return sorted((bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in drawn)


@pytest.mark.parametrize(
    ("score", "scale"),
    [(Score("share", unit="share"), 100), (Score("number"), 1), (Score("neg_error"), -1)],
    ids=["share", "number", "error"],
)
def test_scores_have_their_intervals(score: Score, scale: int) -> None:
    display = ComparisonDisplay(COMPARED, score).plot()
    assert display.ax_.get_xlabel().startswith(f"{score.key} on test samples")
    scored = COMPARED.dropna().reset_index(drop=True)
    assert texts(display.ax_.get_yticklabels()) == scored["method"].tolist()
    expected = [(place, scale * low, scale * high) for place, low, high in
                zip(scored.index, scored["low"], scored["high"], strict=True)]  # fmt: skip
    expected = [(place, *sorted(ends)) for place, *ends in expected]
    np.testing.assert_allclose(segments(display.ax_), expected)
    points = [c[0].get_xydata() for c in display.ax_.containers]
    points = sorted((y, x) for part in points for x, y in part)
    np.testing.assert_allclose(points, [(p, scale * s) for p, s in scored["score"].items()])
    assert display.ax_.yaxis_inverted()


def test_curves_are_drawn_as_they_are() -> None:
    curves = {"svm": (np.array([0.1, 0.9]), np.array([0.2, 0.7])),
              "mkl": (np.array([0.3, 0.4, 0.8]), np.array([0.25, 0.5, 0.75]))}  # fmt: skip
    display = CurvesDisplay(curves, "predicted", "happened").plot()
    drawn = {line.get_label(): line.get_xydata() for line in display.ax_.lines}
    for name, curve in curves.items():
        np.testing.assert_allclose(drawn[name], np.column_stack(curve))


def test_worth_is_in_the_units_that_are_named() -> None:
    table = pd.DataFrame(
        {
            "kernel": ["mri", "blood", "age"],
            "weight": [0.6, 0.3, 0.1],
            "weight_std": [0.05, 0.0, 0.02],
            "alone": [0.2, 0.3, -0.01],
            "alone_low": [0.1, 0.25, -0.04],
            "alone_high": [0.3, 0.35, 0.03],
            "left_out": [-0.02, -0.11, np.nan],
            "left_out_low": [-0.04, np.nan, np.nan],
            "left_out_high": [-0.01, np.nan, np.nan],
            "shuffled": [-0.1, -0.3, -0.04],
        }
    )
    groups = pd.DataFrame({"kernels": [["mri", "blood"]], "left_out": -0.2})
    groups = groups.assign(left_out_low=-0.35, left_out_high=-0.1)
    display = KernelWorthDisplay(table, groups, margin=0.03).plot()
    weights, alone, losses = display.axes_
    np.testing.assert_allclose(bars(weights), [(0, 0.6), (1, 0.3), (2, 0.1)])
    np.testing.assert_allclose(segments(weights), [(0, 0.55, 0.65), (2, 0.08, 0.12)])
    np.testing.assert_allclose(bars(alone), [(0, 20), (1, 30), (2, -1)])
    np.testing.assert_allclose(segments(alone), [(0, 10, 30), (1, 25, 35), (2, -4, 3)])
    np.testing.assert_allclose(bars(losses), [(0, -2), (1, -11), (3, -20)])
    np.testing.assert_allclose(segments(losses), [(0, -4, -1), (3, -35, -10)])
    (margin,) = [line for line in losses.lines if line.get_label() == "margin"]
    assert margin.get_xdata() == [-3, -3]
    (diamonds,) = [line for line in losses.lines if line.get_marker() == "D"]
    np.testing.assert_allclose(diamonds.get_xydata(), [(-10, 0), (-30, 1), (-4, 2)])
    assert texts(weights.get_yticklabels()) == ["mri", "blood", "age", "mri\n+ blood"]
    plain = KernelWorthDisplay(table, unit="R²", scale=1).plot().axes_[2]
    np.testing.assert_allclose(bars(plain), [(0, -0.02), (1, -0.11)])


def test_effects_have_a_panel_per_kernel_and_the_shares_beside_the_bars() -> None:
    table = pd.DataFrame(
        {
            "kernel": ["mri"] * 3 + ["blood"],
            "column": ["area", "edge", "hue", "iron"],
            "effect": [0.3, 0.2, 0.1, 0.5],
            "effect_std": [0.1, 0.05, 0.0, np.nan],
            "frequency": [1.0, 0.4, 0.0, 0.75],
        }
    )
    display = ColumnEffectsDisplay(table, most=2).plot()
    first, second = display.axes_
    np.testing.assert_allclose(bars(first), [(0, 0.3), (1, 0.2)])
    np.testing.assert_allclose(segments(first), [(0, 0.2, 0.4), (1, 0.15, 0.25)])
    np.testing.assert_allclose(bars(second), [(0, 0.5)])
    assert segments(second) == []
    for ax, names, shares, ends in (
        (first, ["area", "edge"], ["100 %", "40 %"], [0.4, 0.25]),
        (second, ["iron"], ["75 %"], [0.5]),
    ):
        assert texts(ax.get_yticklabels()) == names
        assert [text.get_text().strip() for text in ax.texts] == shares
        np.testing.assert_allclose([text.get_position()[0] for text in ax.texts], ends)
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["mri", "blood"]
