"""Precomputed kernels from files: the same as from the matrix, also on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import run_in_process
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLClassifier, load_model, save_model
from mklkit.errors import DataError, SpecError
from mklkit.kernels import Precomputed
from mklkit.registry.specs import to_spec


@pytest.fixture
def gram(rng: np.random.Generator) -> np.ndarray:
    return rbf_kernel(rng.normal(size=(30, 2)), gamma=0.5)


def write(folder: Path, gram: np.ndarray, ending: str) -> Path:
    """Return a file with a matrix."""
    path = folder / f"graph{ending}"
    if ending == ".npy":
        np.save(path, gram)
    elif ending == ".npz":
        np.savez(path, similarities=gram)
    else:
        np.savetxt(path, gram, delimiter=",")
    return path


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv"])
def test_a_spec_string_gives_the_matrix_of_a_file(tmp_path, gram, ending):
    path = write(tmp_path, gram, ending)
    y = np.resize(["a", "b"], 30)
    X = pd.DataFrame({"id": np.arange(30), "x": gram[:, 0]})
    by_file = MKLClassifier([f"graph:precomputed(path={str(path)!r})@id", "linear"]).fit(X, y)
    by_matrix = MKLClassifier([("graph", Precomputed(gram), "id"), "linear"]).fit(X, y)
    np.testing.assert_allclose(by_file.decision_function(X), by_matrix.decision_function(X))
    assert by_file.kernel_columns_[1].tolist() == [1]
    # The model file holds the matrix.
    save_model(by_file, tmp_path / "model.mkl")
    path.unlink()
    loaded = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(loaded.decision_function(X), by_file.decision_function(X))


def test_a_changed_file_is_read_again(tmp_path, gram):
    path = write(tmp_path, gram, ".npy")
    ids = np.array([[0.0], [1.0]])
    spec = Precomputed(path=str(path))
    assert to_spec(spec) == f"precomputed(path={str(path)!r})"
    np.save(path, np.eye(4))
    np.testing.assert_array_equal(spec(ids, ids), gram[:2, :2])
    np.testing.assert_array_equal(Precomputed(path=str(path))(ids, ids), np.eye(2))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.npy", None, "there is no such file"),
        ("wide.npy", np.ones((2, 3)), r"square matrix, got shape \(2, 3\)"),
        ("objects.npy", np.array([[{}]], dtype=object), "it holds no array of numbers"),
        ("words.csv", "a,b\nc,d\n", "could not convert"),
        ("ragged.csv", "1,2\n3\n", "column"),
        ("broken.npz", "no archive", "it holds no array of numbers"),
        ("nothing.csv", "", "it is empty"),
        (
            "two.npz",
            [np.eye(2), np.eye(3)],
            r"it has 2 arrays \('arr_0', 'arr_1'\); choose a matrix by its label",
        ),
        ("pipe.csv", os.mkfifo, "it is not a file"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, list):
        np.savez(path, *content)
    elif content is os.mkfifo:
        os.mkfifo(path)
    elif content is not None:
        np.save(path, content)
    with pytest.raises((DataError, SpecError), match=message):
        MKLClassifier(f"precomputed(path={str(path)!r})").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("given", [{}, {"matrix": np.eye(2), "path": "graph.npy"}])
def test_matrix_or_file(given):
    with pytest.raises(ValueError, match="either its 'matrix', in Python, or the 'path'"):
        Precomputed(**given)


@pytest.mark.process
def test_on_the_command_line(tmp_path, gram):
    rows = pd.DataFrame({"id": np.arange(30), "x": gram[:, 0], "target": np.resize(["a", "b"], 30)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    write(tmp_path, gram, ".npy")
    kernels = ("-k", "graph:precomputed(path='graph.npy')@id", "-k", "linear")
    done = run_in_process("fit", "rows.csv", *kernels, "-o", "m.mkl", cwd=tmp_path)
    assert done.code == 0, done
    assert "column 'id' kept for kernels on such columns" in done.out
    assert run_in_process("predict", "m.mkl", "rows.csv", cwd=tmp_path).code == 0
    missing = run_in_process("fit", "rows.csv", "-k", "precomputed(path='no.npy')@id", cwd=tmp_path)
    missing.refused("The matrix of a precomputed kernel, 'no.npy': there is no such file.")
    rows.assign(id=np.arange(30) + 5).to_csv(tmp_path / "other.csv", index=False)
    run_in_process("predict", "m.mkl", "other.csv", cwd=tmp_path).refused(
        "needs whole numbers 0 to 29, got values from 5 to 34"
    )
    rows.assign(id=rows["id"].where(rows["id"] != 2)).to_csv(tmp_path / "gap.csv", index=False)
    gap = "Column 'id' has a gap in row 3; each row needs its number in the matrix."
    for done in (
        run_in_process("fit", "gap.csv", *kernels, cwd=tmp_path),
        run_in_process("predict", "m.mkl", "gap.csv", cwd=tmp_path),
    ):
        done.refused(gap)
        assert "SimpleImputer" not in done.err


def test_gaps_in_row_ids_are_named(gram):
    X = pd.DataFrame({"id": np.arange(30.0), "x": gram[:, 0]}, index=range(100, 130))
    model = MKLClassifier([("graph", Precomputed(gram), "id"), "linear"])
    model.fit(X, np.resize(["a", "b"], 30))
    X.iloc[[4, 7], 0] = np.nan
    with pytest.raises(DataError, match="'id' has a gap in the row with index 104; "):
        model.predict(X)
