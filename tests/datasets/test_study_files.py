"""The files of a study, joined by an identifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklkit import MKLClassifier, build_pipeline
from mklkit.datasets import StudyFiles, load_features, load_study, load_table
from mklkit.errors import DataError

RNG = np.random.default_rng(0)
IDS = [f"p{number:03}" for number in range(40)]
AGES = RNG.integers(30, 80, 40)
OUTCOMES = pd.DataFrame({"patient": IDS, "age": AGES, "ill": ["no", "yes"] * 20})
GENES = pd.DataFrame(RNG.normal(size=(40, 12)), columns=[f"g{n}" for n in range(12)])
GENES.insert(0, "patient", IDS)
PROTEINS = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["a", "b", "c"])
PROTEINS.insert(0, "patient", IDS)


def written(folder: Path, name: str, frame: pd.DataFrame) -> str:
    """Write a frame in another order of its rows, and return the path."""
    path = folder / f"{name}.csv"
    frame.sample(frac=1, random_state=len(name)).to_csv(path, index=False)
    return str(path)


def test_samples_are_those_that_pandas_joins(tmp_path: Path) -> None:
    genes, proteins = GENES.iloc[5:], PROTEINS.iloc[:30]
    files = {"genes": written(tmp_path, "genes", genes), "prot": written(tmp_path, "b", proteins)}
    outcomes = written(tmp_path, "clinical", OUTCOMES)
    study = load_study(files, by="patient", outcomes=outcomes, target="ill")
    expected = (
        pd.read_csv(outcomes)
        .merge(genes.set_index("patient").add_prefix("genes_"), on="patient", how="left")
        .merge(proteins.set_index("patient").add_prefix("prot_"), on="patient", how="left")
    )
    assert study.ids is not None
    assert study.ids.tolist() == expected["patient"].tolist()
    pd.testing.assert_series_equal(study.target, expected["ill"], check_dtype=False)
    features = expected.drop(columns=["patient", "ill"])
    pd.testing.assert_frame_equal(study.features, features, check_dtype=False)
    assert study.sources is not None
    assert {name: len(columns) for name, columns in study.sources.items()} == {
        "clinical": 1,
        "genes": 12,
        "prot": 3,
    }
    told = " ".join(study.notes)
    for number in ("40 samples, 2 columns", "35 samples, 12 columns", "of which 25 are in all 3"):
        assert number in told


def test_frames_are_joined_like_files(tmp_path: Path) -> None:
    files = {"genes": written(tmp_path, "genes", GENES)}
    of_files = load_study(files, by="patient", outcomes=written(tmp_path, "clinical", OUTCOMES))
    indexed = {"genes": GENES.set_index("patient").sample(frac=1, random_state=3)}
    of_frames = load_study(indexed, by="patient", outcomes=OUTCOMES)
    left, right = (
        study.features.set_axis(study.ids, axis=0).sort_index() for study in (of_files, of_frames)
    )
    pd.testing.assert_frame_equal(left, right, check_index_type=False, check_names=False)
    assert [*of_frames.by_source] == ["outcomes", "genes"]


def test_a_sample_without_a_file_lacks_that_source() -> None:
    study = load_study({"genes": GENES.iloc[10:]}, by="patient", outcomes=OUTCOMES)
    frames = study.by_source
    assert frames["genes"].isna().all(axis=1).tolist() == [True] * 10 + [False] * 30
    model = MKLClassifier(["outcomes:rbf", "genes:rbf"]).fit(frames, study.target)
    spelled = build_pipeline(MKLClassifier(["a:rbf@age", "g:rbf@genes_*"], scale="none"))
    same = spelled.fit(study.features, study.target)
    np.testing.assert_allclose(
        same.decision_function(study.features), model.decision_function(frames), rtol=1e-9
    )


def test_samples_without_any_value_are_left_out_and_told() -> None:
    others = pd.DataFrame({"patient": ["p900", "p901"], "age": 5, "ill": ["no", "yes"]})
    outcomes = pd.concat([OUTCOMES, others]).drop(columns="age")
    study = load_study({"genes": GENES}, by="patient", outcomes=outcomes, target="ill")
    assert len(study.target) == 40
    assert "2 samples without a value in any source dropped" in study.notes


@pytest.mark.parametrize("target", [None, "ill", -1])
def test_the_target_is_a_column_beside_the_identifier(target: str | int | None) -> None:
    study = load_study({"genes": GENES}, by="patient", outcomes=OUTCOMES, target=target)
    assert study.target.name == "ill"


def test_features_in_rows_and_samples_in_columns(tmp_path: Path) -> None:
    turned = GENES.set_index("patient").T.rename_axis("gene").reset_index()
    path = tmp_path / "turned.csv"
    turned.to_csv(path, index=False)
    outcomes = written(tmp_path, "clinical", OUTCOMES)
    study = load_study({"genes": path}, by="patient", outcomes=outcomes)
    straight = load_study({"genes": GENES}, by="patient", outcomes=outcomes)
    pd.testing.assert_frame_equal(study.features, straight.features)
    assert any("40 of 40 columns are known samples" in note for note in study.notes)


def test_identifiers_are_compared_as_text(tmp_path: Path) -> None:
    numbers = [f"{number:03}" for number in range(40)]
    outcomes = written(tmp_path, "clinical", OUTCOMES.assign(patient=numbers))
    genes = written(tmp_path, "genes", GENES.assign(patient=numbers))
    study = load_study({"genes": genes}, by="patient", outcomes=outcomes)
    assert study.ids is not None
    assert {*study.ids} == {*numbers}
    whole = tmp_path / "whole.parquet"
    GENES.assign(patient=range(100, 140)).to_parquet(whole)
    of_numbers = written(tmp_path, "numbers", OUTCOMES.assign(patient=range(100, 140)))
    mixed = load_study({"genes": whole}, by="patient", outcomes=of_numbers)
    assert mixed.features["genes_g0"].notna().all()


UNLIKE = {
    "leading zeros": ([f"{n}" for n in range(40)], [f"{n:03}" for n in range(40)], "'000'"),
    "a fraction": ([f"{n}.0" for n in range(40)], [f"{n}" for n in range(40)], "'0.0' beside '0'"),
    "case": ([i.upper() for i in IDS], IDS, "'P000'"),
    "a part more": ([f"TCGA-{i}-01A" for i in IDS], [f"TCGA-{i}" for i in IDS], "-01A'"),
    "nothing in common": ([f"x{n}" for n in range(40)], IDS, "'x0'"),
}


@pytest.mark.parametrize(("mine", "others", "shown"), UNLIKE.values(), ids=UNLIKE)
def test_identifiers_that_hardly_match_are_shown(
    mine: list[str], others: list[str], shown: str
) -> None:
    sources = {"genes": GENES.assign(patient=mine)}
    with pytest.raises(DataError, match=r"genes.*outcomes") as refused:
        load_study(sources, by="patient", outcomes=OUTCOMES.assign(patient=others))
    assert shown in str(refused.value)


def test_few_common_samples_are_no_error() -> None:
    study = load_study({"genes": GENES.iloc[:5]}, by="patient", outcomes=OUTCOMES)
    assert study.features["genes_g0"].notna().sum() == 5


FAULTS = {
    "twice": ({"genes": pd.concat([GENES, GENES[:2]])}, "'p000'"),
    "no identifier": ({"genes": GENES.drop(columns="patient")}, "'patient'"),
    "a gap": ({"genes": GENES.assign(patient=[None, *IDS[1:]])}, "row 1"),
    "the name of a kernel": ({"rbf": GENES}, "'rbf'"),
    "a blank": ({"my genes": GENES}, "'my genes'"),
    "the name beside the outcomes": ({"outcomes": GENES}, "'outcomes'"),
    "a column twice": ({"g": PROTEINS.rename(columns={"a": "x", "b": "y"})}, "'g_x'"),
}


def test_a_single_file_has_identifiers_that_are_no_feature(tmp_path: Path) -> None:
    path = written(tmp_path, "outcomes", OUTCOMES)
    table = load_table(StudyFiles(path, {}, "patient"))
    expected = load_table(path, drop=["patient"])
    pd.testing.assert_frame_equal(table.features, expected.features)
    assert table.ids is not None
    assert table.ids.tolist() == pd.read_csv(path)["patient"].tolist()
    assert (table.sources, table.target_names) == (None, ["ill"])


@pytest.mark.parametrize(("sources", "named"), FAULTS.values(), ids=FAULTS)
def test_faults_are_named(sources: dict[str, pd.DataFrame], named: str) -> None:
    outcomes = OUTCOMES.assign(g_x=1.0)[["patient", "g_x", "ill"]]
    with pytest.raises(DataError, match=named):
        load_study(sources, by="patient", outcomes=outcomes)


class TestNewSamples:
    study = load_study(
        {"genes": GENES, "prot": PROTEINS}, by="patient", outcomes=OUTCOMES, target="ill"
    )
    kernels = study.with_columns(["outcomes:rbf", "genes:rbf", "prot:rbf"])
    model = build_pipeline(MKLClassifier(kernels))
    model.fit(study.features, study.target)
    needed = study.features.columns.tolist()

    def read(self, sources: dict[str, pd.DataFrame]) -> pd.DataFrame:
        files = StudyFiles(OUTCOMES, sources, "patient")
        schema = self.model[0].schema_
        return load_features(files, self.needed, "ill", self.needed, schema).features

    def test_a_source_without_a_column_is_missing(self) -> None:
        features = self.read({"genes": GENES})
        lacking = self.study.features.assign(prot_a=np.nan, prot_b=np.nan, prot_c=np.nan)
        np.testing.assert_allclose(
            self.model.decision_function(features), self.model.decision_function(lacking)
        )

    def test_a_source_without_some_columns_is_refused(self) -> None:
        with pytest.raises(DataError, match=r"'prot'.*'prot_b'"):
            self.read({"genes": GENES, "prot": PROTEINS.drop(columns="b")})

    def test_a_source_that_the_model_does_not_know_is_refused(self) -> None:
        with pytest.raises(DataError, match=r"'gene'.*Did you mean 'genes'"):
            self.read({"gene": GENES})

    def test_a_name_that_begins_another_is_refused(self) -> None:
        with pytest.raises(DataError, match=r"none of the 1 column of the source 'gene'"):
            self.read({"gene": PROTEINS[["patient", "a"]], "genes": GENES})

    def test_more_columns_of_a_source_change_nothing(self) -> None:
        wide = GENES.rename(columns=lambda name: f"genes_{name}" if name != "patient" else name)
        features = self.read({"genes": wide.assign(batch=1), "prot": PROTEINS})
        pd.testing.assert_frame_equal(features, self.study.features, check_index_type=False)

    def test_rows_are_those_of_the_first_file(self) -> None:
        more = pd.concat([GENES, GENES.assign(patient=[f"q{n}" for n in range(40)])])
        assert len(self.read({"genes": more})) == 40

    def test_identifiers_stay_as_they_are_written(self, tmp_path: Path) -> None:
        table = self.study.features.assign(code=[f"{n:04}" for n in range(40)])
        path = tmp_path / "new.csv"
        table.to_csv(path, index=False)
        rows = load_features(path, self.needed, None, self.needed, self.model[0].schema_, "code")
        assert rows.ids is not None
        assert rows.ids.tolist()[:2] == ["0000", "0001"]


def test_a_single_table_has_no_sources() -> None:
    table = load_table("wine")
    assert table.sources is None
    assert [*table.by_source] == ["wine"]


def test_a_few_identifiers_that_differ_a_little_are_told() -> None:
    written = {"p003": "P003", "p004": "p-004", "p005": "p005-01A"}
    genes = GENES.assign(patient=GENES["patient"].replace(written))
    study = load_study({"genes": genes}, by="patient", outcomes=OUTCOMES)
    told = [note for note in study.notes if "is taken for another sample" in note]
    for other in written.values():
        assert sum(f"'{other}'" in note for note in told) == 1
    # Those of the genes have no outcome.
    assert len(study.target) == 40


def test_blanks_around_identifiers_are_ignored_and_told() -> None:
    genes = GENES.assign(patient=[f" {label}  " for label in GENES["patient"]])
    study = load_study({"genes": genes}, by="patient", outcomes=OUTCOMES)
    same = load_study({"genes": GENES}, by="patient", outcomes=OUTCOMES)
    pd.testing.assert_frame_equal(study.features, same.features)
    assert any("blanks around 40 identifiers ignored" in note for note in study.notes)


def test_many_identifiers_in_another_form_are_an_error() -> None:
    written = {label: label.upper() for label in IDS[::4]}
    genes = GENES.assign(patient=GENES["patient"].replace(written))
    with pytest.raises(DataError, match=r"in one case, 10 more would: 'P000' beside 'p000'"):
        load_study({"genes": genes}, by="patient", outcomes=OUTCOMES)


def test_positions_are_those_of_the_outcomes_file() -> None:
    outcomes = OUTCOMES.assign(score=np.arange(40.0), w=np.arange(1.0, 41))
    study = load_study(
        {"genes": GENES}, by="patient", outcomes=outcomes, target=2, drop=["3"], weights="4"
    )
    assert study.target.name == "ill"
    assert study.weights is not None
    assert study.weights.name == "w"
    assert study.dropped == ["score"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"sources": ["genes.csv"]},
        {"sources": {1: GENES}},
        {"sources": {"g": GENES["g0"]}},
        {"by": ["patient"]},
        {"outcomes": None},
    ],
    ids=str,
)
def test_wrong_arguments_are_told(arguments: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"sources": {"genes": GENES}, "by": "patient", "outcomes": OUTCOMES}
    with pytest.raises(DataError):
        load_study(**(usual | arguments))


def test_large_and_odd_numbers_identify_too() -> None:
    numbers = [10.0**20 * (n + 1) for n in range(40)]
    outcomes, genes = OUTCOMES.assign(patient=numbers), GENES.assign(patient=numbers)
    study = load_study({"genes": genes}, by="patient", outcomes=outcomes)
    assert study.features["genes_g0"].notna().all()


def test_the_target_in_a_source_is_left_out_and_told() -> None:
    genes = GENES.assign(ill=OUTCOMES["ill"]).iloc[5:]
    study = load_study({"genes": genes}, by="patient", outcomes=OUTCOMES, target="ill")
    assert "genes_ill" not in study.features
    assert any("'genes_ill' dropped" in note for note in study.notes)


def test_covariates_are_in_no_source() -> None:
    outcomes = OUTCOMES.assign(sex="f")
    study = load_study({"genes": GENES}, by="patient", outcomes=outcomes, target="ill")
    assert study.without_in_sources("age, genes_g0").sources == {
        "outcomes": ["sex"],
        "genes": [f"genes_g{n}" for n in range(1, 12)],
    }
