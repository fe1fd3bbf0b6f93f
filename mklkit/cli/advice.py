"""What to try where a model has learned nothing, of all classes or of some."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import Any

from mklkit.cli.building import ModelOptions

__all__ = ["advice_if_useless"]

Score = dict[str, Any]

FACTOR_ON_C = 100
FEW_ROWS = 20
"""Rows of which one more right answer moves the accuracy by 5 percentage points or more."""
OVERFITTED = 0.1
"""By how much the accuracy on the training rows is then above the one on other rows."""
CLASSES_NAMED = 3


def advice_if_useless(
    score: Score,
    training: Callable[[], Score],
    rows: str,
    options: ModelOptions,
    model: Any,
) -> str | None:
    """Return a warning of a model that is useless, or useless for some classes, and what to try.

    Useless is a model that is no better than always answering the commonest class; for a class it
    is useless where it recognises none of its rows.

    Parameters
    ----------
    score : dict
        As :func:`mklkit.evaluation.score` returns it, of the rows that tell how good the model is.
    training : callable
        Gives the score on the training rows, where it is needed.
    rows : str
        Which rows were scored.
    options : ModelOptions
        What was asked for, so that nothing is advised that was done.
    model : estimator
        Fitted.
    """
    from mklkit.cli.report import percent

    missed = _missed_classes(score)
    if not score["better_than_baseline"]:
        what = (
            "this model is no better than always answering the commonest class: accuracy"
            f" {percent(score['accuracy'])} on the {rows}, where that class alone gives"
            f" {percent(score['baseline'])}."
        )
    elif missed:
        what = f"this model recognised no row of {_listed(missed)} among the {rows}."
    else:
        return None
    trained = training()
    overfitted = trained["accuracy"] - score["accuracy"] > OVERFITTED
    advice = []
    if score["rows"] < FEW_ROWS and score["rows"] <= trained["rows"]:
        advice.append(f"'mklkit evaluate', which scores every row ({score['rows']} tell little)")
    elif score["better_than_baseline"]:
        advice.append(f"more rows of {'that class' if len(missed) == 1 else 'those classes'}")
    advice += _other_models(options, model, overfitted)
    remark = (
        " It is overfitted: on the rows it was trained with its accuracy is"
        f" {percent(trained['accuracy'])}."
        if overfitted
        else ""
    )
    tail = advice[-1] if len(advice) == 1 else f"{', '.join(advice[:-1])}, or {advice[-1]}"
    return f"warning: {what} Try {tail}.{remark}"


def _missed_classes(score: Score) -> list[tuple[Any, int]]:
    """Return the classes of which no row was recognised, with the number of their rows."""
    counts = [sum(answers) for answers in score["confusion"]]
    found = zip(score["classes"], counts, score["recall"], strict=True)
    return [(label, rows) for label, rows, recall in found if rows and recall == 0]


def _listed(missed: list[tuple[Any, int]]) -> str:
    from mklkit.errors import counted, quoted

    named = [f"{quoted(label)} ({counted(rows, 'row')})" for label, rows in missed]
    more = len(named) - CLASSES_NAMED
    shown = named[:CLASSES_NAMED] + ([f"{more} more"] if more > 0 else [])
    head = ", ".join(shown[:-1])
    noun = "class" if len(missed) == 1 else "classes"
    return f"{noun} {head} and {shown[-1]}" if head else f"{noun} {shown[-1]}"


def _other_models(options: ModelOptions, model: Any, overfitted: bool) -> list[str]:
    advice = []
    if options.scale == "none":
        advice.append("scaled features (--scale standard)")
    if options.kernels or options.preset:
        advice.append("the default kernels, which are of equal size")
    advice += _other_price(model, larger=not overfitted)
    if overfitted:
        return [*advice, "fewer or wider kernels", "more rows"]
    advice.append("other kernels or widths ('mklkit kernels' shows which differ)")
    return advice


def _other_price(model: Any, larger: bool) -> list[str]:
    from mklkit.persistence.facts import classifier_in
    from mklkit.protocols.priced_learner import PricedLearner
    from mklkit.registry.specs import to_spec

    learner = classifier_in(model).learner_
    if not isinstance(learner, PricedLearner) or isinstance(learner.C, str):
        return []
    # A hundred times a price that is out of all proportion is still out of it.
    size, price = (
        ("larger", max(learner.C * FACTOR_ON_C, 1.0))
        if larger
        else ("smaller", min(learner.C / FACTOR_ON_C, 1.0))
    )
    return [f"a {size} C (--learner {quote(to_spec(learner.with_params(C=price)))})"]
