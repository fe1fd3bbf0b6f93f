"""Advice for models that are no better than guessing, or that miss some classes."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, Any

from mklkit.cli.building import ModelOptions

if TYPE_CHECKING:
    from mklkit.evaluation.tasks import Task

__all__ = ["advice_if_useless"]

Score = dict[str, Any]

FACTOR_ON_C = 100
FEW_ROWS = 20
"""With fewer rows a single prediction changes the accuracy by more than 5 percentage points."""
OVERFITTED = 0.1
"""A model is overfitted if its score is lower by more on other rows than on training rows."""


def advice_if_useless(
    task: Task,
    score: Score,
    training: Callable[[], Score],
    rows: str,
    options: ModelOptions,
    model: Any,
) -> str | None:
    """Return a warning of a model that guesses, or recognises no row of a class, and what to try.

    Parameters
    ----------
    task : Task
    score : dict
        The task's score of the rows for assessing the model.
    training : callable
        Returns the score on the training rows; called only if needed.
    rows : str
        Which rows were scored.
    options : ModelOptions
        The user's options, so that the advice does not repeat them.
    model : estimator
        Fitted.
    """
    guessing = task.no_better_than_guessing(score)
    missed = _missed_classes(score)
    if not guessing and not missed:
        return None
    problem = f"is {guessing}" if guessing else f"recognised no row of {', '.join(missed)}"
    trained = training()
    first = next(iter(task.scores))
    overfitted = (trained[first] or 0) - (score[first] or 0) > OVERFITTED
    few = score["rows"] < FEW_ROWS and score["rows"] <= trained["rows"]
    ways = []
    if few:
        ways.append(f"'mklkit evaluate', which scores every row ({score['rows']} are too few)")
    elif not guessing and options.class_weight is None:
        ways.append("weights of classes (--class-weight balanced)")
    if options.scale == "none":
        ways.append("scaled features (--scale standard)")
    if options.kernels or options.preset:
        ways.append("the default kernels, which have the same scale")
    ways += _other_c(model, larger=not overfitted)
    ways.append("fewer or wider kernels" if overfitted else "other kernels or widths")
    if overfitted or not guessing:
        ways.append("more rows" + (" of such classes" if missed and not guessing else ""))
    remark = (
        f" It is overfitted: on the rows it was trained with its {task.score_name} is"
        f" {task.shown(first, trained[first])}."
        if overfitted
        else ""
    )
    return f"warning: this model {problem} on the {rows}. Try {', or '.join(ways)}.{remark}"


def _missed_classes(score: Score) -> list[str]:
    """Return the classes of which no row was recognised, with the number of their rows."""
    from mklkit.errors import counted, quoted

    counts = [sum(answers) for answers in score.get("confusion", [])]
    triples = zip(score.get("classes", []), counts, score.get("recall", []), strict=True)
    return [
        f"class {quoted(label)} ({counted(rows, 'row')})"
        for label, rows, recall in triples
        if rows and recall == 0
    ]


def _other_c(model: Any, larger: bool) -> list[str]:
    from mklkit.estimators.introspection import classifier_in
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
