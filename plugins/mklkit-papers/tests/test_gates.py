"""The gates of a model, drawn; and what can't be drawn."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from mklkit_papers.gates import GatesDisplay, Plane
from mklkit_papers.stars import make_four_stars
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, MKLRegressor
from mklkit.errors import DataError, IncompatibleError, MKLKitError

KERNELS = ["narrow:rbf(gamma=100)", "wide:rbf(gamma=1)", "linear"]
STARS, STAR_CLASSES, _ = make_four_stars(160, random_state=3)
FLOWERS, SPECIES = load_iris(return_X_y=True, as_frame=True)
POINTS = np.arange(6.0).reshape(3, 2)


@pytest.fixture(scope="module")
def gated() -> MKLClassifier:
    model = MKLClassifier(KERNELS, combiner="cluster-gating(n_clusters=3)", random_state=0)
    return model.fit(STARS, STAR_CLASSES)


@pytest.fixture(autouse=True)
def close_figures() -> Any:
    yield
    pyplot.close("all")


def test_the_plane_is_colored_by_the_gates(gated: MKLClassifier) -> None:
    display = GatesDisplay.from_estimator(gated, STARS, STAR_CLASSES, grid_resolution=20)
    assert [ax.get_title() for ax in display.axes_] == gated.kernel_names_
    for kernel, ax in enumerate(display.axes_):
        mesh, *classes = ax.collections
        # A cell's colour is the gate at its centre.
        corners = mesh.get_coordinates()
        centers = (corners[:-1, :-1] + corners[1:, 1:]) / 2
        expected = gated.gate_weights(centers.reshape(-1, 2))[:, kernel]
        np.testing.assert_allclose(np.ravel(mesh.get_array()), expected, atol=1e-9)
        assert corners[..., 0].min() < STARS[:, 0].min()
        assert corners[..., 1].max() > STARS[:, 1].max()
        drawn = [points.get_offsets() for points in classes]
        for label, points in enumerate(drawn):
            np.testing.assert_array_equal(points, STARS[label == STAR_CLASSES])
    np.testing.assert_array_equal(display.gates, gated.gate_weights(STARS))


def test_the_plane_is_in_the_units_of_the_data() -> None:
    table = pd.DataFrame(STARS * [1, 1000], columns=["length", "weight"])
    gating = "cluster-gating(n_clusters=2)"
    model = make_pipeline(
        StandardScaler(), MKLClassifier(KERNELS, combiner=gating, random_state=0)
    ).fit(table, STAR_CLASSES)
    display = GatesDisplay.from_estimator(model, table, grid_resolution=7)
    assert display.axis_names == ("length", "weight")
    assert display.plane is not None
    last = pd.DataFrame(
        [[display.plane.horizontal[6], display.plane.vertical[2]]], columns=table.columns
    )
    expected = model[-1].gate_weights(model[:-1].transform(last))[0]
    np.testing.assert_allclose(display.plane.gates[2, 6], expected)


def test_wider_rows_are_seen_in_two_principal_components() -> None:
    model = make_pipeline(
        StandardScaler(),
        MKLClassifier(["linear", "rbf"], combiner="cluster-gating", random_state=0),
    ).fit(FLOWERS, SPECIES)
    display = GatesDisplay.from_estimator(model, FLOWERS)
    scaled = StandardScaler().fit_transform(FLOWERS)
    expected = PCA(2, svd_solver="full").fit_transform(scaled)
    for kernel, ax in enumerate(display.axes_):
        (points,) = ax.collections
        # The sign of a component is arbitrary.
        np.testing.assert_allclose(np.abs(points.get_offsets()), np.abs(expected), atol=1e-9)
        gates = model[-1].gate_weights(model[:-1].transform(FLOWERS))
        np.testing.assert_array_equal(points.get_array(), gates[:, kernel])


@pytest.mark.parametrize("plane", [None, Plane(np.arange(2.0), np.arange(2.0), np.ones((2, 2, 1)))])
def test_thirteen_classes_are_told_apart(plane: Plane | None) -> None:
    names = [f"species {k:02d}" for k in range(13)]
    labels = np.repeat(list(names), 2)
    points = np.random.default_rng(0).random((26, 2))
    display = GatesDisplay(points, np.ones((26, 1)), ["linear"], ("x", "y"), plane, labels).plot()
    drawn = [part for part in display.axes_[0].collections if len(part.get_offsets()) == 2]
    shapes = {part.get_paths()[0].vertices.tobytes() for part in drawn}
    assert len(drawn) == len(shapes) == 13
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == list(names)
    display.figure_.savefig(io.BytesIO())  # text that can't be set is found out here
    assert display.figure_.bbox.containsx(legend.get_window_extent().x0)


def test_what_can_not_be_drawn_is_refused(gated: MKLClassifier) -> None:
    for model in (
        MKLClassifier(["linear", "rbf"]).fit(FLOWERS, SPECIES),
        MKLRegressor(["linear", "rbf"]).fit(FLOWERS, SPECIES),
    ):
        with pytest.raises(IncompatibleError, match="same kernel weights for all samples"):
            GatesDisplay.from_estimator(model, FLOWERS)
    with pytest.raises(IncompatibleError, match="LogisticRegression has no"):
        GatesDisplay.from_estimator(
            LogisticRegression(max_iter=1000).fit(FLOWERS, SPECIES), FLOWERS
        )
    with pytest.raises(DataError, match=r"160 samples but y has 3"):
        GatesDisplay.from_estimator(gated, STARS, [0, 1, 1])
    narrow = MKLClassifier("rbf", combiner="cluster-gating(n_clusters=2)", random_state=0)
    with pytest.raises(DataError, match="two columns"):
        GatesDisplay.from_estimator(narrow.fit(STARS[:, :1], STAR_CLASSES), STARS[:, :1])


def test_too_few_axes_are_refused() -> None:
    display = GatesDisplay(POINTS, POINTS, ["rbf", "linear"], ("x", "y"))
    with pytest.raises(MKLKitError, match=r"2 axes.*; got 1"):
        display.plot(pyplot.figure().add_subplot())


@pytest.mark.parametrize("resolution", [1, "x", 2.5, True])
def test_a_grid_has_a_whole_number_of_points(resolution: Any) -> None:
    with pytest.raises(MKLKitError, match="grid_resolution"):
        GatesDisplay.from_estimator(MKLClassifier(), POINTS, grid_resolution=resolution)
