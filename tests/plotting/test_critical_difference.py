"""The critical-difference diagram shows the ranks and groups, and its texts can be read."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.text import Text

from mklkit.errors import DataError
from mklkit.plotting import CriticalDifferenceDisplay


def scores_of(k: int, n_datasets: int = 12) -> pd.DataFrame:
    drawn = np.random.default_rng(k).random((n_datasets, k)) + np.linspace(0, 0.9, k)
    return pd.DataFrame(drawn, columns=[f"method {i}, {'long ' * (i % 4)}name" for i in range(k)])


def drawn_as(display: CriticalDifferenceDisplay, gid: str) -> list[np.ndarray]:
    return [line.get_xydata() for line in display.ax_.lines if line.get_gid() == gid]


@pytest.mark.parametrize(("k", "n_datasets", "given"), [(2, 12, 0), (30, 3, 0), (14, 12, 1)])
def test_no_text_overlaps_or_leaves_the_figure(k, n_datasets, given):
    ax = pyplot.figure(figsize=(9, 2.5), layout="constrained").add_subplot() if given else None
    display = CriticalDifferenceDisplay.from_scores(scores_of(k, n_datasets), ax=ax)
    figure = display.figure_
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.findobj(Text) if text.get_text()]
    assert len(boxes) > k
    assert not any(box.overlaps(neighbor) for box, neighbor in combinations(boxes, 2))
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert all(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_ruler_and_bars_have_the_lengths_of_the_test():
    # Ranks 1 to 4 on average with a critical difference between 1 and 2: 1.21
    # for 15 data sets, so that neighbours are joined in three bars, on two levels.
    display = CriticalDifferenceDisplay.from_scores([[4, 3, 2, 1]] * 15)
    (ruler,) = drawn_as(display, "ruler")
    assert abs(np.diff(ruler[:, 0])[0]) == pytest.approx(2.569 * np.sqrt(4 * 5 / 6 / 15), abs=1e-3)
    bars = drawn_as(display, "group")
    ends = sorted(tuple(np.sort(np.round(bar[:, 0], 1))) for bar in bars)
    assert ends == [(1, 2), (2, 3), (3, 4)]
    assert len({bar[0, 1] for bar in bars}) == 2
    texts = [text.get_text() for text in display.ax_.findobj(Text)]
    assert {"method 1 (1.00)", "method 4 (4.00)", "critical difference 1.21"} <= set(texts)


def test_long_names_are_cut_and_fit(recwarn):
    names = ["a" * 300, f"{'b' * 150} {'c' * 150}", "uniform"]
    figure = CriticalDifferenceDisplay.from_scores([[1, 2, 3]] * 5, names=names).figure_
    figure.canvas.draw()
    assert not recwarn
    shown = [text.get_text() for text in figure.findobj(Text) if text.get_text().endswith(".00)")]
    assert len(shown) == len(set(shown)) == 3
    assert max(map(len, shown)) < 40
    assert figure.get_figwidth() < 9


def test_wrong_scores_and_names_are_refused():
    with pytest.raises(DataError, match="3 methods but 2 names"):
        CriticalDifferenceDisplay.from_scores([[1, 2, 3]] * 5, names=["a", "b"])
    for scores in ([["a", "b"], ["c", "d"]], [[1, 2], [3]], [[1, {}], [2, 3]]):
        with pytest.raises(DataError, match="Scores must be a table of numbers"):
            CriticalDifferenceDisplay.from_scores(scores)
