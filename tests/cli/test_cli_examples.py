"""The examples with which each command's help ends, and those of the guide: they run."""

from __future__ import annotations

import shlex
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
import shellingham
from helpers.documents import commands
from helpers.processes import Run

from mklkit.cli.examples import EXAMPLES
from mklkit.estimators.model_settings import DEFAULT_KERNELS, KERNELS, LEARNERS, MAPS
from mklkit.registry.columns import bind_kernels
from mklkit.registry.registry import get_registry

GUIDE = "docs/guides/command-line.md"


def test_help_names_what_there_is() -> None:
    assert (
        len(bind_kernels([*DEFAULT_KERNELS.split(", "), *shlex.split(KERNELS.replace(",", " "))]))
        == 5
    )
    for kind, specs in (("learner", LEARNERS), ("feature_map", MAPS)):
        for spec in shlex.split(specs.replace(",", " ")):
            get_registry().create(kind, spec)


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_ends_with_examples_that_fit_on_a_terminal(mklkit: Run, command: str) -> None:
    shown = mklkit(*command.split()[1:], "--help", COLUMNS="80").out
    _, _, end = shown.partition("\n Examples")
    lines = [line.strip() for line in end.splitlines() if line.strip()]
    assert lines == [line for example in EXAMPLES[command] for line in example]
    assert 1 <= len(EXAMPLES[command]) <= 3
    for _, call in EXAMPLES[command]:
        assert call.startswith(command)


@pytest.mark.process
def test_examples_run_one_after_another(
    mklkit: Run, tmp_path: Path, patients: pd.DataFrame
) -> None:
    patients.to_csv(tmp_path / "patients.csv", index=False)
    for examples in EXAMPLES.values():
        for _, call in examples:
            done = mklkit(*shlex.split(call)[1:], cwd=tmp_path)
            assert done.code == 0, (call, done)


@pytest.mark.process
def test_commands_of_the_guide_run(mklkit: Run, tmp_path: Path) -> None:
    detected = mock.patch.object(shellingham, "detect_shell", return_value=("fish", "/bin/fish"))
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}
    with detected:
        for call in commands(GUIDE):
            done = mklkit(*shlex.split(call)[1:], cwd=tmp_path, **home)
            assert done.code == 0, (call, done)
    assert (tmp_path / ".config" / "fish" / "completions" / "mklkit.fish").exists()
