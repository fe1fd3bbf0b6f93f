"""A score that is one entry in its task's list is in fits, comparisons, tables and files."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.processes import write_plugin
from sklearn.datasets import load_wine
from sklearn.metrics import cohen_kappa_score

from mklkit import MKLClassifier, compare
from mklkit.evaluation import cross_validate, score
from mklkit.evaluation.result_tables import scores_result
from mklkit.protocols import Task
from mklkit.registry.registry import forget_registry
from mklkit.registry.tasks import task_named

X, Y = load_wine(return_X_y=True)
AGREEMENT = """
from sklearn.metrics import cohen_kappa_score
from mklkit import MKLClassifier
from mklkit.plugin import hookimpl
from mklkit.protocols.score import Score, of_labels
from mklkit.tasks import Classification

KAPPA = Score("kappa", of_labels(cohen_kappa_score), words="agreement beyond chance", head="Kappa")

class Rater(MKLClassifier):
    pass

class Agreement(Classification):
    name = "agreement"
    scores = (*Classification.scores, KAPPA)
    estimator = Rater

    @classmethod
    def fits(cls, model):
        return isinstance(model, Rater)

@hookimpl
def mklkit_tasks():
    return [Agreement]
"""


@pytest.fixture(autouse=True)
def agreement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Task]:
    """Return a package's task of classes, with a score of its own."""
    monkeypatch.syspath_prepend(write_plugin(tmp_path / "site", "agreement", AGREEMENT))
    forget_registry()
    yield task_named("agreement")
    sys.modules.pop("mklkit_agreement", None)
    forget_registry()
    importlib.invalidate_caches()


def test_every_command_computes_it(agreement: Task) -> None:
    truth, answers = ["a", "a", "b", "b", "c"], ["a", "b", "b", "b", "c"]
    scored = score(truth, answers, scores=agreement.scores)
    assert scored["kappa"] == pytest.approx(cohen_kappa_score(truth, answers))
    result = cross_validate(agreement.estimator(), X, Y, 2)
    for fold, split in zip(result.folds, result.splits, strict=True):
        predicted = MKLClassifier().fit(X[split.train], Y[split.train]).predict(X[split.test])
        assert fold["kappa"] == pytest.approx(cohen_kappa_score(Y[split.test], predicted))
    shown = scores_result(agreement, [{"name": "test", **scored}], "kappa")
    assert [column.key for column in shown.columns[:3]] == ["name", "rows", "kappa"]


@pytest.mark.process
def test_methods_are_ranked_by_it_and_all_files_show_it(tmp_path: Path) -> None:
    settings = {
        "methods": "uniform",
        "kernels": ["linear", "rbf"],
        "baselines": "none",
    }
    settings["learners"] = ["ridge"]
    for name in ("kappa", "accuracy"):
        done = compare(X, Y, task="agreement", cv="2x1", score=name, **settings)
        assert done.results["reason"].isna().all()
        table = done.table()
        assert (table["kappa"] < table["accuracy"]).all()
        assert (table["score"] == table[name]).all()
        for ending in ("html", "json", "tex", "csv"):
            done.report(tmp_path / f"a.{ending}")
        page = (tmp_path / "a.html").read_text()
        assert "Kappa" in page
        if name == "kappa":
            assert "agreement beyond chance on test samples" in page
            assert "agreement beyond chance" in done.how[0]
            assert "in agreement beyond chance" in done.verdict
            assert "kappa on test" not in page
        assert "Kappa" in (tmp_path / "a.tex").read_text()
        assert "kappa" in (tmp_path / "a.csv").read_text()
        assert "kappa" in json.dumps(json.loads((tmp_path / "a.json").read_text()))


def test_a_search_chooses_by_it() -> None:
    settings = {
        "methods": "uniform",
        "kernels": ["rbf"],
        "baselines": ["none"],
        "tune": 2,
    }
    done = compare(X, Y, task="agreement", cv="2x1", score="kappa", **settings)
    assert done.results["reason"].isna().all()
