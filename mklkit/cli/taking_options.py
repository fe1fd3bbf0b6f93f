"""The options of a model in the signature of a command, and what stands for several of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import say
from mklkit.cli.model_options import option_of
from mklkit.errors import listed
from mklkit.estimators.model_settings import ModelSettings, declared_settings

if TYPE_CHECKING:
    from mklkit.evaluation.study import Study

Command = Callable[..., None]

CovariatesShare = Annotated[
    float | None,
    opt.data_option(
        metavar="SHARE",
        show_default="covariates are taken out",
        help="Keep the covariates instead, as a separate kernel that has this share of the"
        " weights, such as 0.2; the combiner learns the others.",
    ),
]

MORE = {"covariates_share": ("covariates", CovariatesShare)}
"""Options that stand for several, each with the setting that it changes."""


def _beside_covariates(share: float, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the options with a kernel of the covariates instead of these."""
    from mklkit.estimators.from_preset import find_preset
    from mklkit.protocols.component import KERNELS

    if chosen["covariates"] is None:
        raise typer.BadParameter("give the columns too, as in --covariates 'age,sex,batch'.")
    preset = chosen.get("preset")
    kernels = chosen["kernels"] or (find_preset(preset).kernels if preset else None) or KERNELS
    kernel = f"covariates:fixed-share(rbf, share={share})@{chosen['covariates']}"
    return {**chosen, "kernels": [*kernels, kernel], "covariates": None}


def takes_model_settings(*only: str, but: Collection[str] = ()) -> Callable[[Command], Command]:
    """Return a decorator that puts the options of a model in place of the parameter ``settings``.

    They are the fields of :class:`ModelSettings`, ``only`` some of them, or all ``but`` some.
    """
    declared = declared_settings()
    names = [name for name in declared if name not in but and (not only or name in only)]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**arguments: Any) -> None:
            chosen = {name: arguments.pop(name) for name in names}
            chosen["kernels"] = chosen["kernels"] or None
            if share := arguments.pop("covariates_share", None):
                chosen = _beside_covariates(share, chosen)
            command(settings=ModelSettings(**chosen), **arguments)

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            if parameter.name != "settings":
                parameters.append(parameter)
                continue
            options = {name: option_of(declared[name]) for name in names}
            options |= {name: option for name, (beside, option) in MORE.items() if beside in names}
            parameters += [
                parameter.replace(
                    name=name,
                    annotation=option,
                    default=declared[name].default if name in declared else None,
                )
                for name, option in options.items()
            ]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return call

    return decorate


def say_if_inferred(study: Study, task: str) -> None:
    """Say which task a target without classes was taken for, if the user named none."""
    from mklkit.protocols.component import AUTO_TASK, TASK

    if task == AUTO_TASK and study.task.name != TASK:
        say(
            f"the target {listed(study.table.target_names)} holds {study.task.plural}:"
            f" {study.task.name} (--task {TASK} for classes)"
        )
