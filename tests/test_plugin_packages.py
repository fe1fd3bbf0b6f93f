"""The packages under plugins/ come and go: nothing of one is left once it is uninstalled."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from documents import ROOT
from environments import Environment

pytestmark = pytest.mark.packages

# A strategy of each package, and a combination that fits with it.
STRATEGIES = {
    "mklkit-discriminant": "localized",
    "mklkit-fusion": "defimkl",
    "mklkit-optimize": "easymkl",
    "mklkit-views": "cca-mhks2",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment without any of the packages, whatever the tests themselves see."""
    home = tmp_path_factory.mktemp("bare")
    (home / "work").mkdir()
    return Environment(home, home / "work", without=STRATEGIES)


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


def test_every_package_is_here() -> None:
    projects = ROOT.glob("plugins/*/pyproject.toml")
    assert sorted(STRATEGIES) == sorted(path.parent.name for path in projects)


@pytest.mark.parametrize(("package", "combiner"), STRATEGIES.items())
def test_a_package_leaves_no_trace(bare: Environment, package: str, combiner: str) -> None:
    files, names = contents(bare.packages), listed(bare)
    assert origins(bare) == {"mklkit"}

    bare.run(f"pip install --quiet '{ROOT / 'plugins' / package}'")
    assert origins(bare) == {"mklkit", package}
    bare.run(f"mklkit fit iris --combiner '{combiner}' -o model.mkl")
    assert predict(bare).returncode == 0

    bare.run_python("-m", "pip", "uninstall", "--yes", "--quiet", package)
    assert listed(bare) == names
    assert contents(bare.packages) == files
    bare.run("mklkit fit --combiner dimkl3")
    orphan = predict(bare)
    assert orphan.returncode == 2
    assert f"with the plugin {package}: install it" in orphan.stderr
    assert "Traceback" not in orphan.stderr
