"""Commands that other packages bring: by the metadata alone until they are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.processes import SUMMARY, Run, on_path, run_completion, write_plugin

SOURCE = '''
import sys
import typer
from mklkit.cli.examples import epilog
from mklkit.errors import DataError

print("imported")
app = typer.Typer()

@app.command(epilog=epilog(("Count to two:", "mklkit count 2")))
def count(number: int, fault: bool = False) -> None:
    """Count up to a number."""
    if number < 1:
        raise DataError(f"{number} is no number to count to")
    if fault:
        raise RuntimeError("lost count")
    print(*range(1, number + 1))
'''


def install(folder: Path, name: str, points: str, source: str = SOURCE) -> dict[str, str]:
    """Write a package with commands, and return the environment in which it is found."""
    return on_path(write_plugin(folder, name, source, points=f"[mklkit_commands]\n{points}\n"))


@pytest.fixture
def counting(tmp_path: Path) -> dict[str, str]:
    return install(tmp_path, "counting", "count = mklkit_counting:app")


def test_a_command_works_as_a_built_in_one(mklkit: Run, counting: dict[str, str]) -> None:
    done = mklkit("count", "3", **counting)
    assert (done.code, done.out, done.err) == (0, "1 2 3\n", "imported\n")
    shown = mklkit("count", "-h", **counting)
    assert shown.code == 0
    for text in ("Usage: mklkit count", "Count up to a number", "mklkit count 2"):
        assert text in shown.out
    assert "completion" not in shown.out
    refused = mklkit("count", "0", **counting)
    assert (refused.code, refused.out) == (2, "")
    assert "error: 0 is no number" in refused.err
    assert mklkit("count", "x", **counting).code == 2
    failed = mklkit("count", "3", "--fault", **counting)
    assert failed.code == 1
    for text in ("RuntimeError: lost count, raised in mklkit_counting", "mklkit-counting"):
        assert text in failed.err
    mklkit("coumt", "3", **counting).refused("No such command", "'count'")


def test_names_come_from_the_metadata_alone(mklkit: Run, counting: dict[str, str]) -> None:
    shown = mklkit("--help", **counting)
    assert f"{SUMMARY} (mklkit-counting)" in shown.out
    entries = mklkit("list", "commands", "--json", **counting).json
    [entry] = [entry for entry in entries if entry["name"] == "count"]
    assert entry == {
        "kind": "command",
        "name": "count",
        "distribution": "mklkit-counting",
        "version": "1.2",
        "help": SUMMARY,
    }
    offered = run_completion("fish", "cou", **counting)
    assert offered.out == f"count\t{SUMMARY} (mklkit-counting)\n"
    for done in (shown, offered):
        assert "imported" not in done.out + done.err
    assert run_completion("fish", "count --f", **counting).out.startswith("--fault")
    off = {**counting, "MKLKIT_DISABLE_PLUGINS": "1"}
    assert "count" not in mklkit("--help", **off).out
    mklkit("count", "3", **off).refused("No such command")


@pytest.mark.parametrize(
    ("points", "source", "error"),
    [
        ("count = mklkit_counting:app", "import absent_module", "ModuleNotFoundError"),
        ("count = mklkit_counting:app", "raise SystemExit(3)", "SystemExit"),
        ("count = mklkit_counting:app", "app = 3", "typer.Typer"),
        ("count = mklkit_counting:nothing", SOURCE, "AttributeError"),
        ("count = mklkit_counting app", SOURCE, "ValueError"),
    ],
)
def test_a_broken_command_stops_nothing(
    mklkit: Run, tmp_path: Path, points: str, source: str, error: str
) -> None:
    environment = install(tmp_path, "counting", points, source)
    for working in (["--help"], ["list", "maps"]):
        done = mklkit(*working, **environment)
        assert (done.code, done.err) == (0, "")
    broken = mklkit("count", "3", **environment)
    assert (broken.code, broken.out) == (1, "")
    (line,) = [each for each in broken.err.splitlines() if each != "imported"]
    assert "'count' of mklkit-counting" in line
    assert error in line
    completed = run_completion("fish", "count --", **environment)
    assert (completed.code, completed.out, completed.err) == (0, "", "")


def test_names_that_are_taken_or_none(mklkit: Run, tmp_path: Path) -> None:
    points = "fit = mklkit_counting:app\nno name = mklkit_counting:app"
    environment = install(tmp_path, "counting", points)
    shown = mklkit("--help", **environment)
    assert shown.code == 0
    for name in ("'fit'", "'no name'"):
        assert f"warning: plugin {name} of mklkit-counting is ignored" in shown.err
    assert SUMMARY not in shown.out
    assert "imported" not in mklkit("fit", "--help", **environment).err


def test_two_packages_with_one_command(mklkit: Run, tmp_path: Path) -> None:
    install(tmp_path, "counting", "count = mklkit_counting:app")
    environment = install(tmp_path, "numbers", "count = mklkit_numbers:app")
    assert mklkit("--help", **environment).code == 0
    mklkit("count", "3", **environment).refused("mklkit-counting and mklkit-numbers")


def test_damaged_metadata_are_named_when_commands_are_listed(mklkit: Run, tmp_path: Path) -> None:
    environment = install(tmp_path, "counting", "count = mklkit_counting:app")
    (tmp_path / "mklkit_counting-1.2.dist-info" / "METADATA").write_text("")
    shown = mklkit("--help", **environment)
    assert shown.code == 0
    assert "package mklkit-counting is ignored" in shown.err


@pytest.mark.parametrize(
    ("call", "package"),
    [("reproduce list", "mklkit-papers"), ("plugin new mine", "mklkit-authors")],
)
def test_a_command_of_the_documentation_names_its_package(
    mklkit: Run, call: str, package: str
) -> None:
    mklkit(*call.split(), MKLKIT_DISABLE_PLUGINS="1").refused(f"pip install ./plugins/{package}")
