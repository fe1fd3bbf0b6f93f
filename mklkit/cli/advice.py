"""Advice on a model that guesses, or recognises no sample of a class."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit.evaluation.study_fits import FittedStudy

FACTOR_ON_C = 100
FEW_ROWS = 20
"""With fewer samples a single prediction changes the accuracy by more than 5 percentage points."""
OVERFITTED = 0.1
"""A model is overfitted if its score drops by more than this on samples outside training."""


def advice_if_useless(
    fitted: FittedStudy, score: dict[str, Any], training: Callable[[], dict[str, Any]], rows: str
) -> str | None:
    """Return a warning about a fitted model that guesses, or recognises no sample of a class.

    ``score`` is that of ``rows``; ``training``, called only if needed, returns that of the
    training samples.
    """
    study = fitted.study
    task, settings, first = study.task, study.settings, study.score
    guessing = task.no_better_than_guessing(score, first if "confusion" in score else None)
    missed = _missed_classes(score)
    if not guessing and not missed:
        return None
    problem = f"is {guessing}" if guessing else f"recognised no sample of {', '.join(missed)}"
    trained = training()
    # An R² below 0 is no better than a constant, however far below.
    overfitted = (trained[first] or 0) - max(score[first] or 0, 0) > OVERFITTED
    ways = []
    if missed and settings.class_weight is None:
        ways.append("weights of classes (--class-weight balanced)")
    count = score["rows"]
    be = "is" if count == 1 else "are"
    if count < FEW_ROWS and count <= trained["rows"]:
        ways.append(f"'mklkit evaluate', which scores every sample ({count} {be} too few)")
    if settings.scale == "none":
        ways.append("scaled features (--scale standard)")
    # A class that is too rare to count is not recognised by other kernels either.
    if guessing or settings.class_weight is not None:
        ways += _other_c(fitted.model, larger=not overfitted)
        if settings.kernels or settings.preset:
            wider = "wider" if overfitted else "other"
            ways.append(f"{wider} kernels, such as the default kernels")
    ways.append("more samples" + " of each class" * task.has_classes)
    text = f"warning: this model {problem} on the {rows}. Try {', or '.join(ways)}."
    if overfitted:
        text += f" It is overfitted: {task.shown(first, trained[first])} on its training samples."
    return text


def _missed_classes(score: dict[str, Any]) -> list[str]:
    """Return the classes without a recognised sample, with their numbers of samples."""
    from mklkit.errors import counted, quoted

    counts = [sum(answers) for answers in score.get("confusion", [])]
    triples = zip(score.get("classes", []), counts, score.get("recall", []), strict=True)
    return [
        f"class {quoted(label)} ({counted(rows, 'sample')})"
        for label, rows, recall in triples
        if rows and recall == 0
    ]


def _other_c(model: Any, larger: bool) -> list[str]:
    from mklkit.estimators.introspection import classifier_in
    from mklkit.registry.specs import to_spec

    learner = classifier_in(model).learner_
    if learner.fixed_C is None:
        return []
    size = "smaller"
    C = min(learner.fixed_C / FACTOR_ON_C, 1.0)
    if larger:
        size = "larger"
        C = max(learner.fixed_C * FACTOR_ON_C, 1.0)
    return [f"a {size} C (--learner {quote(to_spec(learner.with_params(C=C)))})"]
