"""What to try where a model has learned nothing."""

from __future__ import annotations

from shlex import quote
from typing import Any

from mklkit.cli.building import ModelOptions
from mklkit.cli.console import say

__all__ = ["say_if_useless"]

FACTOR_ON_C = 100


def say_if_useless(score: dict[str, Any], rows: str, options: ModelOptions, model: Any) -> None:
    """Warn of a model that is no better than always answering the commonest class.

    Parameters
    ----------
    score : dict
        As :func:`mklkit.evaluation.score` returns it.
    rows : str
        Which rows were scored.
    options : ModelOptions
        What was asked for, so that nothing is advised that was done.
    model : estimator
        Fitted.
    """
    from mklkit.cli.report import percent

    if score["better_than_baseline"]:
        return
    say(
        "warning: this model is no better than always answering the commonest class: accuracy"
        f" {percent(score['accuracy'])} on the {rows}, where that class alone gives"
        f" {percent(score['baseline'])}. Try {', '.join(_advice(options, model))}.",
        style="yellow",
    )


def _advice(options: ModelOptions, model: Any) -> list[str]:
    from mklkit.persistence.facts import classifier_in
    from mklkit.protocols.priced_learner import scaled_price
    from mklkit.registry.specs import to_spec

    advice = []
    if options.scale == "none":
        advice.append("scaled features (--scale standard)")
    if options.kernels or options.preset:
        advice.append("the default kernels, which are of equal size")
    learner = classifier_in(model).learner_
    larger = scaled_price(learner, FACTOR_ON_C)
    if larger is not learner:
        advice.append(f"a larger C (--learner {quote(to_spec(larger))})")
    advice.append("other kernels or widths ('mklkit kernels' shows which differ)")
    return [*advice[:-1], f"or {advice[-1]}"] if len(advice) > 1 else advice
