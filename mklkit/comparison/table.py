"""The statistics of a comparison: planned tests, one row per method, tests against the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.evaluation import (
    average_ranks,
    bayesian_signed_rank,
    corrected_interval,
    corrected_t_test,
    critical_difference,
    friedman_test,
    holm,
    indistinguishable,
    paired_t_test,
    planned_tests_of_datasets,
)
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.rank_tests import DIGITS
from mklkit.evaluation.resolution import Resolution
from mklkit.evaluation.verdict import planned_tests
from mklkit.protocols import Task
from mklkit.protocols.score import Score

SCORES = ("score", "guess", "complete_score", "incomplete_score")
"""The scores of every table, besides those of the task."""
FEW_SPLITS = 5
"""With fewer splits, no interval shows that a method is better than guessing."""


def table_of_splits(
    results: pd.DataFrame,
    score: Score,
    task: Task,
    reference: str | None = None,
    one_split: OneSplit | None = None,
) -> pd.DataFrame:
    """Return one row per method of one data set, the best score first; see Comparison.table."""
    scores, _ = _by_split(results)
    rows = _rows(results, task)
    groups = results.groupby("method", sort=False)
    rows["deviation"] = groups["score"].std()
    rows[["low", "high"]] = [_interval(group, score, one_split) for _, group in groups]
    # A method that failed on a split may owe its mean to easier splits.
    eligible = scores.dropna(axis=1)
    best = str(eligible.mean().round(DIGITS).idxmax()) if eligible.size else None
    tests = tests_against(results, reference if reference in scores else best, one_split)
    return _sorted(rows.join(tests), "score", ascending=False)


def tests_against(
    results: pd.DataFrame, reference: str | None, one_split: OneSplit | None
) -> pd.DataFrame:
    """Return each method's difference from a reference and its p values, on the splits of both.

    For each method: ``difference`` in score, its 95 % interval ``difference_low`` to
    ``difference_high``, ``p_corrected`` by the corrected resampled t-test, or the test of
    ``one_split``, with Holm's correction, and ``p_paired`` by the paired t-test. The reference has
    no p values; without one there is no difference.
    """
    scores, sizes = _by_split(results)
    interval = ["difference_low", "difference_high"]
    columns = ["difference", *interval, "p_corrected", "p_paired"]
    tests = pd.DataFrame(np.nan, index=list(scores), columns=columns)
    for name in tests.index if reference is not None else ():
        differences = (scores[name] - scores[reference]).round(DIGITS).dropna()
        if len(differences) == 0:
            continue
        tests.loc[name, "difference"] = differences.mean()
        if name != reference and one_split is not None:
            tests.loc[name, interval] = one_split.difference_interval(name, reference)
            tests.loc[name, "p_corrected"] = one_split.p_value(name, reference)
        elif name != reference:
            rows = sizes.loc[differences.index]
            of_splits = differences, rows["n_train"], rows["n_test"]
            tests.loc[name, interval] = corrected_interval(*of_splits)
            corrected = corrected_t_test(*of_splits)
            tests.loc[name, "p_corrected"] = corrected.p_value
            tests.loc[name, "p_paired"] = paired_t_test(differences).p_value
    tests["p_corrected"] = holm(tests["p_corrected"].to_numpy())
    return tests


def table_of_datasets(
    results: pd.DataFrame, margins: Mapping[str, float], task: Task, reference: str | None = None
) -> pd.DataFrame:
    """Return one row per method over several data sets, the best average rank first.

    Differences within the margin of their data set are equivalent.
    """
    means = results.groupby(["data", "method"], sort=False)[[*_scores_of(task), "seconds"]].mean()
    over = means.groupby("method", sort=False).mean()
    rows = _rows(results, task)
    rows[over.columns] = over
    scores = _by_data(results)
    ranks = ranking(results)["ranks"]
    rows["rank"] = pd.Series(ranks, dtype=float)
    best = reference or (min(ranks, key=ranks.__getitem__) if ranks else None)
    little = np.array([margins[data] for data in scores.index])
    rows[["p_worse", "p_equivalent", "p_better"]] = np.nan
    for name in ranks if best in ranks and (little > 0).all() else ():
        if name != best:
            # In units of the margins, errors of different data sets can be averaged.
            differences = (scores[name] - scores[best]).to_numpy() / little
            outcome = bayesian_signed_rank(differences, rope=1)
            rows.loc[name, ["p_worse", "p_equivalent", "p_better"]] = attrs.astuple(outcome)
    return _sorted(rows, "rank", ascending=True)


def ranking(results: pd.DataFrame) -> dict[str, Any]:
    """Return ``ranks``: the average rank of each method with a score on every data set.

    With at least two methods and two data sets, also ``friedman`` (``chi_square``, ``f_statistic``,
    ``p_value``), Nemenyi's ``critical_difference`` and ``groups`` of names that differ by less.
    """
    scores = _by_data(results)
    names = list(scores)
    if len(names) < 2:
        return {"ranks": dict.fromkeys(names, 1.0)}
    values = average_ranks(scores.to_numpy())
    ranks = {"ranks": dict(zip(names, values.tolist(), strict=True))}
    if len(scores) < 2:
        return ranks
    test = attrs.asdict(friedman_test(scores.to_numpy()))
    difference = critical_difference(len(names), len(scores))
    groups = indistinguishable(values, difference)
    return {
        **ranks,
        "friedman": {key: test[key] for key in ("chi_square", "f_statistic", "p_value")},
        "critical_difference": difference,
        "groups": [[names[place] for place in group] for group in groups],
    }


def answers(
    results: pd.DataFrame,
    questions: Sequence[Mapping[str, Any]],
    resolution: Resolution | None,
    margin: float,
    n_samples: int,
    one_split: OneSplit | None = None,
) -> pd.DataFrame:
    """Return the planned tests on the splits of one data set."""
    scores, sizes = _by_split(results)
    names = {name for q in questions for name in (q["method"], *q["references"])}
    # An interrupted comparison may not have reached all of them.
    by_method = {name: scores[name].to_numpy() for name in names & set(scores)}
    by_method |= dict.fromkeys(names - set(scores), np.full(len(scores), np.nan))
    planned = [(q["question"], q["method"], q["references"]) for q in questions]
    n_train, n_test = sizes["n_train"].to_numpy(), sizes["n_test"].to_numpy()
    return planned_tests(
        by_method,
        planned,
        n_train,
        n_test,
        resolution=resolution,
        margin=margin,
        one_split=one_split,
        n_samples=n_samples if one_split is None else len(one_split.truth),
    )


def answers_over_data_sets(
    results: pd.DataFrame, questions: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Return the planned tests over several data sets."""
    scores = results.pivot_table(index="data", columns="method", values="score", sort=False)
    names = {name for q in questions for name in (q["method"], *q["references"])}
    unknown = np.full(len(scores), np.nan)
    by_method = {name: scores.get(name, unknown) for name in names}
    planned = [(q["question"], q["method"], q["references"]) for q in questions]
    return planned_tests_of_datasets(by_method, planned)


