"""Data loading: every format against the writer of another library, every mistake a message."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import warnings
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff
from sklearn import datasets as sklearn_datasets

from mklkit.datasets import BUILTIN_NAMES, load_features, load_table
from mklkit.datasets.csv_file import read_csv
from mklkit.datasets.dialects import sniff
from mklkit.errors import DataError

NOT_SCIKIT_LEARNS = {"digits_sources", "mixed_sources", "multiple_features"}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(5)
    features = pd.DataFrame(random.normal(size=(12, 3)), columns=["width", "height", "depth"])
    return features.assign(target=np.tile([2, 1, 3], 4))


def local_patterns(image: np.ndarray) -> list[float]:
    """Count an image's uniform local binary patterns by their angle and length, then the others."""
    around = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]
    counts: dict[str, float] = {"0" * 8: 0, "1" * 8: 0, "other": 0}
    for length in range(1, 8):
        for start in range(8):
            word = "1" * length + "0" * (8 - length)
            counts[word[start:] + word[:start]] = 0
    outside = np.pad(image, 1)
    for row in range(8):
        for column in range(8):
            ring = [outside[1 + row + down, 1 + column + right] for down, right in around]
            word = "".join("1" if value >= image[row, column] else "0" for value in ring)
            counts[word if word in counts else "other"] += 1
    return list(counts.values())


class TestBuiltin:
    @pytest.mark.parametrize("name", sorted({*BUILTIN_NAMES} - NOT_SCIKIT_LEARNS))
    def test_rows_are_scikit_learns(self, name: str) -> None:
        bunch = getattr(sklearn_datasets, f"load_{name}")()
        table = load_table(name)
        np.testing.assert_array_equal(table.features.to_numpy(), bunch.data)
        expected = bunch.target if name == "digits" else bunch.target_names[bunch.target]
        np.testing.assert_array_equal(table.target.to_numpy(), expected)
        assert table.origin == "built into scikit-learn"

    def test_sources_are_computed_from_the_digits(self) -> None:
        """Against transcriptions of the definitions, pixel by pixel, on a few images."""
        bunch = sklearn_datasets.load_digits()
        chosen = np.isin(bunch.target, (1, 3, 8, 9))
        table = load_table("digits_sources")
        np.testing.assert_array_equal(table.target, bunch.target[chosen])
        assert table.origin == "computed from scikit-learn's digits"
        for row in (0, 100, 718):
            image, found = bunch.images[chosen][row], table.features.iloc[row]
            sums = [*image.sum(axis=1), *image.sum(axis=0)]
            np.testing.assert_allclose(found.filter(like="profile_"), sums)
            # Each magnitude of the whole transform, none of a pair of conjugates twice.
            whole = np.abs(np.fft.fft2(image))
            once = [
                whole[u, v]
                for u in range(8)
                for v in range(8)
                if (u, v) <= ((8 - u) % 8, (8 - v) % 8)
            ]
            np.testing.assert_allclose(sorted(found.filter(like="fourier_")), sorted(once))
            assert sorted(found.filter(like="pattern_")) == sorted(local_patterns(image))

    def test_near_miss_is_suggested(self) -> None:
        with pytest.raises(DataError, match=r"Did you mean 'breast_cancer'"):
            load_table("breast-cancer")

    def test_summary_counts_classes(self) -> None:
        summary = load_table("wine").summary()
        assert "178 rows, 13 features, 3 classes: class_1 (71), class_0 (59), class_2" in summary


