"""The surface of a search shows its scores at their parameters."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from mklkit_optimize.search_surface import SearchSurfaceDisplay
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.errors import DataError, IncompatibleError

X, Y = load_iris(return_X_y=True)
GRID = {"C": [0.25, 1, 4], "gamma": [0.01, 0.5], "shrinking": [True, False]}


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    """Draw into memory only, and close all figures."""
    mpl.use("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def search() -> GridSearchCV:
    return GridSearchCV(SVC(), GRID, cv=2).fit(X, Y)


def texts(labels) -> list[str]:
    return [label.get_text() for label in labels]


def test_each_cell_is_the_score_at_its_values(search: GridSearchCV) -> None:
    display = SearchSurfaceDisplay.from_estimator(search, "C", "gamma", score_name="accuracy")
    (mesh,) = display.ax_.collections
    drawn = np.asarray(mesh.get_array()).reshape(2, 3)
    for point, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        # shrinking changes nothing but how long it takes.
        assert drawn[GRID["gamma"].index(point["gamma"]), GRID["C"].index(point["C"])] == score
    assert texts(display.ax_.get_xticklabels()) == ["$2^{-2}$", "$2^{0}$", "$2^{2}$"]
    assert texts(display.ax_.get_yticklabels()) == ["0.01", "0.5"]
    ring = display.ax_.lines[0]
    best = search.best_params_
    assert ring.get_xdata()[0] == GRID["C"].index(best["C"]) + 0.5
    assert ring.get_ydata()[0] == GRID["gamma"].index(best["gamma"]) + 0.5


def test_values_need_not_be_numbers_and_points_may_be_missing() -> None:
    points = [{"kernel": "rbf", "C": 10}, {"kernel": "linear", "C": 1}, {"kernel": "sigmoid"}]
    results = {"params": points, "mean_test_score": [0.9, 0.7, 0.99]}
    search = GridSearchCV(SVC(), GRID)
    search.cv_results_, search.best_index_ = results, 2
    display = SearchSurfaceDisplay.from_estimator(search, "kernel", "C", ax=pyplot.figure().gca())
    np.testing.assert_array_equal(display.scores, [[np.nan, 0.7, np.nan], [0.9, np.nan, np.nan]])
    assert texts(display.ax_.get_xticklabels()) == ["rbf", "linear", "sigmoid"]
    assert texts(display.ax_.get_yticklabels()) == ["$10^{0}$", "$10^{1}$"]
    assert not display.ax_.lines


def test_what_was_not_varied_is_refused(search: GridSearchCV) -> None:
    with pytest.raises(DataError, match=r"has not varied 'gama'.*gamma"):
        SearchSurfaceDisplay.from_estimator(search, "C", "gama")
    for unfitted in (GridSearchCV(SVC(), GRID), MKLSearchCV(MKLClassifier())):
        with pytest.raises(NotFittedError):
            SearchSurfaceDisplay.from_estimator(unfitted, "C", "gamma")
    for model, name in ((search.best_estimator_, "SVC"), (3, "int")):
        with pytest.raises(IncompatibleError, match=f"{name} has no scores of a search"):
            SearchSurfaceDisplay.from_estimator(model, "C", "gamma")


@pytest.mark.parametrize(
    ("n_x", "shape"), [(0, (0, 0)), (3, (2, 2)), (3, (3, 1)), (3, (3,)), (0, (1, 0))]
)
def test_a_surface_has_a_score_for_each_pair(n_x: int, shape: tuple[int, ...]) -> None:
    display = SearchSurfaceDisplay(range(n_x), [1][: shape[0]], np.zeros(shape), "x", "y")
    with pytest.raises(DataError, match=rf"shape \(n_y, n_x\) = .*, {n_x}\)"):
        display.plot()


def test_what_is_no_axes_is_refused() -> None:
    with pytest.raises(DataError, match="Expected a matplotlib Axes"):
        SearchSurfaceDisplay([1, 2], [1], np.ones((1, 2)), "x", "y").plot("axes")
