"""``mklkit plugin``: a new package, an installed one checked, and mistakes that are refused."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import Run, on_path, run_completion, run_in_process, write_plugin
from mklkit_authors.cli import EXAMPLES

KERNEL = '''
from typing import ClassVar
import attrs
from mklkit.plugin import FittedKernel, Kernel, hookimpl

@attrs.frozen
class Shifted(Kernel):
    """The inner product and one."""
    name: ClassVar[str] = "shifted"
    def fit(self, rows):
        return FittedShifted()

@attrs.frozen
class FittedShifted(FittedKernel):
    def __call__(self, a, b):
        return a @ b.T + 1.0
    def diagonal(self, a):
        return (a**2).sum(axis=1) + 1.0

@hookimpl
def mklkit_kernels():
    return [Shifted]

@hookimpl
def mklkit_model_types():
    return [FittedShifted]
'''

COMMAND = '''
import typer

app = typer.Typer()

@app.command()
def count(number: int) -> None:
    """Count up to a number."""
'''
PROBE = """
import contextlib, sys
from mklkit.cli.app import main
for arguments in ("plugin --help", "plugin new --help"):
    sys.argv = ["mklkit", *arguments.split()]
    with contextlib.suppress(SystemExit):
        main()
print(*{"numpy", "numba", "scipy", "sklearn", "pandas"} & {*sys.modules})
"""


@pytest.fixture(scope="session")
def mklkit() -> Run:
    """Return what runs a command inside this process."""
    return run_in_process


def with_command(folder: Path, source: str) -> dict[str, str]:
    """Write a package with a command, and return the environment in which it is installed."""
    points = "[mklkit_commands]\ncount = mklkit_counting:app\n"
    return on_path(write_plugin(folder, "counting", source, points=points))


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        ("new dimkl3", ["'dimkl3' is taken", "of mklkit"]),
        ("new ../mine", ["lower-case", "'../mine'"]),
        ("new mine --into none", ["no folder"]),
        ("new mine --into ''", ["not an empty text"]),
        ("new mine --template kernels", ["kernels", "kernel"]),
        ("new mine kernel", ["--template kernel"]),
        ("new mine kernels", ["'kernels'", "Did you mean 'kernel'?"]),
        ("new typical --template missing --into none", ["no folder"]),
        ("new drop --template missing", ["'drop' is taken", "of mklkit"]),
        ("new fit --template command", ["mklkit has a command 'fit' already"]),
        ("check ''", ["No package ''"]),
        ("check mklkit-author", ["Did you mean 'mklkit-authors'?"]),
        ("check attrs", ["attrs is installed, but provides no", "entry point"]),
    ],
)
def test_a_mistake_is_refused(mklkit: Run, tmp_path: Path, call: str, parts: list[str]) -> None:
    mklkit("plugin", *shlex.split(call), cwd=tmp_path).refused(*parts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("", ["new", "check"]), ("check mklkit-auth", ["mklkit-authors"]), ("new x --in", ["--into"])],
)
def test_the_tab_key(typed: str, offered: list[str]) -> None:
    *before, last = f"plugin {typed}".split(" ")
    lines = run_completion("fish", *before, last).out.splitlines()
    assert [line.partition("\t")[0] for line in lines] == offered


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_ends_with_examples(mklkit: Run, command: str) -> None:
    shown = mklkit(*command.split()[1:], "--help", COLUMNS="80").out
    _, _, end = shown.partition("\n Examples")
    lines = [line.strip() for line in end.splitlines() if line.strip()]
    assert lines == [line for example in EXAMPLES[command] for line in example]


@pytest.mark.process
def test_examples_run_one_after_another(mklkit: Run, tmp_path: Path) -> None:
    calls = [call for examples in EXAMPLES.values() for _, call in examples]
    *news, check = (shlex.split(call)[1:] for call in calls)
    for new in news:
        assert mklkit(*new, cwd=tmp_path).code == 0
    # Beside the package, what pip would write of it.
    folder = tmp_path / check[-1]
    info = folder / "mklkit_nearest_mean-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {check[-1]}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[mklkit]\nnearest-mean = mklkit_nearest_mean\n")
    done = mklkit(*check, **on_path(folder))
    assert done.code == 0, done


@pytest.mark.process
def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert done.stdout.count("Usage: mklkit plugin") == 2
    assert done.stdout.splitlines()[-1] == ""


def test_new_writes_a_package(mklkit: Run, tmp_path: Path) -> None:
    done = mklkit("plugin", "new", "mklkit-by-hand", "--into", tmp_path)
    assert done.code == 0, done
    folder = tmp_path / "mklkit-by-hand"
    written = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert written == [
        "README.md",
        "mklkit_by_hand/__init__.py",
        "mklkit_by_hand/py.typed",
        "pyproject.toml",
        "tests/test_by_hand.py",
    ]
    assert "class ByHandWeighting(WeightingCombiner)" in (
        folder / "mklkit_by_hand/__init__.py"
    ).read_text(encoding="utf-8")
    # Nothing of the draft's folder is left.
    assert [entry.name for entry in tmp_path.iterdir()] == ["mklkit-by-hand"]
    assert "mklkit fit --combiner by-hand" in done.err


def test_new_never_overwrites(mklkit: Run, tmp_path: Path) -> None:
    precious = tmp_path / "mklkit-mine" / "mine.txt"
    precious.parent.mkdir()
    precious.write_text("precious")
    mklkit("plugin", "new", "mine", "--into", tmp_path).refused("mklkit-mine exists", "another")
    assert [file.name for file in precious.parent.iterdir()] == ["mine.txt"]
    assert precious.read_text() == "precious"
    (tmp_path / "mklkit-file").write_text("precious")
    mklkit("plugin", "new", "file", "--into", tmp_path).refused("mklkit-file exists")
    assert (tmp_path / "mklkit-file").read_text() == "precious"


def test_new_never_takes_the_name_of_an_installed_package(mklkit: Run, tmp_path: Path) -> None:
    # Its component has another name, so that the package's is all that is taken.
    there = on_path(write_plugin(tmp_path, "moved", KERNEL))
    new = ("plugin", "new", "moved", "--template", "kernel", "--into", tmp_path)
    mklkit(*new, **there).refused("mklkit-moved is installed already")


def test_check_of_a_good_package(mklkit: Run, tmp_path: Path) -> None:
    good = on_path(write_plugin(tmp_path, "shifted", KERNEL))
    # Names of distributions are compared as pip does.
    done = mklkit("plugin", "check", "MKLKIT_shifted", **good)
    assert done.code == 0, done
    [line] = [line for line in done.out.splitlines() if line.split()[:1] == ["kernel"]]
    _, name, passed, failed, _ = line.split()
    assert name == "shifted"
    assert int(passed) >= 15
    assert int(failed) == 0


def test_check_of_a_faulty_package(mklkit: Run, tmp_path: Path) -> None:
    asymmetric = KERNEL.replace("a @ b.T + 1.0", "a @ b.T + a[:, :1]")
    faulty = on_path(write_plugin(tmp_path, "shifted", asymmetric))
    done = mklkit("plugin", "check", "mklkit-shifted", **faulty)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert (
        "failed: kernel shifted, symmetric: Expected kernel(a, b) to be the transpose" in done.out
    )
    result = mklkit("plugin", "check", "mklkit-shifted", "--json", **faulty)
    assert result.code == 1
    outcomes = {check["check"]: check["outcome"] for check in result.json["checks"]}
    assert outcomes["symmetric"] == outcomes["diagonal_is_that_of_the_matrix"] == "failed"
    assert outcomes["parameters_round_trip"] == "passed"
    assert outcomes["shared_base_is_honest"] == "not applicable"


def test_check_says_a_fault_once(mklkit: Run, tmp_path: Path) -> None:
    broken = on_path(write_plugin(tmp_path, "shifted", KERNEL.replace("a @ b.T + 1.0", "1 / 0")))
    done = mklkit("plugin", "check", "mklkit-shifted", **broken)
    assert done.code == 1
    lines = [line for line in done.out.splitlines() if "division by zero" in line]
    assert 1 <= len(lines) <= 2
    met = int(re.findall(r"the same in (\d+) other checks?", done.out)[0]) + 1
    result = mklkit("plugin", "check", "mklkit-shifted", "--json", **broken).json
    faults = [check["message"] for check in result["checks"] if check["outcome"] == "failed"]
    first = lines[0].partition("Expected ")[2].partition("  (the")[0]
    assert met == sum(first in fault for fault in faults) > 3


def test_check_of_a_package_that_cannot_be_loaded(mklkit: Run, tmp_path: Path) -> None:
    broken = on_path(write_plugin(tmp_path, "syntax", "def (:"))
    done = mklkit("plugin", "check", "mklkit-syntax", **broken)
    assert done.code == 1
    assert "plugin 'syntax' of mklkit-syntax is ignored: SyntaxError" in done.out
    assert done.err == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return FittedShifted()", "import sys; sys.exit(0)", "no error; got SystemExit: 0, at "),
        ('"shifted"\n', '"shifted"\n    table: list = attrs.field()\n', "not checked: shifted "),
    ],
)
def test_check_of_what_can_not_be_checked(
    mklkit: Run, tmp_path: Path, old: str, new: str, said: str
) -> None:
    where = on_path(write_plugin(tmp_path, "shifted", KERNEL.replace(old, new)))
    done = mklkit("plugin", "check", "mklkit-shifted", **where)
    assert done.code == 1
    assert said in done.out


def test_check_of_a_command(mklkit: Run, tmp_path: Path) -> None:
    working = with_command(tmp_path / "working", COMMAND)
    done = mklkit("plugin", "check", "mklkit-counting", "--json", **working)
    assert done.code == 0
    assert [each["outcome"] for each in done.json["checks"]] == ["passed"]
    broken = with_command(tmp_path / "broken", "import absent_module")
    done = mklkit("plugin", "check", "mklkit-counting", **broken)
    assert done.code == 1
    assert "ModuleNotFoundError" in done.out
