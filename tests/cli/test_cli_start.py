"""Start-up: help in no time, versions, exit codes of what goes wrong."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from processes import Run

from mklkit.datasets import BUILTIN_NAMES

HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "skops", "joblib", "pluggy", "pytest")
PROBE = """
import sys
from mklkit.cli.app import main
try:
    main()
finally:
    found = [name for name in {heavy} if name in sys.modules]
    print("LOADED", *found, file=sys.stderr)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["fit", "--help"], ["plugin", "new", "--help"], ["--version"]],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = PROBE.format(heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "LOADED"


@pytest.mark.parametrize("command", ["fit", "evaluate", "kernels", "compare"])
def test_help_names_every_data_set_that_is_built_in(mklkit: Run, command: str) -> None:
    printed = mklkit(command, "--help").out
    for name in BUILTIN_NAMES:
        assert re.search(rf"\b{name}\b", printed), name


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
def test_a_closed_pipe_is_no_fault() -> None:
    command = [sys.executable, "-m", "mklkit", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""


@pytest.mark.process
def test_names_that_the_terminal_cannot_show(started: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("größe,kind\n1,ä\n2,ö\n1,ä\n2,ö\n", encoding="utf-8")
    more = {"PYTHONIOENCODING": "ascii"}
    done = started("fit", tmp_path / "a.csv", "-k", "linear", **more)
    assert done.code == 0, done
    assert "##########" in done.out
    assert started("fit", tmp_path / "a.csv", "--json", **more).json["model"]["classes"] == [
        "ä",
        "ö",
    ]
