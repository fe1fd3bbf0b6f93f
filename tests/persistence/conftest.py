"""One small model, as a model and as a file to be copied and spoilt."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from crafted import Check, copied, fitted, rewritten

from mklkit.errors import ModelFileError
from mklkit.persistence import load_model, save_model
from mklkit.protocols.component import KERNELS


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
    model = fitted(mixed, [0, 1] * 20, kernels=list(KERNELS))
    save_model(model, path, {"data": {"name": "toy"}})
    return path


@pytest.fixture
def check_refused(tmp_path: Path, saved: Path) -> Check:
    """Return a check that the file is not loaded, for a reason, with its content changed."""

    def check(reason: str, change: Any = None, **members: Any) -> None:
        files, method = (saved, tmp_path / "model.mkl"), zipfile.ZIP_DEFLATED
        if change is None:
            path = rewritten(*files, method, **members)
        else:
            path = copied(*files, change, method)
        with pytest.raises(ModelFileError, match=reason):
            load_model(path)

    return check


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
