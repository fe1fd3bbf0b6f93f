"""Gram matrices in files: written by ``mklkit kernels``, and read by identifiers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Run
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, load_model
from mklkit.errors import DataError
from mklkit.kernels import Precomputed

GENES = [f"g{n}" for n in range(6)]
NEW = 10
"""The last rows have no outcome."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of the same 70 patients in different orders, whose ids have leading zeros."""
    folder = tmp_path_factory.mktemp("study")
    random = np.random.default_rng(5)
    outcome = random.integers(0, 2, 70)
    ids = [f"{n:03d}" for n in random.permutation(70)]
    age = 50 + 5 * outcome + 5 * random.normal(size=70)
    clinical = pd.DataFrame({"patient": ids, "age": age, "bmi": random.normal(25, 3, 70)})
    clinical["outcome"] = pd.Series(np.where(outcome, "ill", "well"))
    clinical.loc[70 - NEW :, "outcome"] = None
    clinical.to_csv(folder / "clinical.csv", index=False)
    mrna = pd.DataFrame(random.normal(size=(70, 6)) + 0.7 * outcome[:, None], columns=GENES)
    mrna.insert(0, "patient", ids)
    mrna.sample(frac=1, random_state=1).to_csv(folder / "mrna.csv", index=False)
    joined = clinical.merge(mrna, on="patient")[["patient", "age", "bmi", *GENES, "outcome"]]
    joined.to_csv(folder / "joined.csv", index=False)
    joined.iloc[70 - NEW :].to_csv(folder / "new.csv", index=False)
    return folder


def rows_of(study: Path) -> pd.DataFrame:
    return pd.read_csv(study / "joined.csv", dtype={"patient": str})


FILES = ("clinical.csv", "--source", "mrna=mrna.csv", "--by", "patient", "--target", "outcome")
KERNELS = ("-k", "clinical:linear", "-k", "mrna:rbf(gamma=0.1)")
PLAIN = ("-k", "clinical:linear[none]@age,bmi", "-k", "mrna:rbf(gamma=0.1)[none]@g*")


