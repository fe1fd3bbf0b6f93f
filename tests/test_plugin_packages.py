"""The packages under plugins/ come and go: nothing of one is left once it is uninstalled."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from documents import ROOT
from environments import Environment

pytestmark = pytest.mark.packages

# A strategy of each package; that of mklkit-optimize is solved by the package that it brings.
STRATEGIES = {
    "mklkit-discriminant": "localized",
    "mklkit-fusion": "defimkl",
    "mklkit-optimize": "easymkl(lam=0.0001)",
    "mklkit-views": "cca-mhks2",
}
# What only packages need has to come with them, so that no environment holds it beforehand.
BROUGHT = ("clarabel",)


@pytest.fixture
def bare(tmp_path: Path) -> Environment:
    """Return an environment without any of the packages, whatever the tests themselves see."""
    (tmp_path / "work").mkdir()
    return Environment(tmp_path, tmp_path / "work", without=(*STRATEGIES, *BROUGHT))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder and their bytes, but not what Python itself compiles."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if path.suffix != ".pyc"}


def listed(environment: Environment) -> str:
    return environment.run("mklkit list --json").stdout


def origins(environment: Environment) -> set[str]:
    return {entry["distribution"] for entry in json.loads(listed(environment))}


def predict(environment: Environment) -> subprocess.CompletedProcess[str]:
    # With a variable of its own a command may fail, which it does once the package is gone.
    return environment.run("mklkit predict model.mkl iris", COLUMNS="200")


def requirements(project: Path) -> set[str]:
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    return {re.split(r"[^\w.-]", requirement)[0] for requirement in declared}


def test_every_package_is_here_and_what_it_brings() -> None:
    projects = list(ROOT.glob("plugins/*/pyproject.toml"))
    assert sorted(STRATEGIES) == sorted(path.parent.name for path in projects)
    beside = requirements(ROOT / "pyproject.toml") | {"mklkit"}
    assert set().union(*map(requirements, projects)) - beside == set(BROUGHT)


@pytest.mark.parametrize(("package", "combiner"), STRATEGIES.items())
def test_a_package_leaves_no_trace(bare: Environment, package: str, combiner: str) -> None:
    files, names = contents(bare.packages), listed(bare)
    assert origins(bare) == {"mklkit"}

    came = bare.install(ROOT / "plugins" / package)
    assert origins(bare) == {"mklkit", package}
    bare.run(f"mklkit fit iris --combiner '{combiner}' -o model.mkl")
    assert predict(bare).returncode == 0

    bare.uninstall(package)
    assert listed(bare) == names
    # What it brought is for others as well, so that pip leaves it; it goes by itself.
    if brought := came - {package}:
        bare.uninstall(*brought)
    assert contents(bare.packages) == files
    bare.run("mklkit fit --combiner dimkl3")
    orphan = predict(bare)
    assert orphan.returncode == 2
    assert f"with the plugin {package}: install it" in orphan.stderr
    assert "Traceback" not in orphan.stderr
