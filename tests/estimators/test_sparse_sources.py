"""Sparse sources: the same models as from the same sources as arrays, in less memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from mklkit import (
    IncompatibleError,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    TableEncoder,
    build_pipeline,
    compare,
    cross_validate,
    explain,
    join_sources,
    load_model,
    propose_kernels,
    save_model,
)
from mklkit.errors import DataError
from mklkit.views import scaling

N, WORDS = 90, 40


def words_of(rng: np.random.Generator, shape: tuple[int, int], density: float = 0.1) -> Any:
    return sp.random_array(
        shape,
        density=density,
        rng=rng,
        format="csr",
        data_sampler=lambda size: rng.integers(1, 6, size).astype(float),
    )


@pytest.fixture
def words(rng: np.random.Generator) -> Any:
    return words_of(rng, (N, WORDS))


@pytest.fixture
def sources(words: Any, rng: np.random.Generator) -> dict[str, Any]:
    return {"lab": rng.normal(size=(N, 3)), "text": words}


@pytest.fixture
def y(sources: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    values = sources["text"] @ rng.normal(size=WORDS) + 2 * sources["lab"][:, 0]
    return np.digitize(values, np.quantile(values, [1 / 3, 2 / 3]))


def as_arrays(sources: dict[str, Any]) -> dict[str, Any]:
    return {k: v.toarray() if sp.issparse(v) else v for k, v in sources.items()}


def some_of(sources: dict[str, Any], members: Any) -> dict[str, Any]:
    return {name: source[members] for name, source in sources.items()}


KERNELS = (
    ["lab:rbf@lab_*", "text:linear@text_*"],
    ["text:rbf[none]@text_*", "lab:linear@lab_*"],
    ["rbf(sigma='median')[unit]@text_*", "rbf(sigma='scale')[roots]@text_*", "rbf@lab_*"],
    ["rbf(sigma='neighbors')@text_*", "rbf(sigma='auto')[standard]@text_*"],
    ["cosine(linear)[tf-idf]@text_*", "cosine(polynomial)[log-tf-idf]@text_*", "linear@lab_*"],
    ["polynomial[unit]@text_*", "tanh@text_*", "rbf"],
    ["laplacian@text_*", "min-max@text_*", "rbf[minmax]"],
)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels[0])
def test_models_equal_those_of_arrays(kernels: Any, sources: dict[str, Any], y: np.ndarray) -> None:
    new = some_of(sources, np.arange(0, N, 3))
    model = MKLClassifier(kernels, learner="ridge(alpha=1)").fit(sources, y)
    plain = MKLClassifier(kernels, learner="ridge(alpha=1)").fit(as_arrays(sources), y)
    expected = plain.decision_function(as_arrays(new))
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=0, atol=1e-10)
    # A model takes sources as they come, and in any order.
    np.testing.assert_allclose(model.decision_function(as_arrays(new)), expected, atol=1e-10)
    np.testing.assert_allclose(plain.decision_function(new), expected, atol=1e-10)
    turned = dict(reversed(new.items()))
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(new))


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"combiner": "dimkl3"},
        {"combiner": "ifsl"},
        {"combiner": "centered-alignment"},
        {"combiner": "best-single"},
        {"combiner": "cluster-gating"},
        {"feature_map": "empirical(subset=20)", "learner": "kda"},
        {"feature_map": "empirical(subset=20, landmarks='leverage')", "learner": "kda"},
        {"learner": "svm(C=2)", "probability": True},
    ],
    ids=str,
)
def test_components_get_the_same(
    parts: dict[str, Any], sources: dict[str, Any], y: np.ndarray
) -> None:
    kernels = ["lab:rbf@lab_*", "cosine(linear)[tf-idf]@text_*", "text:linear[none]@text_*"]
    models = [
        MKLClassifier(kernels, random_state=0, **parts).fit(table, y > 0)
        for table in (sources, as_arrays(sources))
    ]
    values, expected = (model.decision_function(sources) for model in models)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(*(model.weights_ for model in models), atol=1e-9)


def test_features_of_fourier_approximate_the_same(sources: dict[str, Any], y: np.ndarray) -> None:
    parts = {"feature_map": "fourier", "learner": "kda", "random_state": 0}
    values, expected = (
        MKLClassifier("rbf[none]@text_*", **parts).fit(table, y).decision_function(sources)
        for table in (sources, as_arrays(sources))
    )
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-8)
    parts["feature_map"] = "empirical(subset=9, landmarks='kmeans')"
    with pytest.raises(IncompatibleError, match=r"takes no sparse sources.*rbf.*landmarks"):
        MKLClassifier("rbf[none]@text_*", **parts).fit(sources, y)


def test_kernels_are_chosen_alike(sources: dict[str, Any], y: np.ndarray) -> None:
    bank, expected = (propose_kernels(table, y) for table in (sources, as_arrays(sources)))
    assert bank.notes == expected.notes
    model, plain = (MKLClassifier().fit(table, y) for table in (sources, as_arrays(sources)))
    assert [k.scale for k in model.bound_kernels_] == [k.scale for k in plain.bound_kernels_]
    np.testing.assert_allclose(
        model.decision_function(sources), plain.decision_function(sources), atol=1e-9
    )
    kernels = ["lab:rbf@lab_*", "text:linear@text_*"]
    search = MKLSearchCV(MKLClassifier(kernels, random_state=0), cv=3)
    assert search.fit(sources, y).best_score_ == pytest.approx(
        search.fit(as_arrays(sources), y).best_score_
    )


def test_other_estimators(sources: dict[str, Any], y: np.ndarray) -> None:
    kernels = ["rbf@lab_*", "rbf[none]@text_*"]
    target = sources["text"].sum(axis=1) + sources["lab"][:, 1]
    for estimator in (MKLRegressor(kernels), MKLOneClass(kernels)):
        values, expected = (
            estimator.fit(table, target).predict(table) for table in (sources, as_arrays(sources))
        )
        np.testing.assert_allclose(values, expected, atol=1e-8)


def test_beside_gaps_text_and_categories(sources: dict[str, Any], y: np.ndarray) -> None:
    lab = sources["lab"].copy()
    lab[:4], lab[5, 1] = np.nan, np.nan
    notes = [f"the word {k} of {n % 7}" for n, k in enumerate(y)]
    table = {"note": notes, "text": sources["text"], "lab": lab, "site": list("abc" * (N // 3))}
    kernels = ["spectrum@note", "overlap@site", "rbf[none]@text_*", "rbf@lab_*"]
    values, expected = (
        MKLClassifier(kernels).fit(each, y).decision_function(each)
        for each in (table, as_arrays(table))
    )
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dok", "lil"])
def test_any_form(form: str, sources: dict[str, Any], y: np.ndarray) -> None:
    kernels = ["rbf@lab_*", "rbf[none]@text_*"]
    expected = MKLClassifier(kernels).fit(sources, y).decision_function(sources)
    other = sources | {"text": sp.csr_matrix(sources["text"]).asformat(form)}
    values = MKLClassifier(kernels).fit(other, y).decision_function(other)
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_values_that_occur_twice_are_summed_and_the_users_matrix_stays(y: np.ndarray) -> None:
    row = np.arange(N)
    twice = sp.coo_array((np.r_[row + 1.0, row], (np.r_[row, row], np.r_[row % 5, row % 5])))
    once = sp.csr_array((2 * row + 1.0, (row, row % 5)))
    before = once.copy()
    once.data[3] = 0.0  # Stored, and a zero all the same.
    twice.data[[3, N + 3]] = 0.0
    values, expected = (
        MKLClassifier("rbf[none]").fit({"a": table}, y).decision_function({"a": table})
        for table in (twice, once)
    )
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert once.nnz == before.nnz


def test_frames_of_sparse_columns_keep_their_names(words: Any, y: np.ndarray) -> None:
    frame = pd.DataFrame.sparse.from_spmatrix(words, columns=[f"w{n}" for n in range(WORDS)])
    model = MKLClassifier(["a:linear[none]@text_w1*", "rbf[none]"]).fit({"text": frame}, y)
    dense = {"text": frame.sparse.to_dense()}
    plain = MKLClassifier(["a:linear[none]@text_w1*", "rbf[none]"]).fit(dense, y)
    assert model.feature_names_in_.tolist() == plain.feature_names_in_.tolist()
    np.testing.assert_allclose(
        model.decision_function({"text": frame}), plain.decision_function(dense), atol=1e-10
    )


def test_single_precision_is_kept(words: Any, y: np.ndarray) -> None:
    single = {"text": words.astype(np.float32)}
    model = MKLClassifier("rbf[none]", learner="ridge(alpha=1)").fit(single, y)
    assert model.decisions_[0].projectors[0].map.landmarks.dtype == np.float32
    expected = MKLClassifier("rbf[none]", learner="ridge(alpha=1)").fit({"text": words}, y)
    np.testing.assert_allclose(
        model.decision_function(single), expected.decision_function({"text": words}), atol=1e-4
    )


def test_more_rows_than_distances(rng: np.random.Generator) -> None:
    words = words_of(rng, (5300, 30))
    labels = (words[:, :3].sum(axis=1) > 1).astype(int)
    parts = {"feature_map": "empirical(subset=40)", "learner": "kda", "random_state": 0}
    values, expected = (
        MKLClassifier(["rbf[none]", "rbf(sigma='median')[unit]"], **parts)
        .fit({"text": table}, labels)
        .decision_function({"text": table[:50]})
        for table in (words, words.toarray())
    )
    np.testing.assert_allclose(values, expected, atol=1e-8)


def test_a_model_file_keeps_sparse_rows(
    sources: dict[str, Any], y: np.ndarray, tmp_path: Path
) -> None:
    kernels = ["rbf@lab_*", "text:cosine(linear)[tf-idf]@text_*"]
    model = MKLClassifier(kernels).fit(sources, y)
    save_model(model, tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    assert sp.issparse(loaded.decisions_[0].projectors[1].map.landmarks)
    np.testing.assert_array_equal(
        loaded.decision_function(sources), model.decision_function(sources)
    )


@pytest.mark.parametrize("kernel", ["cosine(linear)[tf-idf]", "linear[none]", "rbf[none]", "auto"])
@pytest.mark.process
def test_zeros_take_no_memory(kernel: str, rng: np.random.Generator) -> None:
    n_rows, per_row = 1000, 50
    shape = n_rows, scaling.MOST_DENSE // n_rows + 1
    places = np.repeat(np.arange(n_rows), per_row), rng.integers(shape[1], size=n_rows * per_row)
    words = sp.csr_array((np.ones(n_rows * per_row), places), shape)
    labels = np.arange(n_rows) % 2
    MKLClassifier(kernel).fit({"text": words[:99]}, labels[:99])  # Imports and compiles.
    tracemalloc.start()
    MKLClassifier(kernel, learner="ridge").fit({"text": words}, labels).predict({"text": words})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * np.prod(shape)  # Of one array with the zeros.


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda words: words[:50], "numbers differ: lab 90, text 50"),
        (lambda words: sp.coo_array(np.ones(N)), r"rows and columns.*shape \(90,\)"),
        (lambda words: words[:, :0], r"rows and columns.*shape \(90, 0\)"),
        (lambda words: words.astype(complex), "type complex128; expected real numbers"),
        (
            lambda words: sp.csr_matrix(
                (words.data.astype(object), words.indices, words.indptr), words.shape
            ),
            "type object; expected real numbers",
        ),
        (lambda words: words * np.inf, r"'text' is sparse and has infinity in sample 0"),
        (
            lambda words: sp.csr_array(
                np.where(np.arange(120) % N == np.arange(N)[:, None], np.nan, 0)
            ),
            "gaps .* in other rows in each of 120 groups",
        ),
        (
            lambda words: pd.DataFrame({"a": pd.arrays.SparseArray(np.ones(N), fill_value=1.0)}),
            "fill value.*to_dense",
        ),
    ],
)
def test_what_is_no_source(
    changed: Any, message: str, sources: dict[str, Any], y: np.ndarray
) -> None:
    with pytest.raises(DataError, match=message):
        MKLClassifier().fit(sources | {"text": changed(sources["text"])}, y)


def test_columns_must_be_those_of_training(sources: dict[str, Any], y: np.ndarray) -> None:
    model = MKLClassifier(["rbf@lab_*", "linear@text_*"]).fit(sources, y)
    with pytest.raises(ValueError, match="missing are"):
        model.predict(sources | {"text": sources["text"][:, :9]})


CALLS = [
    lambda sources, _: join_sources(sources).to_numpy(),
    lambda sources, y: TableEncoder().fit_transform(sources).to_numpy(),
    lambda sources, y: [
        fold["accuracy"] for fold in cross_validate(MKLClassifier(), sources, y, cv=3).folds
    ],
    lambda sources, y: (
        compare(sources, y, methods=["uniform", "centered-alignment"], cv="2x1").results.accuracy
    ),
    lambda sources, y: (
        explain(MKLClassifier().fit(sources, y), sources, y, cv=3)
        .scores.select_dtypes("number")
        .drop(columns="seconds", errors="ignore")
    ),
    lambda sources, y: MKLSearchCV(MKLRegressor(random_state=0)).fit(sources, y).predict(sources),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.process
def test_where_one_table_is_needed(call: Any, sources: dict[str, Any], y: np.ndarray) -> None:
    values, expected = (
        np.asarray(call(table, y), float) for table in (sources, as_arrays(sources))
    )
    # Sums of products in another order.
    np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-9)


def test_rows_that_come_in_parts(sources: dict[str, Any], y: np.ndarray) -> None:
    model = MKLClassifier("linear", feature_map="empirical(subset=9)", learner="kda")
    with pytest.raises(DataError, match=r"sparse columns.*to_dense"):
        model.partial_fit(sources, y, classes=[0, 1, 2])


def test_standardised_columns_are_those_of_scikit_learn(words: Any, y: np.ndarray) -> None:
    expected = MKLClassifier("linear[none]").fit(
        {"text": StandardScaler().fit_transform(words.toarray())}, y
    )
    model = MKLClassifier("linear[standard]").fit({"text": words}, y)
    gram = model.decisions_[0].projectors[0].map.landmarks
    np.testing.assert_allclose(gram, expected.decisions_[0].projectors[0].map.landmarks, atol=1e-12)


ABSENT = np.arange(N) % 5 == 1


@pytest.fixture
def incomplete(sources: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return sources of which some samples lack the sparse one, some another, and none all."""
    lab = sources["lab"].copy()
    lab[2::7] = np.nan
    lab[ABSENT] = rng.normal(size=(ABSENT.sum(), 3))
    lab[3, 1] = np.nan
    common = words_of(rng, (N, WORDS), density=0.7)  # Their medians are not 0.
    text = sp.hstack([sources["text"], common]).toarray()
    text[ABSENT] = np.nan
    return {"lab": lab, "text": sp.csr_array(text)}


