"""The page "Which combiner?" and its benchmark: names and traits are declared, commands run."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.documents import ROOT
from helpers.following import follow

from mklkit import MKLClassifier, get_registry
from mklkit.plugin import CombinerTraits
from mklkit.protocols import traits_of

PAGE = "docs/guides/which-combiner.md"
BENCHMARK = "docs/guides/combiner-benchmark.md"
TASKS = {
    "classes": "two classes",
    "at once": "several classes",
    "regression": "numbers",
    "no labels": "none",
    "survival": "times",
}
PACKAGED = pytest.mark.process  # the packages are installed where these tests are run

_NAME = re.compile(r"`([a-z][a-z0-9-]*)`")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def rows() -> dict[str, list[str]]:
    """Return the cells beside each combiner in the tables of what each one needs."""
    section = text_of(BENCHMARK).split("## What each one needs")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: rest for first, *rest in cells for name in _NAME.findall(first)}


def declared(core: bool) -> dict[str, CombinerTraits]:
    """Return the traits of the combiners of mklkit itself, or of all that are installed."""
    registry = get_registry()
    return {
        entry.name: traits_of(registry.create("combiner", entry.name), CombinerTraits)
        for entry in registry.entries("combiner")
        if not core or entry.distribution == "mklkit"
    }


def needs_packages() -> None:
    """Skip where the packages of this project, whose combiners the page names, are missing."""
    for package in ("discriminant", "fusion", "optimize", "survival", "views"):
        pytest.importorskip(f"mklkit_{package}")


INSTALLED = [pytest.param(True, id="core"), pytest.param(False, id="all", marks=PACKAGED)]


@pytest.mark.parametrize("core", INSTALLED)
def test_every_registered_combiner_has_its_row_and_its_facts(core: bool) -> None:
    traits = declared(core)
    shown = rows()
    assert traits.keys() <= shown.keys()
    for name, stated in traits.items():
        learns, _, parts, *_ = shown[name]
        # The page names the kinds of mklkit itself; "any" is for those of packages.
        assert {TASKS[task] for task in learns.split(", ")} == {*stated.learns} - {"any"}, name
        assert (parts == "yes") == stated.from_moments, name


def situation(beginning: str) -> str:
    """Return the row of the first table that begins so."""
    return next(line for line in text_of(PAGE).splitlines() if line.startswith(f"| {beginning}"))


@PACKAGED
def test_the_combiners_for_streaming_data_are_all_that_can() -> None:
    needs_packages()
    named = _NAME.findall(situation("Streaming data").split("|")[2])
    assert set(named) == {name for name, fact in declared(core=False).items() if fact.from_moments}


@PACKAGED
def test_the_combiners_that_use_sample_weights_throughout_are_named() -> None:
    needs_packages()
    named = _NAME.findall(situation("Imbalanced classes").split("costs matter")[1])
    assert set(named) == {
        name
        for name, fact in declared(core=False).items()
        if fact.row_weights == "throughout" and fact.weights_are != "fixed"
    }


@PACKAGED
def test_exact_zeros_are_where_the_table_says() -> None:
    needs_packages()
    draw = np.random.default_rng(0)
    y = np.repeat([-1, 1], 30)
    X = draw.normal(size=(60, 24))
    X[:, :4] += 0.6 * y[:, None]
    kernels = [f"s{m}:rbf@{4 * m}:{4 * m + 4}" for m in range(6)]
    of_classes = [n for n, facts in declared(core=False).items() if "two classes" in facts.learns]
    for name in of_classes:
        zeros = rows()[name][1]
        if zeros == "some" or name in ("svm2k", "gamkl"):  # two kernels only; slow
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MKLClassifier(kernels, combiner=name, random_state=0).fit(X, y)
        assert (model.weights_.min() < 1e-9) == (zeros == "yes"), name


@PACKAGED
def test_commands_and_listings_run_on_fewer_samples(tmp_path: Path) -> None:
    """Their output on the pages takes minutes: here they have a few dozen samples each."""
    needs_packages()
    draw = np.random.default_rng(0)
    for name in ("one.csv", "two.csv"):
        frame = pd.DataFrame(draw.normal(size=(40, 4)))
        frame.columns = ["profile_0", "fourier_0", "pattern_0", "pattern_1"]
        frame["target"] = np.repeat(["a", "b"], 20)
        frame.to_csv(tmp_path / name, index=False)
    instead = {
        "breast_cancer wine sonar.csv ionosphere.csv heart_c.csv liver.csv glass.csv vote.csv": (
            "one.csv two.csv"
        ),
        "digits_sources": "one.csv",
        "--cv 5x2": "--cv 2x1",
        "200, 10)": "20, 2)",
        "(20, 40, 80, 200, 800)": "(20, 24)",
        "size, 20)": "size, 2)",
        "(5, 10, 20, 40, 80)": "(2, 3)",
        "], 250)": "], 20)",
        "size=(500": "size=(40",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = follow(PAGE, tmp_path, {"compare wine": "compare wine --cv 2x1"}, {})
        for step in [*steps, *follow(BENCHMARK, tmp_path, instead, {})]:
            assert len(step.printed.splitlines()) > 2
