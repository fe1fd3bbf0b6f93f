"""The packages under plugins/ come and go: nothing is left once they are uninstalled."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from helpers.documents import ROOT, needs_checkout
from helpers.environments import Environment

pytestmark = [pytest.mark.packages, needs_checkout]

# A strategy of each package; that of mklkit-optimize is solved by the package that it brings.
STRATEGIES = {
    "mklkit-discriminant": "localized",
    "mklkit-fusion": "defimkl",
    "mklkit-optimize": "easymkl(alpha=0.0001)",
    "mklkit-views": "cca-mhks2",
}
# What is for data that the built-in sets have not: kernels, strategies for missing sources, times.
KERNELS = ("mklkit-kernels", "mklkit-missing", "mklkit-survival")
# A call of the command that others bring instead; mklkit.cli.package_commands.PACKAGES names it.
COMMANDS = {"mklkit-authors": "plugin new mine", "mklkit-papers": "reproduce list"}
PACKAGES = (*STRATEGIES, *KERNELS, *COMMANDS)
# What only packages need has to come with them, so that no environment holds it beforehand.
BROUGHT = ("clarabel", "scikit-survival")
# What is imported by another name than it is installed.
MODULES = {"sklearn": "scikit-learn", "sksurv": "scikit-survival"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment without any of the packages, whatever the tests themselves see."""
    home = tmp_path_factory.mktemp("bare")
    (home / "work").mkdir()
    return Environment(home, home / "work", without=(*PACKAGES, *BROUGHT))


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
    assert sorted(PACKAGES) == sorted(path.parent.name for path in projects)
    beside = requirements(ROOT / "pyproject.toml") | {"mklkit"}
    assert set().union(*map(requirements, projects)) - beside == set(BROUGHT)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_declares_what_it_imports(package: str) -> None:
    """As each needs when it is installed alone."""
    declared = (ROOT / "plugins" / package / "pyproject.toml").read_text(encoding="utf-8")
    sources = ROOT.glob(f"plugins/{package}/mklkit_*/**/*.py")
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    imported = {*re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE)}
    for name in imported - sys.stdlib_module_names:
        assert f'"{MODULES.get(name, name)}' in declared, name


def test_packages_leave_no_trace(bare: Environment) -> None:
    files = contents(bare.packages)
    models = {name: f"mklkit predict {name}.mkl iris" for name in STRATEGIES}
    uses = models | {name: f"mklkit {call}" for name, call in COMMANDS.items()}
    fits = [
        f"mklkit fit iris --combiner '{combiner}' -o {name}.mkl"
        for name, combiner in STRATEGIES.items()
    ]
    [before] = bare.run_commands("mklkit list --json")
    assert origins(before.out) == {"mklkit"}

    came = bare.install(*(ROOT / "plugins" / name for name in PACKAGES))
    listed, *used = bare.run_commands("mklkit list --json", *fits, *uses.values())
    assert set(PACKAGES) <= came
    assert origins(listed.out) == {"mklkit", *PACKAGES}
    for outcome in used:
        assert outcome.code == 0, outcome

    # What they brought is for others as well, so that pip leaves it; it goes by itself.
    bare.uninstall(*came)
    assert contents(bare.packages) == files
    listed, fitted, *orphans = bare.run_commands(
        "mklkit list --json", "mklkit fit --combiner dimkl3", *uses.values()
    )
    assert listed.out == before.out
    assert fitted.code == 0, fitted
    for name, orphan in zip(uses, orphans, strict=True):
        orphan.refused(name, "install")