def as_frame(words: Any) -> pd.DataFrame:
    return pd.DataFrame.sparse.from_spmatrix(words)


STRATEGIES = ("present", "present-centered", "impute", "drop")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "kernels",
    [*KERNELS[:3], [*KERNELS[3], "rbf@lab_*"], KERNELS[4]],
    ids=lambda kernels: kernels[0],
)
def test_samples_may_lack_a_sparse_source(
    kernels: Any, strategy: str, incomplete: dict[str, Any], y: np.ndarray
) -> None:
    dense = as_arrays(incomplete)
    complete = np.flatnonzero(~(np.isnan(dense["lab"]).any(axis=1) | ABSENT))
    new = np.arange(0, N, 3) if strategy != "drop" else complete
    parts = {"learner": "ridge(alpha=1)", "combiner": "centered-alignment", "missing": strategy}
    model = MKLClassifier(kernels, **parts).fit(incomplete, y)
    plain = MKLClassifier(kernels, **parts).fit(dense, y)
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-9)
    expected = plain.decision_function(some_of(dense, new))
    framed = incomplete | {"text": as_frame(incomplete["text"])}
    for of_model, table in (
        (model, some_of(incomplete, new)),
        (model, some_of(dense, new)),
        (plain, some_of(incomplete, new)),
        (MKLClassifier(kernels, **parts).fit(framed, y), some_of(incomplete, new)),
    ):
        values = of_model.decision_function(table)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)


