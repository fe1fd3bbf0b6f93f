"""``mklkit predict`` and ``mklkit inspect``: what happens to a saved model."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Fitted, Run

from mklkit import MKLClassifier, __version__, load_model, save_model
from mklkit.display.numbers import chosen_texts
from mklkit.views.scaling import SCALINGS


def test_predictions_are_the_models_in_the_order_of_the_rows(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    model = load_model(fitted.model)
    expected = model.predict(patients.drop(columns="target"))
    new = tmp_path / "new.csv"
    patients.drop(columns="target")[["pulse", "smokes", "ward", "fever"]].to_csv(new, index=False)
    done = mklkit("predict", fitted.model, new, "-o", tmp_path / "out.csv")
    assert done.code == 0, done
    assert done.out == ""
    out = pd.read_csv(tmp_path / "out.csv")
    classes = sorted({*patients["target"]})
    assert list(out) == ["prediction", *(f"score_{name}" for name in classes)]
    assert out["prediction"].tolist() == expected.tolist()
    scores = model.decision_function(patients.drop(columns="target"))
    np.testing.assert_allclose(out.iloc[:, 1:], scores, rtol=1e-9)
    note, wrote = done.err.splitlines()
    assert note.startswith("120 of 120 samples are training samples of the model")
    assert wrote == f"wrote 120 predictions to {tmp_path / 'out.csv'}"


def test_the_likeliest_classes_are_best_first(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame
) -> None:
    scores = load_model(fitted.model).decision_function(patients.drop(columns="target"))
    classes = sorted({*patients["target"]})
    done = mklkit("predict", fitted.model, fitted.data, "--top", "2")
    out = pd.read_csv(io.StringIO(done.out))
    assert list(out) == ["prediction", "top_1", "top_1_score", "top_2", "top_2_score"]
    for row, values in zip(out.itertuples(), scores, strict=True):
        (best, first), (second, other), _ = sorted(zip(values, classes, strict=True), reverse=True)
        assert (row.prediction, row.top_1, row.top_2) == (first, first, other)
        assert [row.top_1_score, row.top_2_score] == pytest.approx([best, second])
    assert "accuracy" in done.err
    mklkit("predict", fitted.model, fitted.data, "--top", "4").refused(
        "3 classes ('ill', 'very ill', 'well')", "from 1 to 3"
    )


def test_the_likeliest_of_two_classes_and_none_of_numbers(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=40)
    for name, target in (("classes", np.where(x > 0, "b", "a")), ("numbers", x**3)):
        pd.DataFrame({"x": x, "y": target}).to_csv(tmp_path / f"{name}.csv", index=False)
        model = ("-o", tmp_path / f"{name}.mkl")
        fitted = mklkit("fit", tmp_path / f"{name}.csv", "-k", "rbf", "--holdout", "0", *model)
        assert fitted.code == 0, fitted
    done = mklkit("predict", tmp_path / "classes.mkl", tmp_path / "classes.csv", "--top", "2")
    out = pd.read_csv(io.StringIO(done.out))
    assert (out["top_1"] == out["prediction"]).all()
    assert (out["top_1"] != out["top_2"]).all()
    np.testing.assert_array_equal(out["top_1_score"], -out["top_2_score"])
    numbers = tmp_path / "numbers.mkl", tmp_path / "numbers.csv"
    mklkit("predict", *numbers, "--top", "2").refused("predicts numbers", "no likeliest classes")


def test_two_classes_have_scores(mklkit: Run, tmp_path: Path) -> None:
    labels = [False, True]
    random = np.random.default_rng(2)
    kinds = random.integers(0, 2, 40)
    frame = pd.DataFrame({"x": kinds * 3 + random.normal(size=40), "flat": 1})
    frame.assign(kind=[labels[kind] for kind in kinds]).to_csv(tmp_path / "a.csv", index=False)
    model = tmp_path / "a.mkl"
    assert mklkit("fit", tmp_path / "a.csv", *FIXED, "-k", "rbf", "-o", model).code == 0
    done = mklkit("predict", model, tmp_path / "a.csv")
    out = pd.read_csv(io.StringIO(done.out))
    assert out["prediction"].tolist() == [labels[s > 0] for s in out["score"]]
    accuracy = np.mean(out["prediction"] == kinds)
    note, scores = done.err.splitlines()
    assert note.startswith("40 of 40 samples are training samples of the model")
    assert scores.startswith(f"accuracy {100 * accuracy:.1f} %, balanced")


def test_a_file_that_makes_numbers_of_words_still_fits(mklkit: Run, tmp_path: Path) -> None:
    rows = "".join(f"{'12a'[i % 3]},{i % 3 == 2}\n" for i in range(30))
    (tmp_path / "a.csv").write_text("code,kind\n" + rows)
    arguments = ("-k", "linear", "--holdout", "0", "-o", tmp_path / "a.mkl")
    assert mklkit("fit", tmp_path / "a.csv", *FIXED, *arguments).code == 0
    (tmp_path / "new.csv").write_text("code\n1\n2\n")
    done = mklkit("predict", tmp_path / "a.mkl", tmp_path / "new.csv")
    assert pd.read_csv(io.StringIO(done.out))["prediction"].tolist() == [False, False]


def test_values_that_training_never_saw_are_said(mklkit: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{'uv'[i % 2]},{'pq'[i % 2]},{'xy'[i % 2]}\n" for i in range(30))
    (tmp_path / "a.csv").write_text("a,b,c,kind\n" + rows)
    assert (
        mklkit("fit", tmp_path / "a.csv", *FIXED, "-k", "linear", "-o", tmp_path / "a.mkl").code
        == 0
    )
    assert mklkit("predict", tmp_path / "a.mkl", tmp_path / "a.csv").err.startswith("accuracy")
    new = tmp_path / "new.csv"
    new.write_text("a,b,c\n1,zzz,p\n2,u,k\n3,v,l\n4,v,m\n5,v,n\n6,v,k\n")
    done = mklkit("predict", tmp_path / "a.mkl", new)
    assert done.code == 0
    assert done.err.splitlines() == [
        "column 'b': not in the training data, in 1 sample: 'zzz'",
        "column 'c': not in the training data, in 5 samples: 'k', 'l', 'm' and 1 more",
    ]
    assert len(pd.read_csv(io.StringIO(done.out))) == 6


@pytest.mark.process
def test_a_column_of_probabilities_for_each_class(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    model, out = tmp_path / "a.mkl", tmp_path / "out.csv"
    arguments = ("-k", "rbf", "--tune", "2", "--probability", "-o", model, "--json")
    metadata = mklkit("fit", fitted.data, *arguments).json
    assert metadata["model"]["probability"] is True
    assert any("probabilities by sigmoids" in choice for choice in metadata["choices"])
    done = mklkit("predict", model, fitted.data, "-o", out, "--probability")
    assert done.code == 0, done
    table = pd.read_csv(out)
    names = [f"probability_{label}" for label in ("ill", "very ill", "well")]
    assert list(table) == ["prediction", *names]
    loaded, rows = load_model(model), patients.drop(columns="target")
    np.testing.assert_allclose(table[names], loaded.predict_proba(rows), rtol=1e-12)
    assert table["prediction"].tolist() == loaded.predict(rows).tolist()
    best = pd.read_csv(io.StringIO(mklkit("predict", model, fitted.data, "--top", "1").out))
    assert list(best) == ["prediction", "top_1", "top_1_probability"]
    assert best["top_1"].tolist() == table[names].idxmax(axis=1).str.partition("_")[2].tolist()
    np.testing.assert_allclose(best["top_1_probability"], table[names].max(axis=1))
    assert "probabilities by sigmoids" in mklkit("inspect", model).out
    said = "gives no probabilities: fit it again with 'mklkit fit --probability'"
    mklkit("predict", fitted.model, fitted.data, "--probability").refused(said)


def test_probabilities_beside_the_score_of_two_classes(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    kinds = np.arange(60) % 2
    frame = pd.DataFrame({"x": 2 * kinds + random.normal(size=60), "kind": kinds + 5})
    frame.to_csv(tmp_path / "a.csv", index=False)
    arguments = ("-k", "rbf", "-m", "fourier(n_components=20)", "--stream", "--probability")
    done = mklkit("fit", tmp_path / "a.csv", *FIXED, *arguments, "-o", tmp_path / "a.mkl")
    assert done.code == 0, done
    table = pd.read_csv(io.StringIO(mklkit("predict", tmp_path / "a.mkl", tmp_path / "a.csv").out))
    assert list(table) == ["prediction", "score", "probability_5", "probability_6"]
    np.testing.assert_allclose(table["probability_5"] + table["probability_6"], 1.0)
    assert (table["score"].rank() == table["probability_6"].rank()).all()


def test_inspect_shows_what_fit_recorded(mklkit: Run, fitted: Fitted) -> None:
    done = mklkit("inspect", fitted.model)
    assert done.code == 0, done
    for part in (
        "patients: 120 samples, 4 features, target 'target' (CSV file patients.csv)",
        "2 category columns one-hot encoded into 5",
        "combiner dimkl3, map implicit, learner svm, ovo",
        "ill, very ill, well",
        "range over 3 problems",
        "scikit-learn",
        "held out",
    ):
        assert part in done.out
    metadata = mklkit("inspect", fitted.model, "--json").json
    assert metadata["data"]["columns"] == ["fever", "ward", "smokes", "pulse"]
    assert len(metadata["model"]["weights"]) == 9


def test_inspect_shows_the_columns_that_a_kernel_sees(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    names = [f"gene_{place}" for place in range(9)]
    frame = pd.DataFrame(random.normal(size=(30, 11)), columns=["iron", "sugar", *names])
    model = MKLClassifier(["blood:rbf@iron,sugar", "linear@gene_*", "all:linear"])
    model.fit(frame, np.arange(30) % 2)
    save_model(model, tmp_path / "named.mkl")
    lines = [line.strip() for line in mklkit("inspect", tmp_path / "named.mkl").out.splitlines()]
    assert any(line.endswith("blood: rbf(sigma='mean') on iron, sugar") for line in lines)
    assert "all: linear on all columns" in lines
    # The model does not say which columns the table had, so that no source is known to be whole.
    assert (
        f"linear@gene_*: linear on {', '.join(names[:8])} and 1 more (--json shows them)" in lines
    )
    metadata = mklkit("inspect", tmp_path / "named.mkl", "--json").json
    columns = [kernel["columns"] for kernel in metadata["model"]["kernels"]]
    assert columns == [["iron", "sugar"], names, None]
    save_model(MKLClassifier("linear@1:3").fit(frame.to_numpy(), np.arange(30) % 2), tmp_path / "b")
    assert "linear@1:3: linear on 1, 2" in mklkit("inspect", tmp_path / "b").out


def test_what_to_report_of_a_model(mklkit: Run, fitted: Fitted, tmp_path: Path) -> None:
    section = mklkit("inspect", fitted.model, "--methods", "--json").json
    text, bibtex = section["text"], section["bibtex"]
    for part in (
        "The data set patients has 120 samples and 4 features",
        "3 classes: well (60), ill (40), very ill (20)",
        "2 category columns one-hot encoded into 5",
        "rbf = rbf(sigma='mean')[standard] on all columns",
        "learned one against one",
        "a model of 96 samples, on the other 24 samples, which were held out by stratified",
        "then applied to all 120 samples",
        "with the seed 0",
    ):
        assert part in text
    brackets = [keys for keys in re.findall(r"\[([\w; ]+)\]", text) if keys not in SCALINGS]
    cited = [key for keys in brackets for key in keys.split("; ")]
    assert cited == ["price2022", "chang2011", "mklkit", "pedregosa2011"]
    assert re.findall(r"^@\w+\{(\w+),", bibtex, re.MULTILINE) == cited
    assert f"version = {{{__version__}}}" in bibtex
    metadata = mklkit("inspect", fitted.model, "--json").json
    for texts in chosen_texts(metadata["model"]["chosen"]):
        assert texts in text
    assert mklkit("inspect", fitted.model, "--methods").out == f"{text}\n\n{bibtex}\n"


def test_what_to_report_of_other_models(mklkit: Run, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30) % 7})
    model = tmp_path / "numbers.mkl"
    frame.assign(price=frame["a"] + frame["b"] / 3).to_csv(tmp_path / "a.csv", index=False)
    assert mklkit("fit", tmp_path / "a.csv", "-k", "linear", "-o", model).code == 0
    text = mklkit("inspect", model, "--methods").out
    assert "the target is price" in text
    assert "[saunders1998]" in text
    save_model(MKLClassifier("linear").fit(frame, np.arange(30) % 2), tmp_path / "plain.mkl")
    text = mklkit("inspect", tmp_path / "plain.mkl", "--methods").out
    assert "The model was learned from 30 samples." in text
    kept = ("--kernels", "auto", "--covariates", "b", "--covariates-share", "0.3")
    assert mklkit("fit", tmp_path / "a.csv", *kept, "-o", model).code == 0
    text = mklkit("inspect", model, "--methods").out
    for part in (
        "share=0.3",
        "but those of a fixed share",
        "relative to those of the mean: numbers: ",
    ):
        assert part in text


def test_a_wide_table_is_shown_by_source(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    names = [f"gene_{place}" for place in range(45)]
    frame = pd.DataFrame(random.normal(size=(30, 46)), columns=[*names, "age"])
    frame.iloc[:3, :2] = np.nan
    frame.assign(kind=np.arange(30) % 2).to_csv(tmp_path / "a.csv", index=False)
    kernels = ("-k", "all:linear@gene_*", "-k", "some:linear@gene_4*,age")
    assert mklkit("fit", tmp_path / "a.csv", *FIXED, *kernels, "-o", tmp_path / "a.mkl").code == 0
    shown = mklkit("inspect", tmp_path / "a.mkl").out
    assert "all: linear[standard] on gene_* (45 columns)\n" in shown
    some = [name for name in names if name.startswith("gene_4")]
    assert f"some: linear[standard] on {', '.join(some)}, age" in " ".join(shown.split())
    rows = [line.split() for line in shown.splitlines()]
    assert ["gene_*", "(45", "columns)", "number", "6"] in rows


def test_what_can_not_be_predicted_is_refused(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    patients.drop(columns=["pulse", "target"]).to_csv(new, index=False)
    mklkit("predict", fitted.model, new).refused("lacks 1 of the 4 columns", "'pulse'")
    patients.assign(pulse="fast").to_csv(new, index=False)
    out = tmp_path / "out.csv"
    out.write_text("precious")
    mklkit("predict", fitted.model, new, "-o", out).refused("'pulse' held numbers", "'fast'")
    assert out.read_text() == "precious"
    before = fitted.data.read_bytes()
    mklkit("predict", fitted.model, fitted.data, "-o", fitted.data).refused("holds the data")
    assert fitted.data.read_bytes() == before


def test_a_model_that_could_not_be_tried_is_refused_in_words(
    mklkit: Run, patients: pd.DataFrame, tmp_path: Path
) -> None:
    data = tmp_path / "notes.csv"
    patients.assign(note=patients["target"].str.repeat(2)).to_csv(data, index=False)
    # A kernel of text may refuse the numbers on which models are tried.
    kernels = ("-k", "spectrum@note", "-k", "rbf@pulse")
    mklkit("fit", data, *kernels, "-o", tmp_path / "model.mkl")
    model = load_model(tmp_path / "model.mkl")
    model.steps[-1][1].n_features_in_ += 1
    save_model(model, tmp_path / "odd.mkl")
    mklkit("predict", tmp_path / "odd.mkl", data).refused("odd.mkl failed", "should be saved again")
