"""Fixtures for the command line: data, and one model fitted on them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Fitted, Run, run_in_process, run_mklkit


@pytest.fixture(scope="session")
def mklkit() -> Run:
    """Return what runs a command inside this process."""
    return run_in_process


@pytest.fixture(scope="session")
def started() -> Run:
    """Return what runs a command in a fresh interpreter, for tests that are marked ``process``."""
    return run_mklkit


@pytest.fixture(scope="session")
def patients() -> pd.DataFrame:
    """Mixed types, gaps, three classes of uneven size; the classes can be learned."""
    random = np.random.default_rng(11)
    kinds = np.repeat(["well", "ill", "very ill"], [60, 40, 20])
    level = pd.Series(kinds).map({"well": 0.0, "ill": 3.0, "very ill": 6.0})
    frame = pd.DataFrame(
        {
            "fever": level + random.normal(size=120),
            "ward": np.where(random.random(120) < 0.5, "north", "south"),
            "smokes": random.random(120) < 0.3,
            "pulse": (60 + 5 * level + random.normal(size=120)).round(),
            "target": kinds,
        }
    ).sample(frac=1, random_state=0, ignore_index=True)
    frame.loc[frame.index[::9], "pulse"] = np.nan
    frame.loc[frame.index[::10], "ward"] = None
    return frame


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory, patients: pd.DataFrame) -> Fitted:
    """One model, fitted and saved by the command line, for all tests that need one."""
    folder = tmp_path_factory.mktemp("fitted")
    patients.to_csv(folder / "patients.csv", index=False)
    arguments = ("--combiner", "dimkl3", "-o", folder / "model.mkl")
    outcome = run_in_process("fit", folder / "patients.csv", *arguments)
    return Fitted(folder / "patients.csv", folder / "model.mkl", outcome)
