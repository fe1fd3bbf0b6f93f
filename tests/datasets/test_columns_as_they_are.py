"""Columns that kernels need unencoded, through the encoder, scalings and a model file."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from helpers import reading_kernels
from helpers.processes import write_plugin
from helpers.reading_kernels import KnownSmaller, Letters, Same, Smaller
from sklearn.preprocessing import StandardScaler

from mklkit import DataError, MKLClassifier, MKLSearchCV, MKLVotingClassifier
from mklkit.datasets import load_table
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.pipeline import build_pipeline, describe
from mklkit.datasets.table_schema import check_sources
from mklkit.kernels import RBF, Precomputed
from mklkit.persistence import load_model, save_model
from mklkit.protocols import Rows, Schema, Source
from mklkit.registry.registry import forget_registry

SPECTRUM = Source("spectrum", None, "text")


@pytest.fixture
def table(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return 40 rows with a sequence that differs in each row, gaps, and columns to encode."""
    y = np.resize(["no", "yes"], 40)
    frame = pd.DataFrame(
        {
            "sequence": ["".join(rng.choice(list("abc"), size=12)) for _ in y],
            "ward": rng.choice(["north", "south"], size=40),
            "color": rng.choice(["red", "blue"], size=40),
            "age": rng.normal(50, 9, size=40) + 5 * (y == "yes"),
            "count_a": rng.poisson(4, size=40).astype(float),
            "count_b": rng.poisson(4, size=40).astype(float),
            "id": rng.permutation(40),
        }
    )
    frame.loc[::7, "color"] = None
    frame.loc[1::7, "count_a"] = np.nan
    frame.loc[2::7, "count_b"] = np.nan
    return frame, y


KERNELS: list[Any] = [
    ("seq", Letters(), "sequence"),
    ("color", Same(), "color"),
    ("a", KnownSmaller(), "count_a"),
    ("b", Smaller(), ["count_b"]),
    ("graph", Precomputed(np.eye(40)), "id"),
    "rbf@age,ward",
]


def test_the_steps_leave_them_alone(table: Any) -> None:
    frame, y = table
    pipeline = build_pipeline(MKLClassifier(KERNELS)).fit(frame, y)
    out = pipeline[:-1].transform(frame)
    assert list(out) == [*frame.columns[:1], "ward_north", "ward_south", *frame.columns[2:]]
    assert out["sequence"].tolist() == frame["sequence"].tolist()
    assert out["color"].isna().tolist() == frame["color"].isna().tolist()
    np.testing.assert_array_equal(out["count_a"], frame["count_a"])
    # A row without the only column that a kernel reads lacks its source.
    np.testing.assert_array_equal(out["count_b"], frame["count_b"])
    filled = build_pipeline(MKLClassifier(KERNELS, missing="impute")).fit(frame, y)[:-1]
    medians = frame["count_b"].fillna(frame["count_b"].median())
    np.testing.assert_array_equal(filled.transform(frame)["count_b"], medians)
    np.testing.assert_array_equal(out["id"], frame["id"])
    np.testing.assert_array_equal(out["age"], frame["age"])
    read = [columns.tolist() for columns in pipeline[-1].kernel_columns_]
    assert read == [[0], [3], [5], [6], [7], [4, 1, 2]]
    notes = describe(pipeline)
    assert "'sequence', 'color', 'count_a', 'count_b', 'id' kept" in notes[0]
    assert f"{frame[['color', 'count_a']].isna().to_numpy().sum()} gaps" in notes[2]
    # What kernels read is scaled, if it is numbers.
    scaled = [bound.label for bound in pipeline[-1].bound_kernels_ if bound.scaling is not None]
    assert scaled == ["rbf@age,ward"]
    bound = pipeline[-1].bound_kernels_[-1]
    numbers = out[["age", "ward_north", "ward_south"]].to_numpy()
    rows = Rows(np.hstack([np.zeros((40, 1)), numbers]))
    (read,) = rows.arrays_of([attrs.evolve(bound, columns=np.array([1, 2, 3]))])
    np.testing.assert_allclose(read, StandardScaler().fit_transform(numbers))
    columns = pipeline[0].columns()
    kept = [column["name"] for column in columns if column.get("kept")]
    assert kept == ["sequence", "color", "count_a", "count_b", "id"]
    kinds = {column["name"]: column["kind"] for column in columns}
    assert kinds["sequence"] == kinds["color"] == "text"
    assert kinds["id"] == "number"


