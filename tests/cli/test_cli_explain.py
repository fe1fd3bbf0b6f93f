"""``mklkit explain``: tables, files and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Fitted, Run
from sklearn.preprocessing import StandardScaler

from mklkit import MKLOneClass, MKLRegressor, save_model

QUICK = ("--cv", "2", "--repeats", "1")


@pytest.fixture(scope="module")
def quick(mklkit: Run, patients: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """The learner's own choice of C would take most of the time, in each fit."""
    folder = tmp_path_factory.mktemp("quick")
    data, model = folder / "patients.csv", folder / "model.mkl"
    patients.to_csv(data, index=False)
    arguments = ("--combiner", "dimkl3", "--learner", "svm(C=1)", "-o", model)
    return Fitted(data, model, mklkit("fit", data, *arguments))


@pytest.mark.process
def test_the_tables_fit(mklkit: Run, quick: Fitted) -> None:
    done = mklkit("explain", quick.model, quick.data, *QUICK, COLUMNS="45")
    assert done.code == 0, done
    assert all(len(line) <= 45 for line in done.out.splitlines())
    # A long path of the data may end a line before the number of rows.
    words = " ".join(done.out.split())
    for name in ("cosine_linear", "fever", "ward", "ablation", "120 samples"):
        assert name in words


