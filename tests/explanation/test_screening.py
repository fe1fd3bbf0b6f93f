"""Long tables: which columns are measured, and how many of them noise would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sources import notes_of, three_sources

from mklkit import MKLClassifier, MKLRegressor, MKLVotingClassifier, TableEncoder, explain
from mklkit.estimators.plan import check_new_rows
from mklkit.explanation.gradients import kernel_sums
from mklkit.explanation.screening import SELECTED, screens_of

SVM = "svm(C=1)"
QUICK = {"cv": 2, "repeats": 1}
SLOPED = [
    "linear",
    "polynomial(degree=3, gamma=0.3)",
    "tanh(gamma=0.2, coef0=0.1)",
    "rbf",
    "laplacian(gamma=0.4)",
    "cosine(linear)",
    "cosine(polynomial)",
    "cosine(rbf(gamma=0.1))",
]


def long_table(
    n_rows: int, n_columns: int, n_informative: int, shift: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns of two classes, whose means differ in the first columns."""
    random = np.random.default_rng(seed)
    classes = np.arange(n_rows) % 2
    rows = random.normal(size=(n_rows, n_columns))
    rows[:, :n_informative] += shift * classes[:, None]
    return rows, classes


@pytest.mark.parametrize("kernel", SLOPED)
@pytest.mark.parametrize(
    "settings",
    [
        {"learner": SVM},
        {"learner": "ridge(alpha=1)", "feature_map": "empirical(subset=20)"},
        {"combiner": "ifsl", "learner": "mhks"},
    ],
    ids=["svm", "features", "coupled"],
)
def test_slopes_are_the_differences_of_a_kernels_part(kernel: str, settings: Any) -> None:
    rows, labels = three_sources(60)
    numbers = rows.to_numpy()
    kernels = [f"first:{kernel}@0,1,2,3", "second:rbf@4,5"]
    model = MKLClassifier(kernels, scale="standard", random_state=0, **settings)
    model.fit(numbers[:40], labels[:40])
    new = check_new_rows(model, numbers[40:])
    (decision,) = model.decisions_
    of_kernel = kernel_sums(decision, new, model.kernel_names_, ["first"])["first"]
    (read,) = new.arrays_of([of_kernel.projector])
    (slopes,) = of_kernel.slopes(read)
    ours = slopes.of(read, of_kernel.landmarks)
    step, scale = 1e-5, numbers[:40].std(axis=0)
    for column in range(4):
        ends = []
        for sign in (1, -1):
            moved = numbers[40:].copy()
            moved[:, column] += sign * step * scale[column]
            ends.append(model.decision_function(moved, split=True)[:, 0])
        differences = (ends[0] - ends[1]) / (2 * step)
        # The error of differences is about the square of the step, and rounding over the step.
        np.testing.assert_allclose(ours[:, column], differences, rtol=1e-4, atol=1e-6)


def test_a_part_that_is_no_sum_over_landmarks_has_no_slopes() -> None:
    rows, labels = three_sources(60)
    kernels = ["rbf@0,1", "rbf@2,3,4,5"]
    gated = MKLClassifier(kernels, combiner="cluster-gating(n_clusters=2)", random_state=0)
    drawn = MKLClassifier(kernels, feature_map="fourier(n_components=20)", random_state=0)
    for model in (gated, drawn):
        model.fit(rows.to_numpy(), labels)
        new, names = check_new_rows(model, rows.to_numpy()), model.kernel_names_
        assert kernel_sums(model.decisions_[0], new, names, names) == {}


@pytest.mark.process
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_few_informative_columns_of_thousands_are_first(kernel: str) -> None:
    rows, classes = long_table(160, 5_000, 5, shift=2.0)
    table = pd.DataFrame(rows).add_prefix("g")
    informative = {f"g{place}" for place in range(5)}
    model = MKLClassifier(kernel, learner=SVM, random_state=0).fit(table, classes)
    result = explain(model, table, classes, columns="each", **QUICK)
    effects = result.effects
    assert set(effects["column"][:5]) == informative
    assert effects["frequency"][:5].tolist() == [1] * 5
    assert set(effects["chance"]) == {10 / 5_000}
    by_column = result.columns.set_index("group")
    assert set(by_column.index[by_column["selected"] == 1]) >= informative
    # Each of two fits selects 50, some of them both.
    assert SELECTED < len(by_column) < 2 * SELECTED
    assert by_column["selected"].sum() == pytest.approx(SELECTED)
    screen = result.screens.loc[0]
    assert (screen["columns"], screen["selected"]) == (5_000, SELECTED)
    # The other 45 are noise. The count of each fit has a deviation of about √45, and a mean of two
    # counts stays within three of its own.
    assert screen["noise"] == pytest.approx(45, abs=3 * np.sqrt(45 / 2))
    assert "5,000 columns the 50 with the largest gradient" in notes_of(result, "screened")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "cosine(linear)"])
