"""The margin within which differences do not matter, whatever the unit of the target."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.metrics import log_loss, root_mean_squared_error

from mklkit import MKLRegressor, compare, explain
from mklkit.errors import SpecError
from mklkit.evaluation import equivalence_margin, planned_tests, verdict
from mklkit.evaluation.equivalence import margin_of
from mklkit.evaluation.number_scores import ABSOLUTE_ERROR
from mklkit.registry.tasks import task_named

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(60, 6))
METRES = X[:, 0] + X[:, 3] + 0.2 * RANDOM.normal(size=60)


def test_the_margin_is_two_percent_of_the_baselines_error() -> None:
    numbers, classes = task_named("regression"), task_named("classification")
    error = np.abs(METRES - np.median(METRES)).mean()
    margin = equivalence_margin(numbers, "neg_mean_absolute_error", METRES)
    assert margin == pytest.approx(0.02 * error)
    squares = root_mean_squared_error(METRES, np.full(60, np.median(METRES)))
    margin = equivalence_margin(numbers, "neg_root_mean_squared_error", METRES)
    assert margin == pytest.approx(0.02 * squares)
    labels = np.arange(60) % 3 == 0
    margin = equivalence_margin(classes, "neg_log_loss", labels)
    assert margin == pytest.approx(0.02 * log_loss(labels, np.full(60, 1 / 3)))
    assert equivalence_margin(numbers, "r2", METRES) == 0.02
    assert equivalence_margin(classes, "roc_auc", labels) == 0.02


def test_a_margin_is_the_users() -> None:
    numbers, classes = task_named("regression"), task_named("classification")
    error = np.abs(METRES - np.median(METRES)).mean()
    margin = equivalence_margin(numbers, "neg_mean_absolute_error", METRES, 0.1)
    assert margin == pytest.approx(0.1 * error)
    assert equivalence_margin(classes, "accuracy", np.arange(60) % 2, 0.05) == 0.05
    texts = {"2%": 0.02, " 1.5 % ": 0.015, "0.02": 0.02, ".5": 0.5, "100%": 1.0, "0": 0.0}
    for text, share in texts.items():
        assert margin_of(text) == share


@pytest.mark.parametrize(
    "wrong", ["-1%", -0.02, "2", "101 %", "two points", "", "%", float("nan"), True, None]
)
def test_what_is_no_margin_raises_an_error_that_says_what_is(wrong: object) -> None:
    with pytest.raises(SpecError, match=r"such as 0\.02 or 2%; got"):
        margin_of(wrong)  # type: ignore[arg-type]


@pytest.mark.process
def test_the_unit_of_the_target_changes_no_verdict() -> None:
    kernels, score = ["near:linear@0,1,2", "far:linear@3,4,5"], "neg_mean_absolute_error"
    sentences, outcomes, shares = [], [], []
    for unit in (1, 1000):
        y = unit * METRES
        model = MKLRegressor(kernels, learner="ridge(alpha=1)").fit(X, y)
        told = explain(model, X, y, cv=2, repeats=1, columns="sources", score=score).kernels
        outcomes.append(told["outcome"].tolist())
        found = compare({"a": (X, y), "b": (X[::-1], -y)}, methods="uniform", kernels=kernels,
                        learners=["ridge(alpha=1)"], score=score, task="regression", cv="2x1",
                        also=["rbf"], baselines="none")  # fmt: skip
        lines = verdict(found.questions, found.score).splitlines()
        sentences.append([re.sub(r"[\d.]+(e[+-]\d+)?", "#", line) for line in lines])
        shares.append(found.table().set_index("method")["p_equivalent"].dropna())
    assert sentences[0] == sentences[1]
    assert outcomes[0] == outcomes[1]
    assert shares[0].to_dict() == pytest.approx(shares[1].to_dict())


def test_errors_within_the_margin_are_equivalent_in_any_unit() -> None:
    errors = np.linspace(0.19, 0.21, 10)
    rivals = {"a": -errors, "b": -errors - 0.001 - 1e-5 * np.tile([1, -99], 5)}
    numbers = task_named("regression")
    for unit in (1e-3, 1, 1e3):
        margin = equivalence_margin(numbers, "neg_mean_absolute_error", unit * METRES)
        scores = {name: unit * values for name, values in rivals.items()}
        tests = planned_tests(scores, [("Q", "a", "b")], 54, 6, margin=margin)
        assert "no difference larger than" in verdict(tests, ABSOLUTE_ERROR)
