"""The README does what it says: its commands and listings run, its output is the real one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from helpers.documents import MADE, PAGES, ROOT, commands, listings, needs_checkout
from helpers.following import accuracies, run_in_turn, same_but_for_rounding
from helpers.processes import run_listing
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import Pipeline

from mklkit import MKLClassifier

README = "README.md"
LINKING = [*(page.name for page in sorted(ROOT.glob("*.md"))), *PAGES]

_PICTURE = re.compile(r"(\.\./)?gallery/(plot_\w+)\.rst")
_KERNEL = re.compile(
    r"^ (\w+) +(0\.\d+) ± \S+ +\d+\.\d ± \S+ +(\d+\.\d) ± \S+ +(\d+\.\d) ± \S+$", re.MULTILINE
)
_LINK = re.compile(r"\]\((?!\w+:)([^)#]+)")


def steps(command: str) -> list[str]:
    """Return the parts of a command that this environment has still to run."""
    parts = [part.strip() for part in command.split("&&")]
    return [part for part in parts if not part.startswith("pip install ") and part != "pytest"]


def promised() -> list[str]:
    """Return the commands that install."""
    return [command for command in commands(README) if command.startswith("pip ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tables that the README takes its reader to have."""
    rng = np.random.default_rng(7)
    species = rng.choice(["setosa", "virginica", "versicolor"], size=90)
    length = rng.normal(size=90) + 2 * (species == "virginica")
    length[3] = np.nan
    table = pd.DataFrame(
        {
            "length": length,
            "width": rng.normal(size=90) + 2 * (species == "setosa"),
            "site": rng.choice(["north", "south"], size=90),
            "species": species,
        }
    )
    folder = tmp_path_factory.mktemp("reader")
    table.iloc[:70].to_csv(folder / "measurements.csv", index=False)
    table.iloc[70:].drop(columns="species").to_csv(folder / "new.csv", index=False)
    table["species"].iloc[70:].to_csv(folder / "truth.csv", index=False)
    return folder


def test_the_two_commands_are_the_promised_ones() -> None:
    assert promised() == [
        "pip install . && mklkit fit --combiner dimkl3",
        'pip install ".[test]" && pytest',
    ]


@needs_checkout
def test_ci_runs_the_two_commands_before_it_installs_anything_else() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    lines = [line.strip() for line in script]
    installing = [line for line in lines if "pip install" in line and not line.startswith("#")]
    assert installing[:2] == promised()
    assert not any("plugins/" in line for line in lines[: lines.index(installing[1])])


