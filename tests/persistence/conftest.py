"""One small model, as a model and as a file to be copied and spoilt."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from crafted import fitted

from mklkit.persistence import save_model


@pytest.fixture(scope="session")
def mixed() -> pd.DataFrame:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(40, 3)), columns=["a", "b", "c"])
    frame["word"] = np.where(frame["a"] > 0, "up", "down")
    frame.loc[::7, "b"] = np.nan
    return frame


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """A model file to be copied and spoilt."""
    path = tmp_path_factory.mktemp("models") / "model.mkl"
    save_model(fitted(mixed, [0, 1] * 20), path, {"data": {"name": "toy"}})
    return path


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """Return a folder without permissions, also for a test run by the superuser."""
    if os.name == "nt":
        pytest.skip("no permissions for owner, group and others")
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "model.mkl").write_bytes(b"precious")
    folder.chmod(0)
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    yield folder
    if superuser:
        os.seteuid(0)
    folder.chmod(0o700)
    assert (folder / "model.mkl").read_bytes() == b"precious"
