"""Sentences on what the tests of a comparison estimate, and what their correction covers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mklkit.display import numbers
from mklkit.errors import counted
from mklkit.evaluation.equivalence import MARGIN
from mklkit.evaluation.over_data_sets import enough_data_sets
from mklkit.evaluation.sentences import (
    about_one_split,
    difference_estimated,
    difference_of_one_split,
    share_of_samples,
)
from mklkit.protocols.score import is_error
from mklkit.registry.tasks import task_named

LEVEL = 0.05
"""The probability of a false positive that the tests allow for."""


def score_in_words(plan: Mapping[str, Any]) -> str:
    """Return the score of a comparison in words, such as "balanced accuracy"."""
    return task_named(str(plan["task"])).in_words(str(plan["score"]))


def in_points(plan: Mapping[str, Any]) -> bool:
    """Return whether differences in the score of a comparison are written in points."""
    return task_named(str(plan["task"])).in_points(str(plan["score"]))


def estimand(plan: Mapping[str, Any]) -> str:
    """Return what a difference of two methods estimates, from the plan of a comparison."""
    score = score_in_words(plan)
    if any(split["number"] > 1 for split in plan["splits"]):
        trained = " and ".join(dict.fromkeys(map(_share, plan["splits"])))
        return difference_estimated(score, trained)
    trained = " and ".join(f"{split['training'][0]}" for split in plan["splits"])
    tests = " and ".join(dict.fromkeys(plan.get("one_split", {}).values()))
    about = f"; {about_one_split(tests, 'the two models')}" if tests else ""
    return difference_of_one_split(score, trained) + about


def _share(split: Mapping[str, Any]) -> str:
    """Return the share of the samples on which models of a data set are trained."""
    fewest, most = split["training"]
    return share_of_samples(fewest, most, split["samples"])


def margin_in_words(plan: Mapping[str, Any]) -> str:
    """Return which differences of a comparison do not matter.

    Examples
    --------
    >>> margin_in_words({"task": "regression", "score": "r2", "margin": 0.05})
    'differences within the margin of 5 points do not matter'
    """
    return f"differences within the margin of {amount_of_margin(plan)} do not matter"


def amount_of_margin(plan: Mapping[str, Any]) -> str:
    """Return the margin of a comparison, such as "2 points" or "2 % of the baseline's error"."""
    percent = numbers.significant(100 * plan.get("margin", MARGIN), 3)
    if is_error(str(plan["score"])):
        return f"{percent} % of the baseline's error"
    return f"{percent} {'point' if percent == '1' else 'points'}"


def question_in_words(question: Mapping[str, Any]) -> str:
    """Return a planned question with what it compares.

    Examples
    --------
    >>> question_in_words({"question": "Weights", "method": "dimkl3", "references": ["uniform"]})
    'Weights, dimkl3 against uniform'
    """
    reference, *more = question["references"]
    if more:
        reference = f"the best of {len(more) + 1}"
    return f"{question['question']}, {question['method']} against {reference}"


def coverage_over_data_sets(plan: Mapping[str, Any]) -> str:
    """Return how the planned questions are tested over data sets, and how many that takes."""
    n_questions = len(plan["questions"])
    if not n_questions:
        return ""
    enough, n_sets = enough_data_sets(n_questions), len(plan["data"])
    text = (
        "over data sets, Wilcoxon's signed-rank test answers the planned questions, with Holm's"
        f" correction over {counted(n_questions, 'question')}; Nemenyi's test over all pairs is"
        " only for the diagram of ranks"
    )
    if n_sets >= enough:
        return text
    return f"{text}; {n_sets} data sets are too few for p below {LEVEL}, which takes {enough}"


def coverage(plan: Mapping[str, Any]) -> str:
    """Return what Holm's correction covers, and which choices it does not."""
    n_questions = len(plan["questions"])
    if not n_questions:
        return ""
    of_run = f"the {counted(n_questions, 'question')} of this run"
    if len(plan["data"]) > 1:
        of_run += " on one data set"
    covers = (
        f"Holm's correction covers {of_run}, and no choice made after seeing scores, such as added"
        " methods, another seed, other data or other options"
    )
    if plan.get("asked_after_scores"):
        return (
            f"{covers}; the results file held scores of other methods before, so these questions"
            " were fixed after some scores were known"
        )
    return f"{covers}; the questions were fixed before this run had a score"
