"""Wang et al. 2013: printed numbers, divisions, Glass with row numbers, and the figure's curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mklkit_papers.entries import find_entries
from mklkit_papers.session import Session
from mklkit_papers.wang_2013 import (
    EXPERIMENT,
    LEFT_OUT,
    TABLE_2,
    TABLE_3,
    logarithms,
    resolved,
    systems,
    with_row_number,
)
from oracles.coupled import multik_mhks
from printed_pages import lines_of, needs_folder, shown, use_of

from mklkit import RPEMEKLClassifier, TableEncoder
from mklkit.comparison.data import data_sets
from mklkit.errors import DataError
from mklkit.evaluation.study import Roles

COUNTS = {
    "Glass": (70, 76, 17, 13, 9, 29),
    "House-votes": (267, 168),
    "Ionosphere": (225, 126),
    "Iris": (50, 50, 50),
    "Pima": (500, 268),
    "Sonar": (111, 97),
    "Clean": (207, 269),
    "Wine": (59, 71, 48),
    "Segmentation": (330,) * 7,
}
"""Rows of each class."""


def test_printed_accuracies_are_those_of_the_paper():
    assert len(TABLE_2) == 14
    assert all(len(row) == 6 for row in TABLE_2.values())
    assert TABLE_2["Cmc"]["MKL"].value == 29.37
    assert TABLE_2["Cmc"]["MKL"].spread == 9.28
    assert repr(TABLE_2["Glass with row number"]) == repr(TABLE_2["Glass"])


def test_printed_times_are_those_of_the_paper():
    assert len(TABLE_3) == 13
    assert all(len(row) == 5 for row in TABLE_3.values())
    assert TABLE_3["Cmc"]["SVM-2K"].value == 0.17
    assert TABLE_3["Page-block"]["MKL"].value == 57266


@pytest.mark.parametrize("label", COUNTS)
def test_printed_accuracies_are_multiples_of_one_row_of_ten_halves(label):
    unit = 100 / (10 * sum(count // 2 for count in COUNTS[label]))
    values = [cell.value for name, cell in TABLE_2[label].items() if name != "MKDA(SDP)"]
    fitting = [abs(unit * round(value / unit) - value) < 0.00501 for value in values]
    assert len(fitting) == 5
    assert 5 - sum(fitting) == {"Clean": 1, "Sonar": 1, "Wine": 2}.get(label, 0)


@pytest.mark.parametrize(
    ("label", "share"),
    [("House-votes", 50 / 130), ("Ionosphere", 67 / 105), ("Pima", 150 / 230), ("Clean", 81 / 143)],
)
def test_mkda_was_printed_as_the_share_of_a_class_in_three_tenths_of_the_rows(label, share):
    printed = TABLE_2[label]["MKDA(SDP)"]
    assert printed.value == pytest.approx(100 * share, abs=0.005)
    assert printed.spread == 0


def test_a_peer_is_run_or_said_to_be_left_out():
    (entry,) = find_entries(["wang-2013-table2"])
    names = set(TABLE_2["Iris"])
    for use in EXPERIMENT.sets:
        run = {system.name for system in systems(use)}
        absent = {name for label, name in LEFT_OUT if label == use.label}
        assert run | absent == names
        assert not run & absent
        assert all(f"{use.label}, {name}" in entry.missing for name in absent)


def test_glass_gets_its_row_number_as_a_column_that_is_used(tmp_path):
    classes = np.repeat(["headlamps", "tableware", "build wind float", "containers"], [4, 3, 5, 2])
    rows = pd.DataFrame({"RI": np.linspace(1.5, 1.6, 14), "Na": np.arange(14) % 5})
    rows.assign(target=classes).sample(frac=1, random_state=0).to_csv(
        tmp_path / "glass.csv", index=False
    )
    session = Session(tmp_path)
    plain = session.data(use_of(EXPERIMENT, "Glass"))
    data = session.data(use_of(EXPERIMENT, "Glass with row number"))
    assert list(plain.features) == ["RI", "Na"]
    assert (plain.name, data.name) == ("glass", "glass-numbered")
    assert sorted(data.features["Id"]) == list(range(1, 15))
    spans = data.features["Id"].groupby(data.target).agg(["min", "max"])
    assert spans.loc["build wind float"].tolist() == [1, 5]
    assert spans.loc["containers"].tolist() == [6, 7]
    assert spans.loc["tableware"].tolist() == [8, 10]
    assert spans.loc["headlamps"].tolist() == [11, 14]
    encoder = TableEncoder(schema=data.schema).fit(data.features)
    assert "Id" in encoder.get_feature_names_out()


@pytest.mark.slow
def test_the_papers_own_systems_run_on_the_flowers():
    names = ["RPEMEKL (p = 0.1)", "MultiK-MHKS"]
    for (run,) in Session(repeats=1).cells(EXPERIMENT, use_of(EXPERIMENT, "Iris"), names):
        assert run.reason is None
        assert (run.n_train, run.n_test) == (75, 75)
        assert run.scores["accuracy"] > 0.9
        assert 0 < run.refit_seconds < run.seconds
        assert run.params["scaling"] in ("raw", "standardised")


def test_curves_are_those_of_the_transcription(two_classes):
    rows, y = two_classes
    model = RPEMEKLClassifier(subset=0.3, alpha=2.0, lam=0.5, random_state=0).fit(rows, y)
    curves = logarithms(model)
    assert len(curves) == 3
    for member, curve in zip(model.members_, curves, strict=True):
        maps = [projector.map for projector in member.decisions_[0].projectors]
        naive = multik_mhks([view_map.transform(rows) for view_map in maps], y, c=2.0, lam=0.5)
        np.testing.assert_allclose(curve, np.log(naive.history), rtol=1e-8)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [([2.0, 1.0, 1.0], 2), ([1.009, 1.0], 1), ([3.0, 2.0, 1.011, 1.0], 4), ([1.0], 1)],
)
def test_a_curve_has_settled_within_a_hundredth_of_its_end(curve, expected):
    assert resolved(np.array(curve)) == expected


def test_the_figure_has_a_curve_and_a_count_per_set(tmp_path, rng):
    labels = np.repeat(["M", "R"], 30)
    rows = pd.DataFrame(rng.normal(size=(60, 3)) + (labels == "M")[:, None], columns=list("abc"))
    rows.assign(target=labels).to_csv(tmp_path / "sonar.csv", index=False)
    (entry,) = find_entries(["wang-2013-fig1"])
    metadata = entry.run(Session(tmp_path, repeats=2, only=["sonar", "clean"]))
    clean, *sonar = metadata.lines
    assert "clean1.csv" in clean.reason
    curve = [line.ours for line in sonar[:-1]]
    assert [line.column for line in sonar] == [*"12345678", "settled after"]
    assert (np.diff(curve) <= 1e-12).all()
    assert sonar[-1].holds is (sonar[-1].ours <= 4)
    assert list(entry.draw(metadata.lines).curves) == ["Sonar"]


@needs_folder
def test_the_page_has_the_curves_of_today():
    page = shown("wang-2013-fig1")
    for place, line in lines_of("wang-2013-fig1", only=["Sonar"]).items():
        assert line.ours == pytest.approx(page[place][0], abs=0.01), place


@pytest.mark.slow
def test_the_page_has_the_accuracies_of_today():
    (runs,) = Session().cells(EXPERIMENT, use_of(EXPERIMENT, "Iris"), ["MultiK-MHKS"])
    mean, spread = shown("wang-2013-table2")["Iris", "MultiK-MHKS"]
    assert len(runs) == 10
    reached = [100 * run.scores["accuracy"] for run in runs]
    assert np.mean(reached) == pytest.approx(mean, abs=spread / 2)


def test_glass_with_other_names_of_classes_is_refused():
    rows = pd.DataFrame({"RI": [1.5, 1.6]})
    (data,) = data_sets({"glass": (rows, np.array([1, 2]))}, None, Roles())
    with pytest.raises(DataError, match="glass has classes other than build wind float"):
        with_row_number(data)
