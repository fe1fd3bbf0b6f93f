"""Rows on a cluster: two worker processes give what one machine gives, also if one of them dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mklkit import MKLClassifier, MKLKitError, MKLSearchCV, MKLVotingClassifier
from mklkit.errors import DataError, IncompatibleError
from mklkit.views import dask as scheduling
from mklkit.views.dask.rows import DaskRows

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

pytestmark = [pytest.mark.process, pytest.mark.filterwarnings("default")]

MODEL: dict[str, Any] = {
    "kernels": ["rbf(sigma='mean')", ("first", "rbf(sigma=1.0)", [0, 1]), "linear"],
    "feature_map": "empirical(subset=20)",
    "learner": "mhks(tol=0.01)",
    "random_state": 0,
}


def data(n_classes: int = 2, n_rows: int = 4500) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(7)
    y = draw.integers(0, n_classes, n_rows)
    X = draw.normal(size=(n_rows, 4))
    X[:, 0] += 1.5 * y
    X[:, 2] *= 1 + y
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(dashboard_address=None, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def check_same(model: MKLClassifier, rows: Any, labels: Any, X: Any, y: Any) -> MKLClassifier:
    here = MKLClassifier(**model.get_params(deep=False)).fit(X, y)
    there = model.fit(rows, labels)
    np.testing.assert_allclose(there.weights_, here.weights_, rtol=0, atol=1e-6)
    scores = here.decision_function(X)
    lazy = there.decision_function(rows)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), scores, rtol=0, atol=1e-5)
    near = np.sort(np.abs(scores)) if scores.ndim == 1 else np.sort(scores)[:, -1]
    margin = np.abs(scores) if scores.ndim == 1 else near - np.sort(scores)[:, -2]
    same = there.predict(rows).compute() == here.predict(X)
    assert same[margin > 1e-4].all()
    return there


SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("uniform", "ifsl(lam=0.5)", "dimkl3", "alignment", "dimkl6")
]


@pytest.mark.parametrize("combiner", ["dimkl5", *SLOW])
def test_a_cluster_gives_what_one_machine_gives(cluster: Any, combiner: str) -> None:
    X, y = data()
    rows, labels = da.from_array(X, chunks=(2100, 3)), da.from_array(y, chunks=1500)
    check_same(MKLClassifier(combiner=combiner, **MODEL), rows, labels, X, y)


@pytest.mark.parametrize("combiner", [pytest.param("dimkl5", marks=pytest.mark.slow), "ifsl"])
def test_the_smooth_objective_is_that_of_one_machine(cluster: Any, combiner: str) -> None:
    X, y = data()
    rows, labels = da.from_array(X, chunks=(2100, 3)), da.from_array(y, chunks=1500)
    learner = "mhks(solver='smooth', tol=1e-9)"
    model = MKLClassifier(combiner=combiner, **{**MODEL, "learner": learner})
    check_same(model, rows, labels, X, y)


@pytest.mark.slow
def test_three_classes_in_a_frame_of_unknown_lengths(cluster: Any) -> None:
    dd = pytest.importorskip("dask.dataframe")
    X, y = data(3)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    table = dd.from_pandas(frame, npartitions=3)
    table = table[table.a > -9]
    model = MKLClassifier(combiner="dimkl5", **MODEL)
    there = check_same(model, table[list("abcd")], table.label, frame[list("abcd")], y)
    assert there.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(
        DataError, match=r"trained on the columns a, b, c, d; these samples have b, a"
    ):
        there.predict(table[list("bacd")])
    with pytest.raises(DataError, match=r"trained on 4 columns; these have 2"):
        there.predict(da.zeros((3, 2)))


class Killer(distributed.SchedulerPlugin):
    """Kills a worker once the scheduler has so many results, and counts those that come later."""

    def __init__(self, process: int, after: int) -> None:
        self.process, self.after, self.later = process, after, 0

    def transition(self, key: Any, start: str, finish: str, *details: Any, **more: Any) -> None:
        """Count a result that a worker has computed."""
        if (start, finish) != ("processing", "memory"):
            return
        self.after -= 1
        self.later += self.after < 0
        if self.after == 0:
            os.kill(self.process, signal.SIGKILL)


def test_a_killed_worker_changes_nothing(cluster: Any) -> None:
    X, y = data()
    killer = Killer(next(iter(cluster.run(os.getpid).values())), after=20)
    cluster.cluster.scheduler.add_plugin(killer)
    model = MKLClassifier(combiner="ifsl", **MODEL)
    check_same(model, da.from_array(X, chunks=(2100, 4)), y, X, y)
    assert killer.later > 10
    cluster.wait_for_workers(2)


def test_rows_are_read_by_slice_number_and_mask(cluster: Any) -> None:
    X, _ = data()
    rows = DaskRows.of(da.from_array(X.astype(np.float32), chunks=(2100, 2)))
    assert rows.dtype == np.float32
    X = X.astype(np.float32)
    numbers = np.array([4499, 0, 2100, 2100, 17])
    for place in (slice(2000, 4300), slice(0, 0), numbers, X[:, 0] > 1, np.array([-1])):
        np.testing.assert_array_equal(rows[place], X[place])
    members = np.flatnonzero(X[:, 0] > 0)
    np.testing.assert_array_equal(rows.take(members)[10:20], X[members][10:20])
    np.testing.assert_array_equal(rows.take(numbers)[:], X[numbers])
    whole = DaskRows.of(da.from_array(np.arange(10).reshape(5, 2), chunks=(1, 1)))
    assert whole.dtype == np.float64
    assert len(whole.lengths) == 1


def test_what_cannot_be_learned_from_is_refused(cluster: Any) -> None:
    X, y = data()
    X[3210, 2] = np.nan
    with pytest.raises(DataError, match=r"Sample 3210 \(counted from 0\) has NaN or infinity"):
        MKLClassifier(combiner="dimkl5", **MODEL).fit(da.from_array(X, chunks=(2100, 4)), y)
    fine = da.zeros((4500, 4))
    for settings in ({}, {"feature_map": "empirical", "learner": "mhks"}):
        with pytest.raises(IncompatibleError, match=r"use feature_map='empirical\(subset=1000\)'"):
            MKLClassifier(**settings).fit(fine, y)
    with pytest.raises(DataError, match="4499 for 4500"):
        MKLClassifier(**MODEL).fit(fine, y[:-1])
    with pytest.raises(DataError, match="it has 1 axes"):
        MKLClassifier(**MODEL).fit(fine[:, 0], y)


def test_workers_must_have_the_same_mklkit(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scheduling.workers_in_use().threads == 2
    versions = cluster.get_versions(packages=["mklkit"])
    for worker in versions["workers"].values():
        worker["packages"] = {**worker["packages"], "mklkit": None}
    monkeypatch.setattr(distributed.Client, "get_versions", lambda *arguments, **named: versions)
    with pytest.raises(MKLKitError, match=r"worker tcp://.* has mklkit None .*, and this process"):
        scheduling.workers_in_use()
    with pytest.raises(MKLKitError, match=r"No Dask scheduler answers at tcp://127.0.0.1:9"):
        scheduling.connected("tcp://127.0.0.1:9", seconds=0.5)


@pytest.mark.slow
def test_searches_run_on_the_cluster(cluster: Any) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = data(3, 300)
    model = MKLClassifier(combiner="ifsl", **MODEL)
    grid = {"combiner__lam": [0.5, 2.0]}
    here = GridSearchCV(model, grid, cv=3).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        there = GridSearchCV(model, grid, cv=3, n_jobs=2).fit(X, y)
        local = MKLSearchCV(model, grid, cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"]
    )
    assert len(local.cv_results_["params"]) == 2


def test_without_a_client_dask_uses_this_process() -> None:
    X, y = data(n_rows=3000)
    check_same(MKLClassifier(combiner="dimkl5", **MODEL), da.from_array(X, chunks=900), y, X, y)


def test_probabilities_of_rows_in_dask_are_those_in_memory() -> None:
    X, y = data(3, n_rows=300)
    rows = da.from_array(X, chunks=(110, 4))
    model = MKLClassifier(**{**MODEL, "learner": "kda"}, probability=True)
    here, there = model.fit(X, y).predict_proba(X), clone(model).fit(rows, y).predict_proba(rows)
    assert isinstance(there, da.Array)
    np.testing.assert_allclose(there.compute(), here, atol=1e-6)
    vote = MKLVotingClassifier(model, n_members=2, random_state=0).fit(X, y)
    assert (vote.predict(rows).compute() == vote.predict(X)).all()
    for method in (vote.decision_function, vote.predict_proba):
        np.testing.assert_allclose(method(rows).compute(), method(X), atol=1e-9)
