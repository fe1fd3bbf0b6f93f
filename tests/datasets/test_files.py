"""Data loading: every format against the writer of another library, every mistake a message."""

from __future__ import annotations

import gzip
import io
import sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff
from sklearn import datasets as sklearn_datasets

from mklkit.datasets import load_features, load_table
from mklkit.datasets.files import ChunkedTable, read_whole
from mklkit.datasets.target import warn_of_numbers
from mklkit.errors import DataError, MKLKitWarning


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(5)
    features = pd.DataFrame(random.normal(size=(12, 3)), columns=["width", "height", "depth"])
    return features.assign(target=np.tile([2, 1, 3], 4))


class TestBuiltin:
    @pytest.mark.parametrize("name", ["breast_cancer", "iris", "wine", "digits"])
    def test_rows_are_scikit_learns(self, name: str) -> None:
        bunch = getattr(sklearn_datasets, f"load_{name}")()
        table = load_table(name)
        np.testing.assert_array_equal(table.features.to_numpy(), bunch.data)
        expected = bunch.target if name == "digits" else bunch.target_names[bunch.target]
        np.testing.assert_array_equal(table.target.to_numpy(), expected)
        assert table.origin == "built into scikit-learn"
        assert f"{name}: {len(bunch.data)} samples, " in table.summary()


