"""What a notebook shows of estimators: kernels, weights and components beside the diagram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers.panels import Panel, panels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mklkit
from mklkit import (
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    propose_kernels,
)
from mklkit.estimators.showing import KernelSummary
from mklkit.kernels import Precomputed

KERNELS: list[Any] = [("both", "rbf", ["a", "b"]), "linear"]
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "classifier": lambda: MKLClassifier(KERNELS, learner="ridge"),
    "regressor": lambda: MKLRegressor(KERNELS),
    "one class": lambda: MKLOneClass(KERNELS),
    "transformer": lambda: mklkit.MKLTransformer(KERNELS),
    "search": lambda: MKLSearchCV(MKLClassifier(KERNELS), {"learner__C": [1.0]}, cv=2),
    "vote": lambda: MKLVotingClassifier(MKLClassifier(KERNELS), n_members=2),
    "rpemekl": lambda: RPEMEKLClassifier(KERNELS, subset=5),
}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rows = np.random.default_rng(0).normal(size=(24, 3))
    return pd.DataFrame(rows, columns=["a", "b", "c"])


def alone(estimator: Any) -> Panel:
    """Return what is shown of an estimator that is a cell's last value, by either of two ways."""
    html = estimator._repr_html_()
    (panel,) = panels(html)
    assert panels(estimator._repr_mimebundle_()["text/html"]) == [panel]
    assert f"{type(estimator).__name__}</div>" in html
    return panel


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_it_shows_what_fit_would_use_and_what_it_used(kind: str, frame: pd.DataFrame) -> None:
    panel = alone(ESTIMATORS[kind]())
    ((head, *rows),) = panel.tables
    assert head == ["name", "kernel", "columns"]
    assert rows[0][0] == "both"
    assert rows[0][1].startswith("rbf")
    assert rows[0][2] == "a, b"
    assert rows[1] == ["linear", "linear", "all"]
    assert {"combiner", "feature map"} <= set(panel.facts)
    assert "fitted on" not in panel.facts
    model = ESTIMATORS[kind]().fit(frame, np.arange(len(frame)) % 2)
    panel = alone(model)
    ((head, *rows),) = panel.tables
    assert head == ["name", "kernel", "columns", "weight", ""]
    assert [row[2] for row in rows] == ["a, b", "all"]
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    assert [float(row[3]) for row in rows] == pytest.approx(weights.tolist(), abs=6e-4)
    assert panel.facts["fitted on"] == "24 samples, 3 columns"
    used = model.best_estimator_ if kind == "search" else model
    assert panel.facts["combiner"].startswith(used.combiner_.name)
    assert panel.facts["feature map"].startswith(used.feature_map_.name)
    if used.learner_ is not None:
        assert panel.facts["learner"].startswith(used.learner_.name)


@pytest.mark.parametrize(
    ("combiner", "over"),
    [("alignment", "3 problems"), ("cluster-gating(n_clusters=2)", "3 problems and clusters")],
)
def test_several_problems_have_a_mean_and_a_range(
    frame: pd.DataFrame, combiner: str, over: str
) -> None:
    model = MKLClassifier(["linear", "rbf"], combiner=combiner)
    panel = alone(model.fit(frame, np.arange(24) % 3))
    ((head, *rows),) = panel.tables
    assert head[3:] == ["mean weight", "", f"range over {over}"]
    for place, row in enumerate(rows):
        weights = model.weights_[:, place]
        assert float(row[3]) == pytest.approx(weights.mean(), abs=6e-4)
        ends = [float(end) for end in row[5].split(" to ")]
        assert ends == pytest.approx([weights.min(), weights.max()], abs=6e-4)


def test_of_many_kernels_the_heaviest_are_shown(frame: pd.DataFrame) -> None:
    kernels = [f"rbf(sigma={place + 1})" for place in range(25)]
    model = MKLClassifier(kernels, combiner="alignment")
    ((_, *rows),) = alone(model).tables
    assert [row[0] for row in rows] == [*kernels[:20], "and 5 more"]
    ((_, *rows),) = alone(model.fit(frame, np.arange(24) % 2)).tables
    weights = dict(zip(kernels, model.weights_[0], strict=True))
    heaviest = sorted(kernels, key=lambda name: -weights[name])[:20]
    assert [row[0] for row in rows[:-1]] == heaviest
    rest = sum(weights.values()) - sum(weights[name] for name in heaviest)
    assert rows[-1] == [f"and 5 more with smaller weights, {rest:.3f} together"]


