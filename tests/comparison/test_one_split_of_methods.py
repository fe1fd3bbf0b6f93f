"""Comparisons and explanations on one split: tests of the fitted models on its test samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mklkit import MKLClassifier, compare, explain
from mklkit.errors import DataError, SpecError
from mklkit.evaluation.paired_proportions import paired_interval
from mklkit.evaluation.paired_tests import holm_levels

RNG = np.random.default_rng(4)
X = RNG.normal(size=(160, 4))
Y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.2 * RNG.normal(size=160) > 1, "yes", "no")
TRAIN, TEST = np.arange(80), np.arange(80, 160)
SETTINGS: dict[str, Any] = {"kernels": "rbf", "cv": [(TRAIN, TEST)], "baselines": []}
METHODS = [("bayes", GaussianNB()), ("guess", DummyClassifier())]


@pytest.mark.process
def test_the_table_has_mcnemars_test_and_its_interval() -> None:
    comparison = compare(X, Y, methods=METHODS, reference="bayes", score="accuracy", **SETTINGS)
    right = {
        name: model.fit(X[TRAIN], Y[TRAIN]).predict(X[TEST]) == Y[TEST] for name, model in METHODS
    }
    n_guess = int((right["guess"] & ~right["bayes"]).sum())
    n_bayes = int((right["bayes"] & ~right["guess"]).sum())
    table = comparison.table().set_index("method")
    guess = table.loc["guess"]
    ends = guess[["difference_low", "difference_high"]].tolist()
    assert ends == pytest.approx(paired_interval(n_guess, n_bayes, 80))
    p_value = binomtest(n_guess, n_guess + n_bayes).pvalue
    # Holm's correction multiplies by one or two, as there are two tests.
    assert min(abs(guess["p_corrected"] / p_value - factor) for factor in (1, 2)) < 1e-9
    wilson = binomtest(int(right["guess"].sum()), 80).proportion_ci(method="wilson")
    assert guess[["low", "high"]].tolist() == pytest.approx([wilson.low, wilson.high])
    assert "as they were fitted" in comparison.how[0]
    assert "McNemar" in comparison.plan["one_split"]["data"]


@pytest.mark.process
def test_several_splits_keep_no_answers_of_samples() -> None:
    comparison = compare(X, Y, methods=METHODS, **SETTINGS | {"cv": "2x1"})
    assert not any(cell.responses for cell in comparison.cells)
    one = compare(X, Y, methods=METHODS, **SETTINGS)
    assert all(len(cell.responses["predict"]) == 80 for cell in one.cells)
    assert "responses" not in one.as_dict()["cells"][0]


@pytest.mark.process
def test_a_file_of_results_has_the_same_tests_again_and_damage_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    settings = {**SETTINGS, "methods": METHODS, "score": "roc_auc", "results": path}
    first, again = compare(X, Y, **settings), compare(X, Y, **settings)
    assert again.reused == len(first.cells)
    assert again.questions.equals(first.questions)
    head, line, *rest = path.read_text().splitlines()
    cell = json.loads(line)
    (name,) = cell["responses"].keys() - {"predict"}
    answers = cell["responses"]
    values = cell["responses"][name]
    for damaged, message in (
        ({name: values[:-1]}, "damaged in line 2"),
        ({name: ["a", *values[1:]]}, "damaged in line 2"),
        ({"fit": values}, "damaged in line 2"),
        ({name: values[::-1]}, "do not have its score"),
    ):
        lines = [head, json.dumps({**cell, "responses": answers | damaged}), *rest]
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(DataError, match=message):
            compare(X, Y, **settings)
    path.write_text("\n".join([head, json.dumps({**cell, "responses": {}}), *rest]) + "\n")
    unknown = compare(X, Y, **settings).table().set_index("method").loc[cell["method"]]
    assert np.isnan(unknown["low"])


@pytest.mark.process
def test_an_explanation_has_the_interval_of_the_two_fits() -> None:
    kernels = [("a", "rbf", [0, 1]), ("b", "rbf", [2, 3])]
    model = MKLClassifier(kernels, learner="svm(C=1)", random_state=0).fit(X, Y)
    explained = explain(model, X, Y, cv=[(TRAIN, TEST)], score="accuracy")
    whole = MKLClassifier(kernels, learner="svm(C=1)", random_state=0).fit(X[TRAIN], Y[TRAIN])
    right = whole.predict(X[TEST]) == Y[TEST]
    discordant = []
    for other in (kernels[1], kernels[0]):
        smaller = MKLClassifier([other], learner="svm(C=1)", random_state=0)
        of_other = smaller.fit(X[TRAIN], Y[TRAIN]).predict(X[TEST]) == Y[TEST]
        discordant.append((int((right & ~of_other).sum()), int((of_other & ~right).sum())))
    p_values = [binomtest(lost, lost + gained).pvalue for lost, gained in discordant]
    _, levels = holm_levels(p_values)
    for place, (n_lost, n_gained) in enumerate(discordant):
        row = explained.kernels.loc[place]
        assert row["left_out"] == pytest.approx((n_gained - n_lost) / 80)
        low, high = paired_interval(n_gained, n_lost, 80, levels[place])
        if low <= 0 <= high:  # The rule of three may widen it.
            assert row["left_out_low"] <= low
            assert row["left_out_high"] >= high
        else:
            assert row[["left_out_low", "left_out_high"]].tolist() == pytest.approx([low, high])
    assert explained.kernels.loc[0, "outcome"] == "lost"
    assert "from one fold" not in explained.text()
    # A single fit has no spread.
    assert "refitted on the split: 3 fits; brackets hold" in explained.text()
    tables = explained.kernels, explained.columns, explained.effects
    spreads = [table.filter(like="_std") for table in tables]
    assert all(spread.shape[1] and spread.isna().all(axis=None) for spread in spreads)
    assert "as they were fitted" in explained.text()
    assert explained.columns[["shuffled_low", "shuffled_high"]].notna().all(axis=None)


def test_a_score_of_probabilities_that_a_model_lacks_is_an_error_before_its_fits() -> None:
    model, progress = MKLClassifier("rbf", learner="svm(C=1)").fit(X, Y), Mock()
    with pytest.raises(SpecError, match="neg_log_loss needs probabilities"):
        explain(model, X, Y, cv=[(TRAIN, TEST)], score="neg_log_loss", progress=progress)
    progress.assert_not_called()
