"""A task of a package with two target columns, through every command: the listing of its page."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from helpers.documents import listings
from helpers.processes import Outcome, Run, on_path, run_in_process, run_listing, write_plugin

PAGE = "docs/guides/plugins/write-a-task.md"
N_ROWS = 90


@attrs.frozen
class Site:
    """A table of intervals, and the environment in which the package of the task is installed."""

    table: Path
    model: Path
    environment: dict[str, str]

    def run(self, *arguments: object) -> Outcome:
        outcome = run_in_process(*arguments, **self.environment)
        assert outcome.code == 0, outcome
        return outcome


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("intervals")
    source, *_ = listings(PAGE, "python")
    where = on_path(write_plugin(folder / "site", "interval", source))
    where["XDG_CACHE_HOME"] = str(folder / "cache")
    random = np.random.default_rng(0)
    rows = random.normal(size=(N_ROWS, 3))
    numbers = rows[:, 0] + np.sin(rows[:, 1])
    frame = pd.DataFrame(rows, columns=list("abc"))
    frame["lo"], frame["upper"] = numbers - random.random(N_ROWS), numbers + random.random(N_ROWS)
    frame.loc[3, "upper"] = np.nan
    frame.to_csv(folder / "table.csv", index=False)
    whole = Site(folder / "table.csv", folder / "model.mkl", where)
    whole.run("fit", whole.table, "--task", "interval", "--lower", "lo", "-o", whole.model)
    return whole


def distances(site: Site, predictions: Any) -> Any:
    """Return how far predictions are from the intervals, by hand."""
    bounds = pd.read_csv(site.table)
    below, above = bounds["lo"] - predictions, predictions - bounds["upper"]
    return np.maximum(np.maximum(below, above), 0)[bounds["upper"].notna()]


def test_predictions_are_scored_by_both_columns(site: Site) -> None:
    done = site.run("predict", site.model, site.table)
    table = pd.read_csv(io.StringIO(done.out))
    assert list(table) == ["prediction"]
    outside = distances(site, table["prediction"])
    share = 100 * (outside == 0).mean()
    assert f"distance {outside.mean():.4g}, inside {share:.1f} %" in done.err
    assert f"on the {N_ROWS - 1} samples" in done.err


def test_its_options_name_the_task(site: Site) -> None:
    named = site.run("fit", site.table, "--task", "interval", "--lower", "lo", "--json").json
    inferred = site.run("fit", site.table, "--lower", "lo", "--upper", "upper", "--json").json
    for result in (named, inferred):
        assert result["data"]["targets"] == ["lo", "upper"]
        assert result["data"]["task"] == result["model"]["task"] == "interval"
        assert result["model"]["learner"] == "bounds-ridge"
        assert result["scores"]["held_out"]["better_than_baseline"]
    assert named["scores"] == inferred["scores"]


def test_wrong_options_are_refused(site: Site) -> None:
    run_in_process(
        "fit", site.table, "--task", "regression", "--lower", "a", **site.environment
    ).refused("--lower", "regression")
    run_in_process("fit", site.table, "--task", "intervals", **site.environment).refused(
        "interval", "Did you mean"
    )
    run_in_process("fit", site.table, "--task", "interval", **site.environment).refused("'lower'")
    swapped = ("--lower", "upper", "--upper", "lo")
    run_in_process("fit", site.table, *swapped, **site.environment).refused("lower one first")


WRONG_TARGETS = """
import numpy as np
from mklkit import DataError, compare, explain
from mklkit_interval import IntervalTaskRegressor

X = np.random.default_rng(0).normal(size=(30, 2))
right = np.column_stack([X[:, 0] - 1, X[:, 0] + 1])
text = right.astype(object)
text[3, 0] = "low"
model = IntervalTaskRegressor("rbf").fit(X, right)
for wrong in (right[:, ::-1], text):
    for call in (
        lambda: IntervalTaskRegressor("rbf").fit(X, wrong),
        lambda: compare(X, wrong, task="interval", methods="uniform", cv="2x1"),
        lambda: explain(model, X, wrong, cv=2, repeats=1),
    ):
        try:
            call()
        except DataError as error:
            print(error)
