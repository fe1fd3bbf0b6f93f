"""Scores of few groups and of targets with heavy tails get no verdict from either command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mklkit import MKLClassifier, MKLRegressor, compare
from mklkit.evaluation.class_scores import ACCURACY
from mklkit.evaluation.no_verdict import samples_sharing_variance, why_no_verdict
from mklkit.evaluation.number_scores import ABSOLUTE_ERROR, R2
from mklkit.explanation import explain

KERNELS = ["a:linear@a", "b:linear@b"]
LEARNER = "ridge(alpha=1)"
ASKED = {"kernels": KERNELS, "methods": "alignment", "learners": [LEARNER], "baselines": "none"}


def test_variance_is_shared_by_as_many_samples_as_the_kurtosis_says() -> None:
    values = np.random.default_rng(0).standard_t(3, 500)
    expected = 500 / stats.kurtosis(values, fisher=False)
    assert samples_sharing_variance(values) == pytest.approx(expected)
    two = np.column_stack([values, np.arange(500.0)])
    assert samples_sharing_variance(two) == pytest.approx(expected)
    assert samples_sharing_variance(np.ones(7)) == 7


def test_the_rule_knows_groups_and_numbers_only() -> None:
    numbers = np.random.default_rng(0).normal(size=90)
    heavy = np.append(numbers, 100.0)
    for score in (R2, ABSOLUTE_ERROR):
        assert not why_no_verdict(score, numbers)
        assert "of its 91 samples" in why_no_verdict(score, heavy)
    assert not why_no_verdict(ACCURACY, np.arange(90) % 2)
    for n_groups, is_few in ((14, True), (15, False)):
        groups = np.arange(90) % n_groups
        assert bool(why_no_verdict(ACCURACY, np.arange(90) % 2, groups)) is is_few


@pytest.mark.process
@pytest.mark.parametrize("case", ["few groups", "heavy tails", "neither"])
def test_neither_command_gives_a_verdict(case: str) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    signal = frame["a"].to_numpy() + frame["b"].to_numpy()
    groups = np.arange(60) // 6 if case == "few groups" else None
    if case == "heavy tails":
        target = np.sinh(4 * signal)
        model = MKLRegressor(KERNELS, learner=LEARNER)
        reason = "of its 60 samples shared it evenly, and 15 are needed"
    else:
        target = (signal > 0).astype(int)
        model = MKLClassifier(KERNELS, learner=LEARNER)
        reason = "there are 10 groups, and 15 are needed"
    fitted = model.fit(frame, target)
    explained = explain(fitted, frame, target, cv="5x2", repeats=1, groups=groups)
    compared = compare(frame, target, cv="5x2", groups=groups, **ASKED)
    tests = compared.questions
    lines = compared.verdict.splitlines()[: len(tests)]
    if case == "neither":
        assert "no verdict" not in {*explained.kernels["outcome"]}
        assert not tests["withheld"].any()
        assert tests["low"].notna().all()
        return
    assert {*explained.kernels["outcome"]} == {"no verdict"}
    assert all(why.endswith(reason) for why in explained.kernels["no_verdict"])
    assert tests["withheld"].all()
    assert tests[["low", "high", "p_holm"]].isna().all(axis=None)
    assert compared.table()[["p_corrected", "p_paired"]].isna().all(axis=None)
    assert all("no verdict on" in line and line.endswith(f"{reason}.") for line in lines)