class TestFormats:
    def test_csv_and_its_gzip(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        for name in ("a.csv", "a.csv.gz", "A.CSV"):
            frame.to_csv(tmp_path / name, index=False)
            table = load_table(tmp_path / name)
            pd.testing.assert_frame_equal(table.features, frame.drop(columns="target"))
            assert table.target.tolist() == frame["target"].tolist()
            assert table.notes == []
            assert table.name.lower() == "a"

    def test_many_columns_are_no_reason_to_warn(self, tmp_path: Path) -> None:
        wide = pd.DataFrame(np.arange(480.0).reshape(4, 120) + 0.5).add_prefix("x")
        wide.assign(target=[1, 2, 1, 2]).to_csv(tmp_path / "a.csv", index=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = load_table(tmp_path / "a.csv")
        pd.testing.assert_frame_equal(table.features, wide)

    @pytest.mark.parametrize(("mark", "word"), [(";", "semicolon"), ("\t", "tab"), ("|", "bar")])
    def test_other_delimiters_are_recognised(
        self, frame: pd.DataFrame, tmp_path: Path, mark: str, word: str
    ) -> None:
        frame.to_csv(tmp_path / "a.csv", index=False, sep=mark)
        table = load_table(tmp_path / "a.csv")
        pd.testing.assert_frame_equal(table.features, frame.drop(columns="target"))
        assert table.notes == [f"fields separated by {word}"]

    def test_decimal_comma(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        frame.to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
        table = load_table(tmp_path / "a.csv")
        pd.testing.assert_frame_equal(table.features, frame.drop(columns="target"))

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        rows = [{"größe": i, "target": "süß" if i % 2 else "herb"} for i in range(6)]
        pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False, encoding=encoding)
        table = load_table(tmp_path / "a.csv")
        assert list(table.features) == ["größe"]
        assert set(table.target) == {"süß", "herb"}

    def test_parquet_without_its_reader(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.parquet").write_bytes(b"PAR1")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(DataError, match=r"a\.parquet needs pyarrow: pip install pyarrow, or"):
            load_table(tmp_path / "a.parquet")

    def test_parquet(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        frame["kind"] = pd.Categorical(["a", "b", None] * 4)
        frame.to_parquet(tmp_path / "a.parquet")
        table = load_table(tmp_path / "a.parquet")
        pd.testing.assert_frame_equal(table.features, frame.drop(columns="target"))

    def test_arff_nominals_are_text_and_question_marks_gaps(self, tmp_path: Path) -> None:
        text = (
            "% a comment\n@RELATION r\n\n@attribute 'x y' REAL\n@attribute k {red,'dark blue'}\n"
            "@attribute class{0,1}\n@DATA\n1.5,red, 1\n% another\n?,'dark blue',0\n3,?,0\n"
        )
        table = load_table(written(tmp_path / "a.arff", text))
        assert table.features["x y"].isna().tolist() == [False, True, False]
        assert table.features["k"].tolist()[:2] == ["red", "dark blue"]
        assert table.features["k"].isna().tolist() == [False, False, True]
        assert table.target.tolist() == ["1", "0", "0"]

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
        sklearn_datasets.dump_svmlight_file(
            rows, frame["target"], str(tmp_path / "a.libsvm"), zero_based=False
        )
        table = load_table(tmp_path / "a.libsvm")
        np.testing.assert_allclose(table.features.to_numpy(), rows)
        assert table.target.tolist() == frame["target"].tolist()

    @pytest.mark.parametrize("names", [("X", "y"), ("data", "target")])
    def test_npz(self, frame: pd.DataFrame, tmp_path: Path, names: tuple[str, str]) -> None:
        rows = frame.drop(columns="target").to_numpy()
        labels = np.array(["one", "two", "three"])[frame["target"] - 1]
        np.savez(tmp_path / "a.npz", **{names[0]: rows, names[1]: labels})
        table = load_table(tmp_path / "a.npz")
        np.testing.assert_array_equal(table.features.to_numpy(), rows)
        assert list(table.features) == ["x0", "x1", "x2"]
        assert table.target.tolist() == labels.tolist()

    @pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", "<f2", "g"])
    def test_npz_numbers_of_any_width_and_order_of_bytes(self, tmp_path: Path, kind: str) -> None:
        numbers = np.arange(8).reshape(4, 2)
        labels = np.array(["a", "b", "a", "b"]).astype(">U1")
        np.savez(tmp_path / "a.npz", X=numbers.astype(kind), y=labels)
        table = load_table(tmp_path / "a.npz")
        assert table.features.to_numpy(dtype=float).tolist() == numbers.tolist()
        assert table.target.tolist() == labels.tolist()
        assert table.features.describe().loc["max"].tolist() == [6, 7]

    def test_a_wide_libsvm_file_keeps_the_columns_it_mentions(self, tmp_path: Path) -> None:
        lines = "0 1:2\n1 1:3 2147483647:5\n" * 3
        table = load_table(written(tmp_path / "a.libsvm", lines))
        assert table.features.iloc[1].to_dict() == {"x0": 3.0, "x2147483646": 5.0}
        assert table.notes[0] == "2147483645 columns without entries left out"

    def test_letters_beyond_the_sample_are_read_too(self, tmp_path: Path) -> None:
        lines = [f"{number},rot" for number in range(180_000)]
        path = tmp_path / "late.csv"
        path.write_bytes("\n".join(["a,kind", *lines, "1,grün", "2,grän\n"]).encode("latin-1"))
        frame = read_csv(path).frame
        assert frame["kind"].unique().tolist() == ["rot", "grün", "grän"]

    def test_arff_nan_is_a_gap(self, tmp_path: Path) -> None:
        rows = "".join(f"{value},{kind}\n" for value, kind in zip("1N?n", "abab", strict=True))
        rows = rows.replace("N", "NaN").replace("n,", "nan,")
        head = "@relation r\n@attribute x numeric\n@attribute k {a,b}\n@data\n"
        features = load_table(written(tmp_path / "a.arff", head + rows)).features
        assert features["x"].isna().tolist() == [False, True, True, True]

    def test_npz_never_unpickles(self, tmp_path: Path) -> None:
        labels = np.array([{"a": 1}, None], dtype=object)
        np.savez(tmp_path / "a.npz", X=np.eye(2), y=labels)
        with pytest.raises(DataError, match="plain arrays"):
            load_table(tmp_path / "a.npz")

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

    def test_a_column_that_numbers_the_rows_is_left_out(
        self, frame: pd.DataFrame, tmp_path: Path
    ) -> None:
        frame.to_csv(tmp_path / "a.csv")
        table = load_table(tmp_path / "a.csv")
        assert list(table.features) == ["width", "height", "depth"]
        assert table.notes == ["column without a name left out: it numbers the rows"]

    def test_row_names_without_a_header_are_left_out(self, tmp_path: Path) -> None:
        text = "width,kind\nfirst,1.5,a\nsecond,2.5,b\n"
        table = load_table(written(tmp_path / "a.csv", text))
        assert table.features["width"].tolist() == [1.5, 2.5]
        assert table.target.tolist() == ["a", "b"]

    def test_a_delimiter_at_the_end_of_each_line(self, tmp_path: Path) -> None:
        for header in ("width,kind", "width,kind,"):
            table = load_table(written(tmp_path / "a.csv", f"{header}\n1.5,a,\n2.5,b,\n"))
            assert table.features["width"].tolist() == [1.5, 2.5]
            assert table.target.tolist() == ["a", "b"]

    def test_repeated_names_are_numbered_apart_and_said(self, tmp_path: Path) -> None:
        table = load_table(written(tmp_path / "a.csv", "x,x,kind\n1,4,a\n2,3,b\n"))
        assert table.features["x"].tolist() == [1, 2]
        assert table.features["x.1"].tolist() == [4, 3]
        assert table.notes == ["2 columns are named 'x': numbered apart"]

    def test_question_marks_are_gaps(self, tmp_path: Path) -> None:
        table = load_table(written(tmp_path / "a.csv", "x,kind\n?,a\n2, b\n,a\n"))
        assert table.features["x"].isna().tolist() == [True, False, True]
        assert table.target.tolist() == ["a", "b", "a"]

    def test_none_is_a_class_but_a_gap_among_numbers(self, tmp_path: Path) -> None:
        text = "x,disorder\nNone,None\n2,apnea\n3,None\n"
        table = load_table(written(tmp_path / "a.csv", text))
        assert table.target.tolist() == ["None", "apnea", "None"]
        assert table.features["x"].isna().tolist() == [True, False, False]

    @pytest.mark.parametrize(
        ("written_so", "meant"),
        [
            (["900", "1,200", "-1,234,567.5"], [900, 1200, -1234567.5]),
            (["\u22123", "4", "\u22120.5"], [-3, 4, -0.5]),
            (["1\u202f200", "2 400", "7"], [1200, 2400, 7]),
            (["1,5", "2", "\u22123,25"], [1.5, 2, -3.25]),
            (["1,200", None, "3"], [1200, np.nan, 3]),
            (["0,125", "-0,250", "1,397"], [0.125, -0.25, 1.397]),
        ],
    )
    def test_numbers_as_people_write_them(
        self, tmp_path: Path, written_so: list[str | None], meant: list[float]
    ) -> None:
        rows = pd.DataFrame({"x": written_so, "kind": list("aba")})
        rows.to_csv(tmp_path / "a.csv", index=False)
        table = load_table(tmp_path / "a.csv")
        np.testing.assert_array_equal(table.features["x"], meant)
        assert "column 'x' read as numbers: " in table.notes[0]

    @pytest.mark.parametrize("text", ["1,20", "12 34", "a", "1,200,", "2024-01-02", "1,2 3"])
    def test_what_is_not_all_numbers_stays_text(self, tmp_path: Path, text: str) -> None:
        rows = pd.DataFrame({"x": ["1,200", text, "5"], "kind": list("aba")})
        rows.to_csv(tmp_path / "a.csv", index=False)
        features = load_table(tmp_path / "a.csv").features
        if text == "1,20":
            # Decimal commas, then, in all of them.
            assert features["x"].tolist() == [1.2, 1.2, 5]
        else:
            assert features["x"].tolist() == ["1,200", text, "5"]

    def test_quoted_fields_keep_delimiters_and_line_breaks(self, tmp_path: Path) -> None:
        text = 'x,kind\n"a;b, c;d",1\n"line\nbreak",2\n'
        table = load_table(written(tmp_path / "a.csv", text))
        assert table.features["x"].tolist() == ["a;b, c;d", "line\nbreak"]


class TestTarget:
    def test_default_is_target_then_the_last_column(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "target,x,kind\n0,1,a\n1,2,b\n0,3,a\n")
        assert load_table(path).target.name == "target"
        other = written(tmp_path / "b.csv", "goal,x,kind\n0,1,a\n1,2,b\n0,3,a\n")
        assert load_table(other).target.name == "kind"

    @pytest.mark.parametrize("target", ["goal", 0, "0", -3, "-3"])
    def test_by_name_or_position(self, tmp_path: Path, target: str | int) -> None:
        path = written(tmp_path / "a.csv", "goal,x,kind\n0,1,a\n1,2,b\n0,3,a\n")
        table = load_table(path, target)
        assert table.target.name == "goal"
        assert list(table.features) == ["x", "kind"]

    @pytest.mark.parametrize(
        ("target", "message"),
        [("gaol", "Did you mean 'goal'"), (3, "0 to 2"), ("-4", "3 columns")],
    )
    def test_wrong_ones_are_explained(
        self, tmp_path: Path, target: str | int, message: str
    ) -> None:
        path = written(tmp_path / "a.csv", "goal,x,kind\n0,1,a\n1,2,b\n0,3,a\n")
        with pytest.raises(DataError, match=message):
            load_table(path, target)

    def test_rows_without_a_target_are_left_out_and_counted(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "x,kind\n1,7\n2,\n3,8\n4,7\n,\n")
        table = load_table(path)
        assert table.target.tolist() == [7, 8, 7]
        assert table.target.dtype == np.int64
        assert table.features["x"].tolist() == [1, 3, 4]
        assert table.notes == ["2 rows without a target left out"]

    def test_booleans_with_a_gap_stay_booleans(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "x,kind\n1,True\n2,\n3,False\n")
        assert load_table(path).target.tolist() == [True, False]

    @pytest.mark.parametrize(
        "labels", [[1, 2, 1], ["a", "b", "a"], [True, False, True], [-1.0, 1.0, 1.0]]
    )
    @pytest.mark.parametrize("gap", [False, True])
    def test_parquet_label_types(self, tmp_path: Path, labels: list[object], gap: bool) -> None:
        pytest.importorskip("pyarrow")
        column = pd.Series([*labels, None] if gap else labels, dtype=object).convert_dtypes()
        pd.DataFrame({"x": range(len(column)), "kind": column}).to_parquet(tmp_path / "a.parquet")
        assert load_table(tmp_path / "a.parquet").target.tolist() == labels


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
            ("a.csv", "kind\na\nb\n", "single column"),
            ("a.csv", HEADER + "".join(f"{i % 3},n{i}\n" for i in range(50)), "identifier"),
            ("a.csv", HEADER + "".join(f"{i % 3},{i * 3}\n" for i in range(50)), "measurement"),
            ("a.csv", HEADER + "1,a\n2,b,c,d\n", "line 3"),
            ("a.csv", "\0\1\2,\0\n", "not a text file"),
            ("a.csv.gz", "x,y\n", "can't be read"),
            ("a.parquet", "x,y\n", "Parquet"),
            ("a.arff", "x,y\n", "no @data"),
            ("a.arff", "@attribute x real\n@data\nred\n", "ARFF.*red"),
            ("a.arff", "@attribute x real\n@attribute y {p}\n@data\n1,p\n2\n", "row 2 has fewer"),
            (
                "a.arff",
                "@attribute x real\n@attribute k {a,b}\n@data\n1,a,2\n",
                "ARFF",
            ),
            ("a.arff", "@attribute x real\n@attribute x real\n@data\n1,2\n", "two attributes"),
            ("a.arff", "@attribute x real\n@data\n{0 1}\n", "sparse"),
            ("a.libsvm", "one two three\n", "libsvm"),
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

    def test_truncated_gzip(self, frame: pd.DataFrame, tmp_path: Path) -> None:
        whole = gzip.compress(frame.to_csv(index=False).encode())
        (tmp_path / "a.csv.gz").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"a\.csv\.gz can't be read"):
            load_table(tmp_path / "a.csv.gz")

    def test_npz_of_an_unknown_zip_version(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1])
        archive = bytearray((tmp_path / "a.npz").read_bytes())
        archive[archive.index(b"PK\x01\x02") + 6] = 99
        (tmp_path / "a.npz").write_bytes(archive)
        with pytest.raises(DataError, match="zip file version"):
            load_table(tmp_path / "a.npz")

    def test_npy_under_another_name(self, tmp_path: Path) -> None:
        with (tmp_path / "a.npz").open("wb") as file:
            np.save(file, np.eye(3))
        with pytest.raises(DataError, match="a single array"):
            load_table(tmp_path / "a.npz")

    def test_libsvm_too_wide_for_memory(self, tmp_path: Path) -> None:
        rows = "\n".join(f"{i % 2} {i + 1}:1" for i in range(20000))
        with pytest.raises(DataError, match=r"20000 rows with 20000 columns.*would take 3 GB"):
            load_table(written(tmp_path / "a.libsvm", rows))

    @pytest.mark.parametrize(
        "line", ["1 1:abc", "foo 1:2", "1,2 1:2", "1 3:1 2:1", "1 2147483648:1", f"1 {'9' * 70}:1"]
    )
    def test_libsvm_lines_are_numbered(self, tmp_path: Path, line: str) -> None:
        path = written(tmp_path / "a.libsvm", f"0 1:1\n{line}\n1 1:2\n")
        with pytest.raises(DataError, match=f"line 2, '{line[:20]}"):
            load_table(path)

    @pytest.mark.parametrize("infinite", ["inf", "-inf", "1e999"])
    def test_infinite_target(self, tmp_path: Path, infinite: str) -> None:
        with pytest.raises(DataError, match="infinite number"):
            load_table(written(tmp_path / "a.csv", f"x,kind\n1,{infinite}\n2,1\n3,0\n"))

    @pytest.mark.parametrize("size", [2**53, 1.37e89, -1e300])
    def test_whole_target_too_large_for_classes(self, tmp_path: Path, size: float) -> None:
        lines = "".join(f"1,{size * (1 + i / 64)!r}\n" for i in range(40))
        with pytest.raises(DataError, match=re.escape(f"is continuous (it holds {size:g})")):
            load_table(written(tmp_path / "a.csv", f"x,kind\n{lines}"))

    def test_a_file_without_a_name(self) -> None:
        with pytest.raises(DataError, match="not an empty text"):
            load_table("")

    @pytest.mark.parametrize("values", [[[1, 2]] * 4, [{"a": 1}] * 4, [None, [1], [2], None]])
    def test_parquet_columns_of_lists_and_records(self, tmp_path: Path, values: list[Any]) -> None:
        frame = pd.DataFrame({"deep": values, "kind": list("abab")})
        frame.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(DataError, match=r"'deep' of a\.parquet holds (lists|records)"):
            load_table(tmp_path / "a.parquet")

    def test_parquet_of_bytes_and_of_repeated_names(self, tmp_path: Path) -> None:
        pa, path = pytest.importorskip("pyarrow"), tmp_path / "a.parquet"
        parquet = pytest.importorskip("pyarrow.parquet")
        # Neither is UTF-8, and yet they are two classes.
        columns = [pa.array([1, 2, 3, 4]), pa.array([b"\xc8", b"\xc9"] * 2)]
        parquet.write_table(pa.table(columns, names=["x", "kind"]), path)
        assert load_table(path).target.tolist() == ["\\xc8", "\\xc9"] * 2
        parquet.write_table(pa.table(columns, names=["kind", "kind"]), path)
        with pytest.raises(DataError, match="several columns named 'kind'"):
            load_table(path)

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.arange(4).astype("m8"), "without a unit"),
            (np.array(["NaT"] * 4, dtype="M8"), "without a unit"),
            (np.full(4, 10**13, dtype="M8[Y]"), "must hold"),
            (np.full(4, 2**60, dtype="m8[D]"), "must hold"),
            (np.array(["\ud800", "a", "b", "c"]), "must hold"),
            (np.array([1e308, -1e308, 1.7e308, 0]), "continuous"),
        ],
    )
    def test_npz_values_without_a_meaning(
        self, tmp_path: Path, array: np.ndarray, message: str
    ) -> None:
        places = ("y",) if message == "continuous" else ("X", "y")
        for name in places:
            arrays = {"X": np.eye(4, 2), "y": np.array([0, 1, 0, 1])}
            arrays[name] = array if name == "y" else np.column_stack([array, array])
            np.savez(tmp_path / "a.npz", **arrays)
            with pytest.raises(DataError, match=message):
                load_table(tmp_path / "a.npz")

    @pytest.mark.parametrize(
        ("name", "array"),
        [
            ("X", np.zeros((4, 2), dtype=[("a", "i4"), ("b", "f8")])),
            ("X", np.zeros((4, 2), dtype="V8")),
            ("y", np.zeros(4, dtype=[("a", "i4")])),
            ("y", np.arange(4) * 1j),
        ],
    )
    def test_npz_of_other_than_plain_values(
        self, tmp_path: Path, name: str, array: np.ndarray
    ) -> None:
        np.savez(tmp_path / "a.npz", **{"X": np.eye(4, 2), "y": [0, 1, 0, 1], name: array})
        with pytest.raises(
            DataError, match=f"{name} in a.npz must hold numbers, text or dates: type"
        ):
            load_table(tmp_path / "a.npz")

    def test_a_pickled_npz_is_not_advertised(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "a.npz", X=np.array([[1, "a"]] * 4, dtype=object), y=[0, 1, 0, 1])
        with pytest.raises(DataError, match="Python objects, which are never loaded") as caught:
            load_table(tmp_path / "a.npz")
        assert "allow_pickle" not in str(caught.value)

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"X": np.ones(3), "y": [0, 1, 0]}, "2 dimensions"),
            ({"X": np.ones((3, 2)), "y": [0, 1]}, "3 rows but y has 2 labels"),
            ({"rows": np.ones((3, 2))}, "it holds: rows"),
        ],
    )
    def test_npz_arrays(self, tmp_path: Path, arrays: dict[str, object], message: str) -> None:
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(DataError, match=message):
            load_table(tmp_path / "a.npz")


