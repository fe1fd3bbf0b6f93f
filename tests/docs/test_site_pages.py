"""The pages do what they say: their commands and listings run in turn, and print what is shown."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Mapping
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest
from helpers.documents import (
    PAGES,
    ROOT,
    SHARED_SOURCES,
    blocks,
    commands,
    listings,
    needs_checkout,
)
from helpers.following import RUN, accuracies, follow, same_but_for_rounding
from sklearn.datasets import load_diabetes

from mklkit.errors import DataError
from mklkit.views import memory

PLUGIN_PAGES = [
    f"docs/guides/plugins/write-a-{kind}.md"
    for kind in (
        *("weighting", "gating", "coupling", "fusion"),
        *("kernel", "feature-map", "learner", "missing-source-strategy", "task"),
    )
]


def nothing(folder: Path) -> None:
    """Leave the folder empty."""


@attrs.frozen
class Followed:
    """How a page is followed here.

    ``bring`` writes the files that its reader is taken to have. ``instead`` has parts of commands
    and listings, and what stands there in the test, so that it is quick; what these print is not
    compared. ``left_out`` has the beginnings of what is not run, each with the reason. ``needs`` is
    the package whose combiners the page names. ``long`` pages take a second or more on a quiet
    machine: they and those of packages are left to a step of CI. ``slow`` pages need the published
    data and minutes, or many explanations, which other pages have too.
    """

    bring: Callable[[Path], None] = nothing
    instead: Mapping[str, str] = attrs.field(factory=dict)
    left_out: Mapping[str, str] = attrs.field(factory=dict)
    needs: str = "mklkit"
    long: bool = False
    slow: bool = False

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        """The marks of the page's test."""
        if self.slow:
            return [pytest.mark.slow]
        return [pytest.mark.process] if self.long or self.needs != "mklkit" else []


def patients(folder: Path) -> None:
    """Write a table whose sources are groups of columns, and rows to predict."""
    draw = np.random.default_rng(0)
    ill = draw.random(160) < 0.5
    table = pd.DataFrame(
        {
            "lab_iron": draw.normal(size=160) + 1.2 * ill,
            "lab_zinc": np.where(draw.random(160) < 0.05, np.nan, draw.normal(size=160)),
            "image_area": draw.gamma(2 + 1.0 * ill),
            "image_edge": draw.normal(size=160),
            "answer_pain": draw.choice(["none", "some", "much"], size=160),
            "answer_smoker": np.where(draw.random(160) < 0.3 + 0.3 * ill, "yes", "no"),
            "diagnosis": np.where(ill, "ill", "well"),
        }
    )
    table[:120].to_csv(folder / "patients.csv", index=False)
    table[120:].drop(columns="diagnosis").to_csv(folder / "new_patients.csv", index=False)


def diabetes(folder: Path) -> None:
    """Write the table of numbers that scikit-learn brings."""
    load_diabetes(as_frame=True).frame.to_csv(folder / "diabetes.csv", index=False)


def houses(folder: Path) -> None:
    """Write a table whose target are numbers, and rows to predict."""
    table = load_diabetes(as_frame=True).frame.rename(columns={"target": "price"})
    table.to_csv(folder / "house.csv", index=False)
    table[:5].drop(columns="price").to_csv(folder / "new.csv", index=False)


def lacking(folder: Path) -> None:
    """Write a table of three sources of which rows lack one, and rows to predict."""
    draw = np.random.default_rng(0)
    names = [f"{source}_{k}" for source in ("rna", "image", "form") for k in range(3)]
    rows = pd.DataFrame(draw.normal(size=(90, 9)), columns=names).round(3)
    for start in (0, 3):
        rows.iloc[start::7, start : start + 3] = np.nan
    rows.head().to_csv(folder / "new.csv", index=False)
    rows["status"] = np.where(rows["form_0"] > 0, "case", "control")
    rows.to_csv(folder / "study.csv", index=False)


