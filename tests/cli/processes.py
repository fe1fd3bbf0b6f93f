"""The command line in processes of its own, as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs


@attrs.frozen
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self, *parts: str) -> None:
        """Check that this was a user's mistake, told in plain words and on stderr."""
        assert self.code == 2, self
        assert self.out == ""
        assert "Traceback" not in self.err
        message = " ".join(self.err.replace("│", " ").split())
        for part in parts:
            assert part in message, self.err


Run = Callable[..., Outcome]


def run_mklkit(*arguments: object, cwd: Path | None = None, **environment: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "mklkit", *(str(argument) for argument in arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONWARNINGS": "default", "COLUMNS": "160", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


@attrs.frozen
class Fitted:
    """A data file, the model fitted on it, and what was said meanwhile."""

    data: Path
    model: Path
    outcome: Outcome


def write_plugin(folder: Path, name: str, source: str) -> Path:
    """Write a distribution ``mklkit-<name>`` that Python finds once the folder is on its path."""
    folder.mkdir(exist_ok=True)
    (folder / f"mklkit_{name}.py").write_text(source)
    info = folder / f"mklkit_{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: mklkit-{name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[mklkit]\n{name} = mklkit_{name}\n")
    return folder


def on_path(folder: Path) -> dict[str, str]:
    """Return the environment in which a folder's plugins are installed."""
    rest = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{folder}{os.pathsep}{rest}" if rest else str(folder)}