class TestFormats:
    @pytest.mark.parametrize(
        ("name", "options", "notes"),
        [
            ("a.csv", {}, []),
            ("a.csv.gz", {}, []),
            ("A.CSV", {}, []),
            ("a.csv", {"sep": ";"}, ["fields separated by semicolon"]),
            ("a.tsv", {"sep": "\t"}, ["fields separated by tab"]),
            ("a.csv", {"sep": "|"}, ["fields separated by bar"]),
            ("a.csv", {"sep": ";", "decimal": ","}, None),
            ("a.csv", {"index": True}, ["column without a name dropped: it numbers the rows"]),
        ],
    )
    def test_csv(
        self, frame: pd.DataFrame, tmp_path: Path, name: str, options: Any, notes: Any
    ) -> None:
        frame.to_csv(tmp_path / name, **{"index": False} | options)
        table = load_table(tmp_path / name)
        pd.testing.assert_frame_equal(table.features, frame.drop(columns="target"))
        assert table.target.tolist() == frame["target"].tolist()
        assert notes is None or table.notes == notes

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        rows = [{"größe": i, "target": "süß" if i % 2 else "herb"} for i in range(6)]
        pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False, encoding=encoding)
        table = load_table(tmp_path / "a.csv")
        assert list(table.features) == ["größe"]
        assert set(table.target) == {"süß", "herb"}

    def test_letters_beyond_the_sample_are_read_too(self, tmp_path: Path) -> None:
        lines = [f"{number},rot" for number in range(180_000)]
        path = tmp_path / "late.csv"
        path.write_bytes("\n".join(["a,kind", *lines, "1,grün", "2,grän\n"]).encode("latin-1"))
        assert read_whole(path).frame["kind"].unique().tolist() == ["rot", "grün", "grän"]
        chunks = list(ChunkedTable.opened(path).chunks())
        assert len(chunks) > 1
        assert chunks[-1]["kind"].tolist()[-2:] == ["grün", "grän"]

    def test_parquet(
        self, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame["kind"] = pd.Categorical(["a", "b", None] * 4)
        frame.to_parquet(tmp_path / "a.parquet")
        table = load_table(tmp_path / "a.parquet")
        pd.testing.assert_frame_equal(table.features, frame.drop(columns="target"))
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(DataError, match="pip install pyarrow"):
            load_table(tmp_path / "a.parquet")

    def test_parquet_types_that_are_numbers(self, tmp_path: Path) -> None:
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        minutes = range(0, 1200, 40)
        columns = {
            "price": pa.array([Decimal(minute) / 8 for minute in minutes]),
            "took": pa.array([timedelta(minutes=minute) for minute in minutes]),
            "began": pa.array([60_000_000 * minute for minute in minutes], pa.time64("us")),
            "kind": pa.array(["a", "b"] * 15),
        }
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        table = load_table(tmp_path / "a.parquet")
        assert table.features["price"].tolist() == [minute / 8 for minute in minutes]
        for name in ("took", "began"):
            assert table.features[name].tolist() == [60.0 * minute for minute in minutes]
        assert table.notes[:2] == [
            "durations in column 'took' taken as seconds",
            "times in column 'began' taken as seconds of the day",
        ]

    def test_parquet_of_bytes_and_of_repeated_names(self, tmp_path: Path) -> None:
        pa, path = pytest.importorskip("pyarrow"), tmp_path / "a.parquet"
        parquet = pytest.importorskip("pyarrow.parquet")
        # Neither is UTF-8, and yet they are two classes.
        columns = [pa.array([1, 2, 3, 4]), pa.array([b"\xc8", b"\xc9"] * 2)]
        parquet.write_table(pa.table(columns, names=["x", "kind"]), path)
        assert load_table(path).target.tolist() == ["\\xc8", "\\xc9"] * 2
        parquet.write_table(pa.table(columns, names=["kind", "kind"]), path)
        with pytest.raises(DataError, match="'kind'"):
            load_table(path)

    def test_arff_nominals_are_text_and_question_marks_gaps(self, tmp_path: Path) -> None:
        text = (
            "% a comment\n@RELATION r\n\n@attribute 'x y' REAL\n@attribute k {red,'dark blue'}\n"
            "@attribute class{0,1}\n@DATA\n1.5,red, 1\n% another\n?,'dark blue',0\nNaN,?,0\n"
        )
        table = load_table(written(tmp_path / "a.arff", text))
        assert table.features["x y"].isna().tolist() == [False, True, True]
        assert table.features["k"].tolist()[:2] == ["red", "dark blue"]
        assert table.features["k"].isna().tolist() == [False, False, True]
        assert table.target.tolist() == ["1", "0", "0"]

    def test_a_nominal_that_is_a_gap_elsewhere_is_a_value(self, tmp_path: Path) -> None:
        text = "@attribute k {p,NA,null}\n@attribute y {a,b}\n@data\np,a\nNA,b\n?,a\nnull,b\n"
        column = load_table(written(tmp_path / "a.arff", text)).features["k"]
        assert column.isna().tolist() == [False, False, True, False]
        assert column.dropna().tolist() == ["p", "NA", "null"]

    def test_arff_agrees_with_scipy(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        header = "".join(f"@attribute {name} numeric\n" for name in frame.columns[:3])
        # Of 17 digits, pandas before 3.1 reads the last ones otherwise.
        rows = frame.round(6).to_csv(index=False, header=False)
        text = f"@relation r\n{header}@attribute target {{1,2,3}}\n@data\n{rows}"
        records, _ = arff.loadarff(io.StringIO(text))
        table = load_table(written(tmp_path / "a.arff", text))
        for name in table.features:
            np.testing.assert_array_equal(table.features[name], records[name])
        assert table.target.tolist() == [label.decode() for label in records["target"]]

    def test_libsvm_is_made_dense(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        rows = np.round(frame.drop(columns="target").to_numpy(), 3)
        rows[rows < 0] = 0
        path = tmp_path / "a.libsvm"
        sklearn_datasets.dump_svmlight_file(rows, frame["target"], str(path), zero_based=False)
        table = load_table(path)
        np.testing.assert_allclose(table.features.to_numpy(), rows)
        assert table.target.tolist() == frame["target"].tolist()

    def test_a_wide_libsvm_file_keeps_the_columns_it_mentions(self, tmp_path: Path) -> None:
        lines = "0 1:2\n1 1:3 2147483647:5\n" * 3
        table = load_table(written(tmp_path / "a.libsvm", lines))
        assert table.features.iloc[1].to_dict() == {"x0": 3.0, "x2147483646": 5.0}
        assert table.notes[0] == "2147483645 columns without entries dropped"

    @pytest.mark.parametrize("names", [("X", "y"), ("data", "target")])
    @pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", "<f2", "g"])
    def test_npz(self, tmp_path: Path, names: tuple[str, str], kind: str) -> None:
        numbers = np.arange(8).reshape(4, 2)
        labels = np.array(["a", "b", "a", "b"]).astype(">U1")
        np.savez(tmp_path / "a.npz", **{names[0]: numbers.astype(kind), names[1]: labels})
        table = load_table(tmp_path / "a.npz")
        assert table.features.to_numpy(dtype=float).tolist() == numbers.tolist()
        assert list(table.features) == ["x0", "x1"]
        assert table.target.tolist() == labels.tolist()
        assert table.features.describe().loc["max"].tolist() == [6, 7]


class TestCsvAsPeopleWriteIt:
    def test_without_header(self, tmp_path: Path) -> None:
        text = "5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n7.0,3.2,4.7,1.4,versicolor\n"
        table = load_table(written(tmp_path / "iris.csv", text))
        assert len(table.features) == 3
        assert list(table.features) == ["x0", "x1", "x2", "x3"]
        assert "no header row: columns named x0 to x4" in table.notes

    @pytest.mark.parametrize(
        "header", ["0,1,2", "400.5,410.5,420.5,430.5,440.5,450.5,460.5,kind", "a,2020,kind"]
    )
    def test_names_that_look_like_numbers_stay_names(self, tmp_path: Path, header: str) -> None:
        width = header.count(",")
        rows = "".join(",".join([str(i * 7 % 5)] * width) + f",{'ab'[i % 2]}\n" for i in range(6))
        table = load_table(written(tmp_path / "a.csv", f"{header}\n{rows}"))
        assert [*table.features, table.target.name] == header.split(",")
        assert len(table.features) == 6

    @pytest.mark.parametrize(
        "text",
        [
            "width,kind\nfirst,1.5,a\nsecond,2.5,b\n",
            "width,kind\n1.5,a,\n2.5,b,\n",
            "width,kind,\n1.5,a,\n2.5,b,\n",
        ],
    )
    def test_row_names_and_a_last_delimiter_are_left_out(self, tmp_path: Path, text: str) -> None:
        table = load_table(written(tmp_path / "a.csv", text))
        assert table.features["width"].tolist() == [1.5, 2.5]
        assert table.target.tolist() == ["a", "b"]

    def test_repeated_names_are_numbered_apart_and_said(self, tmp_path: Path) -> None:
        table = load_table(written(tmp_path / "a.csv", "x,x,kind\n1,4,a\n2,3,b\n"))
        assert table.features.to_dict("list") == {"x": [1, 2], "x.1": [4, 3]}
        assert table.notes == ["2 columns are named 'x': numbers added"]

    def test_marks_for_gaps(self, tmp_path: Path) -> None:
        table = load_table(written(tmp_path / "a.csv", "x,kind\n?,None\n2, b\n,None\nNone,b\n"))
        assert table.features["x"].isna().tolist() == [True, False, True, True]
        # Among words it is a class.
        assert table.target.tolist() == ["None", "b", "None", "b"]

    @pytest.mark.parametrize("text", ["12 34", "a", "1,200,", "2024-01-02", "1,2 3"])
    def test_what_is_not_all_numbers_stays_text(self, tmp_path: Path, text: str) -> None:
        rows = pd.DataFrame({"x": ["1,200", text, "5"], "kind": list("aba")})
        rows.to_csv(tmp_path / "a.csv", index=False)
        assert load_table(tmp_path / "a.csv").features["x"].tolist() == ["1,200", text, "5"]


class TestTarget:
    GOAL = "goal,x,kind\n0,1,a\n1,2,b\n0,3,a\n"

    @pytest.mark.parametrize("target", ["goal", 0, "0", -3, "-3"])
    def test_by_name_or_position(self, tmp_path: Path, target: str | int) -> None:
        table = load_table(written(tmp_path / "a.csv", self.GOAL), target)
        assert table.target.name == "goal"
        assert list(table.features) == ["x", "kind"]

    def test_default_is_target_then_the_last_column(self, tmp_path: Path) -> None:
        assert load_table(written(tmp_path / "b.csv", self.GOAL)).target.name == "kind"
        path = written(tmp_path / "a.csv", self.GOAL.replace("goal", "target"))
        assert load_table(path).target.name == "target"

    def test_rows_without_a_target_are_left_out_and_counted(self, tmp_path: Path) -> None:
        table = load_table(written(tmp_path / "a.csv", "x,kind\n1,7\n2,\n3,8\n4,7\n,\n"))
        assert table.target.tolist() == [7, 8, 7]
        assert table.target.dtype == np.int64
        assert table.features["x"].tolist() == [1, 3, 4]
        assert table.notes == ["2 samples without a target dropped"]

    @pytest.mark.parametrize(
        "labels", [[1, 2, 1], ["a", "b", "a"], [True, False, True], [-1.0, 1.0, 1.0]]
    )
    @pytest.mark.parametrize("gap", [False, True])
    @pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
    def test_label_types(self, tmp_path: Path, labels: list[Any], gap: bool, name: str) -> None:
        column = pd.Series([*labels, None] if gap else labels, dtype=object).convert_dtypes()
        frame = pd.DataFrame({"x": range(len(column)), "kind": column})
        if name == "a.csv":
            frame.to_csv(tmp_path / name, index=False)
        else:
            frame.to_parquet(tmp_path / name)
        assert load_table(tmp_path / name).target.tolist() == labels


def test_a_target_of_many_numbers_is_warned_of() -> None:
    with pytest.warns(MKLKitWarning, match="looks like a number: it has 52 different values"):
        warn_of_numbers(pd.Series(np.arange(520) % 52, name="age"))
    warn_of_numbers(pd.Series(np.arange(60) % 10, name="digit"))
    warn_of_numbers(pd.Series([f"kind {place % 40}" for place in range(400)], name="kind"))


HEADER = "x,kind\n"


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("a.csv", "", "empty"),
            ("a.csv", "\n\n", "empty"),
            ("a.csv", HEADER, "no rows"),
            ("a.csv", HEADER + "1,a\n", "single row"),
            ("a.csv", HEADER + "1,a\n2,a\n", "single class"),
            ("a.csv", HEADER + "1,\n2,\n", "no values"),
            ("a.csv", HEADER + "1,0.5\n2,1.5\n", "continuous"),
            ("a.csv", HEADER + "1,inf\n2,1\n3,0\n", "infinite"),
            ("a.csv", HEADER + "1,1e999\n2,1\n3,0\n", "infinite"),
            ("a.csv", HEADER + "".join(f"1,{2**53 * (1 + i / 64)}\n" for i in range(40)), "contin"),
            ("a.csv", "kind\na\nb\n", "single column"),
            ("a.csv", HEADER + "".join(f"{i % 3},n{i}\n" for i in range(50)), "identifier"),
            ("a.csv", HEADER + "".join(f"{i % 3},{i * 3}\n" for i in range(50)), "measurement"),
            ("a.csv", HEADER + "1,a\n2,b,c,d\n", "line 3"),
            ("a.csv", "\0\1\2,\0\n", "not a text file"),
            ("a.csv.gz", "x,y\n", "can't be read"),
            ("a.parquet", "x,y\n", "Parquet"),
            ("a.arff", "x,y\n", "no @data"),
            ("a.arff", "@attribute x real\n@data\nred\n", "red"),
            ("a.arff", "@attribute x real\n@attribute y {p}\n@data\n1,p\n2\n", "row 2"),
            ("a.arff", "@attribute x real\n@attribute k {a,b}\n@data\n1,a,2\n", "ARFF"),
            ("a.arff", "@attribute x real\n@attribute x real\n@data\n1,2\n", "two attributes"),
            ("a.arff", "@attribute x real\n@data\n{0 1}\n", "sparse"),
            ("a.libsvm", "one two three\n", "libsvm"),
            *(
                ("a.libsvm", f"0 1:1\n{line}\n1 1:2\n", "read as libsvm")
                for line in ("1 1:abc", "foo 1:2", "1 3:1 2:1", "1 2147483648:1")
            ),
            ("a.libsvm", f"0 1:1\n1 {'9' * 70}:1\n", "read as libsvm"),
            ("a.libsvm", "".join(f"{i % 2} {i + 1}:1\n" for i in range(20000)), "would take 3 GB"),
            ("a.npz", "x,y\n", "NPZ"),
            ("a.xlsx", "x,y\n", "known format.*csv"),
        ],
    )
    def test_files(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        with pytest.raises(DataError, match=f"(?is){message}"):
            load_table(written(tmp_path / name, text))

    def test_missing_file_and_folder(self, tmp_path: Path) -> None:
        written(tmp_path / "heart.csv", "x\n")
        with pytest.raises(DataError, match=r"Did you mean 'heart\.csv'"):
            load_table(tmp_path / "haert.csv")
        with pytest.raises(DataError, match="folder"):
            load_table(tmp_path)
        with pytest.raises(DataError, match="empty text"):
            load_table("")

    def test_truncated_gzip(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        whole = gzip.compress(frame.to_csv(index=False).encode())
        (tmp_path / "a.csv.gz").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"a\.csv\.gz can't be read"):
            load_table(tmp_path / "a.csv.gz")

    @pytest.mark.parametrize("values", [[[1, 2]] * 4, [{"a": 1}] * 4, [None, [1], [2], None]])
    def test_parquet_columns_of_lists_and_records(self, tmp_path: Path, values: list[Any]) -> None:
        frame = pd.DataFrame({"deep": values, "kind": list("abab")})
        frame.to_parquet(tmp_path / "a.parquet")
        message = r"'deep' of a\.parquet holds (lists|records); expected a number"
        with pytest.raises(DataError, match=message):
            load_table(tmp_path / "a.parquet")
        with pytest.raises(DataError, match=message):
            [*ChunkedTable.opened(tmp_path / "a.parquet").chunks()]

    def test_parquet_columns_of_one_name(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["deep", "deep"])
        pq.write_table(table, tmp_path / "a.parquet")
        with pytest.raises(DataError, match=r"unique; 'deep' occurs twice in a\.parquet"):
            load_table(tmp_path / "a.parquet")

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(4).astype("m8"),
            np.array(["NaT"] * 4, dtype="M8"),
            np.full(4, 10**13, dtype="M8[Y]"),
            np.full(4, 2**60, dtype="m8[D]"),
            np.array(["\ud800", "a", "b", "c"]),
            np.zeros(4, dtype=[("a", "i4"), ("b", "f8")]),
            np.zeros(4, dtype="V8"),
            np.arange(4) * 1j,
        ],
    )
    def test_npz_values_without_a_meaning(self, tmp_path: Path, array: np.ndarray) -> None:
        for name in ("X", "y"):
            arrays = {"X": np.eye(4, 2), "y": np.array([0, 1, 0, 1])}
            arrays[name] = array if name == "y" else np.stack([array, array], axis=1)
            np.savez(tmp_path / "a.npz", **arrays)
            with pytest.raises(DataError, match=f"{name} in a.npz must hold numbers, text or dat"):
                load_table(tmp_path / "a.npz")

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"X": np.ones(3), "y": [0, 1, 0]}, "2 dimensions"),
            ({"X": np.ones((3, 2)), "y": [0, 1]}, "3 rows but y has 2 labels"),
            ({"rows": np.ones((3, 2))}, "rows"),
            ({"X": np.eye(2), "feature_names": ["a"]}, "feature_names"),
            ({"X": np.eye(2), "feature_names": ["a", "b", "b"]}, "feature_names"),
            ({"X": np.array([[1, "a"]] * 4, dtype=object), "y": [0, 1, 0, 1]}, "Python objects"),
        ],
    )
    def test_npz_arrays(self, tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(DataError, match=message) as caught:
            load_table(tmp_path / "a.npz")
        # It executes code in the file.
        assert "allow_pickle" not in str(caught.value)

    def test_npz_that_are_none(self, tmp_path: Path) -> None:
        path = tmp_path / "a.npz"
        np.savez(path, X=np.eye(2), y=[0, 1])
        archive = bytearray(path.read_bytes())
        archive[archive.index(b"PK\x01\x02") + 6] = 99
        path.write_bytes(archive)
        with pytest.raises(DataError, match="zip file version"):
            load_table(path)
        with path.open("wb") as file:
            np.save(file, np.eye(3))
        with pytest.raises(DataError, match="a single array"):
            load_table(path)


def test_remarks_on_constant_repeated_copied_and_mixed_columns(tmp_path: Path) -> None:
    text = "flat,a,b,leak,mixed,kind\n" + "".join(
        f"1,{i * i % 7},{i * i % 7},{i % 2},{'oops' if i == 3 else i},{i % 2}\n" for i in range(9)
    )
    mixed, *rest = load_table(written(tmp_path / "a.csv", text)).notes
    assert "'mixed' mixes text with numbers: read as text because of 'oops' in row 4" in mixed
    assert rest == [
        "column 'flat': constant",
        "column 'leak': a copy of the target",
        "column 'b': the same as 'a'",
    ]


class TestNewRows:
    def test_columns_are_ordered_and_others_ignored_or_absent(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "b,kind,a\n1,x,3\n4,,6\n")
        rows = load_features(path, ["a", "b", "c"], "ill", needed=["a", "b"])
        assert rows.features.columns.tolist() == ["a", "b", "c"]
        assert rows.features[["a", "b"]].to_dict("list") == {"a": [3, 6], "b": [1, 4]}
        assert rows.features["c"].isna().all()
        assert rows.target is None
        target = load_features(path, ["a"], "kind").target
        assert target is not None
        assert target.isna().tolist() == [False, True]

    def test_missing_columns_are_named(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "width,hieght\n1,2\n")
        with pytest.raises(DataError, match=r"lacks 1 of the 2 .* 'height'\. Did you mean 'hieg"):
            load_features(path, ["width", "height"])

    def test_libsvm_leaves_trailing_zeros_out(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.libsvm", "0 1:2.5\n")
        rows = load_features(path, ["x0", "x1", "x2"])
        assert rows.features.iloc[0].tolist() == [2.5, 0.0, 0.0]