def test_a_source_that_samples_lack_stays_sparse(incomplete: dict[str, Any], y: np.ndarray) -> None:
    kernels = ["rbf@lab_*", "text:linear[none]@text_*"]
    model = MKLClassifier(kernels, learner="ridge").fit(incomplete, y > 0)
    assert sp.issparse(model.decisions_[0].projectors[1].map.landmarks)
    assert model.decisions_[0].projectors[1].missing.tolist() == ABSENT.tolist()
    with pytest.raises(DataError, match="kernel 'text'"):
        MKLClassifier(kernels, missing="drop").fit(incomplete, y).predict(incomplete)


def test_two_sparse_sources_are_lacked_by_different_samples(
    incomplete: dict[str, Any], words: Any, y: np.ndarray
) -> None:
    other = words[:, :20].toarray()
    other[np.arange(N) % 5 == 3] = np.nan
    table = {"text": incomplete["text"], "other": sp.csr_array(other)}
    kernels = [
        "text:rbf[none]@text_*",
        "other:linear[standard]@other_*",
        "both:cosine(linear)[tf-idf]@text_*,other_*",
        "all:linear[standard]",
    ]
    joined = join_sources(table)
    np.testing.assert_array_equal(joined, join_sources(as_arrays(table)))
    assert isinstance(joined.dtypes.iloc[0], pd.SparseDtype)
    expected = MKLClassifier(kernels).fit(as_arrays(table), y).decision_function(as_arrays(table))
    for each in (table, joined):  # A frame does not say where a source ends.
        values = MKLClassifier(kernels).fit(each, y).decision_function(each)
        np.testing.assert_allclose(values, expected, atol=1e-9)


