"""The package as users meet it: listed, in model files, in plain words."""

from __future__ import annotations

import ast
import doctest
import json
import sys
from importlib import import_module
from pathlib import Path

import mklkit_kernels
import numpy as np
import pytest
from mklkit_kernels.sparse_features import products
from scipy.sparse import csr_array

import mklkit
from mklkit import KernelFacts, MKLClassifier, facts_of, load_model, save_model
from mklkit.__main__ import main

MODULES = sorted(Path(mklkit_kernels.__file__).parent.glob("*.py"))
READS = {
    "text": {"spectrum", "mismatch", "weighted-degree", "token-set"},
    "categories": {"overlap", "frequency-overlap"},
    "amounts": {
        "chi2",
        "conjunctive",
        "disjunctive",
        "hellinger",
        "intersection",
        "min-max",
        "monotone-conjunctive",
        "monotone-disjunctive",
        "periodic",
        "tanimoto",
    },
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_only_public_names_of_mklkit_are_imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mklkit":
            assert node.module == "mklkit", path
            assert {alias.name for alias in node.names} <= set(mklkit.__all__)
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "mklkit" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_examples_in_docstrings(path):
    name = "" if path.stem == "__init__" else f".{path.stem}"
    assert doctest.testmod(import_module(f"mklkit_kernels{name}")).failed == 0


def test_the_kernels_are_listed_with_their_origin(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mklkit", "list", "kernels", "--json"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert not leaving.value.code
    listed = json.loads(capsys.readouterr().out)
    ours = {entry["name"] for entry in listed if entry["distribution"] == "mklkit-kernels"}
    assert ours == set.union(*READS.values())


def test_kernels_declare_what_they_read():
    for cls in mklkit_kernels.mklkit_kernels():
        facts = facts_of(cls(), KernelFacts)
        assert cls.name in READS[facts.reads]
        assert facts.allows_gaps == (facts.reads == "categories")


def test_several_kernels_in_one_model_file(tmp_path):
    rng = np.random.default_rng(2)
    labels = np.arange(60) % 2
    rows = rng.poisson(1 + labels[:, None], (60, 5)).astype(float)
    bank = ["chi2", "min-max", "hellinger", "periodic(period=7)", "intersection"]
    model = MKLClassifier(bank, combiner="centered-alignment").fit(rows, labels)
    assert model.score(rows, labels) > 0.6
    save_model(model, tmp_path / "counts.mkl")
    again = load_model(tmp_path / "counts.mkl")
    np.testing.assert_allclose(
        again.decision_function(rows), model.decision_function(rows), rtol=1e-9
    )


@pytest.mark.parametrize("density", [0.01, 0.2, 0.9])
def test_products_of_sparse_features_are_those_of_dense_ones(density):
    rng = np.random.default_rng(4)
    left, right = (rng.random((n, 3000)) * (rng.random((n, 3000)) < density) for n in (7, 11))
    # Some columns that all rows have, so that both ways of multiplying are taken.
    left[:, :5] = right[:, :5] = 1
    np.testing.assert_allclose(
        products(csr_array(left), csr_array(right)), left @ right.T, rtol=1e-9
    )
