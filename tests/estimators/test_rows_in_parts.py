"""The same fit on rows in memory and on rows that are read in parts, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit import DataError, MKLClassifier, SpecError
from mklkit.numerics.threads import one_blas_thread
from mklkit.views.stored_rows import StoredRows

N_ROWS = 300
MANY_ROWS = 17_000
"""Two parts, of nine blocks each and of fewer: the last block is shorter than the others."""
SCARCE = "2MB"
"""Memory in which the features of so many rows can't be kept."""
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("dimkl2", "alignment")]
PER_VIEW = "ifsl(ridges=(0.5, 2, 1), rates=(0.9, 0.3, 0.5))"
AS_PRINTED = "ifsl(order='late-margins', initial='random')"
COMBINERS = ("uniform", "dimkl3", "dimkl5", "centered-alignment", PER_VIEW, AS_PRINTED, *SLOW)
PRINTED = "mhks(solver='printed', tol=0.5)"


def table_of(rng, n_rows):
    rows = rng.normal(size=(n_rows, 4)).astype(np.float32)
    return rows, np.digitize(rows[:, 0] + rows[:, 1] ** 2, [0.4, 1.6])


def in_a_file(rows, path):
    np.save(path / "rows.npy", rows)
    return np.load(path / "rows.npy", mmap_mode="r")


@pytest.fixture
def table(rng):
    return table_of(rng, N_ROWS)


@pytest.fixture
def many(rng):
    return table_of(rng, MANY_ROWS)


@pytest.fixture
def stored(table, tmp_path):
    return in_a_file(table[0], tmp_path)


def model(combiner: str, learner: str = PRINTED, **settings) -> MKLClassifier:
    return MKLClassifier(
        ["rbf(sigma='mean')", "linear", ("few", "rbf(sigma='mean/2')", slice(0, 2))],
        combiner=combiner,
        feature_map="empirical(subset=8)",
        learner=learner,
        random_state=0,
        **settings,
    )


@pytest.mark.parametrize("combiner", COMBINERS)
def test_a_fit_is_that_of_rows_in_memory(combiner, many, tmp_path):
    rows, y = many[0].astype(np.float64), many[1] > 0
    whole = model(combiner).fit(rows, y)
    parts = model(combiner, max_memory=SCARCE).fit(in_a_file(rows, tmp_path), y)
    np.testing.assert_allclose(parts.weights_, whole.weights_, atol=1e-10)
    expected = whole.decision_function(rows)
    np.testing.assert_allclose(parts.decision_function(rows), expected, atol=1e-8)
    # Both are cut into parts, so an error that both make shows here.
    assert whole.score(rows, y) > 0.75


@pytest.mark.parametrize("combiner", ["dimkl5", "ifsl(lam=2.0)"])
def test_the_smooth_objective_is_that_of_rows_in_memory(combiner, many, tmp_path):
    rows, y = many[0].astype(np.float64), many[1] > 0
    exact = "mhks(solver='smooth', tol=1e-10)"
    whole = model(combiner, exact).fit(rows, y)
    parts = model(combiner, exact, max_memory=SCARCE).fit(in_a_file(rows, tmp_path), y)
    expected = whole.decision_function(rows)
    np.testing.assert_allclose(parts.decision_function(rows), expected, atol=1e-5)


@pytest.mark.parametrize("combiner", ["dimkl3", "ifsl"])
def test_in_single_precision_weights_agree_to_six_digits(combiner, many, tmp_path):
    rows, y = many[0], many[1] > 0
    whole = model(combiner, "mhks").fit(rows.astype(np.float64), y)
    parts = model(combiner, "mhks", max_memory=SCARCE).fit(in_a_file(rows, tmp_path), y)
    expected = whole.decision_function(rows)
    clear = np.abs(expected) > 0.1
    np.testing.assert_allclose(parts.weights_, whole.weights_, atol=1e-6)
    assert ((parts.decision_function(rows) > 0) == (expected > 0))[clear].all()


def test_neither_the_threads_nor_a_file_change_a_digit(many, tmp_path):
    rows, y = many
    parts = model("dimkl3", max_memory=SCARCE).fit(in_a_file(rows, tmp_path), y > 0)
    with one_blas_thread():
        alone = model("dimkl3", max_memory=SCARCE).fit(rows, y > 0)
    np.testing.assert_array_equal(alone.weights_, parts.weights_)
    np.testing.assert_array_equal(alone.decision_function(rows), parts.decision_function(rows))


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(many, tmp_path, multiclass):
    rows, y = many
    parts = model("dimkl5", "mhks", multiclass=multiclass, max_memory=SCARCE)
    answers = parts.fit(in_a_file(rows, tmp_path), y).predict(rows)
    expected = model("dimkl5", "mhks", multiclass=multiclass).fit(rows, y).predict(rows)
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
    with pytest.raises(ValueError, match="299 for 300"):
        model("uniform").fit(stored, y[1:])
    with pytest.raises(DataError, match=r"1 MiB may be used: use fewer landmarks"):
        model("uniform", max_memory="1MB").fit(stored, y > 0)
    for wrong in ("much", "-1GB", 12, 0.5):
        with pytest.raises(SpecError, match=r"max_memory must be an amount of at least a megabyte"):
            model("uniform", max_memory=wrong).fit(stored, y > 0)
    fitted = model("uniform").fit(stored, y > 0)
    narrow = StoredRows(stored.filename, (N_ROWS, 3), np.float32, offset=stored.offset)
    with pytest.raises(DataError, match=r"trained on 4 columns; these have 3"):
        fitted.predict(narrow)
