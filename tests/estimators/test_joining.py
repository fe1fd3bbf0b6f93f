"""Sources of the same samples, given by name, against the same columns in one table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import mklkit
from mklkit import (
    MKLClassifier,
    MKLRegressor,
    MKLSearchCV,
    build_pipeline,
    compare,
    cross_validate,
    explain,
    join_sources,
    propose_kernels,
)
from mklkit.errors import DataError

N = 36


@pytest.fixture
def y() -> np.ndarray:
    return np.arange(N) % 3


@pytest.fixture
def sources(y: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    """Return an array, a frame, a list of texts and an array of one number per sample."""
    lab = rng.normal(size=(N, 4)) + y[:, None]
    mrna = pd.DataFrame(rng.poisson(1.0 + y[:, None], (N, 5)), columns=list("abcde"))
    words = np.array(["calm", "tired", "awake", "in pain"])
    notes = [f"was {words[k]} on day {n}" for n, k in enumerate(y)]
    return {"lab": lab, "mrna": mrna, "note": notes, "age": rng.normal(50, 9, N)}


def test_columns_are_named_by_source(sources: dict[str, Any]) -> None:
    table = join_sources(sources)
    names = [*(f"lab_{n}" for n in range(4)), *(f"mrna_{c}" for c in "abcde"), "note", "age"]
    assert list(table.columns) == names
    np.testing.assert_array_equal(table.filter(like="lab_"), sources["lab"])
    np.testing.assert_array_equal(table["note"], sources["note"])
    assert table["age"].dtype == np.float64
    assert table.filter(like="mrna_").dtypes.eq(np.int64).all()


@pytest.mark.parametrize(
    "kernels",
    [
        "auto",
        ["a:cosine(linear)[roots]@mrna_*", "rbf[standard]@lab_*,age", "spectrum@note"],
        ["lab:auto@lab_*", "mrna@mrna_*", "linear@age"],
    ],
    ids=["auto", "named", "mixed"],
)
def test_a_fit_is_that_of_the_joined_table(
    kernels: Any, sources: dict[str, Any], y: np.ndarray, tmp_path: Path
) -> None:
    model = MKLClassifier(kernels, random_state=0).fit(sources, y)
    table = join_sources(sources)
    joined = MKLClassifier(kernels, random_state=0).fit(table, y)
    if kernels != "auto":  # A source of one text or number has no name in the table.
        expected = joined.decision_function(table)
        np.testing.assert_array_equal(model.decision_function(sources), expected)
        assert model.kernel_names_ == joined.kernel_names_
    np.testing.assert_array_equal(model.decision_function(table), model.decision_function(sources))
    mklkit.save_model(model, tmp_path / "m.mkl")
    loaded = mklkit.load_model(tmp_path / "m.mkl")
    np.testing.assert_allclose(
        loaded.decision_function(sources), model.decision_function(sources), rtol=1e-12
    )


def test_each_source_has_a_kernel_and_its_name(sources: dict[str, Any], y: np.ndarray) -> None:
    bank = propose_kernels(sources, y)
    told = "\n".join(bank.notes)
    for name in sources:
        assert f"kernels auto: {name}: " in told
    columns = {kernel.label: np.ravel(kernel.columns).tolist() for kernel in bank.kernels}
    places = {"lab": [0, 1, 2, 3], "mrna": [4, 5, 6, 7, 8], "note": [9], "age": [10]}
    assert columns.items() <= places.items()
    model = MKLClassifier().fit(sources, y)  # By default, of several sources.
    assert model.kernel_names_ == [kernel.label for kernel in bank.kernels]


def test_names_of_sources_may_begin_alike(rng: np.random.Generator, y: np.ndarray) -> None:
    X = rng.normal(size=(N, 6)) + y[:, None]
    model = MKLClassifier().fit({"a": X[:, :2], "a_b": X[:, 2:4], "c.d e": X[:, 4:]}, y)
    read = dict(zip(model.kernel_names_, map(list, model.kernel_columns_), strict=True))
    assert read.items() <= {"a": [0, 1], "a_b": [2, 3], "c.d e": [4, 5]}.items()


def test_new_samples_may_have_sources_in_another_order(
    sources: dict[str, Any], y: np.ndarray
) -> None:
    model = MKLClassifier().fit(sources, y)
    backwards = {name: sources[name] for name in reversed(sources)}
    np.testing.assert_array_equal(
        model.decision_function(backwards), model.decision_function(sources)
    )


def test_numbers_are_learned_alike(sources: dict[str, Any], y: np.ndarray) -> None:
    numbers = {name: sources[name] for name in ("lab", "mrna")}
    values = y + sources["lab"][:, 0]
    model = MKLRegressor("auto").fit(numbers, values)
    joined = MKLRegressor("auto").fit(join_sources(numbers), values)
    np.testing.assert_allclose(model.predict(numbers), joined.predict(join_sources(numbers)))


def test_one_source_is_that_array(rng: np.random.Generator, y: np.ndarray) -> None:
    X = rng.normal(size=(N, 3)) + y[:, None]
    alone, array = MKLClassifier().fit({"a": X}, y), MKLClassifier().fit(X, y)
    np.testing.assert_allclose(alone.decision_function({"a": X}), array.decision_function(X))


def test_joined_tables_are_cross_validated(sources: dict[str, Any], y: np.ndarray) -> None:
    model = build_pipeline(MKLClassifier())
    # Guessing is right in so many of 36 samples with a probability of 0.01.
    assert cross_val_score(model, join_sources(sources), y, cv=3).mean() > 0.69


def test_gaps_and_samples_without_a_source(sources: dict[str, Any], y: np.ndarray) -> None:
    lab = sources["lab"].copy()
    lab[::4] = np.nan
    lab[1, 2] = np.nan
    frame = pd.DataFrame(lab).add_prefix("lab_").join(sources["mrna"].add_prefix("mrna_"))
    mapping = {"lab": lab, "mrna": sources["mrna"]}
    kernels = ["lab:rbf[standard]@lab_*", "mrna:cosine(linear)[roots]@mrna_*"]
    model, joined = (MKLClassifier(kernels).fit(X, y) for X in (mapping, frame))
    np.testing.assert_array_equal(model.decision_function(mapping), joined.decision_function(frame))
    assert len(MKLClassifier().fit(mapping, y).predict(mapping)) == N


def test_the_index_of_frames_is_kept() -> None:
    index = ["p3", "p1", "p2"]
    table = join_sources({"a": np.ones((3, 1)), "b": pd.DataFrame({"x": [1, 2, 3]}, index=index)})
    assert list(table.index) == index
    assert table["b_x"].tolist() == [1, 2, 3]


FRAME = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["p1", "p2", "p3"])


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({}, "at least one source"),
        ({"a": np.ones((3, 2)), "b": np.ones((2, 2))}, "a 3, b 2"),
        ({3: np.ones((3, 2))}, "named by text.*3"),
        ({" ": np.ones((3, 2))}, "named by text"),
        (
            {"a": FRAME, "b": FRAME.iloc[::-1]},
            "'a' and 'b' have different indices in 2 samples.*'p1'",
        ),
        (
            {"a": FRAME, "b": FRAME.set_axis(["p1", "p2", "p4"])},
            "'a' and 'b' have different indices in 1 sample: sample 2.*'p3'.*'p4'",
        ),
        ({"a": np.ones((3, 1, 2))}, r"Source 'a' must have rows and columns.*\(3, 1, 2\)"),
        ({"a": np.ones((3, 0))}, r"Source 'a'.*\(3, 0\)"),
        ({"a": 5.0}, "Source 'a'"),
        ({"a": [], "b": []}, "Source 'a'"),
        ({"a": FRAME, "a_x": np.ones(3)}, "'a_x'"),
        ({"a": {"x": [1, 2]}}, "Source 'a'"),
        ({"a": [[1.0, 2.0], [3.0]]}, "Source 'a'"),
        ({"a": None}, "Source 'a'"),
    ],
)
def test_what_is_no_set_of_sources_is_named(sources: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        join_sources(sources)
    with pytest.raises(DataError, match=message):
        MKLClassifier().fit(sources, [0, 1, 0])


def test_the_target_has_the_samples_of_the_sources(y: np.ndarray, rng: np.random.Generator) -> None:
    ids = [f"p{n}" for n in range(N)]
    parts = {"a": pd.DataFrame(rng.normal(size=(N, 2)), ids), "b": rng.normal(size=(N, 2))}
    target = pd.Series(y, ids)
    model = MKLClassifier().fit(parts, target)
    np.testing.assert_array_equal(
        model.predict(parts), MKLClassifier().fit(parts, y).predict(parts)
    )
    with pytest.raises(DataError, match=r"'p0'.*'p35'"):
        MKLClassifier().fit(parts, target[::-1])


IN_OTHER_WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "pipeline": lambda X, y: build_pipeline(MKLClassifier()).fit(X, y),
    "cross_validate": lambda X, y: cross_validate(MKLClassifier(), X, y, cv=2),
    "search": lambda X, y: MKLSearchCV(MKLClassifier("a:rbf"), cv=2).fit(X, y),
    "search of numbers": lambda X, y: MKLSearchCV(MKLRegressor("a:rbf"), cv=2).fit(X, y),
    "compare": lambda X, y: compare(X, y, methods="uniform", cv="2x1", baselines="none"),
    "propose_kernels": propose_kernels,
    "explain": lambda X, y: explain(MKLClassifier("a:rbf").fit(X, np.asarray(y)), X, y, cv=2),
}


@pytest.mark.parametrize("way", IN_OTHER_WAYS)
def test_so_it_has_wherever_a_mapping_becomes_a_table(
    way: str, y: np.ndarray, rng: np.random.Generator
) -> None:
    ids = [f"p{n}" for n in range(N)]
    unnamed = pd.DataFrame(rng.normal(size=(N, 2)))
    parts = {"b": unnamed, "a": pd.DataFrame(rng.normal(size=(N, 2)), ids)}
    with pytest.raises(DataError, match=r"The sources and the target.*'p0'.*'p35'"):
        IN_OTHER_WAYS[way](parts, pd.Series(y, ids)[::-1])
    IN_OTHER_WAYS[way](parts, pd.Series(y, ids))


def test_new_samples_have_no_other_sources_than_those_of_training(
    y: np.ndarray, rng: np.random.Generator
) -> None:
    parts = {name: rng.normal(size=(N, 2)) for name in "abc"}
    model = MKLClassifier().fit({name: parts[name] for name in "ab"}, y)
    with pytest.raises(DataError, match="'c_0', 'c_1'"):
        model.predict(parts)


def test_a_kernel_named_like_a_source_reads_it(y: np.ndarray, rng: np.random.Generator) -> None:
    parts = {"a": rng.normal(size=(N, 3)), "b": rng.normal(size=(N, 2)) + y[:, None]}
    model = MKLClassifier(["b:rbf[none]", "a:auto"]).fit(parts, y)
    read = {bound.label: bound.columns.tolist() for bound in model.bound_kernels_}
    assert read == {"b": [3, 4], "a": [0, 1, 2]}


def test_masked_values_of_a_source_are_gaps(y: np.ndarray, rng: np.random.Generator) -> None:
    X = rng.normal(size=(N, 3)) + y[:, None]
    mask = rng.random(X.shape) < 0.2
    table = join_sources({"a": np.ma.masked_array(X, mask)})
    np.testing.assert_array_equal(table.isna().to_numpy(), mask)


def test_the_name_of_a_source_is_not_repeated(y: np.ndarray, rng: np.random.Generator) -> None:
    X = rng.normal(size=(N, 4)) + y[:, None]
    notes = [f"{'calm' if k else 'tired'} on day {n} of the study" for n, k in enumerate(y)]
    plain = {
        "genes": pd.DataFrame(X[:, :2], columns=["1", "2"]),
        "note": pd.DataFrame({"home": notes, "ward": notes[::-1]}),
        "age": X[:, 2],
    }
    prefixed = {
        "genes": plain["genes"].add_prefix("genes_"),
        "note": plain["note"].add_prefix("note_"),
        "age": pd.DataFrame({"age": X[:, 2]}),
    }
    pd.testing.assert_frame_equal(join_sources(prefixed), join_sources(plain))
    models = [MKLClassifier(random_state=0).fit(parts, y) for parts in (plain, prefixed)]
    assert models[1].kernel_names_ == models[0].kernel_names_
    assert not any("note_note" in name for name in models[1].kernel_names_)
    # Names of which some would then repeat, or do not begin so, are told apart by the source.
    mixed = {"genes": pd.DataFrame(X[:, :2], columns=["genes_1", "1"])}
    assert list(join_sources(mixed)) == ["genes_genes_1", "genes_1"]
    longer = {"gene": prefixed["genes"]}
    assert list(join_sources(longer)) == ["gene_genes_1", "gene_genes_2"]
