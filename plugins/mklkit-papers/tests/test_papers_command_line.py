"""The package as users meet it: listed with its origin, and one of its figures run."""

from __future__ import annotations

import json
import sys

import pytest

from mklkit.__main__ import main


@pytest.fixture
def mklkit(capsys, monkeypatch):
    """Return a function that calls the command line, and returns its exit code and output."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["mklkit", *arguments])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        return code, capsys.readouterr().out

    return call


def test_the_command_is_listed_with_its_origin(mklkit):
    code, out = mklkit("list", "commands", "--json")
    assert code == 0
    assert {(one["name"], one["distribution"]) for one in json.loads(out)} >= {
        ("reproduce", "mklkit-papers")
    }


def test_a_figure_runs(mklkit):
    code, out = mklkit("reproduce", "001-eq16", "--repeats", "1", "--json")
    assert code == 0
    (reproduction,) = json.loads(out)["reproductions"]
    assert len(reproduction["lines"]) == 20
    assert sum(line["ours"] for line in reproduction["lines"]) == pytest.approx(4)
