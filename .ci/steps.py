"""What the scripts of this folder share: the projects, fresh environments, headlines."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

__all__ = ["PLUGINS", "ROOT", "Environment", "project_of", "run", "say"]

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))

# What could stand in for an installation, or change what it does.
_LEFT_OUT = {"PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS", "VIRTUAL_ENV", "MKLKIT_DISABLE_PLUGINS"}
# What is in the folder where a command runs must not be imported instead of what is installed.
_SETTINGS = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONSAFEPATH": "1"}
_START = time.monotonic()


def say(text: str) -> None:
    """Print a headline with the seconds since the start."""
    print(f"\n== {text} ({time.monotonic() - _START:.0f} s)", flush=True)


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command and return what it prints; leave with that and its code if it fails."""
    inherited = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**inherited, **_SETTINGS, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        print(done.stdout, f"failed: {shlex.join(map(str, command))}", sep="\n", file=sys.stderr)
        sys.exit(done.returncode)
    return done.stdout


def project_of(folder: Path) -> dict[str, Any]:
    """Return the tables of a folder's ``pyproject.toml``."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


class Environment:
    """A virtual environment.

    Parameters
    ----------
    home : Path
        Where it is.
    """

    def __init__(self, home: Path) -> None:
        self.programs = home / ("Scripts" if os.name == "nt" else "bin")

    @classmethod
    def fresh(cls, home: Path, python: str = sys.executable) -> Self:
        """Return a new one that holds nothing but pip."""
        run(python, "-m", "venv", home)
        return cls(home)

    @classmethod
    def beside_this(cls, home: Path, without: Iterable[str]) -> Self:
        """Return a new one that sees what the one that runs this sees, but for some packages."""
        sys.path.insert(0, str(ROOT / "tests"))
        from helpers.environments import Environment as Beside  # type: ignore[import-not-found]

        Beside(home, home, without)
        return cls(home / "venv")

    def run(self, program: str, *arguments: str | Path, cwd: Path = ROOT) -> str:
        """Run one of its programs and return what it prints."""
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        return run(self.programs / program, *arguments, cwd=cwd, PATH=path)

    def install(self, *arguments: str | Path) -> None:
        """Install packages, and check that all requirements are met."""
        self.run("python", "-m", "pip", "install", "--quiet", *arguments)
        self.run("python", "-m", "pip", "check")

    def test(self, *arguments: str | Path, cwd: Path) -> None:
        """Run pytest in a folder and print how many tests passed."""
        command = ["-m", "pytest", "--quiet", *arguments]
        *_, last = self.run("python", *command, cwd=cwd).splitlines()
        print(last, flush=True)
