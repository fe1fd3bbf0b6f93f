"""The pages on templates, followed to the letter, in one environment of its own for all packages.

What each page tells to install, test and list is done for all at once; what it lists is what the
command writes.
"""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import attrs
import pytest
from helpers.documents import ROOT, commands, listings
from helpers.environments import Environment
from helpers.processes import Outcome, run_in_process
from mklkit_authors import Template
from mklkit_authors.testing.missing import MISSING_CHECKS
from mklkit_authors.testing.tasks import TASK_CHECKS
from mklkit_authors.writing import NewPlugin

from mklkit import plugin
from mklkit.datasets import load_table
from mklkit.persistence import read_metadata

PAGES = {
    Template.weighting: "docs/guides/plugins/write-a-weighting.md",
    Template.gating: "docs/guides/plugins/write-a-gating.md",
    Template.coupling: "docs/guides/plugins/write-a-coupling.md",
    Template.fusion: "docs/guides/plugins/write-a-fusion.md",
    Template.kernel: "docs/guides/plugins/write-a-kernel.md",
    Template.map: "docs/guides/plugins/write-a-feature-map.md",
    Template.learner: "docs/guides/plugins/write-a-learner.md",
    Template.missing: "docs/guides/plugins/write-a-missing-source-strategy.md",
    Template.task: "docs/guides/plugins/write-a-task.md",
    Template.command: "docs/guides/plugins/add-a-command.md",
}
COMPONENTS = [template for template in PAGES if template is not Template.command]
# Every component has at least this many checks, so that a run of fewer tests has missed some.
CHECKS_AT_LEAST = 15
# Who has the methods that these pages name with what they are given.
OWNERS = {
    "weights": plugin.WeightingCombiner,
    "choose": plugin.LearnedWeighting,
    "fit_gates": plugin.GatingCombiner,
    "couple": plugin.CouplingCombiner,
    "subproblems": plugin.CouplingCombiner,
    "fuse": plugin.FusionCombiner,
    "learn": plugin.LearnedFusion,
    "subproblem": plugin.Learner,
    **dict.fromkeys(("solve", "outputs", "penalty", "finish"), plugin.Subproblem),
}


def names(template: Template) -> NewPlugin:
    """Return the names that a page gives its package."""
    _, _, _, name, *_ = shlex.split(commands(PAGES[template])[0])
    return NewPlugin(name, template)


