"""The margin within which differences do not matter, whatever the unit of the target."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss, root_mean_squared_error

from mklkit import MKLRegressor, compare, explain
from mklkit.evaluation import equivalence_margin
from mklkit.evaluation.tasks import task_named

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


@pytest.mark.parametrize("score", ["neg_mean_absolute_error", "r2"])
def test_the_unit_of_the_target_changes_no_verdict(score: str) -> None:
    kernels = ["near:linear@0,1,2", "far:linear@3,4,5"]
    sentences, outcomes, shares = [], [], []
    for unit in (1, 1000):
        y = unit * METRES
        settings = {"kernels": kernels, "learners": ["ridge(alpha=1)"], "task": "regression"}
        found = compare(X, y, methods=["alignment"], score=score, baselines="none", **settings)
        words = [line.split(" by ")[0].split("=")[0] for line in found.verdict.splitlines()]
        sentences.append([word.split("than")[0] for word in words])
        model = MKLRegressor(kernels, learner="ridge(alpha=1)").fit(X, y)
        told = explain(model, X, y, cv=4, repeats=1, score=score).kernels
        outcomes.append(told["outcome"].tolist())
        both = compare({"a": (X, y), "b": (X[::-1], -y)}, methods=["alignment"], score=score,
                       baselines="none", cv="3x1", **settings)  # fmt: skip
        shares.append(both.table().set_index("method")["p_equivalent"].dropna())
    assert sentences[0] == sentences[1]
    assert outcomes[0] == outcomes[1]
    assert shares[0].to_dict() == pytest.approx(shares[1].to_dict())
    assert "lost" in outcomes[0]
