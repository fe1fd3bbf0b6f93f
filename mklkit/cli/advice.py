"""Advice for models that have learned nothing about all classes or about some."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import Any

from mklkit.cli.building import ModelOptions

__all__ = ["advice_if_useless"]

Score = dict[str, Any]

FACTOR_ON_C = 100
FEW_ROWS = 20
"""With fewer rows a single prediction changes the accuracy by more than 5 percentage points."""
OVERFITTED = 0.1
"""A model is overfitted if its accuracy is lower by more on other rows than on training rows."""
CLASSES_NAMED = 3


def advice_if_useless(
    score: Score,
    training: Callable[[], Score],
    rows: str,
    options: ModelOptions,
    model: Any,
) -> str | None:
    """Return a warning of a model that is useless, or useless for some classes, and what to try.

    A model is useless if it is no better than always predicting the commonest class, and useless
    for a class if it recognises none of its rows.

    Parameters
    ----------
    score : dict
        The result of :func:`mklkit.evaluation.score` on the rows for assessing the model.
    training : callable
        Returns the score on the training rows; called only if needed.
    rows : str
        Which rows were scored.
    options : ModelOptions
        The user's options, so that the advice does not repeat them.
    model : estimator
        Fitted.
    """
    from mklkit.cli.report import percent

    missed = _missed_classes(score)
    if not score["better_than_baseline"]:
        what = (
            "this model is no better than always predicting the commonest class: accuracy"
            f" {percent(score['accuracy'])} on the {rows}, compared with"
            f" {percent(score['baseline'])} for that class."
        )
    elif missed:
        what = f"this model recognised no row of {_listed(missed)} among the {rows}."
    else:
        return None
    trained = training()
    overfitted = trained["accuracy"] - score["accuracy"] > OVERFITTED
    advice = []
    if score["rows"] < FEW_ROWS and score["rows"] <= trained["rows"]:
        advice.append(f"'mklkit evaluate', which scores every row ({score['rows']} are too few)")
    elif score["better_than_baseline"]:
        if options.class_weight is None:
            advice.append("weights of classes (--class-weight balanced)")
        advice.append(f"more rows of {'that class' if len(missed) == 1 else 'those classes'}")
    rows_asked_for = any(words.startswith("more rows") for words in advice)
    advice += _other_models(options, model, overfitted, more_rows=not rows_asked_for)
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


def _other_models(
    options: ModelOptions, model: Any, overfitted: bool, more_rows: bool
) -> list[str]:
    advice = []
    if options.scale == "none":
        advice.append("scaled features (--scale standard)")
    if options.kernels or options.preset:
        advice.append("the default kernels, which have the same scale")
    advice += _other_c(model, larger=not overfitted)
    if overfitted:
        return [*advice, "fewer or wider kernels"] + (["more rows"] if more_rows else [])
    advice.append("other kernels or widths ('mklkit kernels' shows which differ)")
    return advice


def _other_c(model: Any, larger: bool) -> list[str]:
    from mklkit.estimators.anatomy import classifier_in
    from mklkit.registry.specs import to_spec

    learner = classifier_in(model).learner_
    if learner.fixed_C is None:
        return []
    # The bound at 1 matters for a C that is far too small, or far too large, even after the step.
    size, C = (
        ("larger", max(learner.fixed_C * FACTOR_ON_C, 1.0))
        if larger
        else ("smaller", min(learner.fixed_C / FACTOR_ON_C, 1.0))
    )
    return [f"a {size} C (--learner {quote(to_spec(learner.with_params(C=C)))})"]
