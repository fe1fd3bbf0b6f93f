"""The steps before the classifier, against pandas and NumPy done by hand."""

from __future__ import annotations

import datetime
import decimal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mklkit import MKLClassifier, compare
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.pipeline import build_pipeline, describe
from mklkit.errors import DataError
from mklkit.protocols import Column, Schema


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
        dummies = pd.get_dummies(mixed["sex"].fillna("missing"), prefix="sex", dtype=float)
        truth = ["smokes_False", "smokes_True"]
        assert list(out) == [*dummies, "age", *truth, "flat", "void"]
        assert out["age"].tolist() == [30, 40, 50, 20, 40, 60]
        assert out["flat"].tolist() == [7] * 6
        assert out["void"].tolist() == [0] * 6
        assert set(out.dtypes) == {np.dtype("float64")}
        pd.testing.assert_frame_equal(out[list(dummies)], dummies)
        # Later gaps become the median of training.
        assert TableEncoder().fit(mixed).transform(mixed[1:2])["age"].tolist() == [40]

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
            (pd.array(["a", None, "b"], dtype="str"), "category_"),
            (pd.array(["a", None, "b"], dtype="string"), "category_"),
            (pd.array([True, None, False], dtype="boolean"), "category_"),
            ([True, None, False], "category_"),
            ([1, "a", None], "category_"),
            (pd.Categorical(["a", None, "b"]), "category_"),
            (pd.Categorical([1, None, 2]), "category_"),
            (pd.to_datetime(["2020-01-01", None, "2020-01-02"]), "dates_"),
            (pd.to_datetime(["2020-01-01", None, "2020-01-02"], utc=True), "dates_"),
            (["2020-01-01", None, "2020/01/02 10:30"], "dates_"),
            ([datetime.date(2020, 1, 1), None, datetime.date(9999, 12, 31)], "dates_"),
            (["2020-01-01", None, "2020-02-30"], "category_"),
            (["2020-01-01", None, "2020-01"], "category_"),
            (pd.to_datetime([None, None, None]), "numeric_"),
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

    def test_unknown_values_are_rare_ones_where_rare_values_share_a_column(self) -> None:
        frame = pd.DataFrame({"x": list("aaabbcde"), "y": list("uvuvuvuv")})
        encoder = TableEncoder(max_categories=3).fit(frame)
        out = encoder.transform(pd.DataFrame({"x": ["z", "a", "d"], "y": ["u", "z", "v"]}))
        expected = {"x_a": [0, 1, 0], "x_b": [0] * 3, "x_other": [1, 0, 1]}
        expected |= {"y_u": [1, 0, 0], "y_v": [0, 0, 1]}
        assert out.to_dict("list") == expected

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
        text = np.array([["a", 1], ["b", 2]], dtype=object)
        out = TableEncoder().fit_transform(text)
        assert list(out) == ["x0_a", "x0_b", "x1"]
        np.testing.assert_array_equal(out, [[1, 0, 1], [0, 1, 2]])


class TestReadings:
    """Text is read as the command line reads it."""

    FRAME = pd.DataFrame(
        {
            "crp": [f"{place / 7:.2f}".replace(".", ",") for place in range(40)],
            "cost": [f"{place}.{place + 100}" for place in range(1, 41)],
            "seen": pd.date_range("2019-01-03", periods=40, freq="9D").strftime("%d.%m.%Y"),
            "ward": ["north", "south"] * 20,
        }
    )

    def test_numbers_and_dates_in_text(self) -> None:
        frame = self.FRAME.assign(crp=["<0,6", *self.FRAME["crp"][1:]])
        encoder = TableEncoder().fit(frame)
        assert encoder.numeric_ == ["crp", "cost"]
        assert list(encoder.dates_) == ["seen"]
        notations = {column.name: column.notation for column in encoder.schema_}
        assert notations == {
            "crp": "decimal comma",
            "cost": "decimal comma, points between thousands",
            "seen": "day first",
            "ward": "text",
        }
        assert "column 'crp' holds '<0,6' in row 1, not a number: taken as a gap" in " ".join(
            encoder.describe()
        )
        new = pd.DataFrame({"crp": ["1,5"], "cost": "2.000", "seen": "04.03.2019", "ward": "east"})
        assert encoder.transform(new).iloc[0].tolist()[:3] == [1.5, 2000, 60]
        with pytest.warns(UserWarning, match="'crp' holds '<0,6' in row 1, not a number"):
            encoder.transform(frame)

    def test_categories_and_what_is_said_to_be_text_stay_text(self) -> None:
        frame = self.FRAME.assign(code=pd.Categorical(["1", "2"] * 20), grade=["1", "2"] * 20)
        assert TableEncoder().fit(frame).category_ == ["ward", "code"]
        columns = [Column("grade", notation="text"), Column("seen", notation="day first")]
        encoder = TableEncoder(schema=Schema(columns)).fit(frame)
        assert encoder.category_ == ["ward", "code", "grade"]
        assert clone(encoder).schema is encoder.schema

    def test_labels_of_rows_may_repeat(self) -> None:
        frame = self.FRAME.set_axis([7] * 40)
        assert TableEncoder().fit_transform(frame)["crp"].iloc[7] == 1.0


