"""``mklkit fit --scheduler``: the workers of a cluster, and what may be wrong with them."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Fitted, Run

from mklkit import MKLClassifier
from mklkit.errors import ClusterError
from mklkit.views.dask import rows

MAP = ("--map", "empirical(subset=20)", "--learner", "mhks", "--combiner", "dimkl5")


def test_dask_that_is_not_installed(
    mklkit: Run, fitted: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    mklkit("fit", fitted.data, *MAP, "--scheduler", "tcp://127.0.0.1:9").refused(
        "A scheduler needs Dask: pip install 'dask[array,dataframe,distributed]'."
    )


@pytest.mark.process
@pytest.mark.filterwarnings("default")
def test_a_fit_on_workers_is_a_fit_here(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    mklkit("fit", fitted.data, *MAP, "--scheduler", "tcp://127.0.0.1:9").refused(
        "No Dask scheduler answers at tcp://127.0.0.1:9"
    )
    wanted = mklkit("fit", fitted.data, *MAP, "--json", "--stream").json
    with distributed.LocalCluster(processes=False, n_workers=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        got = mklkit("fit", fitted.data, *MAP, "--json", "--scheduler", address).json
    weights = [
        [row["weight"] for row in metadata["model"]["weights"]] for metadata in (got, wanted)
    ]
    np.testing.assert_allclose(*weights, atol=1e-6)
    assert got["scores"]["held_out"] == wanted["scores"]["held_out"]


class Cluster:
    """A scheduler and a worker, each a process of its own, as `dask scheduler` starts them."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self.started("scheduler", "--host", "127.0.0.1", "--port", str(port))
        self.worker = self.started("worker", self.address, "--no-nanny", "--nthreads", "1")

    def started(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = (sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*command, *arguments], **quiet)  # type: ignore[call-overload,no-any-return]

    def stop(self) -> None:
        for process in (self.scheduler, self.worker):
            process.kill()
            process.wait()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    distributed = pytest.importorskip("distributed")
    cluster = Cluster()
    try:
        with distributed.Client(cluster.address, timeout=30, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=30)
        yield cluster
    finally:
        cluster.stop()


def lost(work: Callable[[], object], process: subprocess.Popen[bytes]) -> float:
    """Have a process killed as soon as the workers hold the rows; return the seconds of the end."""

    def held_then_killed(*arguments: Any) -> Any:
        result = persisted(*arguments)
        process.kill()
        process.wait()
        return result

    persisted = rows.persisted
    with mock.patch.object(rows, "persisted", held_then_killed):
        start = monotonic()
        work()
        return monotonic() - start


@pytest.mark.process
@pytest.mark.filterwarnings("default")
def test_a_scheduler_that_is_killed_during_a_fit(
    mklkit: Run, fitted: Fitted, cluster: Cluster
) -> None:
    def fit() -> None:
        outcome = mklkit("fit", fitted.data, *MAP, "--scheduler", cluster.address)
        outcome.refused("Dask's scheduler", "run this again")

    assert lost(fit, cluster.scheduler) < 20
    mklkit("fit", fitted.data, *MAP, "--scheduler", cluster.address).refused("No Dask scheduler")


@pytest.mark.process
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("process", ["scheduler", "worker"])
def test_a_lost_cluster_is_an_error_of_mklkit(cluster: Cluster, process: str) -> None:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(300, 3)), np.repeat([0, 1], 150)
    model = MKLClassifier(feature_map="empirical(subset=20)", learner="mhks", random_state=0)
    wait = {"distributed.scheduler.no-workers-timeout": "1 s"}
    with distributed.Client(cluster.address), dask.config.set(wait):
        table = pytest.importorskip("dask.array").from_array(X, chunks=(100, 3))

        def fit() -> None:
            with pytest.raises(ClusterError):
                model.fit(table, y)

        assert lost(fit, getattr(cluster, process)) < 20
    assert not hasattr(model, "fitted_")