def study(folder: Path) -> None:
    """Write a table in which the batch goes with the disease, and mRNA with the batch alone."""
    draw = np.random.default_rng(0)
    case = draw.random(200) < 0.5
    second = draw.random(200) < np.where(case, 0.8, 0.2)
    table = pd.DataFrame(
        {
            "age": (draw.normal(55, 9, 200) + 6 * case).round(),
            "sex": draw.choice(["f", "m"], 200),
            "batch": np.where(second, "second", "first"),
            **{f"mrna_{m}": draw.normal(size=200) + 1.5 * second for m in range(6)},
            **{f"protein_{m}": draw.normal(size=200) + 1.5 * case * (m == 0) for m in range(4)},
            "status": np.where(case, "case", "control"),
        }
    )
    table.round(3).to_csv(folder / "study.csv", index=False)


def large_tables(folder: Path) -> None:
    """Write tables and arrays as of many rows, of a few hundred."""
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=600)
    X = draw.normal(size=(600, 4)).astype(np.float32) + 1.5 * y[:, None].astype(np.float32)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    table = pd.DataFrame(X, columns=list("abcd")).assign(
        site=np.where(X[:, 0] > 1, "north", "south"), target=np.where(y, "ill", "well")
    )
    (folder / "rows").mkdir()
    for name in ("rows.csv", "big.csv"):
        table.to_csv(folder / name, index=False)
    for name in ("big.parquet", "huge.parquet", "rows/1.parquet", "rows/2.parquet"):
        table.to_parquet(folder / name)


def prokaryotes(folder: Path) -> None:
    """Write the four files of the published data, a species in each line."""
    shared = SHARED_SOURCES / "prokaryotic"
    if not shared.is_dir():
        pytest.skip("the published data are not here")
    (folder / "prokaryotic").mkdir()
    names = {"genes": "phyletic_profiles", "composition": "amino_acid_composition", "text": "text"}
    for source, name in names.items():
        table = pd.read_csv(shared / f"{source}.csv.gz").sort_values("id").drop(columns="id")
        np.savetxt(folder / "prokaryotic" / name, table.to_numpy())
    labels = pd.read_csv(shared / "labels.csv").sort_values("id")["label"]
    labels.str[1:].to_csv(folder / "prokaryotic" / "genome_truth", header=False, index=False)


GROUPED = "tests/cli/test_cli_groups.py runs such commands"
INSTALLS = "the environment that runs the tests has it"
HOURS = "it takes hours and the published data; mklkit-papers' tests run it on small data"