@pytest.mark.parametrize("learner", [SVM, "ridge(alpha=1)"])
def test_as_many_permuted_columns_as_columns_of_noise_are_selected(
    kernel: str, learner: str
) -> None:
    known, estimates = [], []
    for seed in range(6):
        rows, classes = long_table(200, 1_000, 40, shift=0.7, seed=seed)
        model = MKLClassifier(kernel, scale="standard", learner=learner, random_state=0)
        model.fit(rows, classes)
        new = check_new_rows(model, rows)
        (screen,) = screens_of(model, new, np.arange(1_000), model.kernel_names_, [seed])
        known.append(np.count_nonzero(screen.columns >= 40))
        estimates.append(screen.noise)
    # About 11 of 50: a deviation of √11 in each count of each table.
    assert np.mean(estimates) == pytest.approx(np.mean(known), abs=3 * np.sqrt(2 * 11 / 6))
    assert np.mean(estimates) < 20


def test_a_screened_column_loses_what_it_loses_as_a_group() -> None:
    rows, classes = long_table(80, 210, 2, shift=1.5)
    table = pd.DataFrame(rows).add_prefix("g").assign(age=classes + rows[:, 5])
    kernels = ["genes:rbf@g*", "age:rbf@age"]
    model = MKLClassifier(kernels, learner=SVM, random_state=0).fit(table, classes)
    result = explain(model, table, classes, columns="each", **QUICK)
    columns = result.columns.set_index("group")
    assert columns["selected"]["age"] == 1
    groups = {name: name for name in ("g0", "g1", "age")}
    whole = explain(model, table, classes, columns=groups, **QUICK).columns.set_index("group")
    for name in groups:
        assert columns["selected"][name] == 1
        for end in ("", "_low", "_high"):
            assert columns[f"shuffled{end}"][name] == pytest.approx(whole[f"shuffled{end}"][name])
    assert result.screens["kernel"].tolist() == ["genes"]
    assert "selected" not in whole


@pytest.mark.process
def test_groups_of_categories_are_halved() -> None:
    random = np.random.default_rng(0)
    classes = np.arange(60) % 2
    codes = random.integers(0, 3, size=(60, 210))
    codes[:, [7, 150, 209]] = classes[:, None]
    table = pd.DataFrame(codes).add_prefix("snp").astype("category")
    model = MKLClassifier("overlap", learner=SVM, random_state=0).fit(table, classes)
    result = explain(model, table, classes, **QUICK)
    assert set(result.effects["column"][:3]) == {"snp7", "snp150", "snp209"}
    assert result.screens["noise"].isna().all()
    assert "halving" in notes_of(result, "screened")


def test_the_values_of_gated_kernels_are_screened_as_a_whole() -> None:
    rows, classes = long_table(60, 220, 2, shift=4.0)
    gating = "cluster-gating(n_clusters=2)"
    model = MKLClassifier(["linear@:210", "rbf@210:"], combiner=gating, random_state=0)
    result = explain(model.fit(rows, classes), rows, classes, columns="each", **QUICK)
    assert result.columns.set_index("group")["selected"][["0", "1"]].tolist() == [1, 1]
    assert result.effects.empty


def test_encoded_columns_and_missing_sources_are_screened_by_the_users_columns() -> None:
    rows, classes = long_table(120, 240, 1, shift=0.0)
    table = pd.DataFrame(rows).add_prefix("g")
    wards = np.array(["north", "south", "west"])
    table["g_ward"] = np.where(classes == 1, "east", wards[np.arange(120) % 3])
    table["age"] = np.arange(120.0)
    table.loc[::7, [name for name in table if name != "age"]] = np.nan
    kernels = ["genes:linear[standard]@g*", "age:rbf@age"]
    model = make_pipeline(TableEncoder(), MKLClassifier(kernels, learner=SVM))
    result = explain(model.fit(table, classes), table, classes, **QUICK)
    assert result.effects["column"][0] == "g_ward"
    assert result.screens["columns"].tolist() == [241]


def test_several_numbers_share_a_screen() -> None:
    rows, _ = long_table(160, 220, 0, shift=0.0)
    targets = rows[:, [3, 9]] * [1.0, 1.5]
    model = MKLRegressor("linear", learner="ridge(alpha=1)").fit(rows, targets)
    result = explain(model, rows, targets, columns="each", **QUICK)
    assert result.columns["group"][:2].tolist() == ["9", "3"]
    assert {"9", "3"} <= set(result.effects["column"][:2])


def test_classes_in_pairs_and_votes_are_screened_with_their_own_landmarks() -> None:
    rows, _ = long_table(120, 240, 0, shift=0.0)
    classes = np.arange(120) % 3
    rows[:, 4] += 3.0 * classes
    rows[:, 100:230] = 1.0  # Constant columns are selected by no screen.
    pairs = MKLClassifier("rbf", learner=SVM, random_state=0).fit(rows, classes)
    drawn = MKLClassifier("rbf", learner="mhks", feature_map="empirical(subset=30)")
    vote = MKLVotingClassifier(drawn, n_members=2, random_state=0).fit(rows, classes)
    centers = clone(drawn).set_params(
        feature_map="empirical(subset=20, landmarks='kmeans')", random_state=0
    )
    for model in (pairs, vote, centers.fit(rows, classes)):
        (screen,) = explain(model, rows, classes, **QUICK).screens.to_dict("records")
        assert screen["selected"] == SELECTED
        assert 0 < screen["noise"] < 110
    rows[:, 20:] = 1.0
    few = explain(clone(pairs).fit(rows, classes), rows, classes, **QUICK)
    assert few.screens["selected"].tolist() == [20]
    assert few.effects["column"][0] == "4"
