"""Timings beside MKLpy 0.6, which needs an environment of its own: MKLPY_PYTHON names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

SCRIPT = Path(__file__).with_name("beside_mklpy.py")
FASTER = {"easymkl": 3.0, "cka": 10.0}


def _problem(n_rows: int, folder: Path) -> None:
    rng = np.random.default_rng(5)
    labels = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    rows = rng.normal(size=(n_rows, 20))
    # Every group of columns knows something of the labels, each less than the one before.
    rows += labels[:, None] * np.repeat([0.6, 0.5, 0.4, 0.3, 0.2], 4)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "labels.npy", labels)
    for m in range(5):
        part = rows[:, 4 * m : 4 * m + 4]
        np.save(folder / f"gram_{m}.npy", rbf_kernel(part, gamma=0.25))


def _run(interpreter: str, *arguments: object) -> dict[str, Any]:
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [interpreter, SCRIPT, *arguments],
        env={**os.environ, **threads},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.mark.benchmark
@pytest.mark.skipif("MKLPY_PYTHON" not in os.environ, reason="MKLPY_PYTHON names no interpreter")
@pytest.mark.parametrize("method", ["easymkl", "cka"])
@pytest.mark.parametrize("n_rows", [1000, 3000])
def test_faster_than_mklpy_at_the_same_weights(method, n_rows, tmp_path, capsys):
    """The peer is given the Gram matrices; so are we, and from rows we evaluate them as well."""
    _problem(n_rows, tmp_path)
    peer = _run(os.environ["MKLPY_PYTHON"], "mklpy", method, tmp_path)
    grams, rows = (_run(sys.executable, source, method, tmp_path) for source in ("grams", "rows"))
    with capsys.disabled():
        for label, said in (("MKLpy", peer), ("grams", grams), ("rows", rows)):
            spent = f"{said['seconds']:.3f} s, {said['peak'] / 1024:.0f} MB"
            print(f"\n{method} {n_rows} {label}: {spent}", end="")
        print()
    shares = [np.array(said["weights"]) / np.sum(said["weights"]) for said in (peer, grams, rows)]
    np.testing.assert_allclose(shares[1:], [shares[0]] * 2, atol=1e-2)
    assert peer["seconds"] >= FASTER[method] * grams["seconds"]
    assert peer["peak"] > max(grams["peak"], rows["peak"])
