"""The steps before the classifier, against pandas and NumPy done by hand."""

from __future__ import annotations

import decimal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from mklkit.errors import DataError, MKLKitError
from mklkit.preprocessing import TableEncoder, build_pipeline, describe


@pytest.fixture
def mixed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sex": ["f", "m", None, "f", "m", "f"],
            "age": [30.0, np.nan, 50.0, 20.0, 40.0, 60.0],
            "smokes": [True, False, True, True, False, False],
            "flat": [7] * 6,
            "void": [None] * 6,
        }
    )


class TestEncoder:
    def test_numbers_keep_name_place_and_value(self, mixed: pd.DataFrame) -> None:
        out = TableEncoder().fit_transform(mixed)
        assert list(out) == [
            "sex_f",
            "sex_m",
            "sex_missing",
            "age",
            "smokes_False",
            "smokes_True",
            "flat",
            "void",
        ]
        assert out["age"].tolist() == [30, 40, 50, 20, 40, 60]
        assert out["flat"].tolist() == [7] * 6
        assert out["void"].tolist() == [0] * 6
        assert set(out.dtypes) == {np.dtype("float64")}

    def test_one_hot_is_pandas_dummies(self, mixed: pd.DataFrame) -> None:
        out = TableEncoder().fit_transform(mixed)
        expected = pd.get_dummies(mixed["sex"].fillna("missing"), prefix="sex", dtype=float)
        pd.testing.assert_frame_equal(out[list(expected)], expected)

    def test_gaps_become_the_training_median(self) -> None:
        train = pd.DataFrame({"x": [1.0, np.nan, 10.0, 3.0]})
        out = TableEncoder().fit(train).transform(pd.DataFrame({"x": [np.nan, 8.0]}))
        assert out["x"].tolist() == [3.0, 8.0]

    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (pd.array([1, None, 3], dtype="Int64"), "numeric_"),
            (pd.array([1.5, None, 3], dtype="Float64"), "numeric_"),
            (np.array([1, 2, 3], dtype=np.float32), "numeric_"),
            (np.array([1, 2, 3], dtype=np.uint8), "numeric_"),
            ([decimal.Decimal("1.5"), None, decimal.Decimal(2)], "numeric_"),
            ([1, None, 2.5], "numeric_"),
            ([None, None, None], "numeric_"),
            (pd.array(["a", None, "b"], dtype="str"), "text_"),
            (pd.array(["a", None, "b"], dtype="string"), "text_"),
            (pd.array([True, None, False], dtype="boolean"), "text_"),
            ([True, None, False], "text_"),
            ([1, "a", None], "text_"),
            (pd.Categorical(["a", None, "b"]), "text_"),
            (pd.Categorical([1, None, 2]), "text_"),
            (pd.to_datetime(["2020-01-01", None, "2020-01-02"]), "text_"),
        ],
    )
    def test_column_types(self, column: Any, kind: str) -> None:
        frame = pd.DataFrame({"x": column, "flat": [1, 1, 1]})
        encoder = TableEncoder().fit(frame)
        assert "x" in getattr(encoder, kind)
        out = encoder.transform(frame)
        assert np.isfinite(out.to_numpy()).all()

    def test_values_mean_the_same_whatever_type_a_reader_gave_them(self) -> None:
        encoder = TableEncoder().fit(pd.DataFrame({"x": ["1", "2", "a"]}))
        for same in ([1, 2, 1], [1.0, 2.0, 1.0], ["1", "2", "1"], [1.0, 2.0, np.nan]):
            out = encoder.transform(pd.DataFrame({"x": same}))
            assert out["x_1"].tolist()[:2] == [1, 0]
            assert out["x_2"].tolist()[:2] == [0, 1]

    def test_unknown_values_are_none_of_the_known(self) -> None:
        encoder = TableEncoder().fit(pd.DataFrame({"x": ["a", "b", "a"]}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            out = encoder.transform(pd.DataFrame({"x": ["z", None, "a"]}))
        assert out.to_numpy().tolist() == [[0, 0], [0, 0], [1, 0]]

    def test_rare_values_share_a_column(self) -> None:
        values = ["a"] * 5 + ["b"] * 4 + list("cdefg")
        encoder = TableEncoder(max_categories=3).fit(pd.DataFrame({"x": values}))
        out = encoder.transform(pd.DataFrame({"x": ["a", "b", "c", "g"]}))
        assert list(out) == ["x_a", "x_b", "x_other"]
        assert out["x_other"].tolist() == [0, 0, 1, 1]
        assert encoder.describe()[1] == "5 rare values of 'x' joined as 'x_other'"

    def test_output_names_never_clash(self) -> None:
        frame = pd.DataFrame(
            {"a": ["b_c", "x", "x"], "a_b": ["c", "c", "y"], "a_x": [1.0, 2.0, 3.0]}
        )
        out = TableEncoder().fit_transform(frame)
        assert out.columns.is_unique
        assert out["a_x"].tolist() == [1, 2, 3]

    def test_columns_may_come_in_any_order_and_more(self, mixed: pd.DataFrame) -> None:
        encoder = TableEncoder().fit(mixed)
        shuffled = mixed[mixed.columns[::-1]].assign(more=1)
        pd.testing.assert_frame_equal(encoder.transform(shuffled), encoder.transform(mixed))

    def test_arrays_are_tables_too(self) -> None:
        rows = np.arange(6.0).reshape(3, 2)
        out = TableEncoder().fit_transform(rows)
        assert list(out) == ["x0", "x1"]
        np.testing.assert_array_equal(out.to_numpy(), rows)
        text = np.array([["a", 1], ["b", 2]], dtype=object)
        assert list(TableEncoder().fit_transform(text)) == ["x0_a", "x0_b", "x1"]


class TestRefusals:
    def test_missing_column_is_named(self, mixed: pd.DataFrame) -> None:
        encoder = TableEncoder().fit(mixed)
        with pytest.raises(DataError, match=r"'age'\. Did you mean 'agee'"):
            encoder.transform(mixed.rename(columns={"age": "agee"}))

    def test_text_in_a_numeric_column(self, mixed: pd.DataFrame) -> None:
        encoder = TableEncoder().fit(mixed)
        new = mixed.assign(age=["30", "31", "old", None, "1", "2"])
        with pytest.raises(
            DataError, match=r"'age' was numeric in training but holds 'old' in row 3"
        ):
            encoder.transform(new)

    @pytest.mark.parametrize(
        ("value", "word"), [(np.inf, "infinite"), (-1e200, r"larger than 1e\+150")]
    )
    def test_numbers_that_overflow(self, value: float, word: str) -> None:
        with pytest.raises(DataError, match=f"'x' holds a number that is {word} in row 2"):
            TableEncoder().fit(pd.DataFrame({"x": [1.0, value]}))

    @pytest.mark.parametrize("digits", ["9" * 400, "-" + "9" * 4000])
    def test_whole_numbers_beyond_floats(self, digits: str) -> None:
        for values in ([1, int(digits)], [int(digits)] * 2):
            with pytest.raises(DataError, match="'x' holds a number that is infinite"):
                TableEncoder().fit(pd.DataFrame({"x": pd.Series(values, dtype=object)}))

    @pytest.mark.parametrize(
        ("index", "named"),
        [
            (pd.RangeIndex(3), "in row 2 "),
            (pd.Index([7, 4, 9]), "in the row with index 4 "),
            (pd.Index(["ann", "bob", "cy"], name="patient"), "in patient 'bob' "),
            (pd.RangeIndex(3, name="row") + 1, "in row 2 "),
        ],
    )
    def test_a_row_is_named_by_the_index(self, index: pd.Index, named: str) -> None:
        with pytest.raises(DataError, match=named):
            TableEncoder().fit(pd.DataFrame({"x": [1.0, np.inf, 2.0]}, index=index))

    def test_repeated_names_and_wrong_shapes(self) -> None:
        with pytest.raises(DataError, match="'a' stands there twice"):
            TableEncoder().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with pytest.raises(DataError, match="2 dimensions"):
            TableEncoder().fit(np.arange(3.0))
        with pytest.raises(DataError, match="3 columns; 2 were"):
            TableEncoder().fit(np.eye(2)).transform(np.eye(3))
        with pytest.raises(DataError, match="no feature columns"):
            TableEncoder().fit(pd.DataFrame(index=range(3)))

    def test_unknown_scale_is_suggested(self) -> None:
        with pytest.raises(MKLKitError, match="Did you mean 'minmax'"):
            build_pipeline(KNeighborsClassifier(), scale="min-max")


class TestPipeline:
    def test_scales(self, mixed: pd.DataFrame) -> None:
        labels = [0, 1] * 3
        encoded = TableEncoder().fit_transform(mixed)
        results = {}
        for scale in ("standard", "minmax", "none"):
            pipeline = build_pipeline(KNeighborsClassifier(1), scale=scale).fit(mixed, labels)
            results[scale] = pipeline[:-1].transform(mixed)
            assert list(results[scale]) == list(encoded)
        varying = encoded.loc[:, encoded.nunique() > 1]
        standard = (varying - varying.mean()) / varying.std(ddof=0)
        pd.testing.assert_frame_equal(results["standard"][list(varying)], standard)
        spread = varying.max() - varying.min()
        pd.testing.assert_frame_equal(
            results["minmax"][list(varying)], 2 * (varying - varying.min()) / spread - 1
        )
        pd.testing.assert_frame_equal(results["none"], encoded)

    def test_describe_says_what_is_done(self, mixed: pd.DataFrame) -> None:
        pipeline = build_pipeline(KNeighborsClassifier(1)).fit(mixed, [0, 1] * 3)
        assert describe(pipeline) == [
            "2 text columns one-hot encoded into 5",
            "1 gap in text columns taken as the value 'missing'",
            "1 gap imputed by the median",
            "1 column without any value set to 0",
            "features standardised (mean 0, deviation 1)",
        ]
        plain = build_pipeline(KNeighborsClassifier(1), "none").fit(mixed[["flat"]], [0, 1] * 3)
        assert describe(plain) == ["features not scaled"]

    def test_clone_and_cross_validation(self, mixed: pd.DataFrame) -> None:
        pipeline = clone(build_pipeline(KNeighborsClassifier(1), "minmax"))
        scores = cross_val_score(pipeline, pd.concat([mixed] * 2), [0, 1] * 6, cv=3)
        assert len(scores) == 3


cells = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(-1e6, 1e6), st.text(max_size=3)
)


@given(st.lists(st.tuples(cells, cells), min_size=2, max_size=12))
def test_any_table_becomes_finite_numbers(rows: list[tuple[Any, Any]]) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = TableEncoder().fit_transform(frame)
    assert np.isfinite(out.to_numpy()).all()
    assert len(out) == len(frame)
    assert out.columns.is_unique
    # Each row has exactly one value of each text column, a gap being one.
    encoder = TableEncoder().fit(frame)
    assert (out.to_numpy()[:, encoder._text_places].sum(axis=1) == len(encoder.text_)).all()
