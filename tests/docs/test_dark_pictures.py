"""Greys of the gallery's pictures change places once, and other colours stay."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from helpers.documents import ROOT
from matplotlib import colors, pyplot


@pytest.fixture
def mirrored(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "_ext"), *sys.path])
    mpl.use("Agg")
    from pictures import mirror_greys

    def draw(**options):
        figure, axes = pyplot.subplots()
        line, caps, (whiskers,) = axes.errorbar([1, 2], [1, 2], yerr=[1, 1], **options)
        mirror_greys(figure)
        pyplot.close(figure)
        return axes, line, caps, whiskers

    return draw


def lightness(color) -> np.ndarray:
    return colors.to_rgba_array(color)[:, :3].mean(axis=1)


def test_lines_markers_and_whiskers_become_light_and_the_page_dark(mirrored) -> None:
    axes, line, caps, whiskers = mirrored(fmt="o", mfc="none", color="black", capsize=3)
    drawn = [line.get_color(), line.get_markeredgecolor(), whiskers.get_edgecolor()]
    drawn += [cap.get_markeredgecolor() for cap in caps]
    drawn += [axes.xaxis.label.get_color(), axes.spines["left"].get_edgecolor()]
    assert all((lightness(color) > 0.8).all() for color in drawn)
    assert line.get_markerfacecolor() == "none"
    assert (lightness(axes.get_facecolor()) < 0.1).all()


def test_colors_stay(mirrored) -> None:
    _, line, _, whiskers = mirrored(color="#0072B2", ecolor="#E69F00")
    assert colors.to_hex(line.get_color()) == "#0072b2"
    assert colors.to_hex(whiskers.get_edgecolor()[0]) == "#e69f00"
