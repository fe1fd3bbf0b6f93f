"""Files of the field, written by their own libraries: the same models as from CSV files."""

from __future__ import annotations

import sys
import warnings
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.processes import run_in_process

from mklkit.datasets import file_contents, load_features, load_table
from mklkit.datasets.formats import path_and_layer
from mklkit.datasets.study_files import StudyFiles
from mklkit.errors import DataError

DRAW = np.random.default_rng(3)
IDS = [f"P{number:02}" for number in range(40)]
STATUS = np.array(["ill", "well"])[DRAW.integers(0, 2, 40)]
AGE = DRAW.normal(50, 9, 40).round(2)
COUNTS = DRAW.poisson(1 + (STATUS == "ill")[:, None], (40, 6)).astype(float)
GENES = [f"G{number}" for number in range(6)]
PROTEINS = DRAW.normal(size=(40, 3)) + (STATUS == "ill")[:, None]
MEASURED = np.arange(5, 40)


@pytest.fixture
def anndata() -> Any:
    library = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Without it, anndata writes no text of pandas 3.
        library.settings.allow_write_nullable_strings = True
        yield library


def cells(library: Any, values: Any = COUNTS, rows: Any = slice(None), **obs: Any) -> Any:
    """Return AnnData of some samples."""
    names = pd.Index(np.array(IDS)[rows].tolist())
    features = pd.DataFrame(index=[f"G{number}" for number in range(values.shape[1])])
    return library.AnnData(values[rows], obs=pd.DataFrame(obs, index=names), var=features)


@pytest.fixture
def clinical(tmp_path: Path) -> Path:
    path = tmp_path / "clinical.csv"
    frame = pd.DataFrame({"patient": IDS, "age": AGE, "status": STATUS})
    frame.to_csv(path, index=False)
    return path


def genes(table: Any) -> Any:
    """Return the counts of genes in a table as an array."""
    columns = [name for name in table.features if name.rpartition("_")[2].startswith("G")]
    return table.features[columns].to_numpy(float)