@pytest.mark.process
def test_json_and_a_figure(mklkit: Run, quick: Fitted, tmp_path: Path) -> None:
    picture, top = tmp_path / "worth.png", tmp_path / "top.svg"
    pictures = ("--plot", picture, "--plot-columns", top)
    answer = mklkit("explain", quick.model, quick.data, *QUICK, "--json", *pictures).json
    assert {row["column"] for row in answer["effects"]} <= {"fever", "ward", "smokes", "pulse"}
    assert "<!-- fever -->" in top.read_text()
    assert answer["target"] == "target"
    assert answer["n_fits"] == 2 * (1 + 3 + 3)
    assert {column["group"] for column in answer["columns"]} == {"fever", "ward", "smokes", "pulse"}
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def houses(mklkit: Run, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    folder = tmp_path_factory.mktemp("houses")
    data, model = folder / "houses.csv", folder / "house.mkl"
    random = np.random.default_rng(4)
    frame = pd.DataFrame(random.uniform(30, 200, (60, 2)), columns=["size", "age"])
    frame["price"] = 2 * frame["size"] + random.normal(size=60)
    frame.to_csv(data, index=False)
    asked = ("-t", "price", "-k", "big:linear@size", "-k", "old:linear@age", "-o", model)
    return Fitted(data, model, mklkit("fit", data, *asked))


@pytest.mark.process
def test_numbers_are_explained_by_r2(mklkit: Run, houses: Fitted, tmp_path: Path) -> None:
    done = mklkit("explain", houses.model, houses.data, "--cv", 4, "--repeats", 1)
    assert done.code == 0, done
    words = " ".join(done.out.split())
    assert "changes are in points of R²" in words
    assert "balanced accuracy" not in words
    assert "big: lost: " in words
    picture = tmp_path / "worth.svg"
    asked = (*QUICK, "--json", "--plot", picture)
    answer = mklkit("explain", houses.model, houses.data, *asked).json
    assert answer["score"] == "r2"
    assert answer["target"] == "price"
    assert answer["kernels"][0]["left_out"] < -0.5 < answer["kernels"][1]["left_out"]
    assert "<!-- change in the score, -->" in picture.read_text()


@pytest.mark.process
def test_a_published_split(mklkit: Run, houses: Fitted, tmp_path: Path) -> None:
    frame, data = pd.read_csv(houses.data), tmp_path / "split.csv"
    parts = np.where(np.arange(60) % 3 == 0, "test", "train")
    frame.assign(part=parts).to_csv(data, index=False)
    asked = ("explain", houses.model, data, "--split-column", "part", "--repeats", 1)
    done = mklkit(*asked, "--json").json
    train, test = frame[parts == "train"], frame[parts == "test"]
    scale = StandardScaler().fit(train[["size"]])
    # The other house kernel is left out: a ridge of one column, by hand.
    model = MKLRegressor("linear").fit(scale.transform(train[["size"]]), train["price"])
    alone = model.score(scale.transform(test[["size"]]), test["price"])
    (fold,) = done["scores"]
    assert (fold["training_rows"], fold["rows"]) == (40, 20)
    assert done["kernels"][1]["left_out"] == pytest.approx(alone - fold["r2"], abs=1e-9)
    assert "over the test samples" in " ".join(mklkit(*asked).out.split())
    for wrong, words in {
        ("--cv", "5"): "cv and split column",
        ("--max-rows", "30"): "--max-rows 60",
    }.items():
        mklkit(*asked, *wrong).refused(words)
    mklkit("explain", houses.model, data, "--split-column", "parts").refused("'parts'")
    mklkit("explain", houses.model, data, "--cv", "groups").refused("groups")


@pytest.mark.process
def test_the_model_knows_its_weights_groups_and_split(mklkit: Run, tmp_path: Path) -> None:
    random, data, model = np.random.default_rng(0), tmp_path / "visits.csv", tmp_path / "visits.mkl"
    frame = pd.DataFrame(random.normal(size=(60, 2)), columns=["size", "age"])
    frame["state"] = np.where(frame["size"] + random.normal(size=60) > 0, "ill", "well")
    frame["visits"] = random.integers(1, 5, 60)
    frame["patient"] = np.arange(60) // 5
    frame["part"] = np.where(frame["patient"] % 3 == 0, "test", "train")
    frame.to_csv(data, index=False)
    kernels = ("-k", "big:rbf@size", "-k", "old:rbf@age", "--learner", "svm(C=1)")
    roles = ("-t", "state", "--weights", "visits", "--groups", "patient", "--split-column", "part")
    mklkit("fit", data, *kernels, *roles, "-o", model)
    asked = ("explain", model, data, "--repeats", 1, "--json")
    by_patient = mklkit(*asked, "--cv", "groups").json
    assert [fold["rows"] for fold in by_patient["scores"]] == [5] * 12
    notes = " ".join(by_patient["data_notes"])
    assert "by their 'visits'" in notes
    assert "--split-column keeps them apart" in notes
    frame.drop(columns="visits").to_csv(data, index=False)
    lacking = mklkit(*asked, "--split-column", "part").json
    notes = " ".join(lacking["data_notes"])
    assert "column 'visits', which" in notes
    assert "keeps them apart" not in notes
    frame.assign(ones=1).drop(columns="visits").to_csv(data, index=False)
    equal = mklkit(*asked, "--split-column", "part", "--weights", "ones").json
    assert equal["scores"] == lacking["scores"]
    mklkit("explain", model, data, "--weights", "nothing").refused("'nothing'", "--weights")


@pytest.mark.process
def test_one_class_and_several_targets(mklkit: Run, houses: Fitted, tmp_path: Path) -> None:
    frame, data = pd.read_csv(houses.data), tmp_path / "odd.csv"
    save_model(MKLOneClass(["rbf@size", "rbf@age"]).fit(frame), tmp_path / "odd.mkl")
    frame.assign(state=np.where(frame["size"] > 150, -1, 1)).to_csv(data, index=False)
    asked = (tmp_path / "odd.mkl", data, "-t", "state", *QUICK, "--json")
    assert mklkit("explain", *asked).json["score"] == "roc_auc"
    several = MKLRegressor("linear").fit(frame[["size"]], frame[["age", "price"]])
    save_model(several, tmp_path / "two.mkl")
    answer = mklkit("explain", tmp_path / "two.mkl", houses.data, *QUICK, "--json").json
    assert answer["target"] == "age, price"


def test_rows_without_the_target_or_a_column(mklkit: Run, houses: Fitted, tmp_path: Path) -> None:
    frame, path = pd.read_csv(houses.data), tmp_path / "rows.csv"
    for column, names in (("price", ("'price'", "--target")), ("age", ("lacks 1", "'age'"))):
        frame.drop(columns=column).to_csv(path, index=False)
        mklkit("explain", houses.model, path, *QUICK).refused(*names)
    mklkit("explain", houses.model, houses.data, "-t", "age").refused("'age'", "not its target")


@pytest.mark.process
def test_groups_and_margins_are_named_on_the_command_line(mklkit: Run, quick: Fitted) -> None:
    known = mklkit("explain", quick.model, quick.data, *QUICK, "--json").json
    names = [row["kernel"] for row in known["kernels"]]
    asked = ("--without", ",".join(names[:2]), "--margin", "40%", "--as-fitted")
    answer = mklkit("explain", quick.model, quick.data, *QUICK, *asked, "--json").json
    assert names[:2] in [group["kernels"] for group in answer["together"]]
    assert answer["margin"] == 0.4
    done = mklkit("explain", quick.model, quick.data, *QUICK, *asked)
    assert "7 fits a fold" in done.err
    assert f"{names[0]} and {names[1]}" in " ".join(done.out.split())
    for wrong, words in {
        ("--without", names[0]): "two or more",
        ("--without", ",".join(names)): "all kernels",
        ("--without", "nobody,else"): "No kernel is named",
        ("--margin", "two"): "2%",
        ("--margin", "-1%"): "2%",
        ("--margin", "200%"): "2%",
    }.items():
        mklkit("explain", quick.model, quick.data, *QUICK, *wrong).refused(words)


@pytest.mark.process
def test_a_tuned_model_is_searched_again(mklkit: Run, quick: Fitted, tmp_path: Path) -> None:
    model = tmp_path / "tuned.mkl"
    kernels = ("-k", "a:rbf@fever", "-k", "b:rbf@pulse")
    mklkit("fit", quick.data, *kernels, "--learner", "svm", "--tune", 2, "-o", model)
    done = mklkit("explain", model, quick.data, *QUICK)
    assert "each with the search over 2 settings (--as-fitted keeps its choice)" in done.err
    assert "was repeated in each fit" in " ".join(done.out.split())
    kept = mklkit("explain", model, quick.data, *QUICK, "--as-fitted")
    assert "search" not in kept.err
    assert "scores are optimistic" in " ".join(kept.out.split())