def test_text_left_out_is_what_a_kernel_without_columns_lacks(table: Any, tmp_path: Path) -> None:
    frame, y = table
    frame.assign(target=y).to_csv(tmp_path / "rows.csv", index=False)
    rows = load_table(tmp_path / "rows.csv")
    with pytest.raises(DataError, match=r"'sequence' is dropped.*'spectrum@sequence'"):
        check_sources(attrs.evolve(rows.schema, sources=[SPECTRUM]))
    sequence = attrs.evolve(rows.schema["sequence"], role="feature")
    others = [column for column in rows.schema if column.name != "sequence"]
    check_sources(Schema([sequence, *others], [SPECTRUM]))


@pytest.mark.parametrize(
    "wrapped",
    [
        MKLSearchCV,
        lambda model: MKLVotingClassifier(MKLSearchCV(model)),
        lambda model: MKLSearchCV(MKLClassifier(), {"kernels": [["linear"], model.kernels]}),
    ],
)
def test_kernels_are_found_in_searches_and_votes(wrapped: Any) -> None:
    pipeline = build_pipeline(wrapped(MKLClassifier(KERNELS)), scale="minmax")
    schema = pipeline["encode"].schema
    assert schema.unchanged == ["sequence", "color", "count_a", ["count_b"], "id"]
    amounts = [source for source in schema.sources if source.reads == "amounts"]
    assert [source.columns for source in amounts if not source.skips_gaps] == [["count_b"]]
    scales = [v for k, v in pipeline[-1].get_params().items() if k.split("__")[-1] == "scale"]
    assert set(scales) == {"minmax"}


def test_a_kernel_that_names_no_columns_has_all_as_they_are(table: Any) -> None:
    frame, y = table
    numbers = frame[["count_a", "count_b", "id"]].fillna(0.0)
    pipeline = build_pipeline(MKLClassifier([Smaller()])).fit(numbers, y)
    np.testing.assert_array_equal(pipeline[:-1].transform(numbers), numbers[["count_a", "count_b"]])
    assert pipeline[-1].bound_kernels_[0].scaling is None


def test_columns_of_any_type_are_text_for_kernels() -> None:
    frame = pd.DataFrame(
        {
            "zip": pd.Categorical(["x1", "x2", None]),
            "flag": [True, False, True],
            "when": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            "mixed": [1, "b", None],
        }
    )
    out = TableEncoder(schema=Schema((), [Source("texts", list(frame), "text")])).fit_transform(
        frame
    )
    assert out["zip"].fillna("gap").tolist() == ["x1", "x2", "gap"]
    assert out["flag"].tolist() == [1.0, 0.0, 1.0]
    assert out["when"].tolist()[0].startswith("2024-01-01")
    assert out["mixed"].fillna("gap").tolist() == ["1", "b", "gap"]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return the kernels as an installed plugin has them."""
    source = Path(reading_kernels.__file__).read_text()
    monkeypatch.syspath_prepend(str(write_plugin(tmp_path / "site", "reading", source)))
    forget_registry()
    yield import_module("mklkit_reading")
    forget_registry()


@pytest.mark.parametrize("alone", [True, False])
def test_a_model_file_keeps_all(table: Any, installed: Any, tmp_path: Path, alone: bool) -> None:
    frame, y = table
    frame = frame.drop(columns=["id", "ward", "count_b", "count_a"])
    classifier = MKLClassifier(["letters@sequence", "known-same@color", "rbf@age"])
    model = (classifier if alone else build_pipeline(classifier)).fit(frame, y)
    save_model(model, tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    expected = model.decision_function(frame)
    np.testing.assert_allclose(loaded.decision_function(frame), expected, rtol=1e-12)
    joined = np.concatenate([loaded.decision_function(frame[i : i + 1]) for i in range(8)])
    np.testing.assert_allclose(joined, expected[:8], rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="color"):
        loaded.predict(frame.drop(columns="color"))


@pytest.mark.parametrize(
    ("kernel", "named", "advised"),
    [("s:rbf@sequence", "s", True), (("both", RBF(), ["count_a", "id"]), "both", False)],
)
def test_a_kernel_on_numbers_that_names_an_identifier_is_told_why(
    table: Any, kernel: Any, named: str, advised: bool
) -> None:
    frame, y = table
    with pytest.raises(DataError, match="is dropped, because it has a different value") as told:
        build_pipeline(MKLClassifier([kernel, "linear@count_a"])).fit(frame, y)
    assert str(told.value).startswith(f"Kernel '{named}': the column ")
    assert ("use a kernel on text, such as " in str(told.value)) is advised
