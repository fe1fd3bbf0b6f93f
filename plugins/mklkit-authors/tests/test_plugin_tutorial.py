"""The plugin page, followed to the letter: its listings become a package that pip installs.

It goes into an environment of its own, which sees the packages of the one that runs the tests.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.documents import commands, listings
from helpers.environments import Environment
from helpers.processes import Outcome

PAGE = "docs/guides/plugins/write-a-combiner.md"
FIRST_STEPS = ["pip install .", "mklkit list combiners", "mklkit fit --combiner contrast"]
WITH_PARAMETERS = [
    "pip install .",
    'mklkit fit --combiner "contrast(power=2)"',
    "mklkit fit --combiner contrast --tune fast",
    "mklkit plugin check mklkit-contrast",
]


class Author(Environment):
    """Somebody who follows the page: a folder to write in, an environment to install into."""

    def __init__(self, home: Path) -> None:
        folder = home / "mklkit-contrast"
        folder.mkdir()
        super().__init__(home, folder)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def follow(self, steps: list[str], *more: str) -> list[Outcome]:
        """Run commands of the page, the first of which installs, and further ones."""
        install, *commands = steps
        self.run(install)
        return self.run_commands(*commands, *more)


def learned_weights(fitted: Outcome) -> np.ndarray:
    return np.array([row["weight"] for row in fitted.json["model"]["weights"]])


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    author = Author(tmp_path_factory.mktemp("tutorial"))
    author.write("pyproject.toml", listings(PAGE, "toml")[0])
    return author


@pytest.fixture(scope="module")
def first_steps(author: Author) -> list[Outcome]:
    """Return what the first steps print, and the last of them as JSON."""
    author.write("mklkit_contrast.py", listings(PAGE, "python")[0])
    return author.follow(FIRST_STEPS, f"{FIRST_STEPS[-1]} --json")


@pytest.fixture(scope="module")
def with_parameters(author: Author, first_steps: object) -> list[Outcome]:
    """Return what the steps of the second listing print; it takes the place of the first."""
    author.write("mklkit_contrast.py", listings(PAGE, "python")[1])
    refused = 'mklkit fit --combiner "contrast(power=-1)"'
    return author.follow(WITH_PARAMETERS, f"{WITH_PARAMETERS[1]} --json", refused)


def test_the_steps_here_are_those_of_the_page() -> None:
    assert commands(PAGE) == FIRST_STEPS + WITH_PARAMETERS
    assert len(listings(PAGE, "python")) == 2
    assert len(listings(PAGE, "toml")) == 1


@pytest.mark.packages
def test_a_plain_function_becomes_a_combiner(first_steps: list[Outcome]) -> None:
    listed, fitted, as_json = first_steps
    weights = learned_weights(as_json)
    [line] = [line for line in listed.out.splitlines() if "contrast" in line]
    assert line.split()[:3] == ["contrast", "mklkit-contrast", "0.1.0"]
    assert "Mean similarity within classes" in line
    assert "combiner contrast" in fitted.out
    for kernel in ("cosine_linear", "rbf", "cosine_polynomial"):
        assert kernel in fitted.out
    assert weights.sum() == pytest.approx(1)
    # Uniform weights would be what is left of a rule that failed.
    assert weights.max() - weights.min() > 0.01


@pytest.mark.packages
def test_a_parameter_acts_as_the_page_says(
    first_steps: list[Outcome], with_parameters: list[Outcome]
) -> None:
    fitted, tuned, checked, as_json, refused = with_parameters
    assert "combiner contrast(power=2" in fitted.out
    assert "combiner__power" in tuned.out
    assert "combiner   contrast" in checked.out
    assert "failed:" not in checked.out
    plain = learned_weights(first_steps[-1])
    np.testing.assert_allclose(learned_weights(as_json), plain**2 / (plain**2).sum(), rtol=1e-9)
    refused.refused("power")