@needs_checkout
def test_ci_runs_every_marked_test() -> None:
    """What is left out of the second command is run by a step of its own."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = options["tool"]["pytest"]["ini_options"]
    declared = {line.partition(":")[0]: line for line in settings["markers"]}
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for name, line in declared.items():
        assert f"not {name}" in settings["addopts"]
        steps = re.findall(r'-m "(.*) and not slow and not benchmark"', script)
        named = any(name in re.findall(r"\w+", step) for step in steps)
        assert named != ("not in CI" in line)


def test_the_first_command_fits_the_built_in_data(tmp_path: Path) -> None:
    [command] = steps(promised()[0])
    [printed] = run_in_turn([command], tmp_path)
    [[train, held_out]] = re.findall(r"^ accuracy +([\d.]+) % +([\d.]+) %", printed, re.MULTILINE)
    for said in (
        "breast_cancer: 569 rows, 30 features",
        "no DATA was given",
        "114 rows, stratified",
    ):
        assert said in printed
    # A logistic regression has 98 % on these data.
    assert float(train) > 95
    assert float(held_out) > 90


@pytest.mark.parametrize(
    ("splits", "tolerance"), [("2x1", 4.0), pytest.param("10x2", 0.3, marks=pytest.mark.slow)]
)
@pytest.mark.process
def test_comparison_has_the_rows_that_are_shown(
    tmp_path: Path, splits: str, tolerance: float
) -> None:
    """On two folds; with half of the rows to learn from, accuracies are lower by a point or two."""
    [command] = [line for line in commands(README) if line.startswith("mklkit compare")]
    [printed] = run_in_turn([command.replace("--cv 10x2", f"--cv {splits}")], tmp_path)
    shown, reached = accuracies(listings(README, "text")[1]), accuracies(printed)
    assert shown.keys() == reached.keys()
    np.testing.assert_allclose(
        [reached[name] for name in shown], [shown[name] for name in shown], atol=tolerance
    )
    assert reached["uniform"] > reached["fourier"] > reached["pattern"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("folds", "tolerance"), [("2x1", 8.0), pytest.param("5x10", 0.3, marks=pytest.mark.slow)]
)
def test_explanation_has_what_is_shown(tmp_path: Path, folds: str, tolerance: float) -> None:
    """On two folds, of which a model has fewer rows; the weights are nearly the same."""
    calls = [line for line in commands(README) if "digits.mkl" in line]
    calls[-1] += f" --cv {folds}"
    *_, printed = run_in_turn(calls, tmp_path)
    shown, reached = _KERNEL.findall(listings(README, "text")[0]), _KERNEL.findall(printed)
    assert [name for name, *_ in shown] == [name for name, *_ in reached]
    shown, reached = (
        np.array([numbers for _, *numbers in rows], dtype=float) for rows in (shown, reached)
    )
    np.testing.assert_allclose(reached[:, 0], shown[:, 0], atol=0.02)
    np.testing.assert_allclose(reached[:, 1:], shown[:, 1:], atol=tolerance)


@needs_checkout
def test_the_picture_has_the_numbers_of_the_table() -> None:
    rows = _KERNEL.findall(listings(README, "text")[0])
    numbers = [text for _, weight, lost, _ in rows for text in (f"{float(weight):.2f}", lost)]
    for shade in ("light", "dark"):
        drawn = (ROOT / "docs" / "_static" / f"worth-{shade}.svg").read_text(encoding="utf-8")
        assert re.findall(r">(\d+\.\d+)<", drawn) == numbers


@pytest.mark.parametrize(
    "page", [pytest.param(README, marks=pytest.mark.process), "docs/guides/tables.md"]
)
@pytest.mark.process
def test_commands_on_a_table_run_in_turn(page: str, folder: Path) -> None:
    calls = [
        line
        for line in commands(page)
        if line not in promised() and "multiple_features" not in line
    ]
    run_in_turn(calls, folder)
    predicted = pd.read_csv(folder / "predictions.csv")["prediction"]
    truth = pd.read_csv(folder / "truth.csv")["species"]
    # Guessing would be right once in three.
    assert (predicted == truth).mean() > 0.6


def test_pipelines_on_the_page_of_tables_keep_text_for_its_kernel(
    capsys: pytest.CaptureFixture[str],
) -> None:
    [listing] = listings("docs/guides/tables.md", "python")
    names: dict[str, object] = {}
    exec(listing, names)
    assert cast(Pipeline, names["model"])["encode"].passthrough_ == ["sequence"]
    same_but_for_rounding(*listings("docs/guides/tables.md", "text"), capsys.readouterr().out)


@pytest.mark.process
def test_python_composition_prints_what_is_shown(tmp_path: Path) -> None:
    outcome = run_listing(listings(README, "python")[0], {"__name__": "__main__"}, tmp_path)
    assert outcome.code == 0, outcome
    same_but_for_rounding(listings(README, "text")[2], outcome.out)


def test_the_plugin_is_a_combiner() -> None:
    names: dict[str, Any] = {}
    exec(listings(README, "python")[1].replace("@register\n", ""), names)
    model = MKLClassifier(["rbf", "rbf(sigma='mean/4')"], combiner=names["class_gap"]())
    assert model.fit(*load_breast_cancer(return_X_y=True)).weights_.min() > 0


def test_every_listing_is_looked_at() -> None:
    assert len(listings(README, "python")) == 2
    assert len(listings(README, "text")) == 3


def test_readme_is_short() -> None:
    assert len((ROOT / README).read_text(encoding="utf-8").splitlines()) <= 120


def test_headings_are_on_lines_of_their_own() -> None:
    # A paragraph wrapped together with the heading after it shows "##" in its text.
    for page in LINKING:
        prose = re.sub(
            r"```.*?```|`[^`\n]*`", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL
        )
        assert not re.search(r"\S[^\S\n]+#{2,4} ", prose), page


@pytest.mark.parametrize("page", LINKING)
def test_links_lead_somewhere(page: str) -> None:
    links = _LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    # The gallery's pages are made of the examples.
    links = [
        re.sub(r"(\.\./)?gallery/(plot_\w+)\.rst", r"../\1examples/\2.py", link) for link in links
    ]
    targets = [((ROOT / page).parent / link).resolve() for link in links]
    # A source distribution comes without the packages, and a checkout without the built site.
    absent = MADE if (ROOT / "plugins").is_dir() else (*MADE, "plugins")
    missing = [path.relative_to(ROOT).as_posix() for path in targets if not path.exists()]
    assert not [path for path in missing if not path.startswith(absent)]
