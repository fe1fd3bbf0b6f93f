"""The files of a study joined some rows at a time are the table that pandas joins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklkit.datasets import StudyFiles, load_table
from mklkit.datasets.files import ChunkedTable
from mklkit.datasets.in_parts import table_in_parts
from mklkit.datasets.scanning import scan_table
from mklkit.datasets.study_in_parts import StudyInParts
from mklkit.errors import DataError

N = 300
CHUNK = 40
"""Samples, and those that are read at a time."""

RNG = np.random.default_rng(7)
IDS = [f"p{number:04}" for number in range(N)]
CLINICAL = pd.DataFrame(
    {
        "patient": IDS,
        "age": RNG.normal(50, 9, N).round(1),
        "sex": RNG.choice([*"fm"], N),
        "ill": np.where(np.arange(N) % 2, "yes", "no"),
    }
)
CLINICAL.loc[CLINICAL.index[::50], "ill"] = None
GENES = pd.DataFrame(RNG.normal(size=(N, 12)), columns=[f"g{n}" for n in range(12)])
GENES.insert(0, "patient", IDS)
VISITS = pd.DataFrame(
    {
        "count": RNG.integers(0, 9, N),
        "smokes": RNG.random(N) < 0.5,
        "ward": pd.Categorical(RNG.choice(["north", "south"], N)),
        "note": RNG.choice(["well, again", "as before"], N),
        "patient": IDS,
    }
)


def written(folder: Path, some: float, shuffled: bool, ending: str) -> StudyFiles:
    """Write a study whose sources have a share of the samples, and return its files."""
    paths = []
    for seed, frame in enumerate((CLINICAL, GENES, VISITS)):
        rows = frame if seed == 0 else frame.sample(frac=some, random_state=seed)
        rows = rows if shuffled else rows.sort_index()
        path = folder / f"{['clinical', 'genes', 'visits'][seed]}{ending}"
        if ending == ".parquet":
            rows.to_parquet(path, row_group_size=70)
        else:
            rows.to_csv(path, index=False)
        paths.append(path)
    return StudyFiles(paths[0], {"genes": paths[1], "visits": paths[2]}, "patient")


@pytest.mark.parametrize("ending", [".parquet", ".csv.gz"])
@pytest.mark.parametrize("shuffled", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("some", [1.0, 0.8], ids=["all samples", "some samples"])
def test_chunks_are_what_pandas_joins(
    some: float, shuffled: bool, ending: str, tmp_path: Path
) -> None:
    study = StudyInParts.opened(written(tmp_path, some, shuffled, ending), CHUNK)
    chunks = [*study.chunks()]
    assert len(chunks) > 1
    assert all((chunk.dtypes == chunks[0].dtypes).all() for chunk in chunks)
    read = pd.read_parquet if ending == ".parquet" else pd.read_csv
    expected = read(tmp_path / f"clinical{ending}").set_index("patient")
    for source in ("genes", "visits"):
        frame = read(tmp_path / f"{source}{ending}").set_index("patient")
        expected = expected.join(frame.add_prefix(f"{source}_"), how="left")
    found = pd.concat(chunks).set_axis(study.join.ids, axis=0)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_names=False)
    # A second pass, of other columns, reads what the first did.
    study.read_only(["ill", "genes_g7"])
    again = pd.concat([*study.chunks()]).set_axis(study.join.ids, axis=0)
    pd.testing.assert_frame_equal(
        again, expected[["ill", "genes_g7"]], check_dtype=False, check_names=False
    )


def test_the_table_is_that_of_a_join_in_memory(tmp_path: Path) -> None:
    files = written(tmp_path, 0.8, True, ".csv")
    outcomes = pd.read_csv(tmp_path / "clinical.csv").drop(columns=["age", "sex"])
    outcomes.to_csv(tmp_path / "clinical.csv", index=False)
    whole = load_table(files, "ill")
    scan = scan_table(StudyInParts.opened(files, CHUNK), "ill", (), seed=0)
    assert scan.whole
    pd.testing.assert_frame_equal(
        scan.table.features.reset_index(drop=True), whole.features.reset_index(drop=True)
    )
    np.testing.assert_array_equal(scan.table.ids, whole.ids)
    assert scan.table.target.tolist() == whole.target.tolist()
    assert scan.table.sources == whole.sources
    assert sorted(scan.table.notes) == sorted(whole.notes)
    # Samples of the outcomes alone have no value to learn from.
    assert any("without a value in any source" in note for note in whole.notes)


def test_files_that_are_read_whole_are_told(tmp_path: Path) -> None:
    turned = GENES.iloc[:, :6].set_index("patient").T.rename_axis("gene").reset_index()
    turned.to_csv(tmp_path / "turned.csv", index=False)
    VISITS.to_feather(tmp_path / "visits.feather")
    sources = {"genes": tmp_path / "turned.csv", "visits": tmp_path / "visits.feather"}
    study = StudyInParts.opened(StudyFiles(CLINICAL, sources, "patient"))
    for name in ("turned.csv", "visits.feather"):
        assert f"{name}: read whole, because it can't be read in parts" in study.notes
    np.testing.assert_array_equal(pd.concat([*study.chunks()])["genes_g3"], GENES["g3"].to_numpy())


def test_large_studies_and_several_files_of_a_source_are_read_in_parts(tmp_path: Path) -> None:
    files = written(tmp_path, 1.0, True, ".parquet")
    assert table_in_parts(files, None) is None
    wide = pd.DataFrame(np.ones((N, 1500)), columns=[f"w{n}" for n in range(1500)])
    wide.assign(patient=IDS).to_parquet(tmp_path / "wide.parquet")
    large = StudyFiles(files.outcomes, {"wide": tmp_path / "wide.parquet"}, "patient")
    assert table_in_parts(files, "1MB") is None
    assert table_in_parts(large, "1MB") is not None
    for half in (0, 1):
        GENES[half::2].to_parquet(tmp_path / f"half{half}.parquet")
    several = StudyFiles(files.outcomes, {"genes": str(tmp_path / "half*.parquet")}, "patient")
    study = table_in_parts(several, None)
    assert study is not None
    column = pd.concat([*study.chunks()])["genes_g5"]
    np.testing.assert_array_equal(column, GENES["g5"])


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_several_files_of_a_source_may_order_their_columns_differently(
    ending: str, tmp_path: Path
) -> None:
    shuffled = GENES.sample(frac=1, random_state=3)
    for part, rows in enumerate((shuffled[: N // 2], shuffled[N // 2 :].iloc[:, ::-1])):
        path = tmp_path / f"part{part}{ending}"
        rows.to_csv(path, index=False) if ending == ".csv" else rows.to_parquet(path, index=False)
    files = StudyFiles(CLINICAL, {"genes": str(tmp_path / f"part*{ending}")}, "patient")
    study = StudyInParts.opened(files, CHUNK)
    whole = files.read()
    for frame in (pd.concat([*study.chunks()]), whole.frame):
        for name in GENES.columns[1:]:
            np.testing.assert_allclose(frame[f"genes_{name}"], GENES[name], rtol=1e-12)
    for notes in (study.notes, whole.notes):
        assert f"{tmp_path / f'part*{ending}'}: 300 samples, 12 columns" in notes


def test_labels_that_pandas_wrote_identify_samples(tmp_path: Path) -> None:
    path = tmp_path / "genes.parquet"
    GENES.set_index("patient").to_parquet(path)
    GENES.set_index("patient").to_feather(tmp_path / "genes.feather")
    expected = load_table(StudyFiles(CLINICAL, {"genes": GENES}, "patient"), "ill").features
    for ending in (".parquet", ".feather"):
        files = StudyFiles(CLINICAL, {"genes": path.with_suffix(ending)}, "patient")
        pd.testing.assert_frame_equal(load_table(files, "ill").features, expected)
    chunked = StudyInParts.opened(StudyFiles(CLINICAL, {"genes": path}, "patient"))
    assert "genes_patient" not in chunked.columns
    np.testing.assert_array_equal(pd.concat([*chunked.chunks()])["genes_g5"], GENES["g5"])
    # Alone they stay labels.
    assert ChunkedTable.opened(path).columns == GENES.columns[1:].tolist()


def test_identifiers_alone_are_no_source(tmp_path: Path) -> None:
    GENES[["patient"]].to_csv(tmp_path / "genes.csv", index=False)
    files = StudyFiles(CLINICAL, {"genes": tmp_path / "genes.csv"}, "patient")
    for read in (files.read, lambda: StudyInParts.opened(files)):
        with pytest.raises(DataError, match=r"genes\.csv has no column besides 'patient'"):
            read()


@pytest.mark.parametrize("index", [pd.RangeIndex(N), pd.RangeIndex(7, 7 + 3 * N, 3)])
def test_labels_that_count_rows_identify_samples(index: pd.RangeIndex, tmp_path: Path) -> None:
    path = tmp_path / "genes.parquet"
    GENES[["g0", "g1"]].set_axis(index.rename("number"), axis=0).to_parquet(path)
    clinical = CLINICAL[["age", "ill"]].assign(number=index[::-1])
    files = StudyFiles(clinical, {"genes": path}, "number")
    expected = GENES["g1"].to_numpy()[::-1]
    np.testing.assert_array_equal(files.read().frame["genes_g1"], expected)
    study = StudyInParts.opened(files, CHUNK)
    np.testing.assert_array_equal(pd.concat([*study.chunks()])["genes_g1"], expected)
    assert ChunkedTable.opened(path).columns == ["g0", "g1"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda frame: pd.concat([frame, frame[:1]]), "'p0000' in 2 rows"),
        (lambda frame: frame.assign(patient=[None, *IDS[1:]]), "row 1"),
        (lambda frame: frame.assign(patient=[f"x{n}" for n in range(N)]), "hardly match"),
        (lambda frame: frame.drop(columns="patient"), "no column 'patient'"),
        (lambda frame: frame[:0], "no rows"),
    ],
    ids=["twice", "gap", "other samples", "no identifier", "no rows"],
)
def test_faults_are_those_of_a_join_in_memory(change: object, told: str, tmp_path: Path) -> None:
    assert callable(change)
    path = tmp_path / "visits.parquet"
    change(VISITS).to_parquet(path)
    files = StudyFiles(CLINICAL, {"visits": path}, "patient")
    for read in (StudyInParts.opened, load_table):
        with pytest.raises(DataError, match=told):
            read(files)