class TestDates:
    def test_parts_are_those_of_pandas(self) -> None:
        dates = pd.date_range("2023-11-05 07:30", periods=40, freq="41h")
        frame = pd.DataFrame({"x": 1.0, "when": dates.astype(str), "y": 2.0})
        encoded = TableEncoder().fit_transform(frame)
        names = ["x", "when", "when_month", "when_weekday", "when_hour", "y"]
        assert encoded.columns.tolist() == names
        days = (dates - pd.Timestamp("2023-11-05")) / pd.Timedelta(days=1)
        np.testing.assert_allclose(encoded["when"], days)
        for part, reference in (("month", "month"), ("weekday", "day_of_week"), ("hour", "hour")):
            assert encoded[f"when_{part}"].tolist() == getattr(dates, reference).tolist()

    def test_only_parts_that_vary_are_kept(self) -> None:
        mondays = ["2024-01-01", "2024-01-08", None, "2024-01-29"]
        encoder = TableEncoder().fit(pd.DataFrame({"when": mondays}))
        assert encoder.transform(pd.DataFrame({"when": mondays}))["when"].tolist() == [0, 7, 7, 28]
        assert encoder.describe() == [
            "dates in 'when' as days since 2024-01-01",
            "1 gap imputed by the median",
        ]

    @pytest.mark.parametrize(
        "later",
        [
            ["2024-03-31T15:45:00+02:00"],
            pd.to_datetime(["2024-03-31 13:45Z"]),
            [datetime.datetime(2024, 3, 31, 13, 45)],
        ],
    )
    def test_zones_and_types_do_not_matter(self, later: Any) -> None:
        encoder = TableEncoder().fit(pd.DataFrame({"when": ["1969-12-31", "2024-03-31 13:45"]}))
        encoded = encoder.transform(pd.DataFrame({"when": later}))
        assert encoded["when"].tolist() == [(13.75 / 24) + 19813 + 1]

    def test_what_is_no_date_later(self) -> None:
        encoder = TableEncoder().fit(pd.DataFrame({"when": ["2024-01-01", "2024-02-01"]}))
        with pytest.raises(DataError, match=r"'when' held dates .* '31\.3\.24' in row 2"):
            encoder.transform(pd.DataFrame({"when": ["2024-01-01", "31.3.24"]}))


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("name", "values", "left_out"),
        [
            ("code", [f"p{i}" for i in range(30)], True),
            ("code", [f"p{i}" if i > 3 else None for i in range(30)], True),
            ("PassengerId", range(5, 35), True),
            ("patient_id", range(30, 0, -1), True),
            ("code", [f"p{i}" for i in range(19)], False),
            ("code", [f"p{i // 2}" for i in range(30)], False),
            ("age", range(5, 35), False),
            ("liquid", range(5, 35), False),
            ("row_no", range(30), True),
            ("No.", range(1, 31), True),
            ("age", range(29, -1, -1), False),
            ("row", range(19), False),
            ("id", [i / 2 for i in range(30)], False),
        ],
    )
    def test_are_left_out_and_named(self, name: str, values: Any, left_out: bool) -> None:
        frame = pd.DataFrame({name: list(values)})
        frame["x"] = np.arange(len(frame)) % 7
        encoder = TableEncoder().fit(frame)
        assert encoder.identifiers_ == ([name] if left_out else [])
        assert (set(encoder.sources_) == {"x"}) is left_out
        named = f"column {name!r} dropped: a different value in every row, like identifiers"
        said = [line for line in encoder.describe() if line.startswith(named)]
        assert bool(said) is left_out
        if said:
            # What counts or numbers the rows has no text to learn from.
            assert ("".join(encoder.advice()).count(f"'spectrum@{name}'") == 1) is (name == "code")
            assert "spectrum" not in said[0]
        assert len(encoder.transform(frame)) == len(frame)

    def test_rows_that_are_counted_are_recognised_after_a_split(self) -> None:
        frame = pd.DataFrame({"row": range(1, 61), "x": np.arange(60) % 7})
        assert TableEncoder().fit(frame.iloc[::2]).identifiers_ == ["row"]
        # Where a column is all there is, it is kept.
        assert TableEncoder().fit(frame[["row"]]).numeric_ == ["row"]

    def test_may_be_said(self) -> None:
        frame = pd.DataFrame({"code": [f"p{i}" for i in range(30)], "x": np.arange(30) % 7})
        schema = Schema([Column("code"), Column("x", role="identifier")])
        encoder = TableEncoder(schema=schema).fit(frame)
        assert (encoder.category_, encoder.identifiers_) == (["code"], ["x"])

    def test_need_not_come_again(self) -> None:
        frame = pd.DataFrame({"id": range(30), "x": np.arange(30) % 7, "void": None})
        encoder = TableEncoder().fit(frame)
        full = encoder.transform(frame)
        pd.testing.assert_frame_equal(encoder.transform(frame[["x"]]), full)
        with pytest.raises(DataError, match="The rows lack column 'x' of the training data"):
            encoder.transform(frame[["id"]])

    def test_nothing_else_is_an_error(self) -> None:
        with pytest.raises(DataError, match="No feature is left: column 'code'"):
            TableEncoder().fit(pd.DataFrame({"code": [f"p{i}" for i in range(30)]}))


