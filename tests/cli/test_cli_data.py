"""Data as users have them: identifiers, dates, columns that are not wanted or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Run
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, TableEncoder
from mklkit.persistence import load_model, save_model


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return rows as a spreadsheet writes them."""
    random = np.random.default_rng(5)
    sick = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "Row ID": range(1, 61),
            "price": [f"{value:.3f}".replace(".", ",") for value in 0.5 + 2 * random.random(60)],
            "seen": pd.date_range("2019-01-03", periods=60, freq="5D").strftime("%d/%m/%Y"),
            "color": random.choice(["red", "green", "blue"], 60),
            "lab": [f"{value:.2f}" for value in 3 * sick + random.normal(size=60)],
            "state": np.where(sick, "ill", "well"),
        }
    )
    frame.loc[[3, 8], "lab"] = ["unknown", "3..2"]
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", ["fit", "evaluate", "kernels"])
def test_columns_are_dropped(mklkit: Run, sheet: Path, command: str) -> None:
    metadata = mklkit(command, sheet, "--drop", "la*", "--drop", "seen", "--json").json
    assert metadata["data"]["columns"] == ["Row ID", "price", "color"]
    assert metadata["data"]["dropped"] == ["seen", "lab"]
    dropped, identifier, *_ = metadata["preprocessing"]
    assert dropped == "columns 'seen', 'lab' dropped, as asked"
    assert identifier.startswith("column 'Row ID' dropped: a different value in every row")


@pytest.mark.process
def test_predict_needs_what_kernels_see(mklkit: Run, sheet: Path, tmp_path: Path) -> None:
    model, few = tmp_path / "model.mkl", tmp_path / "few.csv"
    kernels = ("-k", "rbf@price", "-k", "linear@seen*")
    assert mklkit("fit", sheet, *FIXED, *kernels, "-o", model).code == 0
    whole = mklkit("predict", model, sheet)
    rows = pd.read_csv(sheet)
    rows[["seen", "price"]].to_csv(few, index=False)
    outcome = mklkit("predict", model, few)
    assert outcome.out == whole.out
    # What kernels don't see is not looked at either.
    assert not any(name in outcome.err for name in ("Row ID", "color", "lab"))
    rows[["seen", "color"]].to_csv(few, index=False)
    # Each is a source of its own, which samples may lack.
    lacking = mklkit("predict", model, few)
    assert lacking.code == 0, lacking
    assert "no sample has the source 'rbf@price'" in lacking.err
    rows[["color"]].to_csv(few, index=False)
    mklkit("predict", model, few).refused("lacks 2 of the 2 columns that the model needs")


def test_inspect_shows_columns_and_predict_reads_them_so(
    mklkit: Run, sheet: Path, tmp_path: Path
) -> None:
    model, new, plain = tmp_path / "m.mkl", tmp_path / "new.csv", tmp_path / "plain.csv"
    done = mklkit("fit", sheet, "--holdout", 0, "-o", model)
    assert "column 'lab' holds '3..2' in row 9, not a number: taken as a gap" in done.out
    shown = [line.split() for line in mklkit("inspect", model).out.splitlines()]
    for line in (
        "Row ID identifier, dropped",
        "price number (decimal comma)",
        "seen date (day first)",
        "color category, 3 values",
        "lab number 2",
    ):
        assert line.split() in shown
    metadata = mklkit("inspect", model, "--json").json
    assert metadata["data"]["readings"]["seen"] == "day first"
    assert {"name": "lab", "kind": "number", "gaps": 2} in metadata["model"]["input"]
    # Either could be read in another way, were it not for training; no identifier is needed.
    rows = pd.DataFrame({"price": "1,397", "seen": "03/04/2019", "color": "red", "lab": ["-", 2]})
    rows.to_csv(new, index=False)
    rows.assign(price=1.397, seen="2019-04-03", lab=[None, 2]).to_csv(plain, index=False)
    assert mklkit("predict", model, new).out == mklkit("predict", model, plain).out


def test_identifiers_do_not_depend_on_the_seed(mklkit: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    # One name stands there twice: which rows are held out decides whether training sees it.
    names = [f"p{number}" for number in range(29)] + ["p0"]
    columns = {"name": names, "x": np.arange(30) % 7, "state": list("ab") * 15}
    pd.DataFrame(columns).to_csv(path, index=False)
    for seed in range(2):
        metadata = mklkit("fit", path, *FIXED, "--holdout", 0.5, "--seed", seed, "--json").json
        assert {"name", "category"} <= set(metadata["model"]["input"][0].values())


def test_models_saved_from_python(mklkit: Run, sheet: Path, tmp_path: Path) -> None:
    model, new = tmp_path / "m.mkl", tmp_path / "new.csv"
    rows = pd.read_csv(sheet)
    features = rows[["Row ID", "color", "price"]]
    pipeline = make_pipeline(TableEncoder(), StandardScaler(), MKLClassifier("linear"))
    save_model(pipeline.fit(features, rows["state"]), model)
    assert load_model(model).predict(features[["color", "price"]]).shape == (60,)
    features.assign(color=["pink", *features["color"][1:]])[["color", "price"]].to_csv(
        new, index=False
    )
    said = mklkit("predict", model, new).err
    # Prices are read as in training.
    assert said.splitlines() == [
        "column 'price' read as numbers: '2,110' as 2.11",
        "column 'color': not in the training data, in 1 sample: 'pink'",
        "59 of 60 samples are training samples of the model (with the same values): scores on them"
        " are too good",
    ]


def test_columns_in_other_units_are_named(mklkit: Run, sheet: Path, tmp_path: Path) -> None:
    mklkit("fit", sheet, *FIXED, "-o", tmp_path / "m.mkl", "-k", "linear")
    frame = pd.read_csv(sheet)[:8]
    frame["lab"] = [None, *range(1000, 1007)]
    frame.to_csv(tmp_path / "new.csv", index=False)
    done = mklkit("predict", tmp_path / "m.mkl", tmp_path / "new.csv")
    assert "column 'lab': 7 values from 1000 to 1006, all far outside" in done.err
    frame["lab"] = [0, *range(1000, 1007)]
    frame.to_csv(tmp_path / "new.csv", index=False)
    assert "outside" not in mklkit("predict", tmp_path / "m.mkl", tmp_path / "new.csv").err


def test_text_with_many_values_is_named(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "x": random.normal(size=80),
            "mass": [f"{40 + place % 60} kg" for place in range(80)],
            "remark": [
                f"word{'abcdefghij'[place % 10]}{'xyzuvw'[place % 6] * 2}" for place in range(80)
            ],
            "ward": random.choice(["north", "south"], 80),
            "kind": ["a", "b"] * 40,
        }
    )
    frame.loc[0, "remark"] = "fever"
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = mklkit("fit", tmp_path / "a.csv", *FIXED, "-k", "linear@x").out
    assert "column 'mass' holds 60 different texts in 80 rows, such as '40 kg'" in said
    assert "--drop mass" in said
    assert "'remark' holds" not in said
    assert "'ward' holds" not in said