MOVING = {
    "himalaya": "mklkit_optimize",
    "mklpy": "mklkit_optimize",
    "precomputed": "mklkit",
    "r": "mklkit_optimize",
}
FOLLOWED = {
    "docs/get-started.md": Followed(
        bring=patients,
        instead={
            "--mccv 5": "--mccv 2",
            "mccv=5": "mccv=2",
            # Its table is compared with that of the command below.
            'columns="sources", cv=5)': 'columns="sources", cv=2)',
            "patients.mkl patients.csv --columns": "patients.mkl patients.csv --cv 2 --columns",
        },
        left_out={"pip install .": INSTALLS},
        long=True,
    ),
    "docs/index.md": Followed(
        long=True, left_out={"pip install .": INSTALLS, "mklkit explain": "test_readme.py runs it"}
    ),
    "docs/guides/choosing-kernels.md": Followed(instead={"DATA": "wine"}, long=True),
    "docs/guides/comparing.md": Followed(
        long=True,
        bring=patients,
        instead={
            "--cv 5x2": "--cv 2x1",
            "DATA --target species": "patients.csv --target diagnosis --cv 2x1",
        },
        left_out={f"mklkit {name} visits.csv": GROUPED for name in ("compare", "evaluate")},
    ),
    "docs/guides/covariates.md": Followed(bring=study, long=True),
    "docs/guides/does-it-help.md": Followed(),
    "docs/guides/explaining.md": Followed(bring=diabetes, needs="mklkit_optimize", slow=True),
    "docs/guides/feature-maps.md": Followed(instead={"DATA": "wine"}, long=True),
    "docs/guides/imbalance.md": Followed(long=True),
    "docs/guides/large-data.md": Followed(bring=large_tables, long=True),
    "docs/guides/missing-sources.md": Followed(
        bring=lacking, instead={"--mccv 10 --train 0.3": "--cv 2x1"}, needs="mklkit_missing"
    ),
    "docs/guides/notebooks.md": Followed(),
    "docs/guides/omics.md": Followed(slow=True),
    "docs/guides/study.md": Followed(long=True, instead={"--cv 5x2": "--cv 2x1"}),
    "docs/guides/prokaryotic.md": Followed(
        bring=prokaryotes, instead={"--cv 5x10": "--cv 5"}, slow=True
    ),
    "docs/guides/theory.md": Followed(long=True),
    "docs/model-files.md": Followed(),
    "docs/guides/probabilities.md": Followed(long=True),
    "docs/guides/regression.md": Followed(bring=houses, needs="mklkit_optimize"),
    "docs/guides/report.md": Followed(
        long=True, instead={"compare wine": "compare wine --cv 2x1 --baselines none"}
    ),
    "docs/guides/sensors.md": Followed(slow=True),
    "docs/guides/several-sources.md": Followed(long=True),
    "docs/guides/text-and-numbers.md": Followed(long=True),
    "docs/guides/survival.md": Followed(
        instead={"--cv 5x1": "--cv 2x1", "--cv 3x1": "--cv 2x1"},
        left_out={"pip install": INSTALLS},
        needs="sksurv",
    ),
    "docs/guides/tuning.md": Followed(long=True),
    **dict.fromkeys(
        (path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/papers/*-20??.md")),
        Followed(
            left_out={"pip install": INSTALLS, "mklkit reproduce": HOURS}, needs="mklkit_papers"
        ),
    ),
    **{
        f"docs/guides/moving/from-{place}.md": Followed(needs=package)
        for place, package in MOVING.items()
    },
    "docs/reference/index.md": Followed(left_out={"python -c": "it opens a pager"}, long=True),
}

AUTHORS = "../plugins/mklkit-authors/tests"
# Pages whose commands and listings a test of their own runs.
ELSEWHERE = {
    "docs/architecture.md": "docs/test_architecture_page.py",
    "docs/guides/combiner-benchmark.md": "docs/test_which_combiner.py",
    "docs/guides/command-line.md": "cli/test_cli_examples.py",
    "docs/guides/statistics.md": "evaluation/test_verdict.py",
    "docs/guides/tables.md": "docs/test_readme.py",
    "docs/guides/which-combiner.md": "docs/test_which_combiner.py",
    "docs/guides/without-labels.md": "docs/test_without_labels_page.py",
    **dict.fromkeys(PLUGIN_PAGES, f"{AUTHORS}/test_pages_of_templates.py"),
    "docs/guides/plugins/add-a-command.md": f"{AUTHORS}/test_pages_of_templates.py",
    "docs/guides/plugins/write-a-combiner.md": f"{AUTHORS}/test_plugin_tutorial.py",
    "docs/guides/plugins/from-a-paper.md": f"{AUTHORS}/test_from_a_paper.py",
}

# Pages of which nothing is run, each with the reason.
NOT_RUN = {
    "docs/papers/reproducing.md": "it needs mklkit-papers, whose tests run it",
    "docs/guides/large-data-dask.md": "it needs a cluster; estimators/test_dask.py has a small one",
    "docs/guides/performance.md": "its command takes an hour; benchmarks/test_bench_large.py",
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=way.marks) for page, way in FOLLOWED.items()]
)
def test_a_page_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    way = FOLLOWED[page]
    pytest.importorskip(way.needs)
    way.bring(tmp_path)
    for step in follow(page, tmp_path, way.instead, way.left_out):
        if step.shown is not None and step.as_shown:
            same_but_for_rounding(step.shown, step.printed)
        elif step.shown is not None and accuracies(step.shown):
            # On other splits, accuracies differ by a few points.
            shown, reached = accuracies(step.shown), accuracies(step.printed)
            assert shown.keys() == reached.keys()
            values = [reached[name] for name in shown]
            np.testing.assert_allclose(values, list(shown.values()), atol=4)


def test_an_explanation_is_the_same_in_the_shell_and_in_python() -> None:
    shown = listings("docs/get-started.md", "text")
    [shell] = [text for text in shown if "alone, vs" in text]
    [python] = [text for text in shown if "left_out" in text]
    number = r"([\d.]+)"
    change = r"([+−-]?[\d.]+)"
    rows = re.findall(
        rf"^ (\w+) +{number} ± \S+ +\S+ ± \S+ +{change} ± \S+ +{change} ± \S+$", shell, re.MULTILINE
    )
    fractions = re.findall(rf"^\d +(\w+) +{number} +{change} +{change}$", python, re.MULTILINE)
    assert len(fractions) == 3
    assert fractions == [
        (name, weight, *(f"{float(points.replace('−', '-')) / 100:.3f}" for points in changes))
        for name, weight, *changes in rows
    ]


def test_every_command_and_listing_of_the_site_is_run() -> None:
    """Of a new page, say here how it is followed, where it is run, or why it is not."""
    with_code = {page for page in PAGES if any(block.language in RUN for block in blocks(page))}
    assert with_code == {*FOLLOWED, *ELSEWHERE, *NOT_RUN}
    assert len(with_code) == len(FOLLOWED) + len(ELSEWHERE) + len(NOT_RUN)


@needs_checkout
@pytest.mark.parametrize("page", ELSEWHERE)
def test_a_page_is_run_where_it_is_said(page: str) -> None:
    text = (ROOT / "tests" / ELSEWHERE[page]).read_text(encoding="utf-8")
    assert any(f'"{name}"' in text for name in (page, Path(page).stem))


@needs_checkout
def test_the_pages_are_not_built_without_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {"mklkit-authors", "mklkit-optimize"}

    def distribution(name: str) -> object:
        if name not in present:
            raise PackageNotFoundError(name)
        return object()

    monkeypatch.setattr(metadata, "distribution", distribution)
    setup = runpy.run_path(str(ROOT / "docs" / "_ext" / "packages.py"))["setup"]
    with pytest.raises(SystemExit) as stopped:
        setup(None)
    message = str(stopped.value)
    packages = {path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml")}
    assert set(re.findall(r"mklkit-\w+", message)) == packages - present
    # The command of the message is that of the page for those who change the pages.
    [command] = [line for line in commands("CONTRIBUTING.md") if ".[docs]" in line]
    assert message.endswith("./plugins/*/")
    assert command.endswith("./plugins/*/")
    present |= packages
    assert setup(None)


def test_no_fence_escapes_the_reader_of_pages() -> None:
    """Fences that are indented or longer, and other names of these languages, are not seen."""
    others = r"^(?:[ \t]+```|````+|~~~+) *\w|^```(?:bash|shell|py3|pycon)$"
    hidden = re.compile(others, re.MULTILINE)
    hidden_fences = {
        page: hidden.findall((ROOT / page).read_text(encoding="utf-8")) for page in PAGES
    }
    assert not {page: fences for page, fences in hidden_fences.items() if fences}


def test_the_refusal_of_a_large_gram_matrix_is_the_one_shown() -> None:
    with pytest.raises(DataError) as refused:
        memory.refuse_large_gram(100_000, 8, int(7.5 * 2**30), "are free")
    assert str(refused.value).split() == listings("docs/guides/large-data.md", "text")[0].split()
