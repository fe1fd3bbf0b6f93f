"""The workflows of the forge run what the README, the metadata and CONTRIBUTING promise."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.documents import ROOT, commands, needs_checkout

pytestmark = needs_checkout

NAMES = ("release", "site", "tests")


def workflow(name: str) -> dict[str, Any]:
    path = ROOT / ".github" / "workflows" / f"{name}.yml"
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def runs(job: dict[str, Any]) -> list[str]:
    """Return the commands of a job."""
    return [step["run"] for step in job["steps"] if "run" in step]


def test_these_are_all_workflows() -> None:
    assert tuple(sorted(path.stem for path in ROOT.glob(".github/workflows/*"))) == NAMES


def test_the_commands_of_the_readme_run_on_three_systems_and_pythons() -> None:
    job = workflow("tests")["jobs"]["readme"]
    promised = [command for command in commands("README.md") if command.startswith("pip ")]
    assert runs(job) == promised
    systems = job["strategy"]["matrix"]["system"]
    assert {system.partition("-")[0] for system in systems} == {"ubuntu", "macos", "windows"}

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [line.rpartition(" :: ")[2] for line in project["classifiers"]]
    supported = [version for version in versions if version.startswith("3.")]
    pythons = job["strategy"]["matrix"]["python"]
    assert len(pythons) == 3
    assert set(pythons) <= set(supported)
    assert {supported[0], supported[-1]} <= set(pythons)


def test_scripts_that_are_run_exist() -> None:
    words = [
        word
        for name in NAMES
        for job in workflow(name)["jobs"].values()
        for run in runs(job)
        for word in shlex.split(run)
    ]
    scripts = [word for word in words if word.startswith(".ci/")]
    assert set(scripts) == {".ci/run", ".ci/versions.py", ".ci/build_and_check.py"}
    assert all((ROOT / script).is_file() for script in scripts)


def test_the_site_is_built_as_contributors_build_it() -> None:
    [build] = [line for line in commands("CONTRIBUTING.md") if "-m sphinx" in line]
    assert build in runs(workflow("site")["jobs"]["build"])


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_keeps_no_secret_and_writes_only_where_it_publishes(name: str) -> None:
    loaded = workflow(name)
    assert "secrets." not in Path(ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
    assert loaded["permissions"] == {"contents": "read"}
    writing = {key for key, job in loaded["jobs"].items() if "write" in str(job.get("permissions"))}
    assert writing == ({"publish"} if name != "tests" else set())


def test_a_release_uploads_what_was_checked() -> None:
    jobs = workflow("release")["jobs"]
    assert any(".ci/build_and_check.py --keep dist" in run for run in runs(jobs["build"]))
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
