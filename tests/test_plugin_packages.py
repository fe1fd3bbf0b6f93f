"""The packages under plugins/ come and go: nothing of one is left once it is uninstalled."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from documents import ROOT, needs_checkout
from environments import Environment

pytestmark = [pytest.mark.packages, needs_checkout]

# A strategy of each package; that of mklkit-optimize is solved by the package that it brings.
STRATEGIES = {
    "mklkit-discriminant": "localized",
    "mklkit-fusion": "defimkl",
    "mklkit-optimize": "easymkl(alpha=0.0001)",
    "mklkit-views": "cca-mhks2",
}
# A package that brings a command instead; mklkit.cli.package_commands.PACKAGES names it.
COMMANDS = {"mklkit-papers": "reproduce"}
# What only packages need has to come with them, so that no environment holds it beforehand.
BROUGHT = ("clarabel",)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment without any of the packages, whatever the tests themselves see."""
    home = tmp_path_factory.mktemp("bare")
    (home / "work").mkdir()
    return Environment(home, home / "work", without=(*STRATEGIES, *COMMANDS, *BROUGHT))


@pytest.fixture(scope="module")
def built_in(bare: Environment) -> str:
    """Return what is listed where no package is installed."""
    [listed] = bare.run_commands("mklkit list --json")
    return listed.out


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder and their bytes, but not what Python itself compiles."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if path.suffix != ".pyc"}


def origins(listed: str) -> set[str]:
    return {entry["distribution"] for entry in json.loads(listed)}


def requirements(project: Path) -> set[str]:
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    return {re.split(r"[^\w.-]", requirement)[0] for requirement in declared}


def test_every_package_is_here_and_what_it_brings() -> None:
    projects = list(ROOT.glob("plugins/*/pyproject.toml"))
    assert sorted([*STRATEGIES, *COMMANDS]) == sorted(path.parent.name for path in projects)
    beside = requirements(ROOT / "pyproject.toml") | {"mklkit"}
    assert set().union(*map(requirements, projects)) - beside == set(BROUGHT)


@pytest.mark.parametrize("package", [*STRATEGIES, *COMMANDS])
def test_a_package_leaves_no_trace(bare: Environment, built_in: str, package: str) -> None:
    assert origins(built_in) == {"mklkit"}
    files = contents(bare.packages)
    uses = [f"mklkit {COMMANDS.get(package)} list"]
    if package in STRATEGIES:
        fit = f"mklkit fit iris --combiner '{STRATEGIES[package]}' -o model.mkl"
        uses = [fit, "mklkit predict model.mkl iris"]

    came = bare.install(ROOT / "plugins" / package)
    listed, *used = bare.run_commands("mklkit list --json", *uses)
    assert origins(listed.out) == {"mklkit", package}
    for outcome in used:
        assert outcome.code == 0, outcome

    bare.uninstall(package)
    # What it brought is for others as well, so that pip leaves it; it goes by itself.
    if brought := came - {package}:
        bare.uninstall(*brought)
    assert contents(bare.packages) == files
    listed, fitted, orphan = bare.run_commands(
        "mklkit list --json", "mklkit fit --combiner dimkl3", uses[-1]
    )
    assert listed.out == built_in
    assert fitted.code == 0, fitted
    orphan.refused(package, "install")
