"""The README does what it says: its commands and listings run, its output is the real one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents import ROOT, commands, listings
from processes import run_in_process, run_script

README = "README.md"
PAGES = [README, *sorted(page.relative_to(ROOT).as_posix() for page in ROOT.glob("docs/*.md"))]

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LINK = re.compile(r"\]\((?!\w+:)([^)#]+)")


def steps(command: str) -> list[str]:
    """Return the parts of a command that this environment has still to run."""
    parts = [part.strip() for part in command.split("&&")]
    return [part for part in parts if not part.startswith("pip install ") and part != "pytest"]


def run(command: str, folder: Path) -> str:
    """Run a shell command and return what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    # What is shown is what a pipe gets, which has no width.
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**inherited, "PATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_listing(number: int, folder: Path) -> str:
    """Run one of the page's Python listings as a program and return what it prints."""
    script = folder / "listing.py"
    script.write_text(listings(README, "python")[number], encoding="utf-8")
    outcome = run_script(script, cwd=folder)
    assert outcome.code == 0, outcome
    return outcome.out


def same_but_for_rounding(shown: str, printed: str) -> None:
    """Check the words line by line, and the numbers but for another processor's rounding."""
    timeless = [
        [line.rstrip() for line in text.strip().splitlines() if not line.startswith("fitted in")]
        for text in (shown, printed)
    ]
    assert len(timeless[0]) == len(timeless[1]), printed
    for ours, real in zip(*timeless, strict=True):
        # A bar is as long as its number is large.
        words = [re.sub(r"\s+", " ", _NUMBER.sub("0", line.rstrip("█ "))) for line in (ours, real)]
        assert words[0] == words[1]
        numbers = [[float(n) for n in _NUMBER.findall(line)] for line in (ours, real)]
        np.testing.assert_allclose(*numbers, rtol=0.02, atol=0.002)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tables that the README takes its reader to have."""
    rng = np.random.default_rng(7)
    species = rng.choice(["setosa", "virginica", "versicolor"], size=90)
    length = rng.normal(size=90) + 2 * (species == "virginica")
    length[3] = np.nan
    table = pd.DataFrame(
        {
            "length": length,
            "width": rng.normal(size=90) + 2 * (species == "setosa"),
            "site": rng.choice(["north", "south"], size=90),
            "species": species,
        }
    )
    folder = tmp_path_factory.mktemp("reader")
    table.iloc[:70].to_csv(folder / "measurements.csv", index=False)
    table.iloc[70:].drop(columns="species").to_csv(folder / "new.csv", index=False)
    table["species"].iloc[70:].to_csv(folder / "truth.csv", index=False)
    return folder


def test_the_two_commands_are_the_promised_ones() -> None:
    assert commands(README)[:2] == [
        "pip install . && mklkit fit --combiner dimkl3",
        'pip install ".[test]" && pytest',
    ]


def test_ci_runs_the_two_commands_before_it_installs_anything_else() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    lines = [line.strip() for line in script]
    installing = [line for line in lines if "pip install" in line and not line.startswith("#")]
    assert installing[:2] == commands(README)[:2]
    assert not any("plugins/" in line for line in lines[: lines.index(installing[1])])


def test_ci_runs_every_marked_test() -> None:
    """What is left out of the second command is run by a step of its own."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = options["tool"]["pytest"]["ini_options"]
    declared = {line.partition(":")[0]: line for line in settings["markers"]}
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for name, line in declared.items():
        assert f"not {name}" in settings["addopts"]
        assert (f'-m "{name} and not slow and not benchmark"' in script) != ("not in CI" in line)


@pytest.mark.process
def test_the_first_command_prints_what_is_shown(tmp_path: Path) -> None:
    [command] = steps(commands(README)[0])
    same_but_for_rounding(listings(README, "text")[0], run(command, tmp_path))


@pytest.mark.process
def test_the_other_commands_run_in_turn(folder: Path) -> None:
    own = [shlex.split(step) for command in commands(README)[2:] for step in steps(command)]
    assert {step[1] for step in own} == {
        "fit",
        "predict",
        "evaluate",
        "inspect",
        "list",
        "describe",
    }
    for program, *arguments in own:
        assert program == "mklkit"
        outcome = run_in_process(*arguments, cwd=folder)
        assert outcome.code == 0, outcome
    predicted = pd.read_csv(folder / "predictions.csv")["prediction"]
    truth = pd.read_csv(folder / "truth.csv")["species"]
    # Guessing would be right once in three.
    assert (predicted == truth).mean() > 0.6


@pytest.mark.process
def test_python_composition_prints_what_is_shown(tmp_path: Path) -> None:
    printed = run_listing(0, tmp_path)
    same_but_for_rounding(listings(README, "text")[1], printed)


@pytest.mark.process
def test_python_model_file_gives_the_model_back(tmp_path: Path) -> None:
    printed = run_listing(1, tmp_path)
    assert printed.split() == ["True", "dimkl3"]


@pytest.mark.process
def test_python_grid_search_runs(tmp_path: Path) -> None:
    printed = run_listing(2, tmp_path)
    accuracy = float(printed.rpartition("accuracy: ")[2])
    # On these data a single nearest neighbour reaches 95 %.
    assert 0.94 < accuracy <= 1.0


def test_every_listing_is_looked_at() -> None:
    assert len(listings(README, "python")) == 3
    assert len(listings(README, "text")) == 2


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = _LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert links
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert not missing
