"""Wang and Chen 2009: printed numbers, systems, and curves against naive transcriptions."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_papers.wang_2009 import EXPERIMENT, TABLE_2, TABLE_3, systems
from mklkit_papers.wang_2009_curves import WIDTHS, pair, training_error
from oracles.coupled import multiv_kmhks
from oracles.printed import table_1_of_wang_2009
from printed_pages import lines_of, needs_folder, shown


def test_printed_accuracies_are_those_of_the_paper():
    assert [len(row) for table in (TABLE_2, TABLE_3) for row in table.values()] == [3] * 8
    assert TABLE_2["Pima-diabetes"]["MultiV-KMHKS (RBF + POLY)"].value == 65.97
    assert TABLE_2["Pima-diabetes"]["KMHKS (POLY)"].test == "p = 8.5446e-06"


@pytest.mark.parametrize(("label", "test_rows"), [("Sonar", 108), ("Balance", 312)])
def test_printed_accuracies_are_multiples_of_one_row_of_ten_test_parts(label, test_rows):
    values = [cell.value for table in (TABLE_2, TABLE_3) for cell in table[label].values()]
    unit = 100 / (10 * test_rows)
    assert all(abs(unit * round(value / unit) - value) < 0.0051 for value in values)


def test_the_systems_are_the_columns_of_both_tables():
    columns = {name for table in (TABLE_2, TABLE_3) for name in table["Sonar"]}
    assert {system.name for system in systems(EXPERIMENT.sets[0])} == columns


def test_the_search_has_the_papers_couplings():
    (coupled, *_), single = systems(EXPERIMENT.sets[0]), systems(EXPERIMENT.sets[0])[-1]
    couplings = coupled.estimator.search.param_grid["combiner__lam"]
    np.testing.assert_allclose(np.log10(couplings), range(-5, 5))
    assert single.estimator.search.param_grid["combiner__lam"] == (0,)


def hard_rows():
    """Return two overlapping classes: rows, labels and the Gram matrices of Table 2."""
    rows = np.random.RandomState(0).randn(40, 2)
    y = np.repeat([-1.0, 1.0], 20)
    rows[20:] += 0.5
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    sigma = np.sqrt(squares).mean()
    return rows, y, [np.exp(-squares / (2 * sigma**2)), (rows @ rows.T + 1) ** 3]


@pytest.mark.parametrize("passes", [2, 3, 7])
def test_training_errors_are_those_of_naive_passes(passes):
    rows, y, grams = hard_rows()
    fit = multiv_kmhks(grams, y, c=1.0, gamma=1.0, tol=0.0, max_iter=passes)
    wrong = fit.outputs.mean(axis=0) * y < 0
    assert 0 < wrong.mean() < 0.5
    assert training_error("ifsl", passes, rows, y) == pytest.approx(100 * wrong.mean())


def test_training_errors_of_the_printed_order_are_those_of_table_1():
    rows, y, grams = hard_rows()
    zeros, margins = [np.zeros(41)] * 2, [np.full(40, 1e-6)] * 2
    end = table_1_of_wang_2009(
        grams, y, 1.0, [1.0] * 2, [0.99] * 2, [0.5] * 2, margins, zeros, xi=0.0, passes=5
    )
    outputs = [
        np.outer(y, y) * gram @ vector[:-1] + vector[-1] * y
        for gram, vector in zip(grams, end.omega, strict=True)
    ]
    wrong = sum(outputs) < 0
    error = training_error("ifsl(order='late-margins')", 5, rows, y)
    assert error == pytest.approx(100 * wrong.mean())


def test_widths_are_those_of_the_figure():
    assert len(WIDTHS) == 19
    np.testing.assert_allclose(WIDTHS[:10], np.arange(1, 11) / 10)
    assert pair(WIDTHS[-1])[1] == "other:rbf(sigma='10*mean')"


@needs_folder
@pytest.mark.slow
def test_alignment_grows_with_the_second_width_beyond_the_first():
    lines = lines_of("wang-2009-fig2", quick=True, repeats=1, only=["Sonar"])
    places = [float(column) for _, column in lines]
    assert len(places) == 6
    assert places == sorted(places)
    assert places[-1] == 1  # two kernels of the same width
    assert all(line.ours > 50 for line in lines.values())


@needs_folder
@pytest.mark.slow
def test_the_page_has_the_figures_errors():
    page = {place: ours for place, ours in shown("wang-2009-fig1").items() if place[0] == "Sonar"}
    assert len(page) == 19
    lines = lines_of("wang-2009-fig1", only=["sonar"])
    for place, (mean, _) in page.items():
        assert lines[place].repeats == 10
        assert lines[place].ours == pytest.approx(mean, abs=0.2)
