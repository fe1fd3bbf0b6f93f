"""Pictures show what the fitted model holds."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, MKLRegressor
from mklkit.errors import IncompatibleError
from mklkit.plotting import KernelWeightsDisplay

KERNELS = ["narrow:rbf(gamma=100)", "wide:rbf(gamma=1)", "linear"]
MOONS, HALVES = make_moons(160, noise=0.1, random_state=3)
FLOWERS, SPECIES = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def gated() -> MKLClassifier:
    model = MKLClassifier(KERNELS, combiner="cluster-gating(n_clusters=3)", random_state=0)
    return model.fit(MOONS, HALVES)


def bar_lengths(display: KernelWeightsDisplay) -> np.ndarray:
    return np.array([[bar.get_width() for bar in bars] for bars in display.ax_.containers])


def test_bars_are_the_weights() -> None:
    model = MKLClassifier(KERNELS, combiner="dimkl3").fit(FLOWERS[:100], SPECIES[:100])
    display = KernelWeightsDisplay.from_estimator(model)
    frame = model.weights_frame()
    np.testing.assert_allclose(bar_lengths(display), [frame["weight"]])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == frame["kernel"].tolist()
    assert [text.get_text() for text in display.ax_.texts] == [f"{w:.3f}" for w in frame["weight"]]


def test_a_few_problems_have_bars_of_their_own() -> None:
    model = MKLClassifier(KERNELS, combiner="dimkl3").fit(FLOWERS, SPECIES)
    display = KernelWeightsDisplay.from_estimator(model)
    np.testing.assert_allclose(bar_lengths(display), model.weights_)
    (legend,) = display.figure_.legends
    problems = [text.get_text() for text in legend.get_texts()]
    assert problems == model.weights_frame()["problem"].unique().tolist()
    # No bar covers another.
    bars = sorted((b.get_y(), b.get_height()) for bars in display.ax_.containers for b in bars)
    assert all(low + height <= after + 1e-9 for (low, height), (after, _) in pairwise(bars))


def test_many_problems_have_a_mean_and_dots() -> None:
    rows, labels = load_digits(n_class=4, return_X_y=True)
    model = MKLClassifier(["linear", "rbf"], combiner="dimkl3").fit(rows[:120], labels[:120])
    display = KernelWeightsDisplay.from_estimator(model)
    np.testing.assert_allclose(bar_lengths(display), [model.weights_.mean(axis=0)])
    dots = sorted((float(d.get_ydata()[0]), float(d.get_xdata()[0])) for d in display.ax_.lines)
    assert len(model.weights_) == 6
    assert dots == sorted((k, w) for row in model.weights_.tolist() for k, w in enumerate(row))


def test_clusters_make_a_heat_map(gated: MKLClassifier) -> None:
    gating = "cluster-gating(n_clusters=2, composition='product')"
    several = MKLClassifier(["linear", "rbf"], combiner=gating, learner="svm", random_state=0)
    names = [f"cluster {number}" for number in range(3)]
    of_pairs = [f"{pair}, {name}" for pair in ("1 vs 0", "2 vs 0", "2 vs 1") for name in names[:2]]
    for model, clusters in ((gated, names), (several.fit(FLOWERS, SPECIES), of_pairs)):
        display = KernelWeightsDisplay.from_estimator(make_pipeline(StandardScaler(), model))
        (image,) = display.ax_.images
        np.testing.assert_array_equal(image.get_array(), model.weights_)
        assert [label.get_text() for label in display.ax_.get_yticklabels()] == clusters
        columns = [label.get_text() for label in display.ax_.get_xticklabels()]
        assert columns == model.kernel_names_
        written = [text.get_text() for text in display.ax_.texts]
        assert written == [f"{weight:.2f}" for weight in model.weights_.ravel()]


def test_what_can_not_be_drawn_is_refused() -> None:
    with pytest.raises(IncompatibleError, match="LogisticRegression has no"):
        KernelWeightsDisplay.from_estimator(LogisticRegression(max_iter=1000).fit(FLOWERS, SPECIES))
    with pytest.raises(NotFittedError):
        KernelWeightsDisplay.from_estimator(MKLClassifier())


@pytest.mark.process
def test_matplotlib_waits_until_something_is_drawn_and_is_named_where_it_is_missing() -> None:
    # None in sys.modules is Python's own way to have an import fail.
    source = """
import sys
import pandas as pd
from mklkit.plotting import KernelWeightsDisplay
print("matplotlib" in sys.modules)
sys.modules["matplotlib"] = None
weights = pd.DataFrame({"problem": ["a"], "kernel": ["rbf"], "weight": [1.0]})
try:
    KernelWeightsDisplay(weights).plot()
except ValueError as error:
    print(error)
"""
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\nPlots need matplotlib: pip install matplotlib.\n"


@pytest.fixture(scope="module")
def numbers() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(1)
    rows = pd.DataFrame(random.normal(size=(40, 3)), columns=["a", "b", "c"])
    return rows, rows.to_numpy() @ random.normal(size=(3, 5))


@pytest.mark.parametrize("n_targets", [2, 5])
def test_weights_of_several_targets_are_named_so(
    numbers: tuple[pd.DataFrame, np.ndarray], n_targets: int
) -> None:
    rows, targets = numbers
    named = pd.DataFrame(targets[:, :n_targets]).add_prefix("height_")
    model = MKLRegressor(["linear@a,b", "rbf@c"], combiner="alignment").fit(rows, named)
    display = KernelWeightsDisplay.from_estimator(model)
    if n_targets == 2:
        legend = display.figure_.legends[0]
        assert legend.get_title().get_text() == "target"
        assert [text.get_text() for text in legend.texts] == ["height_0", "height_1"]
    else:
        assert display.ax_.get_title() == "mean over 5 targets, and each (dots)"
    drawn = sorted(patch.get_width() for patch in display.ax_.patches)
    expected = model.weights_ if n_targets == 2 else model.weights_.mean(axis=0)
    np.testing.assert_allclose(drawn, np.sort(expected, axis=None), rtol=1e-9)
