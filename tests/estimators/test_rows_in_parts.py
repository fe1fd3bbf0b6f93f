"""The same fit on rows in memory and on rows that are read in parts, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit import DataError, MKLClassifier, SpecError
from mklkit.learners.ho_kashyap import sweeps
from mklkit.numerics.threads import one_blas_thread
from mklkit.views import engines, feature_blocks
from mklkit.views.stored_rows import StoredRows

N_ROWS = 300
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("dimkl2", "alignment")]
PER_VIEW = "ifsl(ridges=(0.5, 2, 1), rates=(0.9, 0.3, 0.5))"
AS_PRINTED = "ifsl(order='late-margins', initial='random')"
COMBINERS = ("uniform", "dimkl3", "dimkl5", "centered-alignment", PER_VIEW, AS_PRINTED, *SLOW)


@pytest.fixture
def table(rng):
    rows = rng.normal(size=(N_ROWS, 4)).astype(np.float32)
    return rows, np.digitize(rows[:, 0] + rows[:, 1] ** 2, [0.4, 1.6])


@pytest.fixture
def stored(table, tmp_path):
    np.save(tmp_path / "rows.npy", table[0])
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


@pytest.fixture
def in_small_blocks(monkeypatch):
    monkeypatch.setattr(engines, "BLOCK_ROWS", 32)
    monkeypatch.setattr(sweeps, "BLOCK_ROWS", 32)
    monkeypatch.setattr(engines, "PART_ROWS", 96)
    monkeypatch.setattr(feature_blocks, "SMALL_BYTES", 0)


def model(combiner: str, learner: str = "mhks", **settings) -> MKLClassifier:
    return MKLClassifier(
        ["rbf(sigma='mean')", "linear", ("few", "rbf(sigma='mean/2')", slice(0, 2))],
        combiner=combiner,
        feature_map="empirical(subset=30)",
        learner=learner,
        random_state=0,
        **settings,
    )


def fitted_in_parts(combiner, rows, y, path, request, learner="mhks"):
    """Return a model of rows in memory, and models of small parts of a file and of an array."""
    np.save(path / "own.npy", rows)
    stored = np.load(path / "own.npy", mmap_mode="r")
    whole = model(combiner, learner).fit(rows, y)
    request.getfixturevalue("in_small_blocks")
    with one_blas_thread():
        alone = model(combiner, learner).fit(rows, y)
    return whole, (model(combiner, learner).fit(stored, y), alone)


@pytest.mark.parametrize("combiner", COMBINERS)
def test_a_fit_is_that_of_rows_in_memory(combiner, table, tmp_path, request):
    rows, y = table[0].astype(np.float64), table[1] > 0
    whole, others = fitted_in_parts(combiner, rows, y, tmp_path, request)
    for other in others:
        np.testing.assert_allclose(other.weights_, whole.weights_, atol=1e-10)
        expected = whole.decision_function(rows)
        np.testing.assert_allclose(other.decision_function(rows), expected, atol=1e-8)


@pytest.mark.parametrize("combiner", ["dimkl5", "ifsl(lam=2.0)"])
def test_the_smooth_objective_is_that_of_rows_in_memory(combiner, table, tmp_path, request):
    rows, y = table[0].astype(np.float64), table[1] > 0
    exact = "mhks(solver='smooth', tol=1e-10)"
    whole, others = fitted_in_parts(combiner, rows, y, tmp_path, request, exact)
    for other in others:
        expected = whole.decision_function(rows)
        np.testing.assert_allclose(other.decision_function(rows), expected, atol=1e-5)


@pytest.mark.parametrize("combiner", ["dimkl3", "ifsl"])
def test_in_single_precision_weights_agree_to_six_digits(combiner, table, tmp_path, request):
    rows, y = table[0], table[1] > 0
    whole, others = fitted_in_parts(combiner, rows, y, tmp_path, request)
    expected = whole.decision_function(rows)
    clear = np.abs(expected) > 1e-2
    for other in others:
        np.testing.assert_allclose(other.weights_, whole.weights_, atol=1e-6)
        assert ((other.decision_function(rows) > 0) == (expected > 0))[clear].all()


def test_several_classes(table, stored, in_small_blocks):
    rows, y = table
    for multiclass in ("ovo", "ovr"):
        answers = model("dimkl5", multiclass=multiclass).fit(stored, y).predict(stored)
        expected = model("dimkl5", multiclass=multiclass).fit(rows, y).predict(rows)
        assert (answers == expected).mean() > 0.995


def test_kernels_are_bound_to_columns_by_their_stored_names(table, tmp_path):
    rows, y = table
    rows.tofile(tmp_path / "rows")
    names = ["size", "x_1", "x_2", "other"]
    source = StoredRows(tmp_path / "rows", rows.shape, rows.dtype, column_names=names)
    fitted = MKLClassifier(
        [("x", "rbf", "x_*"), ("size", "linear", ["size"])],
        feature_map="empirical(subset=20)",
        learner="mhks",
    ).fit(source, y > 0)
    assert list(fitted.feature_names_in_) == names
    assert fitted.kernel_columns_[0].tolist() == [1, 2]


@pytest.mark.parametrize(
    "feature_map",
    ["implicit", "empirical(subset=300)", "empirical(subset=5000)", "empirical(subset=1.0)"],
)
def test_all_rows_may_be_landmarks(feature_map, table, stored):
    rows, y = table
    learner = "svm" if feature_map == "implicit" else "mhks"
    settings = {"feature_map": feature_map, "learner": learner}
    fitted = MKLClassifier(["rbf", "linear"], **settings).fit(stored, y > 0)
    expected = MKLClassifier(["rbf", "linear"], **settings).fit(rows, y > 0)
    np.testing.assert_array_equal(fitted.predict(stored), expected.predict(rows))


def test_mistakes(table, stored):
    _, y = table
    with pytest.raises(ValueError, match="299 for 300 rows"):
        model("uniform").fit(stored, y[1:])
    with pytest.raises(DataError, match=r"1 MiB may be used: use fewer landmarks"):
        model("uniform", max_memory="1MB").fit(stored, y > 0)
    for wrong in ("much", "-1GB", 12, 0.5):
        with pytest.raises(SpecError, match=r"max_memory must be an amount of at least a megabyte"):
            model("uniform", max_memory=wrong).fit(stored, y > 0)
    fitted = model("uniform").fit(stored, y > 0)
    narrow = StoredRows(stored.filename, (N_ROWS, 3), np.float32, offset=stored.offset)
    with pytest.raises(DataError, match=r"trained on 4 columns; these rows have 3"):
        fitted.predict(narrow)
