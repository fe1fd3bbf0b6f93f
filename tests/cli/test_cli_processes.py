"""A command says the same in a process of its own as when it is called inside this one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import Fitted, Run, on_path, write_plugin

pytestmark = pytest.mark.process

FAULTY = '''
import warnings
from mklkit.plugin import hookimpl, weighting_rule

warnings.warn("this plugin is old", DeprecationWarning, stacklevel=1)

@weighting_rule("divides-by-zero")
def divides(view, y):
    """Divide by zero."""
    return 1 / 0

@hookimpl
def mklkit_combiners():
    return [divides]
'''


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["list", "--json"], 0, "warning: this plugin is old"),
        (["predict", "model.mkl", "patients.csv"], 0, "accuracy"),
        (
            ["fit", "iris", "-c", "divides-by-zero"],
            1,
            "ZeroDivisionError: division by zero, raised in mklkit_faulty",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_in_both_alike(
    mklkit: Run,
    started: Run,
    fitted: Fitted,
    tmp_path: Path,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    plugins = on_path(write_plugin(tmp_path, "faulty", FAULTY))
    alone = started(*arguments, cwd=fitted.data.parent, **plugins)
    assert alone.code == code, alone
    assert said in alone.out + alone.err
    inside = mklkit(*arguments, cwd=fitted.data.parent, **plugins)
    assert (inside.code, inside.out) == (alone.code, alone.out)
    # Beside the tests, other packages may be importable than in a fresh process.
    in_use = re.compile(r"Plugins in use: [^.]*\.")
    assert in_use.sub("", inside.err) == in_use.sub("", alone.err)


def test_what_a_plugin_prints_at_the_end_is_no_result(started: Run, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "site", "late", "import atexit\natexit.register(print, 'bye')")
    done = started("list", "--json", **on_path(folder), PYTHONWARNINGS="error")
    assert done.code == 0
    assert done.json
    assert "bye" in done.err
    # It gives nothing, which is a warning also where warnings are to be raised.
    assert "warning: plugin 'late' of mklkit-late is ignored" in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("kilobytes", [300_000, 600_000])
def test_too_little_memory_to_load_numba_is_told_in_one_sentence(kilobytes: int) -> None:
    limited = f'ulimit -v {kilobytes} && "{sys.executable}" -m mklkit list maps'
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("error: There is too little memory to load")
