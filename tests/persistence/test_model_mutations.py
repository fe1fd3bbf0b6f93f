"""Whatever is changed in a model file, it is refused as such or decides with finite numbers."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from crafted import fitted
from mutations import mutated

from mklkit.errors import MKLKitError, ModelFileError
from mklkit.persistence import load_model, read_facts, save_model

MODELS = {
    "svm": ({}, 2),
    "gated": ({"combiner": "cluster-gating", "kernels": ["linear", "rbf"]}, 2),
    "features": (
        {"kernels": ["rbf@a,b"], "feature_map": "empirical(subset=0.5)", "learner": "mhks"},
        3,
    ),
}
SHORT_RUN = 30


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.slow] if place % 2 else [])
        for place, name in enumerate(MODELS)
    ],
)
def model_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame
) -> bytes:
    parameters, n_classes = MODELS[request.param]
    model = fitted(mixed, np.arange(len(mixed)) % n_classes, random_state=0, **parameters)
    path = tmp_path_factory.mktemp("mutations") / "model.mkl"
    save_model(model, path)
    return path.read_bytes()


def test_mutated_files_are_refused_or_decide(
    model_file: bytes, mixed: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "model.mkl"
    refused = longest = 0
    for seed in range(SHORT_RUN):
        path.write_bytes(mutated(model_file, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read_facts(path)
                model = load_model(path)
            except ModelFileError as error:
                refused += 1
                longest = max(longest, len(str(error)))
                continue
            try:
                decisions = model.decision_function(mixed)
                assert np.isfinite(decisions).all(), seed
                assert len(model.predict(mixed)) == len(mixed), seed
            except MKLKitError:
                continue
    assert longest < 700
    assert longest < 700
    # Most changes are to what a model is made of, and can't go unnoticed.
    assert refused > SHORT_RUN / 4
