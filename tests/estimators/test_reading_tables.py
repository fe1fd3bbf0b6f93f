"""Kernels on text, categories and amounts of tables: the columns as they are, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.reading_kernels import KnownSame, KnownSmaller, Letters, Same, Smaller
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from mklkit import MKLClassifier, MKLSearchCV, MKLVotingClassifier
from mklkit.errors import DataError, IncompatibleError
from mklkit.evaluation.alignment import alignment_matrix
from mklkit.kernels import Precomputed

MIXED = [("seq", Letters(), "sequence"), "linear@age,weight", ("color", Same(), "color")]


@pytest.fixture
def table(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return 40 rows with a sequence, two numbers and a color, in two classes."""
    y = np.resize(["no", "yes"], 40)
    words = [
        "".join(rng.choice(list("aab" if label == "yes" else "abb"), size=rng.integers(2, 9)))
        for label in y
    ]
    frame = pd.DataFrame(
        {
            "sequence": words,
            "age": rng.normal(size=40) + (y == "yes"),
            "weight": rng.normal(size=40),
            "color": rng.choice(["red", "blue", "green"], size=40),
        }
    )
    return frame, y


def mixed_gram(left: pd.DataFrame, right: pd.DataFrame) -> np.ndarray:
    """Return the even sum of the three kernels, by loops over Python's values."""

    def one(a: Any, b: Any) -> float:
        letters = sum(a["sequence"].count(c) * b["sequence"].count(c) for c in "ab")
        numbers = a["age"] * b["age"] + a["weight"] * b["weight"]
        return float(letters + numbers + (a["color"] == b["color"])) / 3

    return np.array([[one(a, b) for _, b in right.iterrows()] for _, a in left.iterrows()])


def assert_alike(model: Any, rows: Any, other: Any, rows_of_other: Any) -> None:
    expected = other.decision_function(rows_of_other)
    np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-9)


def test_the_decisions_are_those_of_the_kernels_by_hand(table):
    frame, y = table
    train, new = frame[:30], frame[30:]
    model = MKLClassifier(MIXED, learner="svm(C=1.0)").fit(train, y[:30])
    by_hand = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(mixed_gram(train, train), y[:30])
    expected = by_hand.decision_function(mixed_gram(new, train))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=0.01)
    assert [None if c is None else c.tolist() for c in model.kernel_columns_] == [[0], [1, 2], [3]]


def test_an_array_of_objects_is_the_same_table(table):
    frame, y = table
    model = MKLClassifier(MIXED).fit(frame, y)
    kernels = [("seq", Letters(), [0]), "linear@1:3", ("color", Same(), [3])]
    of_array = MKLClassifier(kernels).fit(frame.to_numpy(), y)
    assert_alike(of_array, frame.to_numpy(), model, frame)


def test_longer_texts_and_new_categories_are_read(table):
    frame, y = table
    model = MKLClassifier(MIXED).fit(frame, y)
    new = frame.assign(sequence=frame["sequence"] * 5 + "xyz", color="purple")
    # The new letters and the new color are in no training row.
    same = frame.assign(sequence=frame["sequence"] * 5, color="brown")
    assert_alike(model, new, model, same)


def test_kernels_that_name_no_columns_leave_the_others_theirs(table):
    frame, y = table
    frame["count"] = np.arange(40) % 7
    kernels = [
        ("seq", Letters(), "sequence"),
        "linear",
        Same(),
        ("few", Smaller(), "count"),
        "rbf@age,count",
    ]
    model = MKLClassifier(kernels).fit(frame, y)
    read = [columns.tolist() for columns in model.kernel_columns_]
    assert read == [[0], [1, 2], [3], [4], [1, 4]]


def test_numbers_can_be_categories(rng):
    X = rng.integers(3, size=(30, 4)).astype(float)
    y = np.resize([0, 1], 30)
    model = MKLClassifier([Same()], learner="svm(C=1.0)").fit(X, y)
    gram = (X[:, None] == X[None]).mean(axis=2)
    expected = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(gram, y).decision_function(gram)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)
    assert model.kernel_columns_ == [None]


def test_gaps(table):
    frame, y = table
    frame.loc[::4, "sequence"] = None
    frame.loc[1::4, "color"] = None
    frame["count"] = np.where(np.arange(40) % 5, np.arange(40.0) % 7, np.nan)
    kernels = [*MIXED, ("few", KnownSmaller(), "count")]
    model = MKLClassifier(kernels).fit(frame, y)
    assert model.choices_[:2] == [
        "10 gaps in column 'color' read as a category of their own, 'missing'",
        "8 gaps in column 'count' dropped by its kernel",
    ]
    assert any("10 of 40 samples lack " in note for note in model.choices_)
    written = frame.fillna({"sequence": "", "color": "missing"})
    other = MKLClassifier(kernels).fit(written, y)
    filled = MKLClassifier(kernels, missing="impute").fit(frame, y)
    assert_alike(filled, frame, other, written)


