"""The command line as a user calls it: inside this process, or in one of its own."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import attrs
import typer.main

from mklkit.__main__ import main
from mklkit.registry.registry import forget_registry

# What the command line sees besides the tests' own environment.
ENVIRONMENT = {"PYTHONWARNINGS": "default", "COLUMNS": "160", "MKLKIT_OFFLINE": "1"}
SUMMARY = "A package for a test"
# A choice of C takes most of the time of a fit: for commands whose subject is something else.
FIXED = ("-l", "svm(C=1)")


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

# Typer builds all commands from their signatures anew each time: a tenth of most calls' time.
_built = functools.cache(typer.main.get_command)


def run_mklkit(*arguments: object, cwd: Path | None = None, **environment: str) -> Outcome:
    """Run a command in a fresh interpreter: seconds instead of hundredths of one.

    For what a process decides: how Python starts, its encodings, exit codes that a shell sees,
    signals, pipes.
    """
    done = subprocess.run(
        [sys.executable, "-m", "mklkit", *(str(argument) for argument in arguments)],
        cwd=cwd,
        env={**os.environ, **ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_in_process(*arguments: object, cwd: Path | None = None, **environment: str) -> Outcome:
    """Run a command by the same function that the script calls, and leave no trace of it here.

    Plugins on a ``PYTHONPATH`` are found as in a fresh interpreter, and forgotten afterwards.
    """
    return _run_here(main, ["mklkit", *map(str, arguments)], cwd, environment)


def run_completion(
    shell: str, *words: str, action: str = "get-args", cwd: Path | None = None, **environment: str
) -> Outcome:
    """Ask for completions of a line as the shell's script does; the last word is at the cursor."""
    line = {
        "_MKLKIT_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": " ".join(["mklkit", *words]),
        "_TYPER_COMPLETE_FISH_ACTION": action,
        "COMP_WORDS": "\n".join(["mklkit", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return run_in_process(cwd=cwd, **line, **environment)


def run_script(script: Path, *arguments: object, cwd: Path, **environment: str) -> Outcome:
    """Run a Python file as a program inside this process, without the seconds of starting one."""
    call = functools.partial(runpy.run_path, str(script), run_name="__main__")
    with mock.patch.object(sys, "path", [str(script.parent), *sys.path]):
        return _run_here(call, [str(script), *map(str, arguments)], cwd, environment)


def run_listing(text: str, names: dict[str, Any], cwd: Path, **environment: str) -> Outcome:
    """Run a part of a program inside this process, with the names that earlier parts left."""
    call = functools.partial(exec, compile(text, "<listing>", "exec"), names)
    return _run_here(call, ["listing"], cwd, environment)


def _run_here(
    call: Callable[[], object], argv: list[str], cwd: Path | None, environment: dict[str, str]
) -> Outcome:
    out, err = (_stream("strict"), _stream("backslashreplace"))
    code: Any = 0
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.dict(os.environ, {**ENVIRONMENT, **environment}),
        mock.patch.object(typer.main, "get_command", _built),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        _plugins_of(environment),
    ):
        warnings.simplefilter("default")
        try:
            call()
        except SystemExit as leaving:
            code = leaving.code or 0
            if isinstance(code, str):
                print(code, file=err)
                code = 1
        for stream in (out, err):
            stream.flush()
    said = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    return Outcome(code, *said)


def _stream(errors: str) -> io.TextIOWrapper:
    """Return a stream that takes odd letters as Python's own of that kind does."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors)


@contextlib.contextmanager
def _plugins_of(environment: dict[str, str]) -> Iterator[None]:
    """Have the plugins of an environment's ``PYTHONPATH`` found for a while, or none."""
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    added = [folder for folder in folders if folder and folder not in sys.path]
    if not added and "MKLKIT_DISABLE_PLUGINS" not in environment:
        yield
        return
    before = set(sys.modules)
    with mock.patch.object(sys, "path", [*added, *sys.path]):
        importlib.invalidate_caches()
        forget_registry()
        try:
            yield
        finally:
            for name in set(sys.modules) - before:
                file = getattr(sys.modules[name], "__file__", None) or ""
                if added and file.startswith(tuple(added)):
                    del sys.modules[name]
    forget_registry()


@attrs.frozen
class Fitted:
    """A data file, the model fitted on it, and what was said meanwhile."""

    data: Path
    model: Path
    outcome: Outcome


def write_plugin(
    folder: Path, name: str, source: str, points: str = "", version: str = "1.2"
) -> Path:
    """Write a distribution ``mklkit-<name>`` that Python finds once the folder is on its path.

    ``points`` are its entry points if it has others than its module.
    """
    folder.mkdir(exist_ok=True)
    (folder / f"mklkit_{name}.py").write_text(source, encoding="utf-8", errors="surrogateescape")
    info = folder / f"mklkit_{name}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: mklkit-{name}\nVersion: {version}\n"
    (info / "METADATA").write_text(f"{metadata}Summary: {SUMMARY}\n")
    (info / "entry_points.txt").write_text(points or f"[mklkit]\n{name} = mklkit_{name}\n")
    return folder


def on_path(folder: Path) -> dict[str, str]:
    """Return the environment in which a folder's plugins are installed."""
    rest = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{folder}{os.pathsep}{rest}" if rest else str(folder)}