"""


def test_wrong_targets_raise_the_same_error_everywhere(site: Site, tmp_path: Path) -> None:
    done = run_listing(WRONG_TARGETS, {}, tmp_path, **site.environment)
    lines = done.out.splitlines()
    assert len(lines) == 6, done
    assert len(set(lines)) == 1
    assert "the lower one first" in lines[0]
    frame = pd.read_csv(site.table)
    frame.loc[5, "lo"] = frame.loc[5, "upper"] + 1
    frame.to_csv(tmp_path / "swapped.csv", index=False)
    swapped = "predict", site.model, tmp_path / "swapped.csv", "-o", tmp_path / "answers.csv"
    run_in_process(*swapped, **site.environment).refused("lower one first")
    assert not (tmp_path / "answers.csv").exists()


@pytest.mark.process
def test_kernels_are_proposed_and_weighted_by_the_response(site: Site) -> None:
    options = "--lower", "lo", "--combiner", "alignment", "--kernels", "auto", "--json"
    fitted = site.run("fit", site.table, *options).json
    assert any(choice.startswith("kernels auto: ") for choice in fitted["choices"])
    proposed = site.run("kernels", site.table, "--lower", "lo", "-k", "auto", "--json").json
    assert proposed["kernels"]


@pytest.mark.process
def test_it_is_tuned_evaluated_and_compared(site: Site, tmp_path: Path) -> None:
    task = "--lower", "lo"
    tuned = site.run("fit", site.table, *task, "--tune", "fast", "--json").json
    assert any("best of 3 settings" in choice for choice in tuned["choices"])
    folds = site.run("evaluate", site.table, *task, "--cv", "3", "--json").json
    assert folds["plan"]["folds"] == 3
    assert folds["scores"]["distance"]["mean"] < folds["scores"]["baseline"]["mean"]
    reports = [tmp_path / f"report.{ending}" for ending in ("html", "json", "tex", "csv")]
    written = [part for path in reports for part in ("--report", path)]
    options = "--cv", "2x1", "-c", "alignment", *written, "-o", tmp_path / "best.mkl", "--json"
    compared = site.run("compare", site.table, *task, *options).json
    assert (compared["plan"]["task"], compared["plan"]["score"]) == ("interval", "neg_distance")
    methods = {row["method"]: row for row in compared["tables"]["table"]}
    assert {"alignment", "uniform", "best-single"} <= methods.keys()
    assert methods["uniform"]["score"] == pytest.approx(-methods["uniform"]["distance"])
    assert methods["uniform"]["score"] > methods["uniform"]["guess"]
    page = reports[0].read_text("utf-8")
    assert "Inside" in page
    assert "<h3>Distances</h3>" in page
    assert "within a distance of their intervals" in page
    assert 'aria-label="Distances on table"' in page
    check_distances(json.loads(reports[1].read_text("utf-8"))["cells"])
    assert site.run("predict", tmp_path / "best.mkl", site.table).out.startswith("prediction")


def check_distances(cells: list[dict[str, Any]]) -> None:
    """Check what was kept for the picture against the scores of each fit."""
    for cell in cells:
        distances = np.array(cell["details"]["distances"])
        assert len(distances) == cell["n_test"]
        assert distances.mean() == pytest.approx(cell["scores"]["distance"])
        assert (distances == 0).mean() == pytest.approx(cell["scores"]["inside"])


STRUCTURED = """
import numpy as np
import pandas as pd
from mklkit_interval import IntervalTask, IntervalTaskRegressor

class FieldsTask(IntervalTask):
    def as_array(self, y):
        return super().as_array(pd.DataFrame(y).to_numpy())

X = np.random.default_rng(0).normal(size=(30, 2))
columns = np.column_stack([X[:, 0] - 1, X[:, 0] + 1])
fields = np.array([tuple(row) for row in columns], dtype=[("lower", float), ("upper", float)])
predicted = [IntervalTaskRegressor("rbf").fit(X, y).predict(X) for y in (columns, fields)]
checked = FieldsTask(["lower", "upper"]).checked(fields, 30)
"""


def test_a_structured_array_is_read_as_its_columns(site: Site, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    done = run_listing(STRUCTURED, names, tmp_path, **site.environment)
    assert done.code == 0, done
    np.testing.assert_array_equal(*names["predicted"])
    np.testing.assert_array_equal(names["checked"], names["columns"])


@pytest.mark.process
def test_a_model_is_explained_and_inspected(site: Site) -> None:
    explained = site.run("explain", site.model, site.table, "--cv", "2x1", "--json").json
    assert explained["score"] == "neg_distance"
    assert len(explained["kernels"]) == 3
    shown = site.run("inspect", site.model).out
    assert "intervals" in shown
    assert "mklkit-interval" in shown
    assert "lo, upper" in site.run("inspect", site.model, "--methods").out


def test_outliers_are_fitted_without_the_target(mklkit: Run) -> None:
    for command in (("fit",), ("evaluate", "--cv", "2")):
        done = mklkit(*command, "breast_cancer", "--task", "outliers", "--json")
        assert done.code == 0, done
        assert done.json["model"]["learner"].startswith("one-class-svm")
        assert done.json["data"]["task"] == "outliers"


def test_it_is_listed_and_offered(site: Site, mklkit: Run) -> None:
    assert "interval" in site.run("list", "tasks").out
    assert "interval" in site.run("describe", "interval").out
    assert "--lower" in site.run("fit", "--help").out
    assert "--lower" not in mklkit("fit", "--help").out
