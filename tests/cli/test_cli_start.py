"""Start-up: help in no time, versions, exit codes of what goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import Run

HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "skops", "joblib", "pluggy", "pytest")
PROBE = """
import contextlib, sys
from mklkit.cli.app import main
for arguments in ("--help", "fit --help", "--version"):
    sys.argv = ["mklkit", *arguments.split()]
    with contextlib.suppress(SystemExit):
        main()
print(*sys.modules)
"""


@pytest.mark.process
def test_help_imports_nothing_heavy() -> None:
    # After an installation, the first help of a command collects the options of packages.
    subprocess.run(
        [sys.executable, "-m", "mklkit", "fit", "--help"], capture_output=True, check=True
    )
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert done.stdout.count("Usage: mklkit") == 2
    loaded = done.stdout.splitlines()[-1].split()
    assert not {*HEAVY} & {*loaded}


@pytest.mark.slow
def test_help_takes_less_than_a_third_of_a_second() -> None:
    def seconds() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    for _ in range(3):
        before = seconds()
        command = [sys.executable, "-m", "mklkit", "--help"]
        subprocess.run(command, capture_output=True, check=True)
        times.append(seconds() - before)
    assert min(times) < 0.3


@pytest.mark.process
def test_script_and_version(mklkit: Run) -> None:
    script = Path(sys.executable).with_name("mklkit")
    if not script.exists():
        pytest.skip("mklkit is not installed beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == mklkit("--version").out
    assert done.stdout.startswith("mklkit 0.")


@pytest.mark.process
def test_names_that_the_terminal_cannot_show(started: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("größe,kind\n1,ä\n2,ö\n1,ä\n2,ö\n", encoding="utf-8")
    more = {"PYTHONIOENCODING": "ascii"}
    done = started("fit", tmp_path / "a.csv", "-k", "linear", **more)
    assert done.code == 0, done
    assert "##########" in done.out
    assert "classes: ? (2), ? (2)" in done.out


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_terminal_shows_that_imports_have_begun(interrupted: bool, tmp_path: Path) -> None:
    terminal, stderr = os.openpty()
    # What is interrupted takes much longer than its imports, which the signal may come after.
    words = ["evaluate", "digits", "--repeats", "99"] if interrupted else ["list", "--json"]
    command = [sys.executable, "-m", "mklkit", *words]
    environment = os.environ | {"TERM": "xterm"}
    with (
        (tmp_path / "list.json").open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=stderr, env=environment) as process,
    ):
        os.close(stderr)
        shown = b""
        with contextlib.suppress(OSError):  # Linux's end of file on a terminal.
            while more := os.read(terminal, 4096):
                if interrupted and b"loading" in more and b"loading" not in shown:
                    process.send_signal(signal.SIGINT)
                shown += more
    os.close(terminal)
    assert b"loading" in shown
    assert b"Traceback" not in shown
    last_line = shown[shown.rindex(b"loading") :]
    assert b"\x1b[?25h" in last_line  # The cursor is back,
    assert b"\x1b[2K" in last_line  # and the spinner is gone.
    if interrupted:
        # A shell shows 130 for both.
        assert process.returncode in (130, -signal.SIGINT)
    else:
        assert process.returncode == 0
        assert json.loads((tmp_path / "list.json").read_bytes())[0]["kind"] == "kernel"
