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
from helpers.following import run_in_turn, same_but_for_rounding
from helpers.processes import run_listing
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import Pipeline

from mklkit import MKLClassifier

README = "README.md"
STUDY = "docs/guides/prokaryotic.md"
LINKING = [*(page.name for page in sorted(ROOT.glob("*.md"))), *PAGES]

_PICTURE = re.compile(r"(\.\./)?gallery/(plot_\w+)\.rst")
_KERNEL = re.compile(
    r"^ (\w+) +(0\.\d+) ± \S+ +\+\d+\.\d ± \S+ +[+−]?(\d+\.\d) ± \S+ +[+−]?(\d+\.\d) ± \S+$",
    re.MULTILINE,
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
    study(folder)
    return folder


def study(folder: Path) -> None:
    """Write a study of patients, in a file for the response and one for each source."""
    rng = np.random.default_rng(8)
    patients = pd.Index([f"p{number}" for number in range(60)], name="patient")
    response = rng.choice(["no", "yes"], size=60)
    pd.DataFrame({"response": response}, patients).to_csv(folder / "patients.csv")
    for source, columns in (("mrna", 5), ("clinic", 2)):
        levels = rng.normal(size=(60, columns)) + (response == "yes")[:, None]
        # The files have their samples in orders of their own, and not all of them.
        some = pd.DataFrame(levels, patients).add_prefix("c").sample(50, random_state=columns)
        some.to_csv(folder / f"{source}.csv")


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
        "breast_cancer: 569 samples, 30 features",
        "no DATA was given",
        "114 samples, stratified",
    ):
        assert said in printed
    # A logistic regression has 98 % on these data.
    assert float(train) > 95
    assert float(held_out) > 90


@pytest.mark.process
@pytest.mark.parametrize(
    ("folds", "tolerance"), [("2x1", 8.0), pytest.param("5x10", 0.3, marks=pytest.mark.slow)]
)
def test_explanation_has_what_is_shown(tmp_path: Path, folds: str, tolerance: float) -> None:
    """On two folds, of which a model has fewer rows; the weights are nearly the same."""
    calls = [line for line in commands(README) if "digits.mkl" in line]
    calls[-1] += f" --cv {folds}"
    *_, printed = run_in_turn(calls, tmp_path)
    shown, reached = _KERNEL.findall(listings(README, "text")[1]), _KERNEL.findall(printed)
    assert [name for name, *_ in shown] == [name for name, *_ in reached]
    shown, reached = (
        np.array([numbers for _, *numbers in rows], dtype=float) for rows in (shown, reached)
    )
    np.testing.assert_allclose(reached[:, 0], shown[:, 0], atol=0.02)
    np.testing.assert_allclose(reached[:, 1:], shown[:, 1:], atol=tolerance)


@needs_checkout
def test_the_picture_has_the_numbers_of_the_study() -> None:
    """The page of the study prints them, and is followed by a test of its own."""
    page = (ROOT / STUDY).read_text(encoding="utf-8")
    methods = {"text": "text", "composition": "composition", "genes": "genes", "all": "uniform"}
    alone = {
        name: re.findall(rf"^ {method} +\S+ +(\d+\.\d) ± ", page, re.MULTILINE)
        for name, method in methods.items()
    }
    # The change without a source is the last number but one.
    changes = r" +0\.\d+ ± .*?(\d+\.\d) ± \S+ +\S+ ± \S+$"
    lost = {
        name: re.findall(rf"^ {name}{changes}", page, re.MULTILINE)
        for name in ("text", "composition", "genes")
    }
    numbers = [text for name, scores in alone.items() for text in (*scores, *lost.get(name, []))]
    assert len(numbers) == 7
    for shade in ("light", "dark"):
        drawn = (ROOT / "docs" / "_static" / f"worth-{shade}.svg").read_text(encoding="utf-8")
        assert re.findall(r">(\d+\.\d)<", drawn) == numbers


@needs_checkout
def test_the_picture_has_the_intervals_of_the_study() -> None:
    """Each line leaves out zero where the study says that the source is needed."""
    page = (ROOT / STUDY).read_text(encoding="utf-8")
    needed = [f"{name}: lost: " in page for name in ("text", "composition", "genes")]
    assert needed == [False, True, True]
    for shade in ("light", "dark"):
        drawn = (ROOT / "docs" / "_static" / f"worth-{shade}.svg").read_text(encoding="utf-8")
        [zero] = map(int, re.findall(r'd="M(\d+) \d+V', drawn))
        ends = re.findall(r'd="M(\d+) \d+H(\d+)"', drawn)
        assert [int(low) > zero for low, _ in ends] == needed
        assert all(int(high) > zero for _, high in ends)


@pytest.mark.parametrize("page", [README, "docs/index.md"])
def test_the_words_beside_the_picture_have_the_numbers_of_the_study(page: str) -> None:
    study = " ".join((ROOT / STUDY).read_text(encoding="utf-8").split())
    words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    drawn = re.search(r"text 67.+?genes 8\.4", words)
    assert drawn
    story = words[words.index("All three sources reach") : words.index("**Limits.**")]
    for figure in re.findall(r"\d+\.\d", drawn.group() + story):
        assert figure in study, figure
    assert "(97.5 % CI 0.3 to 11.2)" in story
    assert "by 5.7 points (97.5 % CI 0.3 to 11.2)" in study
    assert "linear SVC on normalised sources has 94.2 %, the same as `auto`" in study
    assert "both have an accuracy (not balanced) of 94.2 %" in words


def test_the_site_begins_in_the_same_words() -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in (README, "docs/index.md")]
    readme, index = (page.replace("](docs/", "](") for page in pages)
    starts = ("Learn one model", "All three sources reach", "A large weight")
    ends = ("The example predicts", "[The study, step by step]", "## A plugin")
    for start, end in zip(starts[:2], ends[:2], strict=True):
        assert readme[readme.index(start) : readme.index(end)] in index
    explained = readme[readme.index(starts[2]) : readme.index(ends[2])].strip()
    assert explained in index


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
    same_but_for_rounding(listings(README, "text")[0], outcome.out)


def test_the_plugin_is_a_combiner() -> None:
    names: dict[str, Any] = {}
    exec(listings(README, "python")[1].replace("@register\n", ""), names)
    model = MKLClassifier(["rbf", "rbf(sigma='mean/4')"], combiner=names["class_gap"]())
    assert model.fit(*load_breast_cancer(return_X_y=True)).weights_.min() > 0


def test_every_listing_is_looked_at() -> None:
    assert len(listings(README, "python")) == 2
    assert len(listings(README, "text")) == 2


def test_readme_is_short() -> None:
    assert len((ROOT / README).read_text(encoding="utf-8").splitlines()) <= 130


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
