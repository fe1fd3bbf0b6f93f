"""The settings of a model as options of a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any, get_args

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.errors import MKLKitError
from mklkit.estimators.model_settings import Setting
from mklkit.numerics.seeds import LARGEST_SEED


def _spec(text: str) -> str:
    if not text.strip():
        raise typer.BadParameter("expected a name that 'mklkit list' shows.")
    return text


def _not_zero(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 would do nothing; give a number from 1, or -1 for all.")
    return jobs


def weights_by_class(text: str) -> str | dict[str, float]:
    """Return ``balanced``, or the weight of each class of ``ill=5,well=1``.

    Examples
    --------
    >>> weights_by_class("ill=5, well=1")
    {'ill': 5.0, 'well': 1.0}
    """
    if text.strip() == "balanced":
        return "balanced"
    weights: dict[str, float] = {}
    for pair in text.split(","):
        label, _, weight = (part.strip() for part in pair.rpartition("="))
        if label in weights:
            raise typer.BadParameter(f"class {label!r:.80} has two weights: give it one.")
        try:
            weights[label] = float(weight)
        except ValueError:
            label = ""
        if not label:
            raise typer.BadParameter(
                f"expected 'balanced', or classes with their weights such as 'ill=5,well=1';"
                f" got {text!r:.80}."
            )
    return weights


component_option = partial(opt.model_option, metavar="SPEC", parser=_spec)

OPTIONS: dict[str, Callable[..., Any]] = {
    "scale": opt.data_option,
    "covariates": partial(
        opt.data_option, metavar="COLUMNS", autocompletion=complete.feature_columns
    ),
    "missing_value": partial(opt.data_option, metavar="VALUE"),
    "max_memory": partial(opt.data_option, metavar="SIZE"),
    "preset": partial(
        opt.model_option, "--preset", "-p", metavar="NAME", autocompletion=complete.presets
    ),
    "kernels": partial(
        opt.model_option,
        "--kernel",
        "--kernels",
        "-k",
        metavar="SPEC",
        autocompletion=complete.kernels,
    ),
    "feature_map": partial(
        component_option, "--feature-map", "--map", "-m", autocompletion=complete.feature_maps
    ),
    "combiner": partial(component_option, "--combiner", "-c", autocompletion=complete.combiners),
    "learner": partial(component_option, "--learner", "-l", autocompletion=complete.learners),
    "missing": partial(component_option, autocompletion=complete.missing),
    "tune": partial(opt.model_option, metavar="fast|thorough|N", autocompletion=complete.efforts),
    "class_weight": partial(
        opt.model_option,
        metavar="balanced|CLASS=WEIGHT,...",
        autocompletion=complete.balanced,
        parser=weights_by_class,
    ),
    "seed": partial(typer.Option, min=0, max=LARGEST_SEED),
    "n_jobs": partial(typer.Option, "--jobs", "-j", callback=_not_zero),
}
"""How settings are shown beyond their declaration: other names, a placeholder, completions and a
reader of text. Other settings are options of the model, named after them."""

SEVERAL = ("kernels",)
"""The settings whose options may be repeated."""


def _read_by(check: Callable[[Any], Any]) -> Callable[[str], Any]:
    """Return a parser of an option's value, whose errors name the option."""

    def read_option(text: str) -> Any:
        try:
            return check(text)
        except MKLKitError as error:
            raise typer.BadParameter(str(error)) from error

    return wraps(check)(read_option)


def option_of(setting: Setting) -> Any:
    """Return the annotation of a command's parameter for a setting."""
    # In Rich's markup a bracket begins a style.
    shown: dict[str, Any] = {"help": setting.help.replace("[", "\\[")}
    if setting.usual:
        shown["show_default"] = setting.usual
    if setting.check is not None:
        shown["parser"] = _read_by(setting.check)
    # Without a name, a flag would have an option to switch it off too.
    flag = [f"--{setting.name.replace('_', '-')}"] if setting.type is bool else []
    make = OPTIONS.get(setting.name, partial(opt.model_option, *flag))
    kind = setting.type
    if setting.name in SEVERAL:
        kind = list[str] | None
    elif kind is Any or str in get_args(kind):
        kind = str | None
    return Annotated[kind, make(**shown)]