class TestValuesOfOtherTypes:
    def test_columns_tell_what_each_was_taken_for(self, mixed: pd.DataFrame) -> None:
        days = pd.date_range("2024-01-01", periods=6)
        columns = (
            TableEncoder(schema=Schema([Column("flat", role="identifier")]))
            .fit(mixed.assign(day=days))
            .columns()
        )
        assert columns == [
            {"name": "sex", "kind": "category", "gaps": 1, "values": 3},
            {"name": "age", "kind": "number", "gaps": 1},
            {"name": "smokes", "kind": "category", "gaps": 0, "values": 2},
            {"name": "flat", "kind": "identifier", "gaps": 0},
            {"name": "void", "kind": "number", "gaps": 6},
            {"name": "day", "kind": "date", "gaps": 0},
        ]


class TestRefusals:
    def test_missing_column_is_named(self, mixed: pd.DataFrame) -> None:
        encoder = TableEncoder().fit(mixed)
        with pytest.raises(DataError, match=r"'age' of the training data\. Did you mean 'agee'"):
            encoder.transform(mixed.rename(columns={"age": "agee"}))

    def test_text_in_a_numeric_column_is_refused_but_for_a_single_one(
        self, mixed: pd.DataFrame
    ) -> None:
        encoder = TableEncoder().fit(mixed)
        new = mixed.assign(age=["30", "31", "old", None, "1", "older"])
        with pytest.raises(DataError, match=r"'age' .* holds 'old' in row 3 and 1 more"):
            encoder.transform(new)
        with pytest.warns(UserWarning, match="'age' holds 'old' in row 3, not a number"):
            out = encoder.transform(new.assign(age=["30", "31", "old", None, "1", "2"]))
        assert out["age"].tolist() == [30, 31, 40, 40, 1, 2]

    @pytest.mark.parametrize(
        "values", [[1.0, np.inf], [1.0, -1e200], [1, 10**400], [-(10**4000)] * 2]
    )
    def test_numbers_that_overflow(self, values: list[Any]) -> None:
        with pytest.raises(DataError, match=r"'x' holds a number that is (infinite|larger)"):
            TableEncoder().fit(pd.DataFrame({"x": pd.Series(values, dtype=object)}))

    @pytest.mark.parametrize(
        ("index", "named"),
        [
            (pd.RangeIndex(3), "in row 2 "),
            (pd.Index([7, 4, 9]), "in the row with index 4 "),
            (pd.Index(["ann", "bob", "cy"], name="patient"), "in patient 'bob' "),
        ],
    )
    def test_a_row_is_named_by_the_index(self, index: pd.Index, named: str) -> None:
        with pytest.raises(DataError, match=named):
            TableEncoder().fit(pd.DataFrame({"x": [1.0, np.inf, 2.0]}, index=index))

    @pytest.mark.parametrize(
        ("cell", "kind"),
        [([1, 2], "lists"), ((1,), "lists"), (np.arange(2), "lists"), ({"a": 1}, "records")],
    )
    def test_cells_that_hold_lists_or_records(self, cell: Any, kind: str) -> None:
        rows = pd.DataFrame({"flat": np.arange(8.0), "deep": [None, "a", *[cell] * 6]})
        labels = np.arange(8) % 2
        for use in (
            lambda: TableEncoder().fit(rows),
            lambda: build_pipeline(MKLClassifier()).fit(rows, labels),
            lambda: compare(rows, labels, cv=2),
        ):
            with pytest.raises(DataError, match=f"^Column 'deep' holds {kind}; expected a number"):
                use()
        encoder = TableEncoder().fit(rows.assign(deep=list("abababab")))
        with pytest.raises(DataError, match=f"^Column 'deep' holds {kind}; expected a number"):
            encoder.transform(rows)

    def test_repeated_names_and_wrong_shapes(self) -> None:
        with pytest.raises(DataError, match="'a' occurs twice"):
            TableEncoder().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with pytest.raises(DataError, match="'a' occurs 3 times"):
            compare(pd.DataFrame(np.eye(6)[:, :3], columns=["a"] * 3), np.arange(6) % 2, cv=2)
        with pytest.raises(DataError, match="2 dimensions"):
            TableEncoder().fit(np.arange(3.0))
        with pytest.raises(DataError, match="3 columns; there were 2"):
            TableEncoder().fit(np.eye(2)).transform(np.eye(3))
        with pytest.raises(DataError, match="no feature columns"):
            TableEncoder().fit(pd.DataFrame(index=range(3)))


