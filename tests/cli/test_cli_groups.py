"""Groups, time and leakage on the command line, in real processes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Run

from mklkit import MKLClassifier, build_pipeline, load_model
from mklkit.evaluation.leakage import gives_class, leakage_notes


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Three visits of each of 20 patients; ``code`` gives the class, and row 0 is there twice."""
    random = np.random.default_rng(0)
    patients = np.repeat(np.arange(20), 3)
    ill = (np.arange(20) % 2)[patients]
    table = pd.DataFrame(random.normal(size=(60, 3)) + ill[:, None], columns=["a", "b", "c"])
    table["patient"] = [f"P{patient}" for patient in patients]
    table["code"] = np.where(ill == 1, 7, 3)
    table["part"] = np.where(patients < 14, "train", "test")
    table["ill"] = np.where(ill == 1, "yes", "no")
    table.iloc[59] = table.iloc[3]
    path = tmp_path / "visits.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.process
def test_groups_time_and_leakage(mklkit: Run, visits: Path) -> None:
    kernel = ("-k", "linear", *FIXED)
    groups = ("--groups", "patient", "--drop", "part", *kernel, "--json")
    scored = json.loads(mklkit("evaluate", visits, "--cv", "3x2", *groups).out)
    assert scored["plan"]["folds"] == 3
    assert len(scored["folds"]) == 6
    assert scored["data"]["groups"] == "patient"
    assert "patient" not in scored["data"]["columns"]
    assert any("'code' alone gives the target" in note for note in scored["plan"]["notes"])
    left_out = json.loads(mklkit("evaluate", visits, "--cv", "groups", *groups).out)
    assert left_out["plan"]["folds"] == 20
    fitted = json.loads(mklkit("fit", visits, *groups).out)
    assert "groups of 20 at random" in fitted["split"]
    in_time = mklkit("evaluate", visits, "--cv", "time:3", *kernel).out
    assert "in the order of the samples" in in_time
    assert "1 sample of 60 is tested" in in_time


def test_names_of_groups_are_not_said_to_be_no_features_twice(mklkit: Run, tmp_path: Path) -> None:
    table = pd.DataFrame({"a": np.arange(301) % 7, "ill": np.arange(301) % 2})
    table = table.assign(patient=[f"p{row // 2}" for row in range(301)])
    table.to_csv(tmp_path / "a.csv", index=False)
    plain, grouped = (
        mklkit("fit", tmp_path / "a.csv", *FIXED, "-t", "ill", "-k", "linear", *more, "--json").json
        for more in ((), ("--groups", "patient"))
    )
    assert "different texts" in " ".join(plain["data"]["notes"])
    assert "'patient'" not in " ".join(grouped["data"]["notes"])


