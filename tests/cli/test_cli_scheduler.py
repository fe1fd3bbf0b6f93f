"""``mklkit fit --scheduler``: the workers of a cluster, and what may be wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from processes import Fitted, Run

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
    weights = [[row["weight"] for row in facts["model"]["weights"]] for facts in (got, wanted)]
    np.testing.assert_allclose(*weights, atol=1e-6)
    assert got["scores"]["held_out"] == wanted["scores"]["held_out"]