def test_names_are_escaped(frame: pd.DataFrame) -> None:
    odd = "<script>alert(1)</script>"
    rows = frame.rename(columns={"a": odd})
    model = MKLClassifier([(odd, "rbf", [odd]), "linear"]).fit(rows, np.arange(24) % 2)
    for html in (model._repr_html_(), make_pipeline(model)._repr_html_()):
        assert odd not in html
    panel = alone(model)
    assert "script" not in panel.tags
    assert panel.tables[0][1][:3] == [odd, "rbf(sigma='mean')", odd]


def test_a_search_says_what_it_chose(frame: pd.DataFrame) -> None:
    model = ESTIMATORS["search"]().fit(frame, np.arange(24) % 2)
    assert alone(model).facts["search"].startswith("learner__C 1.0: best of 1 setting")
    vote = ESTIMATORS["vote"]().fit(frame, np.arange(24) % 2)
    assert alone(vote).facts["vote"] == "2 members, mean weights"
    for wrap in (MKLSearchCV(vote.members_[0]), MKLVotingClassifier(vote.members_[0])):
        assert "fitted on" not in alone(wrap).facts


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: MKLClassifier("rbff"), "Did you mean 'rbf'?"),
        (lambda: MKLClassifier(3), "Expected a kernel"),
        (lambda: MKLClassifier([]), "empty list"),
        (lambda: MKLClassifier(combiner=object()), "Expected a combiner"),
        (lambda: MKLRegressor(learner="svm"), "can't learn from numbers"),
        (lambda: mklkit.MKLTransformer(combiner="ifsl"), "combiners that do"),
        (lambda: MKLOneClass("auto"), "name the kernel."),
        (lambda: MKLSearchCV(None), "MKLSearchCV"),
        (lambda: MKLVotingClassifier(3), "Members are MKLClassifier"),
        (lambda: MKLVotingClassifier(n_members="many"), "n_members"),
        (lambda: RPEMEKLClassifier(subset=[]), "no choices"),
    ],
)
def test_bad_parameters_are_said_and_raise_nothing(make: Callable[[], Any], reason: str) -> None:
    (said,) = alone(make()).paragraphs
    assert said.startswith("Its kernels can't be shown, and fit would fail: ")
    assert reason in said


def test_errors_of_components_are_said() -> None:
    class Unseen(MKLClassifier):
        def _kernel_summary(self) -> KernelSummary:
            raise RuntimeError("no picture of this")

    (said,) = alone(Unseen()).paragraphs
    assert said == "Its kernels can't be shown: no picture of this"


def test_a_matrix_is_neither_written_nor_compared() -> None:
    matrix = np.eye(3)
    panel = alone(MKLClassifier([("graph", Precomputed(matrix), [0])]))
    assert panel.tables[0][1] == ["graph", "precomputed(matrix=<array 3x3>)", "0"]


def test_a_pipeline_is_shown_by_scikit_learn(frame: pd.DataFrame) -> None:
    html = make_pipeline(StandardScaler(), MKLClassifier("rbff"))._repr_html_()
    assert "MKLClassifier" in html
    assert panels(html) == []


def test_scikit_learn_may_be_told_to_display_text() -> None:
    with sklearn.config_context(display="text"):
        assert not hasattr(MKLClassifier(), "_repr_html_")
        assert list(MKLClassifier()._repr_mimebundle_()) == ["text/plain"]


def test_a_bank_is_a_table_with_notes(frame: pd.DataFrame) -> None:
    panel = alone(MKLClassifier("auto"))
    assert panel.tables == []
    assert panel.facts["chosen by fit"] == "auto"
    panel = alone(MKLClassifier(["auto@age", "text@note", "near:rbf[roots]@n_*"]))
    assert panel.facts["chosen by fit"] == "auto@age, text"
    assert [row[0] for row in panel.tables[0][1:]] == ["near"]
    assert panel.tables[0][1][1] == "rbf(sigma='mean')[roots]"
    bank = propose_kernels(frame, np.arange(24) % 2)
    (panel,) = panels(bank._repr_html_())
    ((_, *rows),) = panel.tables
    assert [row[0] for row in rows] == [kernel.label for kernel in bank.kernels]
    assert panel.notes == list(bank.notes)