def test_what_is_chosen_inside_a_fit_keeps_groups_together(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = np.repeat(random.normal(size=(30, 3)), 3, axis=0)
    ill = np.repeat(random.permutation(30) % 2, 3)
    patients = np.repeat(np.arange(30), 3)
    table = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(ill=ill, patient=patients)
    table.to_csv(tmp_path / "a.csv", index=False)
    model = ("-t", "ill", "--groups", "patient", "-k", "rbf(sigma=0.5)", "-l", "ridge")
    done = mklkit("fit", tmp_path / "a.csv", *model, "--holdout", "0", "--json")
    mklkit("compare", tmp_path / "a.csv", *model, "-c", "uniform", "--cv", "2x1", "--baselines",
           "none", "-o", tmp_path / "best.mkl")  # fmt: skip
    by_hand = build_pipeline(MKLClassifier("rbf(sigma=0.5)", learner="ridge", random_state=0))
    features = table[["a", "b", "c"]]
    together = by_hand.fit(features, ill, classify__groups=patients)[-1].chosen_["learner__alpha"]
    apart = by_hand.fit(features, ill)[-1].chosen_["learner__alpha"]
    assert together[0] > 10 * apart[0]  # The labels are random: only copies of a row help.
    saved = load_model(tmp_path / "best.mkl")[-1].chosen_["learner__alpha"]
    assert done.json["model"]["chosen"]["learner__alpha"] == pytest.approx(together)
    assert saved == pytest.approx(together)


def test_the_split_of_a_column(mklkit: Run, visits: Path) -> None:
    options = ("--split-column", "part", "-k", "linear", "--json")
    fitted = json.loads(mklkit("fit", visits, *options).out)
    assert fitted["scores"]["held_out"]["rows"] == 17
    scored = json.loads(mklkit("evaluate", visits, *options).out)
    assert scored["folds"][0]["rows"] == 17
    refused = mklkit("fit", visits, "--split-column", "part", "--groups", "code")
    assert refused.code == 2
    assert "both to train on and to score" in refused.err


def test_noise_gives_no_target() -> None:
    random, labels = np.random.default_rng(1), np.repeat([0, 1], [3, 12])
    wide = pd.DataFrame(random.normal(size=(15, 1000)))
    separating = [c for c in wide if wide[c][:3].max() < wide[c][3:].min()]
    assert separating  # by chance, as there are so many
    assert not leakage_notes(wide, labels, [])
    assert not any(gives_class(wide[c], labels, 1000) for c in separating)


def test_rows_that_occur_twice_give_no_target() -> None:
    random = np.random.default_rng(2)
    twice = pd.DataFrame(random.normal(size=(14, 3))).loc[np.repeat(np.arange(14), 2)]
    labels = np.repeat(random.permutation(np.repeat([0, 1], 7)), 2)
    assert gives_class(twice[0], labels, 3)  # as if they were rows of their own
    assert not leakage_notes(twice, labels, [])


@pytest.mark.process
def test_explain_keeps_the_groups_of_the_model_or_stops(mklkit: Run, visits: Path) -> None:
    model, quick = visits.with_name("v.mkl"), ("--cv", "2", "--repeats", "1", "--json")
    columns = ("-k", "a:linear@a", "-k", "b:linear@b", *FIXED)
    mklkit("fit", visits, "-t", "ill", "--groups", "patient", *columns, "-o", model)
    remembered = mklkit("explain", model, visits, *quick).json
    asked = mklkit("explain", model, visits, *quick, "--groups", "patient").json
    assert remembered["scores"] == asked["scores"]
    assert any("'patient'" in note for note in remembered["data_notes"])
    free = mklkit("explain", model, visits, *quick, "--ignore-groups").json
    assert free["scores"] != asked["scores"]
    without = visits.with_name("without.csv")
    pd.read_csv(visits).drop(columns="patient").to_csv(without, index=False)
    stopped = mklkit("explain", model, without, *quick)
    assert (stopped.code, "'patient'" in stopped.err) == (2, True)
    assert mklkit("explain", model, without, *quick, "--ignore-groups").json == free | {
        "data": str(without),
        "seconds": pytest.approx(0, abs=1e9),
    }
    assert any("independent" in note and "patient" in note for note in free["data_notes"])
    both = mklkit("explain", model, visits, "--groups", "patient", "--ignore-groups")
    assert both.code == 2
    assert "'patient'" in mklkit("inspect", model).out
    assert "Samples with the same patient (20 groups)" in mklkit("inspect", model, "--methods").out


def test_rows_without_a_group_are_refused(mklkit: Run, visits: Path, tmp_path: Path) -> None:
    table = pd.read_csv(visits).astype({"patient": str})
    table.loc[[3, 5], "patient"] = np.nan
    table.to_csv(tmp_path / "gaps.csv", index=False)
    for command in ("fit", "evaluate"):
        done = mklkit(command, tmp_path / "gaps.csv", "--groups", "patient")
        assert done.code == 2
        assert f"of {len(table)} samples" in done.err
        assert "2 are missing" in done.err