class TestPipeline:
    def test_scales(self, mixed: pd.DataFrame) -> None:
        encoded = TableEncoder().fit_transform(mixed)
        scalers = {
            "standard": StandardScaler(),
            "minmax": MinMaxScaler((-1, 1)),
            "none": FunctionTransformer(),
        }
        for scale, scaler in scalers.items():
            pipeline = build_pipeline(KNeighborsClassifier(1), scale=scale).fit(mixed, [0, 1] * 3)
            expected = scaler.set_output(transform="pandas").fit_transform(encoded)
            pd.testing.assert_frame_equal(pipeline[:-1].transform(mixed), expected)

    def test_describe_says_what_is_done(self, mixed: pd.DataFrame) -> None:
        pipeline = build_pipeline(KNeighborsClassifier(1)).fit(mixed, [0, 1] * 3)
        assert describe(pipeline) == [
            "2 category columns one-hot encoded into 5",
            "1 gap in category columns taken as the value 'missing'",
            "1 gap imputed by the median",
            "1 column without any value set to 0",
            "features standardised (mean 0, variance 1)",
        ]
        plain = build_pipeline(KNeighborsClassifier(1), "none").fit(mixed[["flat"]], [0, 1] * 3)
        assert describe(plain) == []


cells = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(-1e6, 1e6), st.text(max_size=3)
)


@given(st.lists(st.tuples(cells, cells), min_size=2, max_size=12))
@pytest.mark.process
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
    assert (
        out.to_numpy()[:, [name in encoder.category_ for name in encoder.sources_]].sum(axis=1)
        == len(encoder.category_)
    ).all()


def test_gaps_of_missing_sources_are_counted_apart() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(30, 5)), columns=["lab_a", "lab_b", "lab_c", "x_a", "x_b"]
    )
    frame.iloc[:4, :3] = np.nan  # four samples without the source
    frame.iloc[4:6, 0] = np.nan  # two single gaps
    pipeline = build_pipeline(MKLClassifier(["lab:rbf@lab_*", "x:rbf@x_*"]))
    pipeline.fit(frame, np.arange(30) % 2)
    lines = pipeline[0].describe()
    assert "2 gaps imputed by the median" in lines
    assert "12 gaps left where a sample misses the whole source" in lines
