"""Wang, Chen and Sun 2008: printed numbers, divisions, and figures beside a transcription."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_papers.estimators import InTurn
from mklkit_papers.session import Session
from mklkit_papers.wang_2008 import EXPERIMENT, TABLE_2, TABLE_3
from oracles.coupled import multik_mhks
from printed_pages import lines_of, shown, use_of
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from mklkit import MKLClassifier
from mklkit.evaluation import make_splits

COUNTS = {
    "Soybean": (10, 10, 10, 17),
    "Balance": (49, 288, 288),
    "Sonar": (111, 97),
    "Wdbc": (212, 357),
    "Diabetes": (500, 268),
    "Iris": (50, 50, 50),
    "Wine": (59, 71, 48),
}
"""Rows of each class."""


def test_printed_accuracies_are_those_of_the_paper():
    assert len(TABLE_2) == 11
    assert all(len(row) == 8 for row in TABLE_2.values())
    assert TABLE_2["Soybean"]["MultiK-MHKS"].value == 99.57
    assert TABLE_2["Balance"]["SVM-2K"].value == 88.85


def test_printed_times_are_those_of_the_paper():
    assert list(TABLE_3) == list(TABLE_2)
    assert all(len(row) == 8 for row in TABLE_3.values())
    assert TABLE_3["Diabetes"]["MHKS"].value == 0.01
    assert TABLE_3["Letters"]["MultiK-MHKS"].value == 15902


@pytest.mark.parametrize("label", COUNTS)
def test_printed_accuracies_are_multiples_of_one_row_of_ten_test_parts(label):
    rows = COUNTS[label]
    plan = use_of(EXPERIMENT, label).division.splits(
        np.repeat(np.arange(len(rows)), rows), repeats=2
    )
    for split in plan.splits:
        assert len(np.union1d(split.train, split.test)) == sum(rows)
        unit = 100 / (10 * len(split.test))
        for printed in TABLE_2[label].values():
            assert unit * np.round(printed.value / unit) == pytest.approx(
                printed.value, abs=0.00501
            )
    assert not np.array_equal(plan.splits[0].test, plan.splits[1].test)


@pytest.mark.parametrize(
    ("label", "number"),
    [("Soybean", 2), ("Balance", 5), ("Sonar", 1), ("Wdbc", 4), ("Diabetes", 17), ("Wine", 1)],
)
def test_of_the_sizes_that_the_printed_accuracies_allow_the_nearest_to_a_half_is_taken(
    label, number
):
    rows, values = sum(COUNTS[label]), [printed.value for printed in TABLE_2[label].values()]
    allowed = [
        n
        for n in range(2, rows)
        if all(abs(round(value * n / 10) * 10 / n - value) < 0.00501 for value in values)
    ]
    assert len(allowed) == number
    test_rows = rows - sum(use_of(EXPERIMENT, label).division.train)
    assert min(allowed, key=lambda n: abs(n - rows / 2)) == test_rows


@pytest.mark.parametrize(("label", "value"), [("Wdbc", 62.96), ("Diabetes", 71.43)])
def test_some_published_accuracies_are_the_share_of_the_larger_class(label, value):
    labels = np.repeat([0, 1], COUNTS[label])
    plan = use_of(EXPERIMENT, label).division.splits(labels, repeats=1)
    test = labels[plan.splits[0].test]
    assert 100 * np.bincount(test).max() / len(test) == pytest.approx(value, abs=0.005)


def test_grids_in_turn_find_what_single_searches_find():
    rows, labels = load_iris(return_X_y=True)
    rows, labels = rows[::3], labels[::3]
    cut = list(make_splits(labels, 3))
    grids = [{"kernels": [["rbf"], ["linear"]]}, {"learner__C": [0.01, 1.0]}]
    fitted = InTurn(MKLClassifier(["rbf"], learner="svm(C=1.0)"), grids, cv=cut).fit(rows, labels)
    models = {
        kernel: MKLClassifier([kernel], learner="svm(C=1.0)", random_state=0)
        for kernel in ("rbf", "linear")
    }
    means = {
        name: cross_val_score(model, rows, labels, cv=cut).mean() for name, model in models.items()
    }
    kernel = max(means, key=means.get)
    chosen = models[kernel].set_params(learner=f"svm(C={fitted.best_params_['learner__C']})")
    assert fitted.best_params_["kernels"] == [kernel]
    assert fitted.best_score_ == pytest.approx(cross_val_score(chosen, rows, labels, cv=cut).mean())
    assert np.array_equal(fitted.predict(rows), chosen.fit(rows, labels).predict(rows))
    assert fitted.refit_time_ > 0


def test_single_machines_are_tuned_on_the_flowers():
    ((run,),) = Session(quick=True, repeats=1).cells(
        EXPERIMENT, use_of(EXPERIMENT, "Iris"), ["SVM1"]
    )
    assert run.reason is None
    assert (run.n_train, run.n_test) == (75, 75)
    assert run.scores["accuracy"] > 0.9
    assert 0 < run.refit_seconds < run.seconds
    assert set(run.params) == {"scaling", "kernels", "learner__C"}


def empirical_maps(rows):
    """Return the features of the paper's three kernels, equations (5) and (6)."""
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    sigma = np.sqrt(squared).mean()
    inner = rows @ rows.T
    for gram in (inner, np.exp(-squared / (2 * sigma**2)), (inner + 1) ** 2):
        values, vectors = np.linalg.eigh(gram)
        kept = values > 1e-12 * values.max()
        yield gram @ vectors[:, kept] / np.sqrt(values[kept])


def test_the_objective_by_iteration_is_that_of_the_transcription():
    rows, labels = load_iris(return_X_y=True)
    rows, y = rows[labels > 0], np.where(labels[labels > 0] == 2, 1.0, -1.0)
    features = list(empirical_maps((rows - rows.mean(axis=0)) / rows.std(axis=0)))
    expected = np.log(multik_mhks(features, y, c=1.0, lam=1.0).history)
    lines = lines_of("wang-2008-fig3", only=["Iris 2 v 3"])
    curve = [lines["Iris 2 v 3", str(k)].ours for k in range(1, 11)]
    np.testing.assert_allclose(curve, expected[:10], rtol=1e-8)
    counts = lines_of("wang-2008-fig3-iterations", only=["Iris 2 v 3"])
    ended = counts["Iris 2 v 3", "L changes by ξ = 10⁻³ at most"]
    assert ended.ours == len(expected) - 1
    stable = counts["Iris 2 v 3", "ln L within 0.01 of its last value"]
    inside = np.abs(expected - expected[-1]) <= 0.01
    assert inside[int(stable.ours) :].all()
    assert not inside[int(stable.ours) - 1]
    assert stable.holds


def test_the_page_has_the_iterations_of_today():
    lines = lines_of("wang-2008-fig3-iterations", only=["Iris 2 v 3", "Wdbc"])
    page = shown("wang-2008-fig3-iterations")
    assert len(lines) == 8
    for (row, column), line in lines.items():
        # The unit vector is one of features whose signs are those of some eigenvectors.
        if "as printed" not in row:
            assert line.ours == pytest.approx(page[row, column][0], abs=1), (row, column)


@pytest.mark.slow
def test_the_page_has_the_accuracies_of_today():
    (runs,) = Session().cells(EXPERIMENT, use_of(EXPERIMENT, "Iris"), ["SVM1"])
    mean, spread = shown("wang-2008-table2")["Iris", "SVM1"]
    assert len(runs) == 10
    reached = [100 * run.scores["accuracy"] for run in runs]
    assert np.mean(reached) == pytest.approx(mean, abs=spread / 2)
