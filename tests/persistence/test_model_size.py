"""Models of many problems: training rows are in the model and in its file once."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklkit import MKLClassifier, load_model, save_model
from mklkit.estimators.predicting import finite_values
from mklkit.protocols import Rows, SomeRows

N, N_CLASSES = 240, 12
GAMMAS = {"a": 0.1, "b": 0.3}
KERNELS = ["a:rbf(gamma=0.1)@0:20", "b:rbf(gamma=0.3)@20:40"]
SETTINGS: list[dict[str, Any]] = [
    {"learner": "svm(C=2)"},
    {"learner": "svm(C=2)", "combiner": "alignment"},
    {"learner": "svm(C=2)", "combiner": "alignment", "multiclass": "ovr"},
    {"learner": "kmhks", "combiner": "best-single", "multiclass": "ovr"},
    {"learner": "ridge", "multiclass": "ovo"},
]


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training samples of many classes, some of them twice, their labels, new samples."""
    y = np.arange(N) % N_CLASSES
    X = rng.normal(size=(N, 40)) + 2 * rng.normal(size=(N_CLASSES, 40))[y]
    X[:30] = X[60:90]
    return X, y, rng.normal(size=(70, 40)) * 2


def rows_of(model: MKLClassifier) -> list[SomeRows]:
    """Return the rows of all maps."""
    return [p.map.kept for decision in model.decisions_ for p in decision.projectors]


def test_rows_are_kept_and_written_once(data: Any, tmp_path: Path) -> None:
    X, y, new = data
    model = MKLClassifier(KERNELS, learner="svm(C=2)", multiclass="ovo").fit(X, y)
    save_model(model, tmp_path / "m.mkl")
    loaded = load_model(tmp_path / "m.mkl")
    for each in (model, loaded, pickle.loads(pickle.dumps(model))):
        arrays = {id(some.rows): some.rows for some in rows_of(each)}
        assert [array.shape for array in arrays.values()] == [(N, 20), (N, 20)]
        np.testing.assert_array_equal(each.decision_function(new), model.decision_function(new))
    numbers = X.nbytes + sum(decision.learner.coefficients.nbytes for decision in model.decisions_)
    # The rest are places of rows, names and numbers of 66 problems of two kernels.
    assert (tmp_path / "m.mkl").stat().st_size < 2 * numbers


def test_predictions_are_those_of_a_support_vector_machine(data: Any, tmp_path: Path) -> None:
    X, y, new = data
    model = MKLClassifier(KERNELS, combiner="uniform", learner="svm(C=2)", multiclass="ovo")
    save_model(model.fit(X, y), tmp_path / "m.mkl")

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        parts = [slice(0, 20), slice(20, 40)]
        pairs = zip(parts, GAMMAS.values(), strict=True)
        return sum(rbf_kernel(a[:, part], b[:, part], gamma) / 2 for part, gamma in pairs)

    reference = SVC(C=2, kernel="precomputed", tol=1e-8).fit(kernel(X, X), y)
    predicted = load_model(tmp_path / "m.mkl").predict(new)
    np.testing.assert_array_equal(predicted, reference.predict(kernel(new, X)))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_values_are_those_of_rows_that_are_not_shared(
    settings: dict[str, Any], data: Any, tmp_path: Path
) -> None:
    X, y, new = data
    X, y, new = X[:, :30], y % 4, new[:, :30]
    model = MKLClassifier(["a:rbf@0:20", "b:linear@0:20", "c:rbf@20:30"], **settings).fit(X, y)
    save_model(model, tmp_path / "m.mkl")
    loaded = load_model(tmp_path / "m.mkl")
    expected = np.column_stack([apart(decision).decide(new) for decision in model.decisions_])
    for each in (model, loaded):
        values = finite_values(each.fitted_, Rows.of(new))
        # Distances are about the mean of all rows, which changes their last digits.
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    assert loaded.fitted_.problems == model.fitted_.problems


def apart(decision: Any) -> Any:
    """Return a decision whose maps have arrays of their own."""
    return decision.with_projectors(
        [
            attrs.evolve(projector, map=projector.map.with_landmarks(projector.map.landmarks))
            for projector in decision.projectors
        ]
    )


def test_rows_that_no_decision_uses_are_dropped(rng: np.random.Generator) -> None:
    X = rng.normal(size=(300, 3)) * 0.05
    y = np.arange(300) % 3
    X[:, 0] += 10 * y
    model = MKLClassifier(["linear"], learner="svm(C=1)", scale=None).fit(X, y)
    (array,) = {id(some.rows): some.rows for some in rows_of(model)}.values()
    used = {some.rows[place].tobytes() for some in rows_of(model) for place in some.members}
    assert len(used) == len(array) < 240
    assert used <= {row.tobytes() for row in X}