@attrs.frozen
class Installed:
    """The packages of all pages, installed, and what was printed on the way."""

    environment: Environment
    tested: str
    listed: str
    checked: str
    used: dict[Template, Outcome]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds what the first line of each page writes."""
    folder = tmp_path_factory.mktemp("work")
    for page in PAGES.values():
        _, *arguments = shlex.split(commands(page)[0])
        outcome = run_in_process(*arguments, cwd=folder)
        assert outcome.code == 0, outcome
    return folder


@pytest.fixture(scope="module")
def installed(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    environment = Environment(tmp_path_factory.mktemp("templates"), written)
    folders = [names(template).distribution for template in PAGES]
    environment.run(f"pip install {' '.join(f'./{folder}' for folder in folders)}")
    tested = environment.run(f"pytest -v -p no:cacheprovider {' '.join(folders)}").stdout
    uses = [f"{names(template).use} --json -o {template.value}.mkl" for template in COMPONENTS]
    uses.append(f"{names(Template.command).use} --json")
    check = f"mklkit plugin check {names(Template.weighting).distribution}"
    # Of its 719 samples, a fifth show as well that sources may be missing, ten seconds earlier.
    table = load_table("digits_missing")
    frame = table.features.assign(target=table.target)[::5]
    frame.to_csv(written / "digits_missing.csv", index=False)
    last = [f"{commands(PAGES[template])[-1]} --cv 2x1" for template in COMPONENTS]
    last = [command.replace("digits_missing", "digits_missing.csv") for command in last]
    listed, checked, *rest = environment.run_commands("mklkit list", check, *last, *uses)
    compared, fitted = rest[: len(last)], rest[len(last) :]
    assert all(outcome.code == 0 for outcome in compared), compared
    by_template = dict(zip(PAGES, fitted, strict=True))
    return Installed(environment, tested, listed.out, checked.out, by_template)


@pytest.mark.parametrize("page", [*PAGES.values(), "docs/guides/plugins/write-a-combiner.md"])
def test_methods_are_given_what_a_page_says(page: str) -> None:
    for name, shown in re.findall(r"`(\w+)\(([\w, ]+)\)`", (ROOT / page).read_text("utf-8")):
        if name in OWNERS:
            _, *arguments = inspect.signature(getattr(OWNERS[name], name)).parameters.values()
            names = shown.split(", ")
            assert names == [argument.name for argument in arguments][: len(names)], name
            assert all(
                argument.default is not argument.empty for argument in arguments[len(names) :]
            ), name


def test_there_is_a_page_for_each_template() -> None:
    assert list(PAGES) == list(Template)


@pytest.mark.parametrize("template", PAGES)
def test_the_page_and_the_readme_tell_the_same(written: Path, template: Template) -> None:
    new = names(template)
    start = [f"mklkit plugin new {new.name} --template {template.value}", f"cd {new.distribution}"]
    steps = ['pip install ".[test]"', "pytest", f"mklkit list {new.listing}", new.use]
    assert commands(PAGES[template])[: len(start + steps)] == start + steps
    folder = written / new.distribution
    assert "```sh\n" + "\n".join(steps) + "\n```" in (folder / "README.md").read_text("utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    tests = ["mklkit-authors>=0.1"] * (template in COMPONENTS) + ["pytest"]
    assert project["optional-dependencies"] == {"test": tests}
    source = (folder / new.module / "__init__.py").read_text("utf-8")
    assert listings(PAGES[template], "python")[:1] == [source]
    for points in listings(PAGES[template], "toml"):
        assert points in (folder / "pyproject.toml").read_text("utf-8")
    assert (folder / new.module / "py.typed").exists()


def test_the_kernel_on_text_of_the_page_learns(capsys: pytest.CaptureFixture[str]) -> None:
    page = PAGES[Template.kernel]
    _, listing = listings(page, "python")
    exec(listing, {"__name__": "script"})
    assert [capsys.readouterr().out] == listings(page, "text")


@pytest.mark.packages
@pytest.mark.parametrize("check", [["check", "--no-cache"], ["format", "--check", "--no-cache"]])
def test_what_is_written_is_tidy(written: Path, check: list[str]) -> None:
    for template in PAGES:
        command = [sys.executable, "-m", "ruff", *check, "--config", ROOT / "pyproject.toml", "."]
        folder = written / names(template).distribution
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.packages
def test_packages_pass_their_tests_are_listed_and_work(installed: Installed) -> None:
    """In one test: several of them would go to several workers, which install all packages each."""
    for template in PAGES:
        its_own_test_passes(installed, template)
        it_is_listed_and_works(installed, template)
    the_last_step_of_the_first_page_passes(installed)


def its_own_test_passes(installed: Installed, template: Template) -> None:
    module = f"test_{names(template).name.replace('-', '_')}.py"
    lines = [line for line in installed.tested.splitlines() if f"{module}::" in line]
    passed = [line for line in lines if " PASSED" in line]
    skipped = [line for line in lines if " SKIPPED" in line]
    assert len(passed) + len(skipped) == len(lines), (template, lines)
    own = {Template.missing: len(MISSING_CHECKS), Template.task: len(TASK_CHECKS)}
    least = own.get(template, CHECKS_AT_LEAST)
    assert len(passed) >= (least if template in COMPONENTS else 2), template


def it_is_listed_and_works(installed: Installed, template: Template) -> None:
    new = names(template)
    lines = [line.split() for line in installed.listed.splitlines() if new.distribution in line]
    listed = {name: where for name, *where in (line[:3] for line in lines)}
    # The task comes with the learner of its kind of targets.
    names_listed = {new.name, "bounds-ridge"} if template is Template.task else {new.name}
    assert listed == {name: [new.distribution, "0.1.0"] for name in names_listed}, template
    assert installed.used[template].code == 0, installed.used[template]
    printed = installed.used[template].json
    if template is Template.command:
        assert printed == {"setosa": 50, "versicolor": 50, "virginica": 50}
        return
    model = printed["model"]
    used = [model["combiner"], model["feature_map"], model["learner"]]
    used += [kernel["spec"].partition("(")[0] for kernel in model["kernels"]]
    if template is Template.task:
        assert printed["data"]["task"] == new.name
        assert model["targets"] == ["mean radius", "worst radius"]
        assert printed["scores"]["held_out"]["better_than_baseline"]
    else:
        # No model lists a strategy for missing sources.
        assert new.name in used or template is Template.missing, (template, used)
        assert printed["scores"]["held_out"]["balanced_accuracy"] > 0.75, template
    # Whoever opens the file without the package is told its name.
    plugins = read_metadata(installed.environment.folder / f"{template.value}.mkl")["plugins"]
    assert [plugin["distribution"] for plugin in plugins] == [new.distribution]


def the_last_step_of_the_first_page_passes(installed: Installed) -> None:
    [line] = [line for line in installed.checked.splitlines() if line.startswith(" combiner")]
    _, name, passed, failed, _ = line.split()
    assert name == "aligned"
    assert int(passed) >= CHECKS_AT_LEAST
    assert int(failed) == 0


@pytest.mark.parametrize("template", COMPONENTS)
def test_the_last_steps_of_each_page_are_the_same(template: Template) -> None:
    new = names(template)
    *_, scaffold, check, compare = commands(PAGES[template])
    assert scaffold == f"mklkit plugin new {new.name} --template {template.value}"
    assert check == f"mklkit plugin check {new.distribution}"
    tables = {Template.missing: "digits_missing", Template.task: "breast_cancer"}
    table = tables.get(template, "wine")
    assert compare.startswith(f"mklkit compare {table} ")
    assert f" {new.name}" in compare
