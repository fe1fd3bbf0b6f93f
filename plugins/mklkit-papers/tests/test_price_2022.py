"""Price et al. 2022: printed numbers, the tables of weights, their figure and the times."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mklkit_papers.entries import find_entries
from mklkit_papers.price_2022 import HEURISTICS, TABLE_6, WEIGHTS, draw_mean_weights
from mklkit_papers.price_2022_times import TABLE_10, synthetic_rows
from mklkit_papers.session import Session
from printed_pages import lines_of, needs_folder, shown


def test_printed_accuracies_are_those_of_the_paper():
    assert [len(row) for row in TABLE_6.values()] == [14, 14, 14]
    assert TABLE_6["Sonar"]["K1"].value == 58.39
    assert TABLE_6["Sonar"]["K1"].spread == 11.22


def test_printed_weights_are_those_of_the_paper():
    tables = dict(WEIGHTS.values())
    assert all([len(row) for row in table.values()] == [8] * 5 for table in tables.values())
    assert tables["Sonar"]["κ2"]["DiMKL2"].value == 0.81
    assert tables["Sonar"]["κ5"]["DiMKL6"].value == 0.34


def test_printed_weights_add_up_to_one_with_one_exception():
    sums = {
        (label, name): sum(row[name].value for row in table.values())
        for label, table in WEIGHTS.values()
        for name in next(iter(table.values()))
    }
    off = {key: total for key, total in sums.items() if abs(total - 1) > 0.035}
    assert off == pytest.approx({("Sonar", "DiMKL6"): 1.24})


def test_printed_times_are_those_of_the_paper():
    assert [len(row) for row in TABLE_10.values()] == [5] * 7
    assert TABLE_10["DiMKL1"]["25000"].value == 0.0023
    assert TABLE_10["DiMKL6"]["5000"].value == 0.8293


@pytest.mark.parametrize("name", ["price-2022-table3", "price-2022-table4"])
def test_explosive_hazards_are_named_as_missing(name):
    (entry,) = find_entries([name])
    metadata = entry.run(Session())
    assert not metadata.lines
    assert "never published" in next(iter(metadata.left_out.values()))


def test_times_are_of_arrays_of_so_many_similarities():
    lines = lines_of("price-2022-table10", quick=True, repeats=1)
    for method in HEURISTICS:
        for column in TABLE_10[method]:
            line = lines[method, column]
            assert line.ours > 0
            assert line.printed is not None
        assert lines[f"{method}, n samples", "1000"].printed is None
        assert (f"{method}, n samples", "5000") not in lines
    assert math.isnan(lines["MKLGL", "25000"].ours)
    assert "23 GiB" in lines["MKLGL", "25000"].reason


def test_synthetic_rows_are_scaled_as_those_of_the_paper():
    rows, y = synthetic_rows(20)
    np.testing.assert_allclose([rows.min(axis=0), rows.max(axis=0)], [[-1] * 10, [1] * 10])
    assert (rows[y > 0].mean(axis=0) > rows[y < 0].mean(axis=0)).sum() > 7


@needs_folder
def test_the_figures_weights_add_up_to_one():
    pytest.importorskip("matplotlib").use("Agg")
    lines = lines_of("price-2022-fig4", repeats=2, only=["sonar"])
    for name in HEURISTICS:
        curve = [lines[f"Sonar, {name}", str(place)] for place in range(1, 6)]
        assert sum(line.ours for line in curve) == pytest.approx(1)
        assert all(0 <= line.spread < 0.1 for line in curve)
    drawn = draw_mean_weights(list(lines.values()))
    assert list(drawn.curves) == list(HEURISTICS)


@needs_folder
@pytest.mark.slow
def test_the_page_has_the_figures_weights():
    page = {
        place: ours for place, ours in shown("price-2022-fig4").items() if place[0][:5] == "Sonar"
    }
    assert len(page) == 30
    lines = lines_of("price-2022-fig4", only=["Sonar"])
    for place, (mean, spread) in page.items():
        assert lines[place].ours == pytest.approx(mean, abs=0.0051)
        assert lines[place].spread == pytest.approx(spread, abs=0.0051)
