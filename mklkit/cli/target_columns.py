"""Options of commands for the target columns of tasks that have several."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.completion.names import known_names, plugins
from mklkit.errors import listed

Command = Callable[..., None]


def takes_target_columns(command: Command) -> Command:
    """Return a command of a task with an option for each target column of the installed tasks.

    They stand for ``target``. The built-in tasks have one column, so only packages add options.
    Their names come from the file of names, since finding them imports all packages.
    """
    signature = inspect.signature(command, eval_str=True)
    names = known_names()["target"] if "task" in signature.parameters and plugins() else {}
    if not names:
        return command

    @wraps(command)
    def call(**arguments: Any) -> None:
        values = {name: arguments.pop(name) for name in names}
        columns = {name: value for name, value in values.items() if value is not None}
        if columns:
            if arguments.get("target") is not None:
                options = listed([f"--{name}" for name in columns])
                raise typer.BadParameter(
                    f"--target and {options} name the same columns: leave one."
                )
            task, targets = _targets(arguments["task"], columns)
            arguments |= {"task": task, "target": targets}
        command(**arguments)

    parameters = list(signature.parameters.values())
    place = 1 + list(signature.parameters).index("task")
    parameters[place:place] = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(name, text)
        )
        for name, text in names.items()
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _option(name: str, text: str) -> Any:
    """Return the option of a target column."""
    option = opt.data_option(
        f"--{name.replace('_', '-')}",
        metavar="COLUMN",
        autocompletion=complete.table_columns,
        help=text,
    )
    return Annotated[str | None, option]


def _targets(task: str, columns: dict[str, str]) -> tuple[str, list[str]]:
    """Return the task that has these columns, and its target columns in their order."""
    # NumPy, which the help does not need.
    from mklkit.protocols.component import AUTO_TASK
    from mklkit.registry.tasks import all_tasks, task_named

    tasks = all_tasks() if task == AUTO_TASK else [type(task_named(task))]
    able = [each for each in tasks if columns.keys() <= {column.name for column in each.columns}]
    if len(able) != 1:
        options = listed([f"--{name}" for name in columns])
        which = f"of the task {task!r}" if task != AUTO_TASK else "of one task: give --task too"
        raise typer.BadParameter(f"{options} are not options {which}.")
    return able[0].name, [columns.get(column.name, column.name) for column in able[0].columns]
