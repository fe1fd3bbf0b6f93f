"""The options of a model: those of its settings, by their names, defaults and help."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import typer.main

from mklkit.cli.model_options import weights_by_class
from mklkit.estimators.model_settings import OF_METHODS, declared_settings


def options_of(command: str) -> dict[str, Any]:
    app = typer.Typer()
    app.command()(getattr(import_module(f"mklkit.cli.{command}"), command))
    return {option.name: option for option in typer.main.get_command(app).params}


@pytest.mark.parametrize(
    ("command", "without"),
    [("fit", ()), ("evaluate", ("probability",)), ("compare", OF_METHODS)],
)
def test_a_command_has_the_options_of_the_settings(command: str, without: Any) -> None:
    options = options_of(command)
    for name, setting in declared_settings().items():
        if name in without:
            continue
        option = options[name]
        assert option.default == setting.default, name
        assert option.help.replace("\\[", "[") == setting.help, name
        long = [text for text in option.opts if text.startswith("--")]
        assert f"--{name.replace('_', '-')}" in long or name == "n_jobs", name
    for name in without:
        assert name not in options or options[name].multiple


def test_weights_of_classes_are_read() -> None:
    assert weights_by_class("balanced") == "balanced"
    assert weights_by_class("a=b=2,c=1") == {"a=b": 2.0, "c": 1.0}
    for text in ("a", "a=x", "=1", "a=1,a=2"):
        with pytest.raises(typer.BadParameter):
            weights_by_class(text)
