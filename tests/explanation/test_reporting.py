"""How an explanation reports: one sign, levels, single splits, and what stands at the top."""

from __future__ import annotations

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sources import FIRST_TWO, fitted, notes_of, three_sources

from mklkit import MKLClassifier, explain
from mklkit.evaluation.sentences import Unit
from mklkit.explanation.meaning import alone, judged, without_kernels
from mklkit.explanation.screening import Screen, screen_notes, screen_table

SPLIT = [(np.arange(60), np.arange(60, 120))]


def test_signs_are_those_of_changes_everywhere() -> None:
    """Recomputed from the scores of the fits: negative where the score drops."""
    model, rows, labels = fitted(FIRST_TWO)
    told = explain(model, rows, labels, cv=3, repeats=1)
    scan = told.kernels.iloc[0]
    (change,) = {scan["left_out"]}
    assert change < 0
    assert scan["left_out_low"] <= change <= scan["left_out_high"] < 0
    assert scan["outcome"] == "lost"
    (sentence,) = (n for n in told.notes["note"] if n.startswith("scan: lost"))
    size, near, far = map(float, re.findall(r"(\d+\.\d)(?: points| to|\))", sentence))
    expected = [-change, -scan["left_out_high"], -scan["left_out_low"]]
    np.testing.assert_allclose([size, near, far], 100 * np.array(expected), atol=0.06)
    assert f"({100 * scan['left_out_level']:.3g} % CI" in sentence
    assert "−" not in sentence


def test_others_may_stand_in_for_an_informative_source() -> None:
    ends = {"left_out": 0.0, "left_out_low": -0.01, "left_out_high": 0.01, "left_out_level": 0.95}
    names = ["main", "copy", "noise", "lone"]
    table = pd.DataFrame({"kernel": names, "why_not": "", "unadjusted": [[]] * 4, **ends})
    table["alone_outcome"] = ["informative", "informative", "not shown", "informative"]
    said = list(without_kernels(judged(table, 100, 0.02), Unit("accuracy"), [("main", "copy")]))
    assert [sentence.partition("); ")[2] for sentence in said] == [
        "copy may stand in for it", "main may stand in for it", "",
        "other sources may stand in for it",
    ]  # fmt: skip


def test_each_source_alone_has_its_level() -> None:
    gains = {"alone": [0.2, 0.01], "alone_low": [0.1, -0.1], "alone_high": [0.3, 0.12]}
    table = pd.DataFrame({"kernel": ["a", "b"], "why_not_alone": "", **gains})
    table = table.assign(alone_level=[0.975, 0.95], alone_outcome=["informative", "not shown"])
    assert list(alone(table, Unit("accuracy"))) == [
        "informative (accuracy against guessing): a +20.0 points (97.5 % CI +10.0 to +30.0)",
        "not shown to be informative (accuracy against guessing): b +1.0 points (95 % CI −10.0 to"
        " +12.0)",
    ]
    error = Unit("error", 1, 1, "", is_error=True)
    (fall, _) = alone(table, error)
    assert fall.endswith("a −0.2 in error (97.5 % CI −0.3 to −0.1)")


def test_a_single_split_has_neither_spread_nor_shares_of_fits() -> None:
    mpl.use("Agg")
    told = explain(*fitted(FIRST_TWO), cv=SPLIT, repeats=1)
    assert "±" not in told._repr_html_()
    assert told.effects["effect_std"].isna().all()
    assert "share of fits" not in told.text()
    panels = told.plot_columns()
    assert not [text.get_text() for ax in panels.axes_ for text in ax.texts]
    assert panels.axes_[-1].get_xlabel() == "effect on decision values"
    mpl.pyplot.close(panels.figure_)
    several = explain(*fitted(FIRST_TWO), cv=2, repeats=1).plot_columns()
    assert "mean ± SD over fits" in several.axes_[-1].get_xlabel()
    mpl.pyplot.close(several.figure_)


@pytest.mark.process
def test_a_split_without_a_class_is_named_once_in_our_words() -> None:
    """Warnings are errors in these tests."""
    rows, labels = three_sources()
    labels = np.where(np.arange(120) % 4 == 0, "rare", labels.astype(str))
    train = np.arange(120) < 70
    test = ~train & (labels != "rare")
    model = MKLClassifier(FIRST_TWO, learner="svm(C=1)").fit(rows, labels)
    split = [(np.flatnonzero(train), np.flatnonzero(test))]
    told = explain(model, rows, labels, cv=split, score="balanced_accuracy", repeats=1)
    assert told.text().count("no test sample of class 'rare'") == 1
    assert told.kernels["left_out"].notna().all()


def test_test_samples_of_one_class_have_no_verdict_and_a_reason() -> None:
    rows, labels = three_sources()
    model = MKLClassifier(FIRST_TWO, learner="svm(C=1)").fit(rows, labels)
    one_class = np.flatnonzero(labels == labels[0])[-10:]
    split = [(np.setdiff1d(np.arange(120), one_class), one_class)]
    told = explain(model, rows, labels, cv=split, repeats=1)
    assert told.kernels["outcome"].tolist() == ["", ""]
    assert notes_of(told, "ablation").startswith("not possible, the samples that are scored are of")
    ends = [f"{key}{end}" for key in ("left_out", "alone") for end in ("_low", "_high")]
    assert told.kernels[ends].isna().all(axis=None)


@pytest.mark.parametrize(("noise", "words"), [(61.8, "all 50 may be"), (44.4, "44 of the 50 may")])
def test_more_noise_than_selected_columns_is_all_of_them(noise: float, words: str) -> None:
    screen = Screen("genes", np.arange(50), 3000, noise)
    (note,) = screen_notes(screen_table([[screen]], ["genes"]))
    assert words in note
    assert "±" not in note  # One fit has no deviation.
