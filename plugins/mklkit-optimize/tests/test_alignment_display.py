"""The heat map of alignments shows those of Gram matrices, in any style."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from mklkit_optimize.alignment_display import AlignmentDisplay
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from mklkit import DataError

X, _ = load_iris(return_X_y=True)


@pytest.mark.parametrize("centered", [True, False])
def test_cells_are_the_cosines_of_gram_matrices(centered: bool) -> None:
    display = AlignmentDisplay.from_kernels(["linear", "rbf(gamma=0.5)"], X, centered=centered)
    grams = [linear_kernel(X), rbf_kernel(X, gamma=0.5)]
    if centered:
        grams = [gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean() for gram in grams]
    first, second = (gram / np.linalg.norm(gram) for gram in grams)
    cosine = np.vdot(first, second)
    (image,) = display.ax_.images
    np.testing.assert_allclose(image.get_array(), [[1, cosine], [cosine, 1]])
    assert [text.get_text() for text in display.ax_.texts][1] == f"{cosine:.2f}"
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ["linear", "rbf(gamma=0.5)"]


def test_many_kernels_have_no_numbers_and_rows_must_be_numbers() -> None:
    display = AlignmentDisplay.from_kernels([f"k{place}:rbf@{place % 4}" for place in range(12)], X)
    assert not display.ax_.texts
    with pytest.raises(DataError, match="table of numbers"):
        AlignmentDisplay.from_kernels(["rbf"], [["a"], ["b"]])


def test_gaps_between_cells_have_the_color_of_the_style() -> None:
    with pyplot.style.context("dark_background"):
        display = AlignmentDisplay.from_kernels(["linear", "rbf"], X)
    assert display.ax_.xaxis.get_minorticklocs().tolist() == [0.5]
    colors = {tick.gridline.get_color() for tick in display.ax_.xaxis.get_minor_ticks()}
    assert colors == {"black"}


def test_tables_that_are_none_of_alignments_are_refused() -> None:
    names = ["rbf", "linear"]
    alike = pd.DataFrame(np.eye(2), index=names, columns=names)
    for wrong in (pd.DataFrame(), alike[:0], alike.iloc[:, :-1], [1, 2]):
        with pytest.raises(DataError, match="DataFrame like that of"):
            AlignmentDisplay(wrong).plot()
    pair = pyplot.figure().subplots(1, 2)
    for wrong in (3, pair, pair[0].figure):
        with pytest.raises(DataError, match="Expected one matplotlib Axes"):
            AlignmentDisplay(alike).plot(wrong)
    assert AlignmentDisplay(alike).plot(pair[0]).figure_ is pair[0].figure
