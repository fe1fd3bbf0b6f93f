"""Sentences on comparisons: what they claim, and what they must not."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from documents import listings

from mklkit.errors import DataError
from mklkit.evaluation import corrected_t_test, least_difference, verdict, verdict_of_datasets

STREAM = np.random.default_rng(1)
BEST = 0.9 + STREAM.normal(0, 0.01, 10)


def behind(points, spread=0.002):
    """Return scores that lie so many points below the best, with this standard deviation."""
    noise = STREAM.normal(size=10)
    return BEST - points / 100 - spread * (noise - noise.mean()) / noise.std(ddof=1)


def said(scores, **options):
    results = {name: (float(np.mean(own)), own) for name, own in scores.items()}
    return verdict(results, n_train=90, n_test=10, **options)


def test_three_methods():
    forest = behind(3.1, 0.02)
    sentence = said({"forest": forest, "rbf alone": behind(0.1, 0.01), "dimkl5": BEST})
    p_value = 2 * corrected_t_test(BEST - forest, 90, 10).p_value
    assert sentence.startswith(
        "dimkl5 has the highest mean; rbf alone is not distinguishable from it (0.1 points lower, "
    )
    assert sentence.endswith(f"; forest is worse by 3.1 points (p = {p_value:.2g}).")


def test_the_missed_difference_is_the_least_that_would_be_found():
    other = behind(0.1, 0.01)
    sentence = said({"a": BEST, "b": other})
    missed = float(re.findall(r"below ([\d.]+) points", sentence)[0])
    centred = (BEST - other) - (BEST - other).mean()
    found = [said({"a": BEST, "b": BEST - centred - (missed + s) / 100}) for s in (-0.06, 0.06)]
    assert ["worse" in text or "better" in text for text in found] == [False, True]


def test_all_are_worse():
    assert said({"a": BEST, "b": behind(2)}) == "a is better than b by 2.0 points (p < 0.001)."
    sentence = said({"a": BEST} | {f"m{i}": behind(i) for i in range(1, 8)})
    assert sentence == "a is better than m1, m2, m3 and 4 others by 1.0 to 7.0 points (p < 0.001)."


def test_large_groups_are_counted():
    names = {f"n{i}": behind(0.01 * i, 0.01) for i in range(1, 5)}
    names |= {f"w{i}": behind(5 + i) for i in range(5)}
    sentence = said({"a": BEST} | names)
    assert "n1, n2, n3 and 1 other are not distinguishable from it (within 0.0 points" in sentence
    assert "w0, w1, w2 and 2 others are worse by 5.0 to 9.0 points (p < 0.001)." in sentence


def test_holm_counts_the_methods():
    scores = {"a": BEST, "b": behind(1, 0.008)}
    scores |= {f"n{i}": behind(0.1, 0.01) for i in range(20)}
    assert said({name: scores[name] for name in "ab"}).startswith("a is better than b")
    assert said(scores).startswith("a has the highest mean; n")


def test_little_is_said_where_little_is_known():
    one = verdict({"a": (0.9, [0.9]), "b": (0.1, [0.1])}, 90, 10)
    assert one.startswith("a has the highest score, but one split cannot tell")
    assert said({"a": BEST}) == "There are no two methods to compare."
    same = said({"a": BEST, "b": BEST.copy()})
    assert same == "a has the highest mean; b has the same scores."
    two = verdict({"a": (0.9, [0.92, 0.88]), "b": (0.8, [0.8, 0.8])}, 90, 10)
    assert "b is not distinguishable from it (10.0 points lower, but 2 splits are too few" in two
    equal = verdict({"a": (0.9, [0.92, 0.88]), "b": (0.8, [0.82, 0.78])}, 90, 10)
    # The variance is that of rounding to tenths: 0.1/√((1/2 + 1/9)/1200) = 4.4 with one degree.
    assert "b is not distinguishable from it (10.0 points lower" in equal
    gap = said({"a": BEST, "b": behind(2), "failed": np.append(BEST[:9], math.nan)})
    assert gap.endswith("; failed is not compared, as some of the scores are missing.")


def test_one_number_says_what_can_be_missed():
    scores = {f"n{i}": behind(0.1, spread) for i, spread in enumerate((0.004, 0.01, 0.03))}
    sentence = said({"a": BEST, "same": BEST.copy()} | scores)
    # The median of those that differ; Holm's step is for all four.
    limit = 100 * least_difference(BEST - scores["n1"], 90, 10, 0.05 / 4)
    assert f"with these 10 splits differences below about {limit:.1f} points can be" in sentence
    wide = said({"a": BEST, "b": behind(0.1, 0.4)})
    assert "10 splits are too few to tell whether that is chance" in wide
    few = verdict({name: (own[:4].mean(), own[:4]) for name, own in scores.items()}, 90, 10)
    assert "4 splits are too few" in few


@pytest.mark.parametrize("results", [{}, {"a": (0.9, [])}, {"a": (1, [1]), "b": (1, [1, 1])}])
def test_mistakes(results):
    with pytest.raises(DataError):
        verdict(results, 90, 10)


def test_data_sets():
    ranks = np.array([[2, 1, 3, 4]] * 6 + [[1, 2, 4, 3]] * 6)
    names = ["b", "a", "c", "d"]
    sentence = verdict_of_datasets(-ranks, names)
    # 2.569 · √(4 · 5 / (6 · 12)) = 1.354, and the ranks are 1.5, 1.5, 3.5 and 3.5.
    assert sentence == (
        "The methods differ on 12 data sets (Friedman, p < 0.001); b has the best average rank,"
        " 1.50; a (rank 1.50) is not distinguishable from it, as the critical difference of ranks"
        " is 1.35; c (rank 3.50) and d (rank 3.50) are worse."
    )
    assert "4 data sets cannot tell" in verdict_of_datasets(-ranks[:4], names)
    none = verdict_of_datasets(np.random.default_rng(0).random((6, 4)), names)
    assert none.startswith("The 4 methods are not distinguishable on 6 data sets (Friedman, p = ")
    with pytest.raises(DataError, match="4 methods but 3 names"):
        verdict_of_datasets(-ranks, names[:3])


def test_the_page_prints_what_it_says(capsys):
    one, several = listings("docs/guides/statistics.md", "python")
    exec(one, {})
    shown = re.findall(r"# ([\d.]+)$", one, re.MULTILINE)
    assert [f"{float(line):.3f}" for line in capsys.readouterr().out.splitlines()[:2]] == shown
    # The diagram is drawn in tests of its own.
    exec(several.partition("# With matplotlib")[0], {})
    assert "dimkl5 has the best average rank" in capsys.readouterr().out
