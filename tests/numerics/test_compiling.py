"""Compiled code is kept where that is possible and safe; nothing fails where it is not."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core import caching

import mklkit
from mklkit.numerics.compiling import compiled


def _twice(number):
    return 2 * number


@pytest.fixture(params=["", "cache"])
def folder(monkeypatch, tmp_path, request):
    """Let numba keep code in a folder alone, or find no place, as where all are read-only."""
    monkeypatch.setattr(
        caching.CacheImpl, "_locator_classes", [caching.UserProvidedCacheLocator], raising=True
    )
    kept = str(tmp_path / request.param) if request.param else ""
    monkeypatch.setattr(numba.config, "CACHE_DIR", kept)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_code_is_kept_in_the_folder_of_caches_or_in_memory(folder):
    assert compiled()(_twice)(21) == 42
    assert bool([*folder.rglob("*.nbi")]) == bool(numba.config.CACHE_DIR)
    assert {place.name for place in folder.iterdir()} <= {"cache"}


@pytest.mark.parametrize("step", ["save", "load"])
def test_a_disk_that_fails_later_stops_nothing(folder, monkeypatch, step):
    def fail(*_arguments):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(caching.IndexDataCacheFile, step, fail)
    assert compiled()(_twice)(21) == 42


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are another matter on Windows")
def test_a_read_only_installation_without_a_home(tmp_path):
    installed = tmp_path / "installed"
    shutil.copytree(
        Path(mklkit.__file__).parent,
        installed / "mklkit",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for place in (*installed.rglob("*"), installed, tmp_path):
        place.chmod(0o555 if place.is_dir() else 0o444)
    program = (
        "import tempfile; tempfile.tempdir = '/nonexistent'\n"
        "import mklkit; from mklkit.numerics.pairwise import manhattan_distances as f\n"
        "import numpy as np; print(mklkit.__file__); print(f(np.eye(2), np.eye(2)).tolist())"
    )
    done = subprocess.run(
        [*_bound_by_permissions(), sys.executable, "-c", program],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(installed),
            "HOME": str(tmp_path / "no home"),
            "MKLKIT_DISABLE_PLUGINS": "1",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    tmp_path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    place, distances = done.stdout.splitlines()
    assert Path(place).is_relative_to(installed)
    assert distances == "[[0.0, 2.0], [2.0, 0.0]]"
    assert not list(tmp_path.rglob("__pycache__"))


def _bound_by_permissions() -> list[str]:
    """Return what to put before a command so that permissions hold for it, for root too."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write anywhere, and setpriv, which could forbid it, is not here")
    return ["setpriv", "--bounding-set=-dac_override"]
