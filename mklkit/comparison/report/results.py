"""The results in a report: on one data set, and over several."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from mklkit.comparison.report.tables import methods_html, questions_table
from mklkit.comparison.result_tables import (
    over_data_sets_result,
    pairs_result,
    score_column,
    scores_on_data_sets,
    weights_result,
)
from mklkit.display.html import html_table
from mklkit.display.numbers import number, p_value
from mklkit.display.table import ResultTable
from mklkit.evaluation import nemenyi_p_values
from mklkit.evaluation.claims import amount_of_margin
from mklkit.plotting.comparison import ComparisonDisplay
from mklkit.plotting.critical_difference import CriticalDifferenceDisplay
from mklkit.plotting.svg import svg_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from mklkit.comparison.comparison import Comparison
    from mklkit.comparison.stored import Cell as Run

ACROSS = 8
"""Data sets side by side in a table of accuracies."""
MOST_PAIRED = 15
"""The number of best methods to compare with all others in pairs."""
WHAT_RUNS_TAKE = (
    " Fit: the time, including tuning. Rise of memory: of the process's peak during the fit."
    " Quantities that methods share are computed once, in the first method's time."
)
ONE_SPLIT_NOTE = (
    "Scores on the test samples, with a 95 % interval over these samples, for the models as they"
    " were fitted; it says nothing about models of other training samples. “p corrected”: {}"
    " against the best, or the method asked for, with Holm's correction."
) + WHAT_RUNS_TAKE
NOTE = (
    "Means over the splits ± standard deviation, with a 95 % interval by the variance of the"
    " corrected test. “p corrected”: corrected resampled t-test against the best, or the method"
    " asked for (Nadeau and Bengio 2003), with Holm's correction. “p paired”: the ordinary paired"
    " t-test without correction, which papers often use and which too often finds differences"
    " that do not exist."
) + WHAT_RUNS_TAKE
OVER_NOTE = (
    "Means over the data sets; the rank is the average of those on each. “Worse”, “same”, “better”:"
    " on another data set a method can be worse than the first row by more than the margin of"
    " {margin}, within this margin of it, or better by more; the number is the"
    " probability that this outcome is the likeliest of the three, by the Bayesian signed-rank test"
    " (Benavoli and others 2017). It is not the share of data sets with this outcome."
)
QUESTIONS_NOTE = (
    "Wilcoxon's signed-rank test (Demšar 2006) with Holm's correction over these questions. The"
    " best of several has the best average rank; its p is multiplied by their number."
)


def results_on(comparison: Comparison, name: str) -> dict[str, Any]:
    """Return the parts of the section on the data set of a name."""
    methods = comparison.table(name)
    runs = comparison.compared_cells(name)
    names = [metadata["name"] for metadata in comparison.plan["data"]]
    place = names.index(name)
    details = _by_method(methods, runs, lambda run: run.details or None)
    note = NOTE
    if name in comparison.tested:
        note = ONE_SPLIT_NOTE.format(comparison.test_of(name))
    chart = None
    if methods["score"].notna().any():
        display = ComparisonDisplay(methods, comparison.score)
        chart = svg_of(display, f"Mean {comparison.score.words} on {name}")
    return {
        "id": f"data-{place + 1}",
        "name": name,
        "questions": questions_table(comparison, name),
        "methods": methods_html(comparison, methods, f"Methods on {name}.", "" if place else note),
        "score": score_column(comparison.score).head,
        "accuracy": chart,
        "weights": _weights(methods, runs),
        "sections": comparison.task.sections(comparison.plan["data"][place], methods, details)
        if details
        else [],
    }


def _by_method(
    methods: pd.DataFrame, runs: list[Run], get: Callable[[Run], Any]
) -> dict[str, list[Any]]:
    """Return a field of each method's runs, the best method first, without methods that lack it."""
    values: dict[str, list[Any]] = {str(name): [] for name in methods["method"]}
    for run in runs:
        if (value := get(run)) is not None:
            values[run.method].append(value)
    return {name: of_runs for name, of_runs in values.items() if of_runs}


def _weights(methods: pd.DataFrame, runs: list[Run]) -> list[ResultTable]:
    """Return a table of weights per method with several kernels, its kernels in their order."""
    by_method = _by_method(methods, runs, lambda run: run.weights)
    frames = {name: pd.DataFrame(weights).fillna(0.0) for name, weights in by_method.items()}
    frames = {name: frame for name, frame in frames.items() if frame.shape[1] > 1}
    largest = max((float(frame.abs().max().max()) for frame in frames.values()), default=0.0)
    return [weights_result(name, frame, largest) for name, frame in frames.items()]


def over_data_sets(comparison: Comparison) -> dict[str, Any]:
    """Return the parts of the section over all data sets."""
    names, ranking = comparison.compared_data, comparison.ranking
    methods = comparison.table()
    parts: dict[str, Any] = {
        "methods": methods_html(
            comparison,
            methods,
            f"Methods over {len(names)} data sets.",
            OVER_NOTE.format(margin=amount_of_margin(comparison.plan)),
        ),
        "questions": _questions(comparison),
        "accuracies": _accuracies(comparison, names, list(methods["method"])),
    }
    if "friedman" in ranking:
        test, ranks = ranking["friedman"], ranking["ranks"]
        p = p_value(test["p_value"])
        p = f"< {p[1:]}" if p.startswith("<") else f"= {p}"
        parts["friedman"] = f"F = {number(test['f_statistic'], 2)}, p {p}"
        difference = ranking["critical_difference"]
        diagram = CriticalDifferenceDisplay(list(ranks.values()), list(ranks), difference)
        label = "Critical-difference diagram; the ranks are in the table"
        parts["diagram"] = svg_of(diagram, label)
        parts["pairs"] = _pairs(pd.Series(ranks, dtype=float), len(names))
    return parts


def _questions(comparison: Comparison) -> ResultTable | None:
    """Return the planned tests over data sets, if there are any."""
    tests = comparison.questions_over_data_sets
    if tests.empty or tests["p_holm"].isna().all():
        return None
    n_sets = len(comparison.compared_data)
    return over_data_sets_result(
        tests, comparison.score, f"Planned tests over {n_sets} data sets.", QUESTIONS_NOTE
    )


def _pairs(ranks: pd.Series, n_datasets: int) -> ResultTable:
    """Return the p values of Nemenyi's test, the best method first."""
    ranks = ranks.sort_values(kind="stable")
    p_values = nemenyi_p_values(ranks.to_numpy(), n_datasets)[:, :MOST_PAIRED]
    return pairs_result([str(name) for name in ranks.index], p_values)


def _accuracies(comparison: Comparison, names: list[str], methods: list[str]) -> list[Markup]:
    """Return mean scores of methods on data sets, with the best on each data set marked."""
    scores = {name: comparison.table(name).set_index("method")["score"] for name in names}
    means = pd.DataFrame(scores).reindex(methods)
    parts = [means.iloc[:, start : start + ACROSS] for start in range(0, len(names), ACROSS)]
    tables = [scores_on_data_sets(part, comparison.score) for part in parts]
    return [html_table(table, "sortable", sorted_by="") for table in tables]
