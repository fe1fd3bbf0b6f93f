"""Virtual environments for tests that install packages, by pip and off the network."""

from __future__ import annotations

import os
import shlex
import site
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["Environment"]


class Environment:
    """A fresh environment that sees the packages of the one which runs the tests.

    Parameters
    ----------
    home : Path
        Where it goes.
    folder : Path
        Where commands are run.
    """

    def __init__(self, home: Path, folder: Path) -> None:
        self.folder = folder
        self.python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
        purelib = self.run_python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        # addsitedir, since an editable installation of mklkit is itself a .pth file over there.
        lines = [f"import site; site.addsitedir({folder!r})" for folder in site.getsitepackages()]
        (Path(purelib.stdout.strip()) / "tested.pth").write_text("\n".join(lines))

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command, with the installing itself kept off the network."""
        program, *arguments = shlex.split(command)
        if program == "pip":
            arguments += ["--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        # -P, since the folder would else be importable without having been installed.
        return self.run_python("-P", "-m", program, *arguments, **environment)

    def run_python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python; with the usual environment variables a failure is the test's."""
        result = subprocess.run(
            [self.python, *arguments],
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if result.returncode and not environment:
            pytest.fail(f"{shlex.join(arguments)} failed:\n{result.stdout}{result.stderr}")
        return result
