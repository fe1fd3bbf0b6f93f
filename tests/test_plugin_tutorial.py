"""The plugin page, followed to the letter: its listings become a package that pip installs.

It goes into an environment of its own, which sees the packages of the one that runs the tests.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from documents import commands, listings
from environments import Environment

PAGE = "docs/guides/plugins/write-a-combiner.md"
FIRST_STEPS = ["pip install .", "mklkit list combiners", "mklkit fit --combiner contrast"]
WITH_PARAMETERS = [
    "pip install .",
    'mklkit fit --combiner "contrast(power=2)"',
    "mklkit fit --combiner contrast --tune fast",
    "mklkit plugin check mklkit-contrast",
]


def follow(author: Environment, number: int, steps: list[str]) -> list[str]:
    """Write a listing of the page and run commands; return what each prints."""
    (author.folder / "mklkit_contrast.py").write_text(listings(PAGE, "python")[number], "utf-8")
    return [author.run(step).stdout for step in steps]


def learned_weights(author: Environment, combiner: str) -> np.ndarray:
    result = json.loads(author.run(f'mklkit fit --json --combiner "{combiner}"').stdout)
    return np.array([row["weight"] for row in result["model"]["weights"]])


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return the environment of somebody who follows the page."""
    home = tmp_path_factory.mktemp("tutorial")
    folder = home / "mklkit-contrast"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(listings(PAGE, "toml")[0], "utf-8")
    return Environment(home, folder)


@pytest.fixture(scope="module")
def first_steps(author: Environment) -> tuple[list[str], np.ndarray]:
    """Return what the first steps print, and the weights they learn."""
    return follow(author, 0, FIRST_STEPS), learned_weights(author, "contrast")


@pytest.fixture(scope="module")
def with_parameters(author: Environment, first_steps: object) -> list[str]:
    """Return what the steps of the second listing print; it takes the place of the first."""
    return follow(author, 1, WITH_PARAMETERS)


def test_the_steps_here_are_those_of_the_page() -> None:
    assert commands(PAGE) == FIRST_STEPS + WITH_PARAMETERS
    assert len(listings(PAGE, "python")) == 2
    assert len(listings(PAGE, "toml")) == 1


@pytest.mark.packages
def test_a_plain_function_becomes_a_combiner(first_steps: tuple[list[str], np.ndarray]) -> None:
    (_, listed, fitted), weights = first_steps
    [line] = [line for line in listed.splitlines() if "contrast" in line]
    assert line.split()[:3] == ["contrast", "mklkit-contrast", "0.1.0"]
    assert "Mean similarity within classes" in line
    assert "combiner contrast" in fitted
    for kernel in ("cosine_linear", "rbf", "cosine_polynomial"):
        assert kernel in fitted
    assert weights.sum() == pytest.approx(1)
    # Uniform weights would be what is left of a rule that failed.
    assert weights.max() - weights.min() > 0.01


@pytest.mark.packages
def test_a_parameter_acts_as_the_page_says(
    author: Environment, first_steps: tuple[list[str], np.ndarray], with_parameters: list[str]
) -> None:
    assert "combiner contrast(power=2" in with_parameters[1]
    assert "combiner__power" in with_parameters[2]
    assert "combiner   contrast" in with_parameters[3]
    assert "failed:" not in with_parameters[3]
    _, plain = first_steps
    squared = learned_weights(author, "contrast(power=2)")
    np.testing.assert_allclose(squared, plain**2 / (plain**2).sum(), rtol=1e-9)


@pytest.mark.packages
@pytest.mark.usefixtures("with_parameters")
def test_a_refused_parameter_is_the_users_mistake(author: Environment) -> None:
    refused = author.run('mklkit fit --combiner "contrast(power=-1)"', NO_COLOR="1")
    assert refused.returncode == 2
    assert "power" in refused.stderr
    assert "Traceback" not in refused.stderr
