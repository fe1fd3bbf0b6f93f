"""Virtual environments for tests that install packages by pip."""

from __future__ import annotations

import json
import os
import shlex
import site
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

import pytest

from helpers.processes import Outcome

RUN_ALL = """
import json, sys
import attrs
sys.path.insert(0, sys.argv[1])
from helpers.processes import run_in_process
outcomes = [run_in_process(*arguments) for arguments in json.loads(sys.argv[2])]
print(json.dumps([attrs.asdict(outcome) for outcome in outcomes]))
"""


class Environment:
    """A fresh environment that sees the packages of the one which runs the tests.

    Parameters
    ----------
    home : Path
        Where it goes.
    folder : Path
        Where commands are run.
    without : iterable of str
        Distributions that it does not see, wherever they are installed.
    """

    def __init__(self, home: Path, folder: Path, without: Iterable[str] = ()) -> None:
        self.folder = folder
        self.python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        # pip is one of the packages that it sees, and installs into the environment that runs it.
        command = [sys.executable, "-m", "venv", "--without-pip", home / "venv"]
        subprocess.run(command, check=True)
        purelib = self.run_python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        self.packages = Path(purelib.stdout.strip())
        views = [_links(Path(path), home / f"seen-{i}", without) for i, path in _site_packages()]
        # addsitedir, since an editable installation of mklkit is itself a .pth file over there.
        lines = [f"import site; site.addsitedir({str(folder)!r})" for folder in views]
        (self.packages / "tested.pth").write_text("\n".join(lines))

    def install(self, *folders: Path) -> set[str]:
        """Install packages with what they need, as a user would; return all names that came."""
        before = self._installed()
        # Build tools are those that the test extra brings; all else may come from the network.
        command = ("-m", "pip", "install", "--quiet", "--no-build-isolation")
        self.run_python(*command, *map(str, folders))
        return self._installed() - before

    def uninstall(self, *packages: str) -> None:
        """Uninstall packages, and only those."""
        self.run_python("-m", "pip", "uninstall", "--yes", "--quiet", *packages)

    def _installed(self) -> set[str]:
        """Return the names of the distributions in this environment itself."""
        return {record.metadata["Name"] for record in distributions(path=[str(self.packages)])}

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command, with the installing itself kept off the network."""
        program, *arguments = shlex.split(command)
        if program == "pip":
            arguments += ["--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        # -P, since the folder would else be importable without having been installed.
        return self.run_python("-P", "-m", program, *arguments, **environment)

    def run_commands(self, *commands: str) -> list[Outcome]:
        """Run several of mklkit's commands in one interpreter, which takes seconds to start."""
        arguments = json.dumps([shlex.split(command)[1:] for command in commands])
        done = self.run_python("-P", "-c", RUN_ALL, str(Path(__file__).parents[1]), arguments)
        return [Outcome(**outcome) for outcome in json.loads(done.stdout)]

    def run_python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python; with the usual environment variables a failure is the test's."""
        # Output goes to a pipe, which has no width; a test that wants one says so.
        inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        result = subprocess.run(
            [self.python, *arguments],
            cwd=self.folder,
            env={**inherited, **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if result.returncode and not environment:
            pytest.fail(f"{shlex.join(arguments)} failed:\n{result.stdout}{result.stderr}")
        return result


def _site_packages() -> Iterable[tuple[int, str]]:
    return enumerate(folder for folder in site.getsitepackages() if Path(folder).is_dir())


def _links(packages: Path, folder: Path, without: Iterable[str]) -> Path:
    """Return a folder of links to what another holds, or that one itself if nothing is hidden."""
    hidden = {name for distribution_name in without for name in _top_level(distribution_name)}
    if not hidden:
        return packages
    folder.mkdir()
    for entry in packages.iterdir():
        if entry.name not in hidden and entry.name != "__pycache__":
            (folder / entry.name).symlink_to(entry, target_is_directory=entry.is_dir())
    return folder


def _top_level(name: str) -> set[str]:
    try:
        return {file.parts[0] for file in distribution(name).files or ()}
    except PackageNotFoundError:
        return set()
