"""Which kernels a fit takes if none are given: chosen ones, or those of Price et al. 2022."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklkit import (
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    build_pipeline,
    preset_classifier,
)
from mklkit.errors import DataError
from mklkit.protocols.component import KERNELS
from mklkit.registry.columns import bind_kernels
from mklkit.views.stored_rows import StoredRows

N = 60
USUAL = [bound.label for bound in bind_kernels(None)]


@pytest.fixture
def y() -> np.ndarray:
    return np.arange(N) % 2


@pytest.fixture
def two_sources(y: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return ten columns of each of two sources, as their names tell."""
    X = rng.normal(size=(N, 20)) + y[:, None] / 2
    return pd.DataFrame(X, columns=[f"{s}_{n}" for s in ("lab", "mrna") for n in range(10)])


@pytest.mark.parametrize("estimator", [MKLClassifier, MKLRegressor])
def test_several_sources_get_chosen_kernels(
    estimator: Any, two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    model, chosen = (make.fit(two_sources, y) for make in (estimator(), estimator("auto")))
    assert model.kernel_names_ == chosen.kernel_names_
    assert {*model.kernel_names_} <= {"lab", "mrna"}
    np.testing.assert_array_equal(model.predict(two_sources), chosen.predict(two_sources))
    assert any(note.startswith("kernels auto: lab: ") for note in model.choices_)
    piped = build_pipeline(estimator()).fit(two_sources, y)[-1]
    assert {*piped.kernel_names_} <= {"lab", "mrna"}


def test_a_mapping_of_several_sources_gets_chosen_kernels(
    two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    parts = {"x": two_sources.to_numpy()[:, :2], "y": two_sources.to_numpy()[:, 2:]}
    assert {*MKLClassifier().fit(parts, y).kernel_names_} <= {"x", "y"}
    # Also beside components of the user.
    assert MKLClassifier(combiner="dimkl3").fit(parts, y).kernel_names_ == ["x", "y"]


@pytest.mark.parametrize("names", [None, list("abcdef"), [f"x{n}" for n in range(6)]])
def test_one_source_gets_chosen_kernels(
    names: Any, two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    X = two_sources.to_numpy()[:, :6]
    table = X if names is None else pd.DataFrame(X, columns=names)
    model, chosen = (make.fit(table, y) for make in (MKLClassifier(), MKLClassifier("auto")))
    assert model.kernel_names_ == chosen.kernel_names_ != USUAL
    np.testing.assert_array_equal(model.decision_function(table), chosen.decision_function(table))


def test_columns_of_small_groups_are_one_source(two_sources: pd.DataFrame, y: np.ndarray) -> None:
    few = two_sources[["lab_0", "lab_1", "mrna_0", "mrna_1"]]
    rest = two_sources.drop(columns=few.columns)
    rest.columns = list("abcdefghijklmnop")
    both = MKLClassifier().fit(few.join(rest), y)
    assert all(columns is None for columns in both.kernel_columns_)
    model = MKLClassifier().fit(few, y)
    assert all(columns is None for columns in model.kernel_columns_)
    assert {*MKLClassifier("auto").fit(few, y).kernel_names_} <= {"lab", "mrna"}


def test_rows_in_parts_have_the_kernels_of_rows_in_memory(
    two_sources: pd.DataFrame, y: np.ndarray, tmp_path: Path
) -> None:
    rows = two_sources.to_numpy(np.float32)
    rows.tofile(tmp_path / "rows")
    names = two_sources.columns.tolist()
    for columns, X in ((None, rows), (names, pd.DataFrame(rows, columns=names))):
        parts = StoredRows(tmp_path / "rows", rows.shape, np.float32, column_names=columns)
        assert (
            MKLClassifier().fit(parts, y).kernel_names_ == MKLClassifier().fit(X, y).kernel_names_
        )


def test_words_need_a_kernel_that_reads_them(two_sources: pd.DataFrame, y: np.ndarray) -> None:
    words = two_sources.assign(site=np.where(y, "north", "south"))
    with pytest.raises(DataError, match="site"):
        MKLClassifier().fit(words, y)


def test_categories_and_dates_are_no_sources(y: np.ndarray, rng: np.random.Generator) -> None:
    frame = pd.DataFrame({"age": rng.normal(50, 9, N), "weight": rng.normal(70, 9, N)})
    frame["site"] = rng.choice(["north", "south", "west"], N)
    frame["ward"] = rng.choice(["a", "b"], N)
    frame["visit"] = pd.date_range("2024-01-01", periods=N, freq="97h").strftime("%d.%m.%Y %H:%M")
    model = build_pipeline(MKLClassifier()).fit(frame, y)[-1]
    assert not {*model.kernel_names_} & {"site", "ward"}
    assert sum(name.startswith(("site_", "ward_")) for name in model.feature_names_in_) == 5


@pytest.mark.parametrize(
    "grid",
    [
        {"learner__C": [1.0]},
        {"combiner": ["uniform", "dimkl3"]},
        {"kernels__rbf__sigma": ["mean"]},
        {"feature_map": ["implicit"]},
    ],
    ids="-".join,
)
def test_a_search_over_components_keeps_the_usual_kernels(
    grid: dict[str, Any], two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    X = two_sources.to_numpy()
    search = MKLSearchCV(MKLClassifier(), grid, cv=2, random_state=0).fit(X, y)
    assert search.best_estimator_.kernel_names_ == USUAL


def test_a_search_over_a_learner_keeps_it_beside_sources(
    two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    parts = {"x": two_sources.to_numpy()[:, :2], "y": two_sources.to_numpy()[:, 2:]}
    grid = {"learner__C": [0.1, 10.0]}
    search = MKLSearchCV(MKLClassifier(), grid, cv=2, random_state=0).fit(parts, y)
    assert {*search.best_estimator_.kernel_names_} <= {"x", "y"}
    assert search.best_params_["learner__C"] == search.best_estimator_.learner_.C


SETTINGS: list[dict[str, Any]] = [
    {"combiner": "dimkl3"},
    {"combiner": "alignment"},
    {"learner": "svm"},
    {"learner": "ridge(alpha=0.1)"},
    {"feature_map": "empirical(subset=20)", "learner": "mhks", "random_state": 0},
]


@pytest.mark.parametrize("settings", SETTINGS, ids="-".join)
def test_components_of_the_user_keep_the_usual_kernels_of_a_lone_source(
    settings: dict[str, Any], two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    lone = two_sources.set_axis([f"x{n}" for n in range(20)], axis=1)
    model = MKLClassifier(**settings).fit(lone, y)
    explicit = MKLClassifier(list(KERNELS), **settings).fit(lone, y)
    assert model.kernel_names_ == USUAL
    np.testing.assert_array_equal(model.decision_function(lone), explicit.decision_function(lone))


@pytest.mark.parametrize("settings", SETTINGS, ids="-".join)
def test_and_combine_a_chosen_kernel_of_each_of_several_sources(
    settings: dict[str, Any], two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    X = two_sources.copy()
    X.iloc[::5, 10:] = np.nan  # A fifth of the rows lack mrna.
    named = ["lab:auto@lab_*", "mrna:auto@mrna_*"]
    for model, explicit in (
        (MKLClassifier(**settings), MKLClassifier(named, **settings)),
        (
            build_pipeline(MKLClassifier(**settings)),
            build_pipeline(MKLClassifier(named, **settings)),
        ),
    ):
        np.testing.assert_array_equal(
            model.fit(X, y).decision_function(X), explicit.fit(X, y).decision_function(X)
        )


def test_a_search_over_kernels_keeps_the_usual_ones_of_several_sources(
    two_sources: pd.DataFrame, y: np.ndarray
) -> None:
    search = MKLSearchCV(MKLClassifier(), {"kernels__rbf__sigma": ["mean"]}, cv=2)
    assert search.fit(two_sources, y).best_estimator_.kernel_names_ == USUAL


@pytest.mark.parametrize("preset", ["paper-dimkl3", "mhks", "kmhks", "multik-mhks", "nu-mkl"])
def test_presets_keep_their_kernels(preset: str, two_sources: pd.DataFrame, y: np.ndarray) -> None:
    numbers = two_sources.to_numpy()  # Without names, which could tell sources.
    named, plain = (
        preset_classifier(preset, random_state=0).fit(X, y) for X in (two_sources, numbers)
    )
    assert named.kernel_names_ == plain.kernel_names_
    np.testing.assert_array_equal(
        named.decision_function(two_sources), plain.decision_function(numbers)
    )


def test_without_targets_nothing_is_chosen(two_sources: pd.DataFrame) -> None:
    model, explicit = MKLOneClass(), MKLOneClass(list(KERNELS))
    values = [each.fit(two_sources).decision_function(two_sources) for each in (model, explicit)]
    np.testing.assert_array_equal(*values)


def test_a_search_tells_each_choice_once(two_sources: pd.DataFrame, y: np.ndarray) -> None:
    choices = MKLSearchCV(MKLClassifier(), cv=2, random_state=0).fit(two_sources, y).choices_
    assert len(choices) == len(set(choices))
    assert not any(note.startswith("learner ") for note in choices)
