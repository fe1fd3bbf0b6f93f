"""The simulation of answers on two studies a setting, because the page has two hundred."""

from __future__ import annotations

import sys

import bench_answers
import numpy as np
import pytest
from simulated_studies import FoldFits, folds, numbers, plain, rare
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score


@pytest.mark.parametrize("setting", [plain, rare, numbers])
def test_the_formula_is_scikit_learns_ridge_regression(setting) -> None:
    study = setting(60, np.random.default_rng(0))
    fits = FoldFits.of(study, folds(study, 1, 0))
    sources = list(study.sources)[:2]
    columns = np.hstack([study.sources[name] for name in sources]) / np.sqrt(2)
    decided = fits.on_sources(sources)
    scores, target = [], study.target
    for place, (train, test) in enumerate(folds(study, 1, 0)):
        model = Ridge(alpha=10.0).fit(columns[train], target[train])
        predicted = model.predict(columns[test])
        np.testing.assert_allclose(decided[place, test], predicted)
        if not study.is_regression:
            measure = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score}
            classes = np.where(predicted > 0, 1, -1)
            scores.append(measure[study.score](target[test], classes))
    if study.is_regression:
        order = np.concatenate([split.test for split in fits.splits])
        values = np.concatenate([decided[j, s.test] for j, s in enumerate(fits.splits)])
        assert fits.scores(decided).mean() == pytest.approx(r2_score(target[order], values))
    else:
        np.testing.assert_allclose(fits.scores(decided), scores)


@pytest.mark.slow
def test_the_table_has_a_row_for_each_setting_and_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the commands' own results for a study of each setting."""
    settings = ["plain", "patients", "heavy_tails"]
    arguments = ["--sizes", "90", "--studies", "2", "--further", "2", "--commands", "1"]
    monkeypatch.setattr(sys, "argv", ["bench_answers.py", *arguments, "--settings", *settings])
    bench_answers.main()
    _, _, *rows = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] for row in cells] == np.repeat(["plain", "patients", "heavy tails"], 2).tolist()
    assert {len(row) for row in cells} == {8}
    # Six patients are too few for a verdict.
    assert [row[-1] for row in cells[:4]] == ["0", "0", "100", "100"]
