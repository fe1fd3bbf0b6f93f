"""Tables that are read in parts: the same models and predictions as in memory."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Fitted, Run
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.datasets import load_table
from mklkit.datasets.files import ChunkedTable
from mklkit.datasets.pipeline import build_pipeline
from mklkit.errors import IncompatibleError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation.fit_in_parts import fit_in_parts
from mklkit.evaluation.study import Roles
from mklkit.views.stored_rows import StoredRows


def test_fit_in_parts_as_in_memory(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    half = len(patients) // 2
    (tmp_path / "rows").mkdir()
    patients[:half].to_parquet(tmp_path / "rows" / "1.parquet")
    patients[half:].to_parquet(tmp_path / "rows" / "2.parquet")
    wanted = mklkit("fit", fitted.data, "--combiner", "dimkl3", "--json").json
    got = mklkit("fit", tmp_path / "rows/*.parquet", "--combiner", "dimkl3", "--json").json
    assert got["data"].pop("origin").startswith("2 Parquet files")
    wanted["data"].pop("origin")
    for name in ("preprocessing", "choices", "split", "scores"):
        assert got[name] == wanted[name]
    for part in ("rows", "columns", "classes", "notes"):
        assert got["data"][part] == wanted["data"][part]
    weights = [
        [row["weight"] for row in metadata["model"]["weights"]] for metadata in (got, wanted)
    ]
    np.testing.assert_allclose(*weights, rtol=1e-9)


class OnSource(ClassifierMixin, BaseEstimator):
    """Stands for a classifier that is fitted on rows read in parts, and scales them itself."""

    choices_ = ()
    bound_kernels_ = ()

    def fit(self, X: StoredRows, y: np.ndarray) -> OnSource:
        assert isinstance(X, StoredRows)
        self.model_ = make_pipeline(StandardScaler(), LogisticRegression()).fit(
            pd.DataFrame(X[:], columns=X.column_names), y
        )
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict(X)


def test_the_classifier_alone_is_fitted_on_rows_in_a_file(fitted: Fitted) -> None:
    table = ChunkedTable.opened(fitted.data, chunk_rows=50)
    pipeline = build_pipeline(OnSource(), scale="none")
    fitted_study = fit_in_parts(pipeline, ModelSettings(), table, Roles(), 0.2)
    result = fitted_study.record
    data = pd.read_csv(fitted.data)
    assert (pipeline.predict(data.drop(columns="target")) == data["target"]).mean() > 0.9
    assert result["data"]["rows"] == len(data)
    assert result["scores"]["train"]["rows"] + result["scores"]["held_out"]["rows"] == len(data)
    assert result["scores"]["held_out"]["accuracy"] > 0.9


def test_a_table_in_parts_says_what_its_model_has_not_learned_from(
    mklkit: Run, fitted: Fitted, tmp_path: Path
) -> None:
    command = ("fit", fitted.data, "--stream", "-k", "rbf", "-m", "fourier(n_components=20)")
    model = tmp_path / "model.mkl"
    result = mklkit(*command, "-o", model, "--json").json
    assert result["model"]["rows"] == result["scored_model"]["rows"] == 96
    said = "has not learned from the held-out samples: --holdout 0"
    assert said in " ".join(mklkit("inspect", model).out.split())
    assert said not in mklkit(*command, "-o", model, "--holdout", "0").out


def test_a_gram_matrix_that_does_not_fit_is_refused_first(mklkit: Run, tmp_path: Path) -> None:
    lines = ["a,target", *(f"{row},{'uv'[row % 2]}" for row in range(300_000))]
    (tmp_path / "many.csv").write_text("\n".join(lines))
    outcome = mklkit("fit", tmp_path / "many.csv", "--stream", "-k", "rbf")
    outcome.refused("A Gram matrix of ", " samples takes ", "--map 'empirical(subset=1000)'")


@pytest.mark.process
def test_kernels_are_chosen_for_sources_in_parts(mklkit: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    target = np.arange(13_000) % 2
    table = pd.DataFrame(rng.normal(size=(13_000, 13)).round(3) + 0.7 * target[:, None])
    table.columns = [f"gene_{place}" for place in range(11)] + ["lab_a", "lab_b"]
    table.assign(target=target).to_csv(tmp_path / "many.csv", index=False)
    record = mklkit("fit", tmp_path / "many.csv", "--stream", "--json").json
    assert [kernel["name"] for kernel in record["model"]["kernels"]] == ["gene", "lab"]
    assert record["model"]["feature_map"] == "empirical(subset=1000)"
    # The best rule errs in Φ(−0.7·√13/2) of the rows, 10 %.
    assert record["scores"]["held_out"]["accuracy"] > 0.88


def test_predict_in_parts_as_in_memory(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    """Remarks too: of the whole file, and each once."""
    new = pd.concat([patients] * 3, ignore_index=True)
    new["ward"] = new["ward"].where(new.index % 50 != 7, "east")
    new["pulse"] = new["pulse"].astype(object).where(new.index % 150 != 149, "?!")
    new["fever"] += 1000
    new.to_csv(tmp_path / "new.csv", index=False)
    wanted = mklkit("predict", fitted.model, tmp_path / "new.csv")
    assert wanted.code == 0
    assert "not in the training data, in 8 samples: 'east'" in wanted.err
    assert "360 values" in wanted.err
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mklkit.datasets.files.SMALL_FILE", 0)
        patch.setattr("mklkit.datasets.files.CHUNK_CELLS", 0)
        got = mklkit("predict", fitted.model, tmp_path / "new.csv")
        table = tmp_path / "out.parquet"
        mklkit("predict", fitted.model, tmp_path / "new.csv", "-o", table)
    assert got.out == wanted.out
    said = [line.partition(" and ")[0].partition(", not")[0] for line in wanted.err.splitlines()]
    assert [
        line.partition(" (and so on")[0].partition(", not")[0] for line in got.err.splitlines()
    ] == said
    pd.testing.assert_frame_equal(pd.read_parquet(table), pd.read_csv(io.StringIO(got.out)))


@pytest.mark.process
@pytest.mark.parametrize("feature_map", ["implicit", "empirical(subset=40)"])
def test_rows_that_lack_sources_are_those_of_a_table_in_memory(
    mklkit: Run, tmp_path: Path, feature_map: str
) -> None:
    table = load_table("digits_missing")
    frame = table.features.assign(digit=table.target)[::4]
    (tmp_path / "rows").mkdir()
    frame[:200].to_parquet(tmp_path / "rows" / "1.parquet")
    frame[200:].to_parquet(tmp_path / "rows" / "2.parquet")
    frame.to_parquet(tmp_path / "whole.parquet")
    options = ["-k", "a:rbf@profile_*", "-k", "b:rbf@fourier_*", "--target", "digit", "--json"]
    options += ["-k", "c:rbf@pattern_*", "--feature-map", feature_map, "--combiner", "alignment"]
    wanted = mklkit("fit", tmp_path / "whole.parquet", *options).json
    got = mklkit("fit", tmp_path / "rows/*.parquet", *options).json
    for part in ("train", "held_out"):
        assert got["scores"][part] == wanted["scores"][part]
    assert got["choices"] == wanted["choices"]
    assert any(choice.startswith("present: ") for choice in got["choices"])
    weights = [
        [row["weight"] for row in metadata["model"]["weights"]] for metadata in (got, wanted)
    ]
    np.testing.assert_allclose(*weights, rtol=1e-9)
    table = ChunkedTable.opened(tmp_path / "rows/*.parquet")
    pipeline = build_pipeline(MKLClassifier(["rbf@profile_*"], feature_map="fourier"))
    roles = Roles(target="digit")
    with pytest.raises(IncompatibleError, match="--missing impute"):
        fit_in_parts(pipeline, ModelSettings(), table, roles, 0.0, distributed=True)


@pytest.mark.process
def test_a_kernel_for_categories_that_is_absent_in_parts_is_told(
    mklkit: Run, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"p{place}" for place in range(80)]})
    frame.assign(g=random.normal(size=80)).to_csv(tmp_path / "g.csv", index=False)
    frame = frame.assign(age=random.normal(size=80), ward=random.choice([*"nsw"], 80))
    frame["kind"] = np.where(frame["ward"] == "n", "ill", "well")
    frame.to_csv(tmp_path / "a.csv", index=False)
    labels, told = [], []
    for option in ((), ("--stream",)):
        files = (tmp_path / "a.csv", "--source", f"g={tmp_path / 'g.csv'}", "--by", "id")
        done = mklkit("fit", *files, "-t", "kind", *option, "--json")
        labels.append({kernel["name"] for kernel in done.json["model"]["kernels"]})
        told.append(any("without a kernel for categories" in n for n in done.json["data"]["notes"]))
    assert ["categories" in each for each in labels] == [True, False], labels
    assert told == [False, True]