def test_gaps_that_a_kernel_on_categories_leaves_out():
    frame = pd.DataFrame({"a": ["x", None, "x", "y"], "b": [1.0, 1.0, np.nan, 2.0]})
    y = [0, 0, 1, 1]
    fitted = MKLClassifier([KnownSame(), "linear"]).fit(frame.assign(b=1.0), y)
    assert [columns.tolist() for columns in fitted.kernel_columns_] == [[0], [1]]
    both = MKLClassifier([("both", KnownSame(), ["a", "b"])], learner="svm(C=1.0)").fit(frame, y)
    gram = np.array([[2, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 2]]) * 1.0
    expected = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(gram, y).decision_function(gram)
    np.testing.assert_allclose(both.decision_function(frame), expected, atol=1e-3)


@pytest.mark.parametrize("kernels", [["linear@a", "linear@b"], [KnownSmaller(), "linear@b"]])
def test_other_gaps_in_numbers_are_medians_or_lacking_sources(kernels):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, np.nan, 2.0, 3.0]})
    model = MKLClassifier(kernels).fit(frame, [0, 0, 1, 1])
    assert np.isfinite(model.decision_function(frame)).all()
    assert "1 of 4 samples lack" in " ".join(model.choices_)
    with pytest.raises(DataError, match="Row 2"):
        MKLClassifier("linear@b").fit(frame, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        (["rbf@sequence"], "'rbf@sequence' reads numbers, and column 'sequence' holds text: use a"),
        (["rbf"], "Kernel 'rbf' reads numbers, and column 'sequence' holds text: "),
        (None, "reads numbers, and column 'sequence' holds text"),
        ([("t", Letters(), "age")], "'t' reads text, and column 'age' holds numbers: use a kernel"),
        ([("t", Letters(), ["sequence", "color"])], "'t' reads one column of text, of 2"),
        ([Letters()], "reads one column of text, .* 'letters@sequence'"),
        ([("f", Smaller(), "color")], "'f' reads amounts, and column 'color' holds text"),
        ([("p", Precomputed(np.eye(3)), "color")], "takes one column of row numbers, got text"),
        (
            [("t", Letters(), "sequence"), ("c", Same(), ["age", "weight", "color"]), "rbf"],
            "'rbf' needs numbers, and all columns belong to other kernels, such as 't'",
        ),
    ],
)
def test_a_kernel_that_cannot_read_its_columns_is_refused(table, kernels, message):
    frame, y = table
    with pytest.raises(DataError, match=message):
        MKLClassifier(kernels).fit(frame, y)


def test_columns_that_no_kernel_reads_may_hold_anything(table):
    frame, y = table
    model = MKLClassifier(["linear@age"]).fit(frame, y)
    other = MKLClassifier(["linear"]).fit(frame[["age"]], y)
    assert_alike(model, frame, other, frame[["age"]])


def test_new_rows_of_another_kind_are_refused(table):
    frame, y = table
    model = MKLClassifier(MIXED).fit(frame, y)
    with pytest.raises(DataError, match="Column 'age' held numbers in the training data"):
        model.predict(frame.assign(age="old"))
    with pytest.raises(
        DataError, match="Column 'sequence' held text in the training data and holds 5"
    ):
        model.predict(frame.assign(sequence=5))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"sequence": "text"}))


@pytest.mark.parametrize(
    ("new", "held"),
    [
        (pd.to_datetime(["2024-01-31"] * 40), "dates"),
        (pd.to_timedelta(["1 day"] * 40), "dates"),
        (pd.Series([pd.Timestamp("2024-01-31"), *[None] * 39], dtype=object), "dates"),
        (pd.period_range("2024-01", periods=40, freq="M"), "dates"),
        (np.full(40, 1 + 2j), "complex numbers"),
        (pd.Series([1.0, 2j] * 20, dtype=object), "complex numbers"),
    ],
)
def test_dates_and_complex_numbers_are_no_numbers(table, new, held):
    frame, y = table
    with pytest.raises(DataError, match=rf"reads numbers, and column 'age' holds {held}"):
        MKLClassifier(["linear@age", Same()]).fit(frame.assign(age=new), y)
    model = MKLClassifier(["linear@age", ("seq", Letters(), "sequence")]).fit(frame, y)
    with pytest.raises(DataError, match=f"'age' held numbers in the training .* {held}"):
        model.predict(frame.assign(age=new))
    of_numbers = MKLClassifier("linear").fit(frame[["age"]], y)
    with pytest.raises(ValueError, match=f"{held}|Complex data not supported"):
        of_numbers.predict(pd.DataFrame({"age": new}))


