"""The site's page of the command line: made of the commands, with nothing left out."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import typer.main
from helpers.documents import ROOT
from typer.core import TyperGroup

from mklkit.cli.app import COMMANDS, app
from mklkit.cli.examples import EXAMPLES
from mklkit.cli.package_commands import whole_command

# Which scripts and mklkit say to each other.
PRIVATE = {"_MKLKIT_COMPLETE", "_MKLKIT_LINE"}


@pytest.fixture(scope="module")
def made() -> Iterator[Any]:
    """The extension of the site that makes the page."""
    with mock.patch.object(sys, "path", [str(ROOT / "docs" / "_ext"), *sys.path]):
        import command_line

        yield command_line


def commands_of(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    command = whole_command(command)
    yield path, command
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            yield from commands_of(below, f"{path} {name}")


def test_the_list_of_commands_has_the_first_sentence_of_each() -> None:
    for path, command in commands_of(typer.main.get_command(app), ""):
        if name := path.strip().partition(" ")[0]:
            first = str(command.help).partition("\n\n")[0].replace("\n", " ")
            assert name != path.strip() or COMMANDS[name] == first


def test_every_command_and_parameter_is_there(made: Any) -> None:
    sections = made.reference().split("\n## ")
    by_title = {section.partition("\n")[0]: section for section in sections}
    known = dict(commands_of(typer.main.get_command(app), "mklkit"))
    assert len(known) > 9
    assert known.keys() == EXAMPLES.keys()
    for path, command in known.items():
        names = re.findall(r"^`(.*)`$", by_title[path], re.MULTILINE)
        shown = {word.rstrip(",") for name in names for word in name.split()}
        for parameter in command.params:
            is_option = parameter.param_type_name == "option"
            assert shown >= set(parameter.opts if is_option else [parameter.metavar]), path
            assert str(parameter.help).split()[0] in by_title[path]
        assert {"-h", "--help"} <= shown
        for _, call in EXAMPLES[path]:
            assert f"```sh\n{call}\n```" in by_title[path]


def test_defaults_and_ranges_are_there(made: Any) -> None:
    text = made.reference()
    assert "maps columns to \\[-1, 1\\], " in text
    assert "for amounts. (default: the preset's, else standard)" in text
    assert "0: fit on all samples. (default: 0.2; 0.0\\<=x\\<=0.95)" in text
    assert "mklkit predict [OPTIONS] MODEL DATA\n" in text
    assert "mklkit compare [OPTIONS] [DATA...]\n" in text


def test_every_environment_variable_is_there(made: Any) -> None:
    sources = [*ROOT.glob("mklkit/**/*.py"), *ROOT.glob("plugins/*/mklkit_*/**/*.py")]
    used = {
        name
        for path in sources
        for name in re.findall(r"\b_?MKLKIT_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    assert len(used - PRIVATE) > 1
    for name in used - PRIVATE:
        assert f"`{name}`\n: " in made.HEAD, name


def test_the_page_is_written_where_it_is_read(made: Any, tmp_path: Path) -> None:
    made.write(SimpleNamespace(srcdir=tmp_path))
    page = tmp_path / "reference" / "command-line.md"
    assert page.read_text(encoding="utf-8") == made.reference()
    before = page.stat().st_mtime_ns
    made.write(SimpleNamespace(srcdir=tmp_path))
    assert page.stat().st_mtime_ns == before
