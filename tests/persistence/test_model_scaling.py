"""Scalings of kernels in model files: the same predictions, and what a reader is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklkit import (
    MKLClassifier,
    MKLRegressor,
    MKLVotingClassifier,
    build_pipeline,
    load_model,
    read_metadata,
    save_model,
)
from mklkit.views.scaling import SCALINGS

N = 40


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return training samples of counts and numbers, their classes, and new samples."""
    y = np.arange(N + 9) % 2
    counts = rng.poisson(1.0 + y[:, None], (N + 9, 4)) + np.eye(4, dtype=int)[0]
    frame = pd.DataFrame(counts, columns=[f"a_{n}" for n in range(4)])
    frame = frame.join(pd.DataFrame(rng.normal(size=(N + 9, 2)), columns=["b_0", "b_1"]))
    return frame[:N], y[:N], frame[N:]


@pytest.mark.parametrize("scale", SCALINGS)
@pytest.mark.parametrize("piped", [False, True])
def test_a_loaded_model_predicts_the_same(
    scale: str, piped: bool, data: Any, tmp_path: Path
) -> None:
    frame, y, new = data
    estimator = MKLClassifier([f"a:rbf[{scale}]@a_*", "b:linear[standard]@b_*"])
    model = (build_pipeline(estimator) if piped else estimator).fit(frame, y)
    save_model(model, tmp_path / "m.mkl")
    loaded = load_model(tmp_path / "m.mkl")
    np.testing.assert_allclose(
        loaded.decision_function(new), model.decision_function(new), rtol=1e-12
    )
    kernels = read_metadata(tmp_path / "m.mkl")["model"]["kernels"]
    assert [kernel["name"] for kernel in kernels] == ["a", "b"]
    assert f"[{scale}]" in kernels[0]["spec"] or scale == "none"


@pytest.mark.parametrize(
    "make",
    [
        lambda: MKLClassifier("auto"),
        MKLClassifier,
        lambda: MKLRegressor("auto"),
        lambda: MKLClassifier(["a@a_*", "rbf@b_*"], scale="minmax", multiclass="ovo"),
        lambda: MKLVotingClassifier(MKLClassifier("auto", random_state=0), n_members=2),
    ],
    ids=["auto", "default", "numbers", "beside", "vote"],
)
def test_chosen_kernels_are_in_the_file(make: Any, data: Any, tmp_path: Path) -> None:
    frame, y, new = data
    model = make().fit(frame, y)
    save_model(model, tmp_path / "m.mkl")
    loaded = load_model(tmp_path / "m.mkl")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    if not isinstance(model, MKLVotingClassifier):
        assert loaded.kernel_names_ == model.kernel_names_
        assert loaded.choices_ == model.choices_
        again = loaded.fit(frame, y)
        np.testing.assert_array_equal(again.predict(new), model.predict(new))
