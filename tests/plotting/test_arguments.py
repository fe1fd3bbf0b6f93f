"""Arguments that displays can't draw are refused in one sentence, before anything is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from mklkit.errors import MKLKitError
from mklkit.plotting import (
    ColumnEffectsDisplay,
    ComparisonDisplay,
    CriticalDifferenceDisplay,
    CurvesDisplay,
    KernelWeightsDisplay,
    KernelWorthDisplay,
)

WEIGHTS = pd.DataFrame({"problem": "0 vs 1", "kernel": ["rbf", "linear"], "weight": [0.7, 0.3]})
WORTH = pd.DataFrame(
    {
        "kernel": ["mri", "blood"],
        "weight": [0.7, 0.3],
        "weight_std": [0.05, 0.05],
        "alone": [0.2, 0.3],
        "alone_low": [0.1, 0.2],
        "alone_high": [0.3, 0.4],
        "left_out": [0.02, 0.11],
        "left_out_low": [0.01, 0.09],
        "left_out_high": [0.03, 0.13],
        "shuffled": [0.1, 0.3],
    }
)
EFFECTS = pd.DataFrame(
    {
        "kernel": ["mri", "blood"],
        "column": ["area", "iron"],
        "effect": [0.3, 0.2],
        "effect_std": [0.1, 0.0],
        "frequency": [1.0, 0.4],
    }
)
COMPARED = pd.DataFrame({"method": ["uniform"], "kind": ["method"], "score": [0.9]})
NAMES = ["rbf", "linear"]
POINTS = np.arange(6.0).reshape(3, 2)
ON_ONE = [
    ComparisonDisplay(COMPARED),
    CriticalDifferenceDisplay([1.2, 1.8], NAMES, 0.5),
    CurvesDisplay({"svm": (np.array([0.1, 0.9]), np.array([0.2, 0.8]))}, "predicted", "happened"),
    KernelWeightsDisplay(WEIGHTS),
]
ON_SEVERAL = [
    (KernelWorthDisplay(WORTH), 3),
    (ColumnEffectsDisplay(EFFECTS), 2),
]


def kind(display: Any) -> str:
    return type(display).__name__ if hasattr(display, "plot") else ""


@pytest.mark.parametrize("display", ON_ONE, ids=kind)
def test_what_is_not_one_axes_is_refused(display: Any) -> None:
    pair = pyplot.figure().subplots(1, 2)
    for wrong in (3, "left", pair, pair[0].figure):
        with pytest.raises(MKLKitError, match=r"Expected one matplotlib Axes.*; got "):
            display.plot(wrong)
    assert display.plot(pair[0]).figure_ is pair[0].figure
    pair[1].remove()
    with pytest.raises(MKLKitError, match="removed from their figure"):
        display.plot(pair[1])


@pytest.mark.parametrize(("display", "needed"), ON_SEVERAL, ids=kind)
def test_too_few_axes_are_refused(display: Any, needed: int) -> None:
    single = pyplot.figure().add_subplot()
    for few in (single, [single]):
        with pytest.raises(MKLKitError, match=f"{needed} axes.*; got 1"):
            display.plot(few)
    with pytest.raises(MKLKitError, match=r"Expected one matplotlib Axes.*; got 3"):
        display.plot([single, 3, single])
    figure = pyplot.figure()
    enough = figure.subplots(1, needed)
    assert display.plot(enough).figure_ is figure


@pytest.mark.parametrize(
    ("make", "table"),
    [
        (ComparisonDisplay, COMPARED),
        (KernelWeightsDisplay, WEIGHTS),
        (KernelWorthDisplay, WORTH),
        (ColumnEffectsDisplay, EFFECTS),
    ],
)
def test_tables_that_hold_nothing_to_draw_are_refused(make: Any, table: pd.DataFrame) -> None:
    for wrong in (pd.DataFrame(), table[:0], table.iloc[:, :-1], [1, 2]):
        with pytest.raises(MKLKitError, match="DataFrame like that of"):
            make(wrong).plot()
    assert not pyplot.get_fignums()