def methods_like_guessing(results: pd.DataFrame) -> list[str]:
    """Return the methods of one data set that are not shown to be better than guessing.

    That is, the 95 % interval of the score minus that of a guess without any feature, by the
    variance of the corrected test, does not lie above 0. Of fewer than five splits, for which the
    interval is too wide to tell anything, the mean difference does not.
    """
    names = []
    for name, group in results.groupby("method", sort=False):
        scored = group[group["score"].notna() & group["guess"].notna()]
        if len(scored) == 0:
            continue
        better = (scored["score"] - scored["guess"]).round(DIGITS)
        low, _ = corrected_interval(better, scored["n_train"], scored["n_test"])
        if not (better.mean() if len(better) < FEW_SPLITS else low) > 0:
            names.append(str(name))
    return names


def _scores_of(task: Task) -> list[str]:
    return [*SCORES, *(score.key for score in task.measured)]


def _rows(results: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Return the columns of every table on a method: kind, runs, failures, means, time, memory."""
    groups = results.groupby("method", sort=False)
    rows = groups[["kind", "learner"]].first()
    rows["splits"] = groups.size()
    rows["failures"] = groups["reason"].count()
    rows["reason"] = groups["reason"].first()
    means = [*_scores_of(task), "seconds", "refit_seconds", "predict_seconds"]
    rows[means] = groups[means].mean()
    rows["memory"] = groups["memory"].max()
    return rows


def _sorted(rows: pd.DataFrame, by: str, ascending: bool) -> pd.DataFrame:
    key = rows[by].round(DIGITS)
    order = key.sort_values(ascending=ascending, kind="stable", na_position="last").index
    return rows.loc[order].rename_axis("method").reset_index()


def _by_split(results: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return scores of splits (rows) by methods, both in their order, and the splits' sizes."""
    table = results.pivot(index=["repeat", "fold"], columns="method", values="score")
    sizes = results.groupby(["repeat", "fold"], sort=False)[["n_train", "n_test"]].first()
    return table[list(results["method"].unique())], sizes.loc[table.index]


def _by_data(results: pd.DataFrame) -> pd.DataFrame:
    """Return mean scores by data set and method, for methods with one on each, in their order."""
    complete = results[results["score"].notna()]
    table = complete.pivot_table(index="data", columns="method", values="score", sort=False)
    names = [name for name in results["method"].unique() if name in table]
    return table[names].dropna(axis=1)


def _interval(group: pd.DataFrame, score: Score, one_split: OneSplit | None) -> tuple[float, float]:
    scored = group[group["score"].notna()]
    if one_split is not None:
        low, high = one_split.interval(group["method"].iloc[0])
    elif len(scored) < 2:
        return float("nan"), float("nan")
    else:
        low, high = corrected_interval(scored["score"], scored["n_train"], scored["n_test"])
    # The score is that of an error with its sign changed.
    least, most = sorted((score.sign * score.low, score.sign * score.high))
    return max(low, least), min(high, most)
