"""Studies: a table and a model, and what a fit of them records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score

from mklkit import DataError, ModelSettings
from mklkit.datasets.files import ChunkedTable
from mklkit.datasets.pipeline import model_pipeline
from mklkit.evaluation.fit_in_parts import fit_in_parts
from mklkit.evaluation.study import Roles, read_study
from mklkit.evaluation.study_fits import cross_validate_study, fit_study

SETTINGS = ModelSettings(kernels=["rbf"], learner="svm(C=1)")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Of 120 rows, a fifth is ill; the rows of a patient follow one another."""
    random = np.random.default_rng(0)
    ill = np.arange(120) % 5 == 0
    table = pd.DataFrame(random.normal(size=(120, 3)) + ill[:, None], columns=list("abc"))
    table["patient"] = np.arange(120) // 4
    table["part"] = np.where(np.arange(120) < 40, "test", "train")
    table["state"] = np.where(ill, "ill", "well")
    table.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def test_roles_are_no_features(visits: Path) -> None:
    roles = Roles(target="state", drop=["c"], groups="patient", split="part")
    study = read_study(SETTINGS, str(visits), roles)
    assert study.table.features.columns.tolist() == ["a", "b"]
    assert study.samples.groups is not None
    (split,) = study.hold_out(0.9)  # The column comes before the share.
    assert split.test.tolist() == list(range(40))
    with pytest.raises(DataError, match="patients"):
        read_study(SETTINGS, str(visits), Roles(target="state", groups="patients"))


def test_a_fit_is_scored_on_rows_it_has_not_seen(visits: Path) -> None:
    study = read_study(SETTINGS, str(visits), Roles(target="state", drop=["patient", "part"]))
    fitted = fit_study(study, 0.25)
    (split,) = study.hold_out(0.25)
    features, state = study.table.features, study.targets
    alone = model_pipeline(SETTINGS).fit(features.iloc[split.train], state[split.train])
    predicted, truth = alone.predict(features.iloc[split.test]), state[split.test]
    scores = fitted.record["scores"]
    assert scores["held_out"]["accuracy"] == accuracy_score(truth, predicted)
    assert scores["train"]["rows"] == 90
    assert fitted.model[-1].n_samples_fit_ == fitted.record["scored_model"]["rows"] == 90
    again = fit_study(study, 0.25, refit=True)
    assert again.model[-1].n_samples_fit_ == 120
    assert again.record["scores"] == scores
    whole = model_pipeline(SETTINGS).fit(features, state)
    np.testing.assert_array_equal(again.model.predict(features), whole.predict(features))


def test_the_score_that_counts_is_told_once_however_the_table_is_read(visits: Path) -> None:
    settings = ModelSettings(kernels=["rbf"], tune="fast")
    roles = Roles(target="state", drop=["patient", "part"])
    study = read_study(settings, str(visits), roles)
    assert study.score == study.pipeline[-1].scoring == "balanced_accuracy"
    whole = fit_study(study, 0.25).record
    pipeline = model_pipeline(ModelSettings(kernels=["rbf"], learner="svm(C=1)"))
    chunked = ChunkedTable.opened(str(visits), chunk_rows=50)
    in_parts = fit_in_parts(pipeline, SETTINGS, chunked, roles, 0.25).record
    for record in (whole, in_parts):
        reasons = [note for note in record["data"]["notes"] if "balanced accuracy" in note]
        assert len(reasons) == 1
        assert "4.0 times as many" in reasons[0]
        assert record["score"] == "balanced_accuracy"


def test_held_out_scores_have_wilsons_interval(visits: Path) -> None:
    study = read_study(SETTINGS, str(visits), Roles(target="state", drop=["patient", "part"]))
    record = fit_study(study, 0.25).record
    held_out = record["scores"]["held_out"]
    counts = np.array(held_out["confusion"])
    n_rows, right = counts.sum(), np.trace(counts)
    # The ends are the shares whose score test just accepts the measured one.
    for end in record["intervals"]["accuracy"]:
        z = (right / n_rows - end) / np.sqrt(end * (1 - end) / n_rows)
        assert abs(z) == pytest.approx(1.96, abs=1e-3)
    low, high = record["intervals"]["balanced_accuracy"]
    assert low <= held_out["balanced_accuracy"] <= high
    grouped = read_study(SETTINGS, str(visits), Roles(target="state", groups="patient"))
    assert "intervals" not in fit_study(grouped, 0.25).record


def test_held_out_r2_has_an_interval_by_the_bootstrap(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    table["dose"] = table["a"] + 0.7 * rng.normal(size=600)
    table["patient"] = np.arange(600) // 60
    path = tmp_path / "doses.csv"
    table.to_csv(path, index=False)
    settings = ModelSettings(kernels=["linear"])
    study = read_study(settings, str(path), Roles(target="dose", drop=["patient"]), "regression")
    fitted = fit_study(study, 0.5)
    (split,) = study.hold_out(0.5)
    truth = study.targets[split.test]
    predicted = fitted.model.predict(study.table.features.iloc[split.test])
    draws = rng.integers(len(truth), size=(2000, len(truth)))
    scores = [r2_score(truth[rows], predicted[rows]) for rows in draws]
    low, high = np.quantile(scores, [0.025, 0.975])
    assert fitted.record["intervals"]["r2"] == pytest.approx((low, high), abs=0.015)
    few = read_study(settings, str(path), Roles(target="dose", groups="patient"), "regression")
    assert "intervals" not in fit_study(few, 0.5).record


def test_cross_validation_has_the_scores_of_all_folds(visits: Path) -> None:
    study = read_study(SETTINGS, str(visits), Roles(target="state", groups="patient"))
    fitted, outcome = cross_validate_study(study, "3x2")
    record = fitted.record
    assert record["plan"]["folds"] == 3
    assert len(record["folds"]) == 6
    patients = study.groups
    assert patients is not None
    for split, answers, fold in zip(outcome.splits, outcome.answers, record["folds"], strict=True):
        assert not {*patients[split.train]} & {*patients[split.test]}
        truth = study.targets[split.test]
        assert fold["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, answers))