class TestRemarks:
    def test_constant_repeated_copied_and_mixed_columns(self, tmp_path: Path) -> None:
        text = "flat,a,b,leak,mixed,kind\n" + "".join(
            f"1,{i * i % 7},{i * i % 7},{i % 2},{'oops' if i == 3 else i},{i % 2}\n"
            for i in range(9)
        )
        notes = load_table(written(tmp_path / "a.csv", text)).notes
        assert notes == [
            "column 'mixed' mixes text with numbers: taken as text because of 'oops' in row 4;"
            " correct it, or leave it empty, if numbers are meant",
            "column 'flat' is constant",
            "column 'leak' is a copy of the target",
            "column 'b' (as 'a') is the same as another",
        ]


class TestNewRows:
    def test_columns_without_a_say_may_be_absent(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "b,c\n1,2\n")
        features = load_features(path, ["a", "b", "c"], needed=["b"]).features
        assert features.columns.tolist() == ["a", "b", "c"]
        assert features["b"].tolist() == [1]
        assert features[["a", "c"]].isna().to_numpy().all()

    def test_columns_are_ordered_and_others_ignored(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "b,more,a\n1,2,3\n4,5,6\n")
        rows = load_features(path, ["a", "b"], "kind")
        assert rows.features.to_dict("list") == {"a": [3, 6], "b": [1, 4]}
        assert rows.target is None

    def test_target_is_kept_with_its_gaps(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "a,kind\n1,x\n2,\n")
        target = load_features(path, ["a"], "kind").target
        assert target is not None
        assert target.isna().tolist() == [False, True]

    def test_one_row_one_column_is_enough(self, tmp_path: Path) -> None:
        assert len(load_features(written(tmp_path / "a.csv", "a\n1\n"), ["a"]).features) == 1

    def test_missing_columns_are_named(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "width,hieght\n1,2\n")
        with pytest.raises(DataError, match=r"lacks 1 of the 2 .* 'height'\. Did you mean 'hieg"):
            load_features(path, ["width", "height"])

    def test_libsvm_leaves_trailing_zeros_out(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.libsvm", "0 1:2.5\n")
        rows = load_features(path, ["x0", "x1", "x2"])
        assert rows.features.iloc[0].tolist() == [2.5, 0.0, 0.0]


@given(
    st.lists(
        st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=2,
        max_size=8,
    )
)
def test_numbers_and_gaps_survive_csv(values: list[float | None]) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["x", "kind"])
    writer.writerows((value, i % 2) for i, value in enumerate(values))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        column = _read_text(buffer.getvalue()).features["x"]
    assert column.isna().tolist() == [value is None for value in values]
    known = [value for value in values if value is not None]
    np.testing.assert_allclose(column.dropna().astype(float), known, rtol=1e-14)


