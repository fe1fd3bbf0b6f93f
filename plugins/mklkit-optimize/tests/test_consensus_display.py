"""The picture of a consensus shows components, weights and cosines."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from mklkit_optimize.consensus_display import ConsensusDisplay
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import (
    DataError,
    IncompatibleError,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLTransformer,
)

X, Y = load_iris(return_X_y=True)
KERNELS = ["sepals:rbf@0:2", "petals:rbf@2:4", "all:linear"]


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    """Draw into memory only, and close all figures."""
    mpl.use("Agg")
    yield
    pyplot.close("all")


def test_it_shows_components_weights_and_cosines() -> None:
    model = MKLTransformer(KERNELS, combiner="consensus")
    gram = model.fit_transform(X)
    display = ConsensusDisplay.from_estimator(model, X, Y)
    centered = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    values, vectors = np.linalg.eigh(centered)
    reference = vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])
    np.testing.assert_allclose(np.abs(display.points), np.abs(reference), atol=1e-8)
    np.testing.assert_allclose(display.shares, values[:-3:-1] / values.sum(), rtol=1e-9)
    rows, bars, cells = display.axes_
    drawn = np.vstack([collection.get_offsets() for collection in rows.collections])
    np.testing.assert_allclose(drawn, display.points[np.argsort(Y, kind="stable")])
    assert [text.get_text() for text in rows.get_legend().get_texts()] == ["0", "1", "2"]
    widths = [bar.get_width() for bar in bars.containers[0]]
    np.testing.assert_allclose(widths, model.weights_[0])
    # The weights drawn are the first eigenvector of the cosines drawn.
    first = np.linalg.eigh(np.asarray(cells.images[0].get_array()))[1][:, -1]
    np.testing.assert_allclose(widths, first / first.sum(), rtol=1e-8)
    assert len(cells.texts) == 9


def test_all_estimators_with_kernels_have_one() -> None:
    fitted = MKLOneClass(KERNELS).fit(X)
    classes = MKLClassifier(KERNELS, combiner="dimkl3").fit(X, Y)
    inside = make_pipeline(
        StandardScaler(), MKLTransformer(KERNELS), KernelPCA(2, kernel="precomputed")
    ).fit(X)
    searched = GridSearchCV(classes, {"combiner": ["uniform"]}, cv=2).fit(X, Y)
    for model in (fitted, classes, inside, searched):
        assert len(ConsensusDisplay.from_estimator(model, X).axes_) == 3
    display = ConsensusDisplay.from_estimator(classes, X)
    np.testing.assert_allclose(display.weights, classes.weights_.mean(axis=0))


def test_many_kernels_and_classes_have_names_once() -> None:
    model = MKLTransformer([f"k{place}:rbf" for place in range(11)]).fit(X)
    display = ConsensusDisplay.from_estimator(model, X, np.arange(150) % 10)
    assert display.axes_[1].get_yticklabels()[0].get_text() == "k0"
    assert not display.axes_[2].texts
    assert not list(display.axes_[2].get_xticks())


def test_long_names_stay_different_and_the_matrix_nearly_square() -> None:
    for count in (3, 20):
        names = [f"a_long_kernel_name_number_{place}" for place in range(count)]
        model = MKLTransformer([f"{name}:rbf" for name in names]).fit(X)
        display = ConsensusDisplay.from_estimator(model, X)
        shown = [text.get_text() for text in display.axes_[1].get_yticklabels()]
        assert len(set(shown)) == count
        display.figure_.draw_without_rendering()
        box = display.axes_[2].get_window_extent()
        assert 0.7 < box.width / box.height < 1.4


def test_outliers_are_named() -> None:
    model = MKLOneClass(KERNELS).fit(X)
    answers = model.predict(X)
    display = ConsensusDisplay.from_estimator(model, X, answers)
    names = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert names == ["inlier", "outlier"]
    assert display.labels is not None
    np.testing.assert_array_equal(display.labels == "outlier", answers == -1)
    classes = ConsensusDisplay.from_estimator(MKLTransformer(KERNELS).fit(X), X, answers)
    assert set(classes.labels) == {-1, 1}


def test_rows_are_colored_by_numbers() -> None:
    heights = X[:, 0]
    model = MKLRegressor(["linear@1:3", "rbf@3"]).fit(X, heights)
    display = ConsensusDisplay.from_estimator(model, X, heights)
    assert display.axes_[0].get_legend() is None
    (points,) = display.axes_[0].collections
    np.testing.assert_allclose(points.get_array(), heights)


def test_what_cannot_be_drawn_is_refused() -> None:
    model = MKLTransformer(KERNELS).fit(X)
    with pytest.raises(DataError, match="150 samples"):
        ConsensusDisplay.from_estimator(model, X, [1, 2, 3])
    with pytest.raises(DataError, match="At least 3 samples"):
        ConsensusDisplay.from_estimator(model, X[:2])
    with pytest.raises(IncompatibleError, match="LogisticRegression has no kernels"):
        ConsensusDisplay.from_estimator(LogisticRegression(), X)
    with pytest.raises(NotFittedError):
        ConsensusDisplay.from_estimator(MKLTransformer(), X)
    display = ConsensusDisplay.from_estimator(model, X)
    figure = pyplot.figure()
    enough = figure.subplots(1, 4)
    for wrong in (enough[0], enough[:2], [enough[0], 3, enough[1]]):
        with pytest.raises(DataError, match="needs 3 axes"):
            display.plot(wrong)
    assert display.plot(enough).figure_ is figure
