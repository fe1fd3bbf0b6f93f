"""What is done to the columns of a kernel, against scikit-learn's scalers on the training rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from mklkit import MKLClassifier, StoredRows
from mklkit.errors import DataError, SpecError
from mklkit.protocols import Rows
from mklkit.registry.columns import bind_kernels
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.scaling import SCALINGS, with_scaling

N = 40


def _min_max(train: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.asarray(MinMaxScaler((-1, 1)).fit(train).transform(new))


def _tf_idf(train: np.ndarray, new: np.ndarray) -> np.ndarray:
    return TfidfTransformer(norm=None).fit(train).transform(new).toarray()


EXPECTED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "none": lambda _train, new: new,
    "standard": lambda train, new: StandardScaler().fit(train).transform(new),
    "minmax": _min_max,
    "unit": lambda _train, new: normalize(new),
    "roots": lambda _train, new: np.sqrt(new),
    "tf-idf": _tf_idf,
    "log-tf-idf": lambda train, new: _tf_idf(np.log1p(train), np.log1p(new)),
}
NAMES = sorted(EXPECTED)


def test_there_is_nothing_else() -> None:
    assert sorted(SCALINGS) == NAMES


@pytest.fixture
def counts(rng: np.random.Generator) -> np.ndarray:
    """Return counts of six words in 40 training and 10 new texts; every text has some."""
    return rng.poisson([0.2, 0.5, 1.0, 2.0, 5.0, 3.0], (N + 10, 6)).astype(float) + np.eye(6)[-1]


def fitted(scale: str, rows: Any, columns: Any = None) -> BoundKernel:
    (kernel,) = bind_kernels([("k", "rbf", columns, scale)])
    (scaled,) = with_scaling([kernel], Rows.of(rows))
    return scaled


def read(kernel: BoundKernel, rows: Any) -> np.ndarray:
    """Return what the kernel gets of some rows."""
    (columns,) = Rows.of(rows).arrays_of([kernel])
    return np.asarray(columns.toarray() if sparse.issparse(columns) else columns[:])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", NAMES)
def test_columns_are_scaled_like_the_training_rows(
    scale: str, dtype: type, counts: np.ndarray
) -> None:
    columns = np.array([4, 1, 0, 5])
    train, new = counts[:N].astype(dtype), counts[N:].astype(dtype)
    kernel = fitted(scale, train, columns)
    for rows in (train, new):
        result = read(kernel, rows)
        expected = EXPECTED[scale](counts[:N][:, columns], rows[:, columns].astype(float))
        np.testing.assert_allclose(result, expected, rtol=1e-12 if dtype == np.float64 else 2e-5)
        assert result.dtype == dtype


@pytest.mark.parametrize("scale", NAMES)
def test_sparse_columns_are_scaled_alike(scale: str, counts: np.ndarray) -> None:
    scaling = fitted(scale, counts[:N]).scaling
    if scaling is None:
        return
    result = scaling.transform(sparse.csr_array(counts[N:]))
    if not SCALINGS[scale].by_moments:
        assert sparse.issparse(result)
        result = result.toarray()
    np.testing.assert_allclose(result, EXPECTED[scale](counts[:N], counts[N:]), rtol=1e-12)


@pytest.mark.parametrize("scale", NAMES)
@pytest.mark.parametrize("gap", [0, slice(None)])
def test_a_scaling_suits_columns_whatever_their_gaps(
    scale: str, gap: Any, counts: np.ndarray
) -> None:
    with_gaps = counts.copy()
    with_gaps[3, gap] = np.nan
    for sign in (1, -1):
        suits = [
            SCALINGS[scale].suits(sign * columns, len(counts)) for columns in (counts, with_gaps)
        ]
        assert suits[0] == suits[1]


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_gaps_are_left_out_and_get_the_scaled_median(scale: str, counts: np.ndarray) -> None:
    numbers = counts.copy()
    numbers[3:7, 1] = numbers[5, 4] = numbers[N + 1, 1] = np.nan
    medians = np.nanmedian(numbers[:N], axis=0)
    train, new = (Rows(part, medians=medians) for part in (numbers[:N], numbers[N:]))
    (kernel,) = with_scaling(bind_kernels([("k", "rbf", None, scale)]), train)
    for rows in (train, new):
        (result,) = rows.arrays_of([kernel])
        filled = np.where(np.isnan(rows.numbers), medians, rows.numbers)
        expected = EXPECTED[scale](numbers[:N], filled)
        np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", NAMES)
def test_a_column_without_values_is_zero(scale: str, counts: np.ndarray) -> None:
    numbers = counts[:N].copy()
    numbers[:, 2] = np.nan
    rows = Rows(numbers, medians=np.nan_to_num(numbers[0]))
    (kernel,) = with_scaling(bind_kernels([("k", "rbf", None, scale)]), rows)
    (result,) = rows.arrays_of([kernel])
    filled = np.nan_to_num(numbers)
    np.testing.assert_allclose(result, EXPECTED[scale](filled, filled), rtol=1e-12)


@pytest.mark.parametrize("scale", [name for name in NAMES if name != "none"])
def test_samples_without_the_source_do_not_count(scale: str, counts: np.ndarray) -> None:
    numbers = np.hstack([counts, np.ones((len(counts), 1))])
    has = np.arange(len(counts)) % 3 > 0
    numbers[~has, :6] = np.nan
    medians = np.append(np.nanmedian(numbers[:N, :6], axis=0), 1.0)
    (kernel,) = bind_kernels([("k", "rbf", np.arange(6), scale)])
    rows = Rows(numbers[:N], medians=medians)
    (kernel,) = with_scaling([kernel], rows)
    (result,), missing = rows.arrays_of([kernel]), rows.missing_of([kernel])
    assert missing is not None
    np.testing.assert_array_equal(missing[:, 0], ~has[:N])
    train = counts[:N][has[:N]]
    np.testing.assert_allclose(result[has[:N]], EXPECTED[scale](train, train), rtol=1e-12)


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "roots"])
def test_rows_in_parts_are_scaled_like_rows_in_memory(
    scale: str, counts: np.ndarray, tmp_path: Path, rng: np.random.Generator
) -> None:
    rows = np.abs(rng.normal(1e3, 1.0, (5000, 3)))  # Several blocks, far from zero.
    path = tmp_path / "rows.bin"
    rows.tofile(path)
    stored = StoredRows(path, rows.shape, np.float64)
    columns = np.array([2, 0])
    kernel = fitted(scale, stored, columns)
    result = read(kernel, stored)
    np.testing.assert_allclose(
        result, EXPECTED[scale](rows[:, columns], rows[:, columns]), atol=1e-9
    )
    np.testing.assert_allclose(
        read(kernel, rows[7:19]), EXPECTED[scale](rows[:, columns], rows[7:19, columns]), atol=1e-9
    )


@pytest.mark.parametrize("scale", ["standard", "minmax", "roots"])
def test_rows_of_dask_are_scaled_like_rows_in_memory(scale: str, rng: np.random.Generator) -> None:
    dask_array = pytest.importorskip("dask.array")
    X = np.abs(rng.normal(3.0, [1.0, 50.0, 0.1], (120, 3)))
    y = (X[:, 0] > 3).astype(int)
    parts = {
        "kernels": [("a", "rbf", "0:2", scale), "linear[minmax]"],
        "random_state": 0,
        "learner": "mhks",
    }
    parts["feature_map"] = "empirical(subset=20)"
    memory = MKLClassifier(**parts).fit(X, y)
    lazy = MKLClassifier(**parts).fit(
        dask_array.from_array(X, chunks=(50, 3)), dask_array.from_array(y, chunks=50)
    )
    expected = EXPECTED[scale](X[:, :2], X[:, :2])
    np.testing.assert_allclose(read(lazy.bound_kernels_[0], X), expected, rtol=1e-9)
    np.testing.assert_allclose(
        lazy.decision_function(X[:9]), memory.decision_function(X[:9]), atol=1e-6
    )


def test_rows_of_length_one_need_no_other_rows(counts: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "rows.bin"
    counts.tofile(path)
    stored = StoredRows(path, counts.shape, np.float64)
    expected = EXPECTED["unit"](counts, counts)
    np.testing.assert_allclose(read(fitted("unit", stored), counts), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", ["tf-idf", "log-tf-idf"])
def test_what_needs_rows_in_memory_says_so(scale: str, counts: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "rows.bin"
    counts.tofile(path)
    stored = StoredRows(path, counts.shape, np.float64)
    with pytest.raises(DataError, match=f"scaling '{scale}' needs samples in memory"):
        fitted(scale, stored)


class TestKernels:
    """Kernels with their scalings, as an estimator fits them."""

    @pytest.fixture
    def data(self, counts: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return 50 samples of counts in three classes, named 0 to 2."""
        return counts, np.digitize(counts[:, 3] + rng.normal(size=len(counts)), [1.5, 2.5])

    def test_two_kernels_read_the_same_columns_with_other_scales(self, data: Any) -> None:
        X, y = data
        model = MKLClassifier(["linear[roots]", "linear[standard]", "linear"], learner="ridge")
        scaled = [np.sqrt(X), StandardScaler().fit_transform(X), X]
        alone = MKLClassifier(
            [("a", "linear", "0:6"), ("b", "linear", "6:12"), ("c", "linear", "12:")],
            learner="ridge",
        )
        np.testing.assert_allclose(
            model.fit(X, y).decision_function(X),
            alone.fit(np.hstack(scaled), y).decision_function(np.hstack(scaled)),
            rtol=1e-9,
        )

    def test_kernels_alike_share_what_they_read(self, data: Any) -> None:
        X, _ = data
        rows = Rows.of(X)
        kernels = with_scaling(bind_kernels(["rbf[roots]", "linear[roots]", "linear"]), rows)
        first, second, third = rows.arrays_of(kernels)
        assert first is second
        assert third is rows.numbers

    def test_each_problem_of_two_classes_reads_what_all_rows_scaled(self, data: Any) -> None:
        X, y = data
        model = MKLClassifier("rbf(sigma=2)[standard]", learner="svm", multiclass="ovo").fit(X, y)
        scaled = StandardScaler().fit_transform(X)
        plain = MKLClassifier("rbf(sigma=2)", learner="svm", multiclass="ovo").fit(scaled, y)
        np.testing.assert_allclose(
            model.decision_function(X), plain.decision_function(scaled), atol=1e-9
        )

    def test_the_estimator_says_for_kernels_that_do_not(self, data: Any) -> None:
        X, y = data
        model = MKLClassifier(["linear[roots]@0:3", "rbf@3:"], scale="minmax").fit(X, y)
        assert [kernel.scaling.name for kernel in model.bound_kernels_] == ["roots", "minmax"]
        same = MKLClassifier(["linear[roots]@0:3", "rbf[minmax]@3:"]).fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
        plain = MKLClassifier(["linear[none]", "linear"], scale="standard").fit(X, y)
        assert [bound.scaling is None for bound in plain.bound_kernels_] == [True, False]

    @pytest.mark.parametrize(
        "kernels",
        [
            ["a:cosine(linear)[roots]@0:3"],
            [("a", "cosine(linear)", slice(0, 3), "roots")],
            [("a", "cosine(linear)", "0:3", "roots")],
            ["a:cosine(linear) [ roots ] @ 0:3"],
        ],
    )
    def test_spellings_of_a_scale_are_one(self, kernels: list[Any], data: Any) -> None:
        X, y = data
        X = X + np.eye(6)[0]
        model = MKLClassifier(kernels, learner="ridge").fit(X, y)
        assert model.kernel_names_ == ["a"]
        roots = np.sqrt(X[:, :3])
        expected = MKLClassifier("linear", learner="ridge").fit(normalize(roots), y)
        np.testing.assert_allclose(
            model.decision_function(X), expected.decision_function(normalize(roots)), atol=1e-9
        )

    @pytest.mark.parametrize("scale", ["roots", "tf-idf", "log-tf-idf"])
    def test_negative_training_values_name_the_kernel(self, scale: str, data: Any) -> None:
        X, y = data
        X = X.copy()
        X[3, 1] = -1.0
        words = SCALINGS[scale].words
        with pytest.raises(DataError, match=f"Kernel 'words' reads its columns {words}.*1 value"):
            MKLClassifier([f"words:linear[{scale}]@0:3", "rbf"]).fit(X, y)
        model = MKLClassifier(f"words:linear[{scale}]@2:").fit(X, y)  # Other columns.
        new = np.where(np.arange(6) == 3, -2.0, X[:5])
        zero = np.maximum(new, 0)
        np.testing.assert_array_equal(model.decision_function(new), model.decision_function(zero))

    @pytest.mark.parametrize(
        ("kernels", "scale", "message"),
        [
            ("linear[nonsense]", None, "scale.* must be one of none, standard.*'nonsense'"),
            ("linear[standart]", None, "standard"),
            ("linear", "rots", "roots"),
            ("linear[a b]", None, "can't be read"),
            ("linear[", None, "can't be read"),
            ("auto[standard]", None, "leave out \\[standard\\]"),
        ],
    )
    def test_what_is_no_scale_is_said(
        self, kernels: str, scale: Any, message: str, data: Any
    ) -> None:
        with pytest.raises(SpecError, match=message):
            MKLClassifier(kernels, scale=scale).fit(*data)

    def test_text_is_not_scaled(self) -> None:
        frame = pd.DataFrame({"note": ["ab", "bc", "cd", "de"] * 3})
        with pytest.raises(SpecError, match=r"'t' reads text.*leave out \[standard\]"):
            MKLClassifier("t:spectrum[standard]@note").fit(frame, [0, 1] * 6)
        assert MKLClassifier("spectrum@note", scale="standard").fit(frame, [0, 1] * 6)

    def test_kernels_that_are_fitted_keep_their_scaling(self, data: Any) -> None:
        X, y = data
        bound = MKLClassifier("linear[standard]").fit(X, y).bound_kernels_
        again = MKLClassifier(bound).fit(2 * X, y).bound_kernels_
        assert read(again[0], 2 * X) == pytest.approx(StandardScaler().fit_transform(2 * X))
        kept = with_scaling([attrs.evolve(bound[0])], Rows.of(2 * X))
        assert kept[0].scaling is bound[0].scaling
