"""Sentences on comparisons: what they claim, and what they must not."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.documents import listings
from scipy import stats

from mklkit.evaluation import Resolution, planned_tests, verdict
from mklkit.evaluation.number_scores import ABSOLUTE_ERROR, R2
from mklkit.evaluation.verdict import outcome

STREAM = np.random.default_rng(1)
BEST = 0.9 + STREAM.normal(0, 0.01, 10)
SIZES = {"n_train": 90, "n_test": 10}


def behind(points: float, spread: float = 0.002) -> Any:
    """Return scores that lie so many points below the best, with this standard deviation."""
    noise = STREAM.normal(size=10)
    return BEST - points / 100 - spread * (noise - noise.mean()) / noise.std(ddof=1)


def said(rival: Any, best: Any = BEST, **sizes: int) -> str:
    tests = planned_tests({"a": best, "b": rival}, [("Q", "a", "b")], **(sizes or SIZES))
    return verdict(tests).removeprefix("Q: ")


def test_differences_intervals_and_holm_by_scipy() -> None:
    spreads = (0.03, 0.004, 0.02, 0.02)
    scores = {"a": BEST} | {
        f"m{i}": behind(points, spread)
        for i, (points, spread) in enumerate(zip((4.5, 1, 2.3, 0.1), spreads, strict=True))
    }
    tests = planned_tests(scores, [("Q", "a", f"m{i}") for i in range(4)], **SIZES)
    differences = np.array([BEST - scores[f"m{i}"] for i in range(4)])
    errors = differences.std(axis=1, ddof=1) * np.sqrt(1 / 10 + 10 / 90)
    t = stats.t(9)
    raw = 2 * t.sf(abs(differences.mean(axis=1)) / errors)
    assert tests["p_value"].to_numpy() == pytest.approx(raw)
    # By hand: the smallest p counts four times, the next three times, the others twice.
    assert np.argsort(raw).tolist() == [1, 0, 2, 3]
    times = np.array([3, 4, 2, 2])
    assert (raw * times < 0.05).tolist() == [True, True, False, False]
    assert tests["p_holm"].to_numpy()[:3] == pytest.approx(raw[:3] * times[:3])
    half = errors * t.isf(0.025 / times)
    ends = [differences.mean(axis=1) - half, differences.mean(axis=1) + half]
    assert np.allclose(tests[["low", "high"]].to_numpy().T, ends)
    better = ["is better than" in line for line in verdict(tests).splitlines()]
    assert better == [True, True, False, False]


def test_the_interval_leaves_out_zero_where_p_is_small() -> None:
    for _ in range(40):
        scores = {f"m{i}": STREAM.normal(STREAM.uniform(0, 0.03), 0.02, 8) for i in range(6)}
        questions = [("Q", f"m{i}", ["m4", "m5"] if i < 2 else "m5") for i in range(4)]
        tests = planned_tests(scores, questions, **SIZES)
        significant = tests["p_holm"] < 0.05
        assert ((tests["low"] > 0) | (tests["high"] < 0)).tolist() == significant.tolist()
        words = ["is better" in line or "is worse" in line for line in verdict(tests).splitlines()]
        assert words == significant.tolist()


def test_the_best_of_several_counts_as_often() -> None:
    scores = {"a": BEST, "b": behind(3, 0.02), "c": behind(1, 0.02), "failed": BEST * math.nan}
    alone = planned_tests(scores, [("Q", "a", "c")], **SIZES)
    chosen = planned_tests(scores, [("Q", "a", ["b", "failed", "c"])], **SIZES)
    assert chosen[["reference", "choices"]].to_numpy().tolist() == [["c", 2]]
    assert chosen["p_holm"].item() == pytest.approx(min(2 * alone["p_holm"].item(), 1))
    assert chosen["level"].item() == pytest.approx(0.975)
    assert "c (the best of 2)" in verdict(chosen)


def test_sentences() -> None:
    half = 100 * stats.t.isf(0.025, 9) * 0.002 * np.sqrt(1 / 10 + 1 / 9)
    span = f"(95 % CI {2 - half:.1f} to {2 + half:.1f})"
    assert said(behind(2)) == f"a is better than b by 2.0 points {span}."
    assert said(behind(-2)) == f"a is worse than b by 2.0 points {span}."
    near = f"no difference larger than {0.1 + half:.1f} points either way between a and b, within"
    assert said(behind(0.1)) == f"{near} the margin of 2.0 points."
    wide = said(behind(0.5, 0.04))
    half *= 20
    assert wide == (
        f"inconclusive: a − b = 0.5 points (95 % CI −{half - 0.5:.1f} to {half + 0.5:.1f})."
    )
    assert said(BEST.copy()) == "a and b have the same score on every split."
    assert "a single split does not show" in said([0.1], [0.9], **SIZES)
    assert "some of the scores are missing" in said(np.append(BEST[:9], math.nan))
    assert "2 splits are too few to compare" in said([0.8, 0.6], [0.92, 0.88], **SIZES)
    # Barely better is not "0.0 to".
    barely = 100 * stats.t.isf(0.025, 9) * 0.002 * np.sqrt(1 / 10 + 1 / 9) + 0.02
    assert "(95 % CI 0.02 to " in said(behind(barely))
    tests = planned_tests({"a": BEST, "b": behind(5)}, [("Q", "a", "b")], **SIZES)
    assert "by 5.0 points of R² (95 % CI 4.8 to" in verdict(tests, R2)
    # A higher negative error is a smaller error.
    assert "a is better than b by 0.05 in mean absolute error" in verdict(tests, ABSOLUTE_ERROR)
    tests = planned_tests({"a": BEST, "b": behind(0.5, 0.04)}, [("Q", "a", "b")], **SIZES)
    assert "inconclusive: a − b = −0.005 in mean absolute error (95 % CI −0." in verdict(
        tests, ABSOLUTE_ERROR
    )
    assert verdict(tests.iloc[:0]) == "There are no two methods to compare."


def test_no_row_that_differs_is_no_proof_that_none_would() -> None:
    """The oracle is the exact binomial limit of 0 rows of n."""
    for n_train, n_test, n_splits in ((80, 20, 5), (80, 20, 10), (90, 10, 2)):
        scores = {name: np.full(n_splits, 0.9) for name in "abc"}
        scores["c"] = scores["c"] - 0.3 + np.arange(n_splits) * 0.001
        questions = [("Q", "a", "b"), ("Q", "a", "c")]
        n_rows = min(100, n_splits * n_test)
        units = Resolution(n_rows, "samples")
        tests = planned_tests(scores, questions, n_train, n_test, resolution=units)
        limit = stats.beta.isf(0.05, 1, n_rows)
        assert tests["high"][0] == pytest.approx(limit, rel=0.1)
        assert tests["low"][0] == -tests["high"][0]
        assert tests["low"][1] > 0  # What is found stays found.
        first, second = verdict(tests).splitlines()
        points = f"{100 * tests['high'][0]:.1f} points"
        limit = f"with {n_rows} samples, a difference of up to {points} cannot be excluded."
        assert first.endswith(f"same score on every split; {limit}")
        assert "a is better than c" in second


def test_the_sentence_names_the_samples_that_limit_it() -> None:
    units = Resolution(20, "samples in the rarest class", 2)
    scores = {"a": BEST, "b": BEST + 1e-4 * np.tile([1, -1], 5)}
    tests = planned_tests(scores, [("Q", "a", "b")], **SIZES, resolution=units)
    assert (
        "(95 % limits −7.5 to 7.5, the narrowest with 20 samples in the rarest class)"
        in verdict(tests)
    )
    tests = planned_tests(scores, [("Q", "a", "b")], **SIZES, resolution=Resolution(400, "groups"))
    assert verdict(tests).endswith(
        "between a and b, the least that 400 groups can exclude, within the margin of 2.0 points."
    )


def test_the_margin_is_named_and_decides() -> None:
    scores = {"a": BEST, "b": behind(0.1)}
    for margin, words in ((0.001, "inconclusive"), (0.05, "within the margin of 5.0 points")):
        tests = planned_tests(scores, [("Q", "a", "b")], **SIZES, margin=margin)
        assert words in verdict(tests)
    assert outcome(tests.to_dict("records")[0]) == "no difference"


@pytest.mark.parametrize(("points", "margin"), [(3.0, 0.02), (0.5, 0.02), (0.5, 0.03)])
def test_the_number_of_samples_that_would_do_follows_from_the_width(
    points: float, margin: float
) -> None:
    """With so many samples, an interval that is narrower by √n ends at 0 or at the margin."""
    scores = {"a": BEST, "b": behind(points, 0.05)}
    questions = [("Q", "a", "b")]
    (test,) = planned_tests(scores, questions, **SIZES, n_samples=100, margin=margin).to_dict(
        "records"
    )
    assert outcome(test) == "inconclusive"
    half = (test["high"] - test["low"]) / 2 * np.sqrt(100 / test["samples_needed"])
    ends = test["difference"] - half, test["difference"] + half
    reached = min(abs(ends[0]), abs(margin - ends[1]))
    assert reached < 0.05 * half  # The number is rounded up to two digits.
    written = f"about {test['samples_needed']:,.0f} samples would have an even chance."
    assert verdict(pd.DataFrame([test])).endswith(written)
    assert "even chance" not in verdict(planned_tests(scores, questions, **SIZES, margin=margin))


def test_the_page_prints_what_it_says(capsys):
    single, several = listings("docs/guides/statistics.md", "python")
    exec(single, {})
    shown = re.findall(r"# ([\d.]+)$", single, re.MULTILINE)
    assert [f"{float(line):.3f}" for line in capsys.readouterr().out.splitlines()[:2]] == shown
    # The diagram is drawn in tests of its own.
    exec(several.partition("# With matplotlib")[0], {})
    assert "Learned weights: inconclusive over 7 data sets" in capsys.readouterr().out
