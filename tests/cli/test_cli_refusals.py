"""Users' mistakes: each ends with exit code 2, nothing on stdout, and the name that is at fault."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Run

REFUSED = [
    # Commands, options and their values.
    ("fitt", "No such command", "fitt"),
    ("fit --kernal rbf", "No such option", "--kernal"),
    ("fit --scale minma", "'minma' is not one of", "Did you mean 'minmax'?"),
    ("list kernel", "'kernel' is not one of", "Did you mean 'kernels'?"),
    ("list Presets", "Did you mean 'presets'?"),
    ("list zebra", "'zebra' is not one of", "'commands'."),
    ("fit --holdout 1.5", "--holdout"),
    ("fit --seed 4294967296", "--seed", "4294967295"),
    ("fit --combiner ''", "--combiner", "expected a name"),
    ("fit --max-memory much", "megabyte"),
    ("fit iris --tune 0", "'fast', 'thorough'"),
    ("evaluate iris --folds 1", "cv (the number of folds) must be a whole number, 2 or above"),
    ("compare iris --cv 5*2", "'5*2'"),
    ("compare iris --cv 3x1 --mccv 2", "cv and mccv"),
    ("compare iris --train 0.4", "mccv is missing"),
    # Names of files.
    ("fit ''", "not an empty text"),
    ("fit iris -o ''", "not an empty text"),
    ("fit iris --plot ''", "not an empty text"),
    ("predict '' iris", "not an empty text"),
    ("predict a.mkl iris -o ''", "not an empty text"),
    ("fit iris -o -", "name of a file"),
    ("fit iris --plot -", "name of a file"),
    ("fit people.csv -o people.csv", "holds the data"),
    ("fit people.csv -o none/a.mkl", "there is no folder"),
    ("compare people.csv --results people.csv", "holds the data"),
    ("compare people.csv --results runs.csv --report link.csv", "same file"),
    ("compare iris --report a.doc", ".html, .csv, .json, .tex"),
    ("compare iris wine -o a.mkl", "no single model"),
    ("fit nothing/*.csv", "no data file nothing/*.csv"),
    ("inspect people.csv", "is a table, not a model file"),
    ("fit iris --plot w.jpeg", ".png, .pdf, .svg"),
    ("fit iris --plot none/w.png", "there is no folder"),
    ("fit iris -o m.png --plot m.png", "same file"),
    ("fit people.csv --scheduler tcp://127.0.0.1:9", "--scheduler", "--map 'empirical("),
    # Components.
    ("fit --combiner dimk3", "Did you mean 'dimkl3'"),
    ("fit --combiner svm", "'svm' is a learner"),
    ("fit --learner ifsl", "'ifsl' is a combiner"),
    ("fit --kernel implicit", "'implicit' is a feature map"),
    ("fit --preset rbf", "'rbf' is a kernel"),
    ("fit -k cosine(implicit)", "'implicit'"),
    ("fit iris -k auto[standard] -k linear", "leave out [standard]"),
    ('fit -k "rbf(sigm=1)"', "sigma"),
    ("fit --map implicit --learner mhks", "mhks", "implicit"),
    ("kernels no-such-file.csv -k rfb", "Did you mean 'rbf'?"),
    ("kernels iris -p rpemekls", "Did you mean 'rpemekl'"),
    ("compare iris -c dinkl*", "'dinkl*'"),
    ("describe nonsence", "'nonsence'", "mklkit list"),
    ("describe dimk3", "Did you mean 'dimkl3'?"),
    ("describe ''", "Nothing is named ''"),
    # Columns.
    ("fit people.csv -t kimd", "Did you mean 'kind'"),
    ("fit people.csv --drop wrad", "Did you mean 'ward'?"),
    ("fit people.csv --drop kind", "'kind' is the target"),
    ("fit people.csv --drop *", "No feature is left"),
    ("fit people.csv -k linear@word_*", "word_*"),
    ("fit people.csv -k rbf@code", "a different value in every row"),
    ("evaluate people.csv -k rbf@kind", "it is the target"),
    ("kernels people.csv -k rbf@age --drop age", "--drop"),
    ("compare people.csv -k a:rbf@aeg", "Did you mean 'age'?"),
    ("compare iris --split-column part", "'part'"),
    ("fit gap.csv --holdout 0", "'x'", "infinite in row 2"),
    ("evaluate singles.csv", "single sample"),
    # Weights.
    ("fit people.csv --weights oftn", "'oftn'"),
    ("fit people.csv --weights ward", "finite numbers from 0 up", "row 1"),
    ("fit people.csv --weights age", "'age' holds the sample weights"),
    ("fit people.csv --weights kind -t kind", "'kind'"),
    ("fit people.csv --weights often -k rbf@often", "holds the sample weights"),
    ("fit people.csv --weights often --stream", "--weights"),
    ("fit people.csv --class-weight il=5", "'il'", "'ill', 'well'"),
    ("fit people.csv --class-weight ill=-5", "'ill'", "finite number above"),
    ("fit people.csv --class-weight even", "'balanced'"),
    ("fit people.csv --class-weight 'ill=2,well=1, ill =2'", "'ill' has two weights"),
    # Tasks.
    ("fit people.csv -t price --probability", "--probability is for classes"),
    ("fit people.csv -t price --multiclass ovr", "--multiclass is for classes"),
    ("fit people.csv -t price --class-weight balanced", "--class-weight is for classes"),
    ("fit people.csv -t price --preset paper-dimkl1", "dimkl1"),
    ("fit people.csv -t price --preset rpemekl", "rpemekl", "for classes"),
    ("fit people.csv -t price --combiner dimkl3", "'dimkl3' can't learn from numbers"),
    ("fit people.csv -t price --learner svm", "'svm' can't learn from numbers"),
    ("fit people.csv -t price --stream --task regression", "--task regression"),
    ("fit people.csv -t price --task classification", "instead of classes"),
    ("fit people.csv -t ward --task regression", "'ward' holds"),
    ("fit iris --stream", "iris is built in"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refusals")
    random, ill = np.random.default_rng(0), np.arange(60) % 2 == 0
    pd.DataFrame(
        {
            "code": [f"p{number}" for number in range(60)],
            "price": random.normal(size=60),
            "age": random.normal(size=60),
            "ward": np.where(random.random(60) < 0.5, "north", "south"),
            "often": 1 + np.arange(60) % 3,
            "kind": np.where(ill, "ill", "well"),
        }
    ).to_csv(folder / "people.csv", index=False)
    (folder / "gap.csv").write_text("x,kind\n1,a\ninf,b\n3,a\n4,b\n")
    (folder / "singles.csv").write_text("x,kind\n1,a\n2,b\n")
    (folder / "link.csv").symlink_to(folder / "runs.csv")
    return folder


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line[0])
def test_a_mistake_is_refused(mklkit: Run, folder: Path, line: tuple[str, ...]) -> None:
    before = sorted(os.listdir(folder))
    command, *names = line
    mklkit(*shlex.split(command), cwd=folder).refused(*names)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("{}",),
        ("--{}",),
        ("fit", "--scale", "{}"),
        ("fit", "people.csv", "--drop", "{}"),
        ("fit", "people.csv", "-k", "rbf@{}"),
        ("fit", "people.csv", "-l", "svm(C={})"),
    ],
)
def test_a_mistake_quotes_little(mklkit: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    done = mklkit(*(part.format("9" * 100_000) for part in arguments), cwd=folder)
    done.refused()
    assert len(done.err) < 4000


@pytest.mark.parametrize("row", [1, 4, 17, 40])
def test_a_row_is_named_by_its_place_in_the_file(mklkit: Run, tmp_path: Path, row: int) -> None:
    values = ["inf" if number == row else str(number) for number in range(1, 41)]
    lines = [f"{value},{'ab'[place % 2]}" for place, value in enumerate(values)]
    (tmp_path / "inf.csv").write_text("\n".join(["x,kind", *lines]) + "\n")
    for arguments in (["fit", "--seed", "0"], ["fit", "--holdout", "0"], ["evaluate"], ["kernels"]):
        mklkit(*arguments, tmp_path / "inf.csv").refused(f"is infinite in row {row} (1 such value)")