@pytest.mark.parametrize(
    "parts",
    [
        {"feature_map": "empirical(subset=20)", "learner": "kda"},
        {"combiner": "cluster-gating"},
        {"combiner": "dimkl3"},
        {"learner": "svm(C=2)", "probability": True},
    ],
    ids=str,
)
def test_components_get_the_same_where_samples_lack_a_source(
    parts: dict[str, Any], incomplete: dict[str, Any], y: np.ndarray
) -> None:
    kernels = ["lab:rbf@lab_*", "cosine(linear)[tf-idf]@text_*", "text:linear[none]@text_*"]
    values, expected = (
        MKLClassifier(kernels, random_state=0, **parts).fit(table, y > 0).decision_function(table)
        for table in (incomplete, as_arrays(incomplete))
    )
    # Gates are learned in steps, which add up differences in the last digits.
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("strategy", STRATEGIES[:3])
def test_an_encoded_table_keeps_who_lacks_a_sparse_source(
    strategy: str, incomplete: dict[str, Any], y: np.ndarray
) -> None:
    estimator = MKLClassifier(["rbf@lab_*", "text:linear[none]@text_*"], missing=strategy)
    frames = join_sources(incomplete), join_sources(as_arrays(incomplete))
    pipelines = [build_pipeline(estimator).fit(frame, y) for frame in frames]
    encoded, expected = (p[0].transform(f) for p, f in zip(pipelines, frames, strict=True))
    np.testing.assert_allclose(encoded.to_numpy(), expected.to_numpy())
    assert all(isinstance(kind, pd.SparseDtype) for kind in encoded.filter(like="text").dtypes)
    encoder, plain = (pipeline[0] for pipeline in pipelines)
    np.testing.assert_array_equal(encoder.gaps_left_, plain.gaps_left_)
    np.testing.assert_allclose(encoder.moments_, plain.moments_, rtol=1e-9)
    np.testing.assert_allclose(encoder.ranges_, plain.ranges_)
    np.testing.assert_allclose(
        pipelines[0].decision_function(frames[0]),
        pipelines[1].decision_function(frames[1]),
        atol=1e-9,
    )


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.process
def test_one_table_may_lack_a_sparse_source(
    call: Any, incomplete: dict[str, Any], y: np.ndarray
) -> None:
    values, expected = (
        np.asarray(call(table, y), float) for table in (incomplete, as_arrays(incomplete))
    )
    np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-9)