class TestFeather:
    def test_pandas_writes_and_reads_the_same(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        frame = pd.DataFrame({"dose": AGE, "ward": pd.Categorical(["a", "b"] * 20), "y": STATUS})
        frame.to_feather(tmp_path / "rows.feather")
        table = load_table(tmp_path / "rows.feather", "y")
        pd.testing.assert_frame_equal(table.features, frame[["dose", "ward"]])
        assert table.target.tolist() == STATUS.tolist()

    def test_labels_of_rows_are_no_column(self, tmp_path: Path) -> None:
        feather = pytest.importorskip("pyarrow.feather")
        frame = pd.DataFrame({"dose": AGE, "y": STATUS}, index=pd.Index(IDS, name="patient"))
        feather.write_feather(frame, tmp_path / "rows.arrow")
        assert list(load_table(tmp_path / "rows.arrow", "y").features) == ["dose"]

    def test_predictions_are_written(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        run_in_process("fit", "wine", "-k", "linear", "-o", tmp_path / "wine.mkl")
        for name in ("p.feather", "p.csv"):
            run_in_process("predict", tmp_path / "wine.mkl", "wine", "-o", tmp_path / name)
        read = pd.read_feather(tmp_path / "p.feather")
        expected = pd.read_csv(tmp_path / "p.csv").astype(read.dtypes.to_dict())
        pd.testing.assert_frame_equal(read, expected)

    def test_damaged_and_without_pyarrow(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("pyarrow")
        path = tmp_path / "rows.feather"
        path.write_bytes(b"ARROW1 and more")
        with pytest.raises(DataError, match=r"rows.feather can't be read as Feather"):
            load_table(path)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(DataError, match="pip install pyarrow"):
            load_table(path)


class TestAnnData:
    def test_obs_features_and_names(self, anndata: Any, tmp_path: Path) -> None:
        data = cells(anndata, sp.csr_matrix(COUNTS), age=AGE, status=pd.Categorical(STATUS))
        data.obs_names.name = "patient"
        data.write_h5ad(tmp_path / "cells.h5ad")
        read = anndata.read_h5ad(tmp_path / "cells.h5ad")
        table = load_table(tmp_path / "cells.h5ad", "status")
        np.testing.assert_array_equal(table.features[GENES], read.to_df())
        np.testing.assert_array_equal(table.features["age"], read.obs["age"])
        assert table.target.tolist() == read.obs["status"].tolist()
        assert table.ids is not None
        assert (table.ids.name, table.ids.tolist()) == ("patient", read.obs_names.tolist())
        assert table.sources == {"obs": ["age"], "X": GENES}

    def test_layers(self, anndata: Any, tmp_path: Path) -> None:
        data = cells(anndata, age=AGE, status=STATUS)
        data.raw = data.copy()
        data = data[:, ["G1", "G4"]].copy()
        data.layers["log"] = np.log1p(data.X)
        data.write_h5ad(tmp_path / "cells.h5ad")
        path = f"{tmp_path}/cells.h5ad"
        np.testing.assert_array_equal(genes(load_table(path, "status")), COUNTS[:, [1, 4]])
        logs = load_table(f"{path}:log", "status")
        np.testing.assert_array_equal(genes(logs), np.log1p(COUNTS[:, [1, 4]]))
        assert "features are those of log; others: 'X', 'raw'" in logs.notes
        np.testing.assert_array_equal(genes(load_table(f"{path}:raw", "status")), COUNTS)
        message = r"no layer 'lag'. Did you mean 'log'\? Its layers: 'log', 'raw'."
        with pytest.raises(DataError, match=message):
            load_table(f"{path}:lag", "status")

    def test_without_outcomes(self, anndata: Any, tmp_path: Path) -> None:
        cells(anndata).write_h5ad(tmp_path / "cells.h5ad")
        with pytest.raises(DataError, match=r"no column of outcomes.*join it, by --source"):
            load_table(tmp_path / "cells.h5ad")

    def test_predictions_name_the_samples(self, anndata: Any, tmp_path: Path) -> None:
        path, model = tmp_path / "cells.h5ad", tmp_path / "model.mkl"
        cells(anndata, age=AGE, status=STATUS).write_h5ad(path)
        run_in_process("fit", path, "-t", "status", "-o", model)
        named = pd.read_csv(StringIO(run_in_process("predict", model, path).out))
        assert named["id"].tolist() == IDS
        by_age = run_in_process("predict", model, path, "--by", "age").out
        assert pd.read_csv(StringIO(by_age))["age"].tolist() == AGE.tolist()

    def test_faults(self, anndata: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "cells.h5ad"
        twice = cells(anndata, status=STATUS)
        twice.var_names = ["G0", "G0", "G2", "G3", "G4", "G5"]
        twice.write_h5ad(path)
        with pytest.raises(DataError, match=r"several features 'G0'.*var_names_make_unique"):
            load_table(path, "status")
        cells(anndata, status=STATUS, G2=AGE).write_h5ad(path)
        with pytest.raises(DataError, match="'G2' is a column of obs and a feature"):
            load_table(path, "status")
        path.write_bytes(path.read_bytes()[:3000])
        with pytest.raises(DataError, match=r"cells.h5ad can't be read as AnnData"):
            load_table(path, "status")
        monkeypatch.setitem(sys.modules, "anndata", None)
        monkeypatch.setitem(sys.modules, "anndata.io", None)
        with pytest.raises(DataError, match="pip install anndata"):
            load_table(path, "status")

    @pytest.mark.parametrize("sparse", [False, True])
    def test_samples_in_columns(
        self, anndata: Any, clinical: Path, tmp_path: Path, sparse: bool
    ) -> None:
        order = DRAW.permutation(40)
        data = cells(anndata, sp.csr_matrix(COUNTS) if sparse else COUNTS, order, kind=STATUS)
        data.T.write_h5ad(tmp_path / "turned.h5ad")
        files = StudyFiles(clinical, {"rna": tmp_path / "turned.h5ad"}, "patient")
        table = load_table(files, "status")
        assert table.sources is not None
        assert table.sources["rna"] == [f"rna_{gene}" for gene in GENES]
        expected = pd.DataFrame(COUNTS, index=IDS).loc[table.ids].to_numpy()
        np.testing.assert_array_equal(table.features[table.sources["rna"]], expected)
        assert any("samples in columns: 40 of 40" in note for note in table.notes)

    def test_a_source_is_that_of_a_csv_file(
        self, anndata: Any, clinical: Path, tmp_path: Path
    ) -> None:
        order = DRAW.permutation(40)
        cells(anndata, sp.csc_matrix(COUNTS).tocsr(), order, kind=STATUS[order]).write_h5ad(
            tmp_path / "rna.h5ad"
        )
        frame = pd.DataFrame(COUNTS, columns=GENES).assign(patient=IDS)
        frame.iloc[order].to_csv(tmp_path / "rna.csv", index=False)
        tables = [
            load_table(StudyFiles(clinical, {"rna": tmp_path / name}, "patient"), "status")
            for name in ("rna.h5ad", "rna.csv")
        ]
        pd.testing.assert_frame_equal(tables[0].features, tables[1].features)
        assert tables[0].sources == tables[1].sources
        # Outcomes of a source would tell the class.
        assert any("'kind' dropped: columns of obs" in note for note in tables[0].notes)

    def test_names_of_samples_that_are_other_identifiers(
        self, anndata: Any, clinical: Path, tmp_path: Path
    ) -> None:
        data = cells(anndata)
        data.obs_names.name = "barcode"
        data.write_h5ad(tmp_path / "rna.h5ad")
        study = StudyFiles(clinical, {"rna": tmp_path / "rna.h5ad"}, "patient")
        with pytest.raises(DataError, match=r"rna.h5ad has no column 'patient'"):
            load_table(study, "status")


class TestMuData:
    def test_modalities_are_sources(self, anndata: Any, tmp_path: Path) -> None:
        mudata = pytest.importorskip("mudata")
        mudata.set_options(pull_on_update=False)
        rna = cells(anndata, sp.csr_matrix(COUNTS), age=AGE)
        rna.layers["log"] = rna.X.log1p()
        protein = cells(anndata, PROTEINS, MEASURED, batch=["a", "b", "c", "d", "e"] * 7)
        both = mudata.MuData({"rna": rna, "protein": protein})
        both.obs["status"] = STATUS
        both.write(tmp_path / "study.h5mu")
        table = load_table(tmp_path / "study.h5mu", "status")
        assert table.ids is not None
        assert table.ids.tolist() == both.obs_names.tolist()
        proteins = ["protein_G0", "protein_G1", "protein_G2"]
        assert table.sources == {
            "obs": ["rna:age", "protein:batch"],
            "rna": [f"rna_{gene}" for gene in GENES],
            "protein": proteins,
        }
        samples = table.features.set_axis(table.ids, axis=0)
        np.testing.assert_array_equal(samples.loc[IDS, table.sources["rna"]], COUNTS)
        present = np.array(IDS)[MEASURED]
        np.testing.assert_array_equal(samples.loc[present, proteins], PROTEINS[MEASURED])
        assert samples.drop(index=present)[proteins].isna().all(axis=None)
        logs = load_table(f"{tmp_path}/study.h5mu:log", "status")
        assert logs.features[table.sources["rna"]].sum().sum() == pytest.approx(
            np.log1p(COUNTS).sum()
        )
        np.testing.assert_array_equal(logs.features[proteins], table.features[proteins])
        with pytest.raises(DataError, match=r"no layer 'lot'.*Its layers: 'log'."):
            load_table(f"{tmp_path}/study.h5mu:lot", "status")


class TestSparseArchives:
    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
    def test_rows_are_in_the_order_of_data(self, form: str, clinical: Path, tmp_path: Path) -> None:
        sp.save_npz(tmp_path / "rna.npz", sp.csr_array(COUNTS).asformat(form))
        table = load_table(StudyFiles(clinical, {"rna": tmp_path / "rna.npz"}, "patient"), "status")
        np.testing.assert_array_equal(table.features.filter(like="rna_"), COUNTS)
        assert any("in the order of clinical.csv" in note for note in table.notes)

    def test_other_numbers_of_rows_and_no_outcomes(self, clinical: Path, tmp_path: Path) -> None:
        path = tmp_path / "rna.npz"
        sp.save_npz(path, sp.csr_array(COUNTS[:30]))
        with pytest.raises(DataError, match=r"30 rows without identifiers, and clinical.csv 40"):
            load_table(StudyFiles(clinical, {"rna": path}, "patient"), "status")
        with pytest.raises(DataError, match="holds numbers without outcomes"):
            load_table(path)
        assert load_features(path, ["x1", "x4"]).features.shape == (30, 2)

    def test_values_that_are_no_numbers(self, tmp_path: Path) -> None:
        values = COUNTS.copy()
        values[2, 3] = np.inf
        for wrong in (values, COUNTS * 1j):
            sp.save_npz(tmp_path / "rna.npz", sp.csr_array(wrong))
            with pytest.raises(DataError, match=r"must hold (finite real )?numbers"):
                load_features(tmp_path / "rna.npz", ["x1"])


@pytest.mark.process
class TestLargeSparseMatrices:
    """As if these matrices were too large to be made dense."""

    @pytest.mark.parametrize("kernel", ["linear[none]", "cosine[none]", "rbf", "auto"])
    def test_the_model_is_that_of_dense_columns(
        self,
        kernel: str,
        clinical: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        sp.save_npz(tmp_path / "rna.npz", sp.csr_array(COUNTS))
        files = (clinical, "--source", f"rna={tmp_path / 'rna.npz'}", "--by", "patient")
        model, told = tmp_path / "model.mkl", []
        for large in (False, True):
            if large:
                monkeypatch.setattr(file_contents, "fits_dense", lambda *_: False)
                table = load_table(StudyFiles(clinical, {"rna": files[2][4:]}, "patient"), "status")
                of_rna = table.features.dtypes[[f"rna_x{place}" for place in range(6)]]
                assert all(isinstance(kind, pd.SparseDtype) for kind in of_rna)
            kernels = () if kernel == "auto" else ("-k", f"rna:{kernel}@rna_*", "-k", "rbf@age")
            fitted = run_in_process("fit", *files, "-t", "status", *kernels, "-o", model, "--json")
            predicted = run_in_process("predict", model, *files)
            told.append((fitted.json["scores"], predicted.out))
        assert told[0][0] == told[1][0]
        dense, sparse = (pd.read_csv(StringIO(text)) for _, text in told)
        assert sparse["prediction"].tolist() == dense["prediction"].tolist()
        # Sums of products in another order.
        np.testing.assert_allclose(sparse["score"], dense["score"], rtol=1e-9)

    @pytest.mark.parametrize("command", ["evaluate", "kernels", "compare"])
    def test_other_commands(
        self,
        command: str,
        anndata: Any,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        cells(anndata, sp.csr_matrix(COUNTS), age=AGE, status=STATUS).write_h5ad(
            tmp_path / "cells.h5ad"
        )
        options = () if command == "kernels" else ("--cv", "2")
        outputs = []
        for large in (False, True):
            if large:
                monkeypatch.setattr(file_contents, "fits_dense", lambda *_: False)
            done = run_in_process(
                command, tmp_path / "cells.h5ad", "-t", "status", *options, "--json"
            )
            outputs.append(_without_seconds(done.json))
        assert outputs[0] == outputs[1]


def _without_seconds(value: Any) -> Any:
    """Return results without what a run takes, and numbers to nine digits."""
    if isinstance(value, dict):
        kept = [name for name in value if "seconds" not in name and name != "memory"]
        return {name: _without_seconds(value[name]) for name in kept}
    if isinstance(value, list):
        return [_without_seconds(part) for part in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def test_only_files_with_layers_have_names_after_the_path() -> None:
    assert path_and_layer(Path("a/cells.h5ad:counts")) == (Path("a/cells.h5ad"), "counts")
    for name in ("cells.csv:counts", "cells.h5ad", "cells.h5ad:", "a:b"):
        assert path_and_layer(Path(name)) == (Path(name), None)