def loaded(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def test_matrices_are_those_of_scikit_learn(mklkit: Run, study: Path, tmp_path: Path) -> None:
    out = tmp_path / "kernels.npz"
    done = mklkit("kernels", *FILES, *KERNELS, "-o", out, cwd=study)
    assert done.code == 0, done
    assert f"wrote 3 matrices of 70 × 70 to {out}" in done.err
    rows, file = rows_of(study), loaded(out)
    # Columns are scaled by the rows that have an outcome.
    known = rows["outcome"].notna()
    scaled = [
        StandardScaler().fit(rows.loc[known, names]).transform(rows[names])
        for names in (["age", "bmi"], GENES)
    ]
    expected = linear_kernel(scaled[0]), rbf_kernel(scaled[1], gamma=0.1)
    assert file["ids"].tolist() == rows["patient"].tolist()
    assert file["labels"].tolist() == ["clinical", "mrna"]
    np.testing.assert_allclose(file["clinical"], expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(file["mrna"], expected[1], rtol=1e-9)
    np.testing.assert_array_equal(file["weights"], [0.5, 0.5])
    np.testing.assert_allclose(file["combined"], sum(expected) / 2, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(file["mrna"], file["mrna"].T)


def test_matrices_of_new_rows_by_those_of_training(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    rows = rows_of(study).iloc[: 70 - NEW]
    rows.to_csv(tmp_path / "train.csv", index=False)
    call = ("kernels", tmp_path / "train.csv", "--by", "patient", *PLAIN)
    done = mklkit(*call, "--new", study / "new.csv", "-o", tmp_path / "cross.npz")
    assert done.code == 0, done
    file, new = loaded(tmp_path / "cross.npz"), rows_of(study).iloc[70 - NEW :]
    assert file["ids"].tolist() == new["patient"].tolist()
    assert file["training_ids"].tolist() == rows["patient"].tolist()
    expected = rbf_kernel(new[GENES], rows[GENES], gamma=0.1)
    np.testing.assert_allclose(file["mrna"], expected, rtol=1e-9)
    lines = linear_kernel(new[["age", "bmi"]], rows[["age", "bmi"]])
    np.testing.assert_allclose(file["combined"], (lines + expected) / 2, rtol=1e-9)
    spec = f"precomputed(path={str(tmp_path / 'cross.npz')!r}, label='mrna')"
    mklkit("fit", tmp_path / "train.csv", "--by", "patient", "-k", spec).refused(
        "new samples to those of training", "all samples"
    )
    mklkit(*call, "--new", study / "new.csv").refused("--new needs -o")
    mklkit(*call, "--new-source", "mrna=mrna.csv", "-o", "x.npz").refused(
        "--new-source needs --new"
    )
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.process
def test_a_model_on_a_file_is_the_model_on_the_features(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "kernels.npz"
    written = mklkit("kernels", "joined.csv", "--by", "patient", *PLAIN, "-o", out, cwd=study)
    assert written.code == 0, written
    # Another order of the rows than in any table.
    file = loaded(out)
    order = np.random.default_rng(0).permutation(70)
    of_kernels = {name: file[name][np.ix_(order, order)] for name in ("clinical", "mrna")}
    np.savez(out, ids=file["ids"][order], **of_kernels)
    by_file = [
        word
        for name in of_kernels
        for word in ("-k", f"{name}:precomputed(path={str(out)!r}, label={name!r})")
    ]
    named = [word if word == "-k" else f"{word}@patient" for word in by_file]
    data = ("joined.csv", "--target", "outcome")
    by = ("--by", "patient")
    calls = {
        "features": (*data, *by, *PLAIN),
        "by": (*data, *by, *by_file),
        "column": (*data, *named),
        "files": (*FILES, *by_file),
    }
    predictions, scores = {}, {}
    for name, call in calls.items():
        model = tmp_path / f"{name}.mkl"
        fitted = mklkit("fit", *call, *FIXED, "-o", model, "--json", cwd=study)
        assert fitted.code == 0, fitted
        evaluated = mklkit("evaluate", *call, *FIXED, "--cv", "3", "--json", cwd=study)
        assert evaluated.code == 0, evaluated
        scores[name] = [fitted.json["scores"]["held_out"]["accuracy"], evaluated.json["scores"]]
        predicted = mklkit("predict", model, "new.csv", cwd=study)
        assert predicted.code == 0, predicted
        predictions[name] = pd.read_csv(io.StringIO(predicted.out))
    for name in ("by", "column", "files"):
        assert scores[name] == scores["features"]
        pd.testing.assert_frame_equal(predictions[name], predictions["features"], rtol=1e-4)
    # Beside a kernel on columns, which does not read the identifiers.
    beside = mklkit(
        "fit", *FILES, *by_file[-2:], "-k", "clinical:linear[none]", "--json", cwd=study
    )
    assert beside.json["scores"]["held_out"]["rows"] > 0, beside
    joined = mklkit("predict", tmp_path / "files.mkl", *FILES[:-2], cwd=study)
    assert joined.code == 0, joined
    assert len(pd.read_csv(io.StringIO(joined.out))) == 70


@pytest.mark.process
def test_samples_without_a_row_in_a_matrix_miss_its_source(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    """As where the columns are absent; both for a mask in the file and for fewer rows."""
    pd.read_csv(study / "mrna.csv", dtype=str)[12:].to_csv(tmp_path / "mrna.csv", index=False)
    files = ("clinical.csv", "--by", "patient", "--target", "outcome")
    source = ("--source", f"mrna={tmp_path / 'mrna.csv'}")
    kernels = ("-k", "clinical:linear[none]", "-k", "mrna:rbf(gamma=0.1)[none]")
    masked, fewer = tmp_path / "masked.npz", tmp_path / "fewer.npz"
    done = mklkit("kernels", *files, *source, *kernels, "-o", masked, cwd=study)
    assert done.code == 0, done
    file = loaded(masked)
    lacking = np.isin(file["ids"], pd.read_csv(study / "mrna.csv", dtype=str)["patient"][:12])
    np.testing.assert_array_equal(file["missing"], np.c_[np.zeros(70, bool), lacking])
    kept = np.flatnonzero(~lacking)[::-1]
    np.savez(fewer, ids=file["ids"][kept], mrna=file["mrna"][np.ix_(kept, kept)])
    of_file = [f"mrna:precomputed(path={str(path)!r}, label='mrna')" for path in (masked, fewer)]
    answers = []
    for more in ((*source, *kernels[2:]), *(("-k", spec) for spec in of_file)):
        model = tmp_path / "m.mkl"
        fit = ("fit", *files, *kernels[:2], *more, *FIXED, "--json", "-o", model)
        fitted = mklkit(*fit, cwd=study)
        assert fitted.code == 0, fitted
        assert any("samples lack mrna" in note for note in fitted.json["choices"])
        of_new = source if more[0] == "--source" else ()
        predicted = mklkit("predict", model, "clinical.csv", *of_new, cwd=study)
        assert predicted.code == 0, predicted
        table = pd.read_csv(io.StringIO(predicted.out)).drop(columns="patient", errors="ignore")
        cohort = ("score", model, "clinical.csv", *of_new, "-t", "outcome", "--json")
        scored = mklkit(*cohort, cwd=study).json["scores"]
        answers.append(({**fitted.json["scores"], "score": scored["incomplete"]}, table))
    assert answers[0][0]["incomplete"]["rows"] > 0
    for scores, predictions in answers[1:]:
        assert scores == answers[0][0]
        pd.testing.assert_frame_equal(predictions, answers[0][1], rtol=1e-6)


@pytest.mark.process
def test_identifiers_of_which_none_is_in_a_matrix_are_told(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    rows = rows_of(study).drop(columns=GENES).dropna()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    others = rows.assign(patient="x" + rows["patient"])
    others.to_csv(tmp_path / "others.csv", index=False)
    every = rows_of(study)
    ids = every["patient"].to_numpy(str)
    np.savez(tmp_path / "net.npz", ids=ids, K=rbf_kernel(every[GENES], gamma=0.1))
    options = ("--target", "outcome", "--by", "patient", "-k", "linear@age,bmi")
    options += ("-k", f"net:precomputed(path='{tmp_path / 'net.npz'}')")
    model = tmp_path / "model.mkl"
    done = mklkit("fit", tmp_path / "rows.csv", *options, "-o", model)
    assert done.code == 0, done
    told = "no sample has the source 'net': none of their identifiers is in its matrix"
    for command in ("predict", "score"):
        for name, absent in (("rows", False), ("others", True)):
            done = mklkit(command, model, tmp_path / f"{name}.csv", "--by", "patient")
            assert done.code == 0, done
            assert (told in done.err) == absent
    done = mklkit("fit", tmp_path / "others.csv", *options)
    done.refused("No 'patient' of the samples is among the identifiers of kernel 'net'")
    assert f"'x{ids[0]}'" in done.err
    assert f"'{ids[0]}'" in done.err


@pytest.mark.process
def test_matrices_of_a_cohort_without_a_source(mklkit: Run, study: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "model.mkl", tmp_path / "cross.npz"
    fit = mklkit("fit", *FILES, *KERNELS, "--holdout", "0", "-o", model, cwd=study)
    assert fit.code == 0, fit
    new = pd.read_csv(study / "clinical.csv", dtype=str)[-NEW:]
    new.to_csv(tmp_path / "new.csv", index=False)
    call = ("kernels", *FILES[:-2], "--model", model)
    done = mklkit(*call, "--new", tmp_path / "new.csv", "-o", out, cwd=study)
    assert done.code == 0, done
    assert "no sample has the source 'mrna'" in done.err
    file = loaded(out)
    assert file["missing"].tolist() == [[False, True]] * NEW
    assert not file["mrna"].any()
    # With one source that is the weighted sum, times the root of 1 / 0.5.
    np.testing.assert_allclose(file["combined"], file["clinical"] / np.sqrt(2), rtol=1e-9)
    alone = ("kernels", FILES[0], *FILES[3:], "--model", model)
    done = mklkit(*alone, cwd=study)
    assert done.code == 0, done
    assert "no alignment of 'mrna': no sample has a value in the columns" in done.out
    assert "0.000" not in done.out
    result = mklkit(*alone, "--json", cwd=study).json
    assert result["alignment"] == [[pytest.approx(1), None], [None, None]]


@pytest.mark.process
def test_a_file_of_matrices_is_compared_as_the_columns_are(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "kernels.npz"
    kernels = ("-k", "clinical:linear[none]", "-k", "mrna:rbf(gamma=0.1)[none]")
    assert mklkit("kernels", *FILES, *kernels, "-o", out, cwd=study).code == 0
    of_file = ("-k", f"mrna:precomputed(path={str(out)!r}, label='mrna')")
    rest = (*kernels[:2], *FIXED, "-c", "uniform", "--cv", "2x2")
    results = []
    for kernel in (of_file, kernels[2:]):
        few = ("--baselines", "none", "--json")
        done = mklkit("compare", *FILES, *kernel, *rest, *few, cwd=study)
        assert done.code == 0, done
        methods = {row["method"]: row["score"] for row in done.json["tables"]["clinical"]}
        results.append({name: methods[name] for name in ("mrna", "clinical", "uniform")})
    assert results[0] == results[1]


def test_text_identifiers_are_no_numbers_of_a_table_in_parts(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    rows, path = rows_of(study), tmp_path / "kernels.npz"
    ids = "p" + rows["patient"]
    np.savez(path, ids=ids.to_numpy(str), K=rbf_kernel(rows[GENES]))
    rows.assign(patient=ids).to_csv(tmp_path / "rows.csv", index=False)
    call = (tmp_path / "rows.csv", "-k", f"precomputed(path={str(path)!r})@patient")
    mklkit("fit", *call, "--stream").refused("'patient' holds text", "leave out --stream")


@pytest.mark.parametrize("combiner", ["alignment", "ifsl"])
def test_kernels_and_weights_of_a_model(
    mklkit: Run, study: Path, tmp_path: Path, combiner: str
) -> None:
    model, out = tmp_path / "model.mkl", tmp_path / "kernels.npz"
    fit = mklkit("fit", *FILES, *KERNELS, "-c", combiner, "--holdout", "0", "-o", model, cwd=study)
    assert fit.code == 0, fit
    done = mklkit("kernels", *FILES[:-2], "--model", model, "-o", out, cwd=study)
    if combiner == "ifsl":
        done.refused("ifsl", "no combined matrix")
        return
    assert done.code == 0, done
    file, weights = loaded(out), load_model(model)[-1].weights_[0]
    assert weights[0] != weights[1]
    np.testing.assert_array_equal(file["weights"], weights)
    expected = weights[0] * file["clinical"] + weights[1] * file["mrna"]
    np.testing.assert_allclose(file["combined"], expected)
    mklkit("kernels", *FILES, *KERNELS, "--model", model, cwd=study).refused("leave out --kernels")


def test_samples_that_miss_a_source_have_no_similarities_in_it(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    pd.read_csv(study / "mrna.csv", dtype=str).iloc[5:].to_csv(tmp_path / "few.csv", index=False)
    out = tmp_path / "kernels.npz"
    files = ("clinical.csv", "--source", f"mrna={tmp_path / 'few.csv'}", *FILES[3:])
    done = mklkit("kernels", *files, *KERNELS, "-o", out, cwd=study)
    assert done.code == 0, done
    file = loaded(out)
    absent = set(pd.read_csv(study / "mrna.csv", dtype=str)["patient"].iloc[:5])
    missing = np.array([label in absent for label in file["ids"]])
    assert not file["mrna"][missing].any()
    assert (file["mrna"][np.ix_(~missing, ~missing)] > 0).all()
    # The one source that they have counts for both.
    scale = np.where(missing, np.sqrt(2), 1)
    total = (file["clinical"] + file["mrna"]) / 2 * np.outer(scale, scale)
    np.testing.assert_allclose(file["combined"], total)


def test_what_is_no_kernel_of_all_samples_is_refused(
    mklkit: Run, study: Path, tmp_path: Path
) -> None:
    rows, path = rows_of(study), tmp_path / "kernels.npz"
    gram, ids = rbf_kernel(rows[GENES], gamma=0.1), rows["patient"].to_numpy(str)
    call = ("fit", study / "joined.csv", "--target", "outcome", "--by", "patient", "-k")
    signs = gram * np.where(np.arange(70) % 2, 1, -1)
    for changed, said in (
        ({"ids": ids[1:], "K": gram[1:, 1:]}, f"no row with the id '{ids[0]}'"),
        ({"ids": ids, "K": gram[:, 1:]}, "square matrix, got shape (70, 69)"),
        ({"ids": ids, "K": np.triu(gram)}, "symmetric"),
        ({"ids": ids, "K": gram - 0.5}, "positive semi-definite"),
        ({"ids": ids, "K": (signs + signs.T) / 2}, "positive semi-definite"),
        ({"ids": ids[1:], "K": gram}, "70 rows needs as many ids; got 69"),
        ({"ids": np.repeat(ids[:1], 70), "K": gram}, f"got '{ids[0]}' twice"),
        ({"ids": ids, "K": gram, "L": gram}, "choose a matrix by its label"),
        ({"K": gram}, "whose matrix has no ids"),
    ):
        np.savez(path, **changed)
        mklkit(*call, f"precomputed(path={str(path)!r})").refused(said)
    np.savez(path, ids=ids, first=gram, second=gram)
    mklkit(*call, f"precomputed(path={str(path)!r}, label='frist')").refused("'first'?")
    without = f"precomputed(path={str(path)!r}, label='first')"
    mklkit(*call[:4], "-k", without).refused("takes one column of ids", "@patient")
    rows.assign(patient=ids).iloc[[0, 0, 1]].to_csv(tmp_path / "twice.csv", index=False)
    mklkit("kernels", tmp_path / "twice.csv", "--by", "patient").refused("2 rows")
    mklkit("kernels", study / "joined.csv", "-k", "ids:rbf@g*", "-o", path).refused("another label")


def test_rows_are_found_by_text_or_number() -> None:
    gram = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 2.0]])
    expected = gram[np.ix_([2, 0], [1])]
    frames = [pd.DataFrame({"id": [12, 7]}), pd.DataFrame({"id": [9]})]
    for ids in ([7, 9, 12], ["7", "9", "12"], np.array([7.0, 9.0, 12.0])):
        values = Precomputed(gram, ids=ids)(*(frame.to_numpy(np.float64) for frame in frames))
        np.testing.assert_array_equal(values, expected)
    assert "ids=<3>" in repr(Precomputed(gram, ids=ids))
    y = ["a", "b", "a"]
    for table in (
        pd.DataFrame({"id": [12, 7, 9], "x": [1.0, 2.0, 3.0]}),
        pd.DataFrame({"id": ["12", "7", "9"], "x": [1.0, 2.0, 3.0]}),
        pd.DataFrame({"id": ["12", 7, 9.0], "x": [1.0, 2.0, 3.0]}),
    ):
        graph = ("graph", Precomputed(gram, ids=[7, 9, 12]), "id")
        model = MKLClassifier([graph, "linear"], learner="svm(C=1)").fit(table, y)
        plain = MKLClassifier(
            [("graph", Precomputed(gram), "id"), "linear"], learner="svm(C=1)"
        ).fit(table.assign(id=[2, 0, 1]), y)
        np.testing.assert_array_equal(
            model.decision_function(table), plain.decision_function(table.assign(id=[2, 0, 1]))
        )
    with pytest.raises(DataError, match="16 digits or more"):
        MKLClassifier(graph[1]).fit(pd.DataFrame({"id": [10**17, 1, 2]}), y)
    alone = MKLClassifier(graph[1], learner="svm(C=1)").fit(table[["id"]], y)
    with pytest.raises(DataError, match="'id' has a gap in row 2; each row needs its identifier"):
        alone.predict(pd.DataFrame({"id": ["12", None]}))
    with pytest.raises(DataError, match="no row with the id 'x'"):
        alone.predict(pd.DataFrame({"id": ["12", "x"]}))
    with pytest.raises(DataError, match="no row with 2 ids"):
        Precomputed(gram, ids=[7, 9, 12])(np.array([[8.0], [7.0], [1.5]]), np.array([[7.0]]))
