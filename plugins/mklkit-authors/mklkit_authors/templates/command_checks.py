"""The command of this package, called as users call it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from mklkit_authors.templates.command import app


def test_classes_are_counted() -> None:
    done = CliRunner().invoke(app, ["wine", "--json"])
    assert done.exit_code == 0
    assert sorted(json.loads(done.stdout).values()) == [48, 59, 71]


def test_help_ends_with_an_example() -> None:
    assert "mklkit sketch wine" in CliRunner().invoke(app, ["--help"]).stdout