# Words that no reader may take for a number, a boolean or a gap.
words = st.text(st.characters(categories=["Lu", "Ll"]), min_size=1, max_size=8).map("k_".__add__)


@given(
    st.one_of(
        st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=5, unique=True),
        st.lists(words, min_size=2, max_size=5, unique=True),
        st.just([True, False]),
    )
)
def test_labels_survive_csv(labels: list[object]) -> None:
    text = "x,kind\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    assert _read_text(text).target.tolist() == labels


def _read_text(text: str):  # type: ignore[no-untyped-def]
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return load_table(written(Path(folder, "a.csv"), text))


def test_sniff_reads_a_sample_cut_inside_a_character() -> None:
    sample = "x,kind\n1,ä\n".encode()[:-2]
    assert sniff(sample, "a.csv").encoding == "utf-8-sig"


class TestColumnsOfText:
    """Numbers and dates in text, read alike in training and later."""

    MANY = tuple(f"{value:.2f}" for value in np.linspace(1, 9, 40))

    def kept(self, folder: Path, values: Any, later: Any, sep: str = ",") -> tuple[Any, ...]:
        """Return a column as training reads it, what is said, and as later rows are read."""
        path, new = folder / "a.csv", folder / "b.csv"
        table = pd.DataFrame({"x": values})
        table["kind"] = np.resize(["a", "b"], len(table))
        table.to_csv(path, index=False, sep=sep)
        pd.DataFrame({"x": later, "y": 0}).to_csv(new, index=False, sep=sep)
        table = load_table(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = load_features(new, ["x"], readings=table.readings)
        notes = [note for note in table.notes if "'x'" in note and "constant" not in note]
        return table.features["x"], notes, rows.features["x"]

    @pytest.mark.parametrize(
        ("values", "sep", "meant", "ambiguous", "later", "then"),
        [
            (["1,397", "2,250"], ",", [1397, 2250], True, ["0,5"], [np.nan]),
            (["1,397", "2,250"], ";", [1.397, 2.25], True, ["7,125"], [7.125]),
            (["0,397", "2,250"], ",", [0.397, 2.25], False, ["1,397"], [1.397]),
            (["1,250.5", "2"], ",", [1250.5, 2], False, ["1,397"], [1397]),
            (["1.234,56", "2,5"], ";", [1234.56, 2.5], False, ["1.397"], [1397]),
            (["1 234,5", "2"], ",", [1234.5, 2], False, ["1,397"], [1.397]),
        ],
    )
    def test_commas(
        self,
        tmp_path: Path,
        values: Any,
        sep: str,
        meant: Any,
        ambiguous: bool,
        later: Any,
        then: Any,
    ) -> None:
        column, notes, rows = self.kept(tmp_path, values, later, sep)
        assert column.tolist() == meant
        np.testing.assert_array_equal(rows, then)
        assert len(notes) == 1
        assert "read as numbers: " in notes[0]
        assert ("if that is not meant" in notes[0]) is ambiguous

    def test_other_columns_tell_what_a_comma_is(self, tmp_path: Path) -> None:
        for beside, meant in (("0,25", 1.397), ("1,234.5", 1397), ("red", 1397)):
            rows = pd.DataFrame({"x": ["1,397"] * 2, "y": [beside] * 2, "kind": ["a", "b"]})
            rows.to_csv(tmp_path / "a.csv", index=False)
            assert load_table(tmp_path / "a.csv").features["x"].tolist() == [meant] * 2

    def test_marks_for_gaps_among_numbers(self, tmp_path: Path) -> None:
        marks = ["-", "--", "unknown", "none", "Missing", "n/a", "null", "?", "NULL"]
        column, notes, rows = self.kept(tmp_path, [*marks, *self.MANY], ["-", "None"])
        assert column.isna().tolist() == [True] * len(marks) + [False] * len(self.MANY)
        assert notes == [
            "5 gaps in column 'x', written '-', '--', 'unknown', 'none', 'Missing'",
        ]
        assert rows.isna().all()
        words, _, _ = self.kept(tmp_path, ["red", "none", "-"], ["red"])
        assert words.tolist() == ["red", "none", "-"]

    def test_typing_errors_are_named_and_gaps(self, tmp_path: Path) -> None:
        column, notes, rows = self.kept(tmp_path, ["1.5", "oops", *self.MANY], ["oops", "1"])
        assert column.isna().tolist() == [False, True] + [False] * len(self.MANY)
        assert notes == ["column 'x' holds 'oops' in row 2, not a number: taken as a gap"]
        assert rows.isna().tolist() == [True, False]
        codes, _, _ = self.kept(tmp_path, [*"12345" * 9, "A"], ["A"])
        assert set(codes) == set("12345A")

    @pytest.mark.parametrize(
        ("form", "later", "then"),
        [
            ("%d/%m/%Y", "03/04/2019", "2019-04-03"),
            ("%m/%d/%Y", "03/04/2019", "2019-03-04"),
            ("%d.%m.%Y", "3.4.2019", "2019-04-03"),
            ("%d-%m-%Y %H:%M", "03-04-2019 10:30", "2019-04-03 10:30"),
            ("%Y-%m-%d", "2019-04-03", "2019-04-03"),
        ],
    )
    def test_dates_of_any_order(self, tmp_path: Path, form: str, later: str, then: str) -> None:
        days = pd.date_range("2019-01-03", periods=40, freq="5D")
        written_so = days.strftime(form).tolist()
        written_so[2:5] = ["NaT", None, "soon"]
        column, notes, rows = self.kept(tmp_path, written_so, [later])
        assert column.isna().tolist() == [2 <= place < 5 for place in range(40)]
        assert (pd.to_datetime(column).dropna() == days[[0, 1, *range(5, 40)]]).all()
        assert rows.tolist() == [pd.Timestamp(then)]
        assert "holds 'soon' in row 5, not a date" in " ".join(notes)

    def test_dates_of_either_order(self, tmp_path: Path) -> None:
        column, notes, rows = self.kept(tmp_path, ["3/4/2019", "4/5/2019"], ["4/3/2019"])
        assert column.tolist() == [pd.Timestamp("2019-03-04"), pd.Timestamp("2019-04-05")]
        assert rows.tolist() == [pd.Timestamp("2019-04-03")]
        assert notes == [
            "column 'x' read as dates: '3/4/2019' as 2019-03-04; if that is not meant, write"
            " 1234.5 or 2024-03-31"
        ]
        dotted, _, _ = self.kept(tmp_path, ["3.4.2019", "4.5.2019"], ["4.3.2019"])
        assert dotted.tolist() == [pd.Timestamp("2019-04-03"), pd.Timestamp("2019-05-04")]


class TestPoints:
    """What 1.470 means where points may stand between thousands."""

    def table(self, folder: Path, **columns: Any) -> Any:
        pd.DataFrame(columns).assign(kind=["a", "b"]).to_csv(folder / "a.csv", sep=";", index=False)
        return load_table(folder / "a.csv")

    def test_beside_decimal_commas_they_are_thousands(self, tmp_path: Path) -> None:
        table = self.table(tmp_path, pl=["1.470", "329"], k=["0,31", "-0,05"], age=["87.0", "3.5"])
        assert table.features["pl"].tolist() == [1470, 329]
        assert table.features["age"].tolist() == [87, 3.5]
        assert "column 'pl' read as numbers: '1.470' as 1470" in table.notes
        whole = self.table(tmp_path, pl=["1.000", "3.000"], k=["0,31", "-0,05"])
        assert whole.features["pl"].tolist() == [1000, 3000]
        (tmp_path / "b.csv").write_text("pl;k\n2.500;0,3\n")
        rows = load_features(tmp_path / "b.csv", ["pl", "k"], readings=whole.readings)
        assert rows.features.iloc[0].tolist() == [2500, 0.3]

    def test_where_a_value_has_other_digits_they_are_decimal(self, tmp_path: Path) -> None:
        for value in ("0.329", "12.34", "1234.500"):
            table = self.table(tmp_path, pl=["1.470", value], k=["0,31", "-0,05"])
            assert table.features["pl"].tolist() == [1.47, float(value)]

    def test_where_nothing_tells_it_is_said(self, tmp_path: Path) -> None:
        table = self.table(tmp_path, pl=["1.470", "329"], k=["red", "blue"])
        assert table.features["pl"].tolist() == [1.47, 329]
        [note] = [note for note in table.notes if "'pl'" in note]
        assert "'1.470' as 1.47; if that is not meant" in note
        plain = self.table(tmp_path, pl=["1.470", "3.290"], k=["red", "blue"])
        assert not [note for note in plain.notes if "'pl'" in note]

    def test_files_without_a_header(self, tmp_path: Path) -> None:
        table = load_table(written(tmp_path / "a.csv", "1.470;0,31;0\n329;0,5;1\n12.345;0,1;1\n"))
        assert table.features["x0"].tolist() == [1470, 329, 12345]
        load_features(tmp_path / "a.csv", ["x1"], readings={"weight": table.readings["x0"]})
