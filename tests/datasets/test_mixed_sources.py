"""The generated table of text, numbers and categories, and what kernels on them make of it."""

from __future__ import annotations

import pytest
from sklearn.model_selection import cross_val_score

from mklkit import MKLClassifier
from mklkit.datasets import load_table
from mklkit.datasets.pipeline import build_pipeline

SOURCES = {
    "site": "spectrum(k=4)@sequence",
    "level": "rbf@level_*",
    "kind": "overlap@tissue,stage",
}


@pytest.fixture(scope="module")
def table():
    return load_table("mixed_sources", as_written=["sequence"])


def accuracy(table, kernels):
    # Of half of the rows: the ordinary run is short.
    pipeline = build_pipeline(MKLClassifier(kernels, learner="svm(C=1)"))
    return cross_val_score(pipeline, table.features[:300], table.target[:300], cv=2).mean()


def test_three_kinds_of_columns_together_are_better_than_each_alone(table):
    together = accuracy(table, list(SOURCES.values()))
    assert together > 0.8
    assert together > max(accuracy(table, kernel) for kernel in SOURCES.values()) + 0.02
