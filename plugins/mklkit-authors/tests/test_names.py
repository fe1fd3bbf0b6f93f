"""The names of a new package and the folder that it is written into, with nothing but mklkit."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from mklkit_authors import Template
from mklkit_authors.writing import NewPlugin, write_plugin

from mklkit.errors import DataError, SpecError

NEW = NewPlugin("some-rule", Template.weighting)


@pytest.mark.parametrize("name", ["", "Mine", "my_rule", "2d", "a--b", "../out", "ä", "mklkit-"])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(SpecError, match="lower-case"):
        NewPlugin.called(name, Template.kernel)


def test_names_that_are_taken_are_refused() -> None:
    with pytest.raises(SpecError, match="'fit' is taken: mklkit has a command"):
        NewPlugin.called("fit", Template.command, ["fit"])
    with pytest.raises(SpecError, match="'dimkl3' is taken: a combiner of mklkit"):
        NewPlugin.called("dimkl3", Template.fusion)
    with pytest.raises(SpecError, match="FittedScalarKernel is a class in the template"):
        NewPlugin.called("fitted-scalar", Template.kernel)


@pytest.mark.parametrize("template", Template)
def test_names_of_the_draft_are_replaced(template: Template, tmp_path: Path) -> None:
    folder = write_plugin(NewPlugin("some-rule", template), tmp_path)
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}
    assert {"pyproject.toml", "test_some_rule.py"} < {path.name for path in texts}
    for path, text in texts.items():
        assert "sketch" not in text.lower()
        assert "mklkit_authors.templates" not in text
        if path.suffix == ".py":
            compile(text, path, "exec")


@pytest.mark.parametrize("template", Template)
def test_a_package_requires_the_distributions_of_its_imports(
    template: Template, tmp_path: Path
) -> None:
    new = NewPlugin("some-rule", template)
    folder = write_plugin(new, tmp_path)
    imports = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse((folder / new.module / "__init__.py").read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [node.names[0].name])
    }
    # An editable installation of mklkit does not tell its modules.
    owners = {"mklkit": ["mklkit"], **packages_distributions()}
    expected = {owners[name][0] for name in imports - sys.stdlib_module_names}
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    required = {re.split("[<=>]", line)[0] for line in project["dependencies"]}
    assert required == expected


@pytest.mark.parametrize("name", ["a" * 300, "loop"])
def test_names_of_folders_that_can_not_be_read(name: str, tmp_path: Path) -> None:
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    with pytest.raises(DataError, match=r"can't be .*: (File name too long|Too many|Symlink)"):
        write_plugin(NEW, tmp_path / name)