@pytest.mark.parametrize("rows", ["ab", pd.Series(["ab"])])
def test_new_rows_that_are_no_table_are_refused(table, rows):
    frame, y = table
    model = MKLClassifier([("seq", Letters(), "sequence")]).fit(frame, y)
    with pytest.raises(DataError, match=f"as a DataFrame .* got {type(rows).__name__}"):
        model.predict(rows)


def test_categories_that_a_file_reader_turned_into_numbers(table):
    frame, y = table
    frame["code"] = np.resize(["1", "2", "3"], 40)
    model = MKLClassifier([Same()]).fit(frame[["code"]], y)
    expected = model.decision_function(frame[["code"]])
    for kind in ("int64", "float64"):
        values = model.decision_function(frame[["code"]].astype(kind))
        np.testing.assert_allclose(values, expected, rtol=1e-9)


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize("kind", [object, float, "str"])
def test_columns_of_gaps_alone_are_text_for_kernels_on_words(table, gap, kind):
    frame, y = table
    empty = frame.assign(
        sequence=pd.Series([gap] * 40, dtype=kind), color=pd.Series([gap] * 40, dtype=kind)
    )
    model = MKLClassifier(MIXED, missing="impute").fit(empty, y)
    written = MKLClassifier(MIXED).fit(frame.assign(sequence="", color="missing"), y)
    assert_alike(model, frame, written, frame)


def test_a_column_of_missing_dates_is_no_text(table):
    frame, y = table
    frame["sequence"] = pd.to_datetime([None] * 40)
    with pytest.raises(DataError, match="'letters' reads text, and column 'sequence' holds dates"):
        MKLClassifier([("letters", Letters(), "sequence"), "linear@age"]).fit(frame, y)


def test_rows_that_are_read_in_parts_hold_no_text(tmp_path):
    rows = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=(4, 2))
    with pytest.raises(DataError, match="'t' reads text, and samples read in parts"):
        MKLClassifier([("t", Letters(), [0])]).fit(rows, [0, 0, 1, 1])
    words = np.array([["a", 1.0], ["b", 2.0], ["ab", 3.0], ["ba", 4.0]], dtype=object)
    model = MKLClassifier([("t", Letters(), [0]), "linear"]).fit(words, [0, 0, 1, 1])
    with pytest.raises(DataError, match="kernels read text or categories, and samples read"):
        model.predict(rows)


def test_searches_votes_probabilities_and_parts(table):
    frame, y = table
    grid = {"kernels": [["linear@age,weight"], MIXED], "learner__C": [0.1, 1.0]}
    folds = list(StratifiedKFold(3).split(frame, y))
    model = MKLClassifier(MIXED, learner="svm", random_state=0)
    scores = [
        search(model, grid, cv=folds).fit(frame, y).cv_results_["mean_test_score"]
        for search in (MKLSearchCV, GridSearchCV)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-9)
    model = MKLClassifier(MIXED, probability=True, random_state=0).fit(frame, y)
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
    member = MKLClassifier(MIXED, feature_map="empirical(subset=10)", learner="mhks")
    vote = MKLVotingClassifier(member, random_state=0).fit(frame, y)
    assert vote.predict(frame).shape == (40,)
    assert np.isfinite(cross_val_score(MKLClassifier(MIXED), frame, y, cv=3)).all()
    model = MKLClassifier(MIXED, feature_map="empirical(subset=10)", learner="kda")
    parts = model.partial_fit(frame[:20], y[:20], classes=["no", "yes"])
    assert parts.partial_fit(frame[20:], y[20:]).predict(frame).shape == (40,)


def test_gates_see_numbers_only(table):
    frame, y = table
    model = MKLClassifier(MIXED, combiner="cluster-gating", random_state=0).fit(frame, y)
    other = frame.assign(sequence="x", color="y")
    np.testing.assert_allclose(model.gate_weights(other), model.gate_weights(frame), rtol=1e-9)
    with pytest.raises(IncompatibleError, match="they contain only columns of ids, text"):
        MKLClassifier([("t", Letters(), "sequence")], combiner="cluster-gating").fit(
            frame[["sequence"]], y
        )


def test_alignments_of_kernels_on_a_table(table):
    frame, y = table
    alignments = alignment_matrix(MIXED, frame)
    model = MKLClassifier(MIXED).fit(frame, y)
    np.testing.assert_allclose(alignment_matrix(model, frame), alignments, rtol=1e-9)
    numbers = frame[["age", "weight"]].to_numpy()
    colors = frame["color"].to_numpy()
    linear, same = linear_kernel(numbers), (colors[:, None] == colors).astype(float)
    expected = (linear * same).sum() / np.sqrt((linear**2).sum() * same.sum())
    np.testing.assert_allclose(alignments.iloc[1, 2], expected, rtol=1e-9)
