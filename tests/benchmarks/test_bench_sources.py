"""The benchmark of several sources on a small folder, because its data are not in the tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import bench_sources
import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two data sets of 60 samples, each source in an order of its own."""
    draw = np.random.default_rng(0)
    ids = np.arange(60)
    for name, shift in (("apart", 8.0), ("near", 8.0)):
        place = tmp_path / name
        place.mkdir()
        pd.DataFrame({"id": ids, "label": ids % 2}).to_csv(place / "labels.csv", index=False)
        for source, width in (("first", 2), ("second", 3)):
            columns = draw.normal(size=(60, width)) + shift * (ids % 2)[:, None]
            table = pd.DataFrame(columns).add_prefix("x").assign(id=ids)
            table.sample(frac=1, random_state=width).to_csv(place / f"{source}.csv.gz", index=False)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["bench_sources.py", *arguments])
    bench_sources.main()


def test_sources_are_joined_by_id(folder: Path) -> None:
    data = bench_sources.SourcesSet.read(folder / "apart")
    assert data.places == {"first": slice(0, 2), "second": slice(2, 5)}
    # Each column tells the classes apart, so a sample with another's values would be seen.
    assert ((data.table > 4) == (data.labels == 1)[:, None]).all()


@pytest.mark.process
def test_results_are_stored_and_not_computed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = folder / "results.json"
    arguments = [str(folder), "--json", str(results), "--methods", "logistic", "rbf-uniform"]
    run(monkeypatch, *arguments)
    stored = json.loads(results.read_text("utf-8"))
    assert stored["apart"]["logistic"]["accuracies"] == [100.0] * 5
    assert "| 100.0 | 100.0 | 100.0 | 1.5 |" in capsys.readouterr().out
    stored["near"]["logistic"]["accuracies"] = [50.0] * 5
    results.write_text(json.dumps(stored), "utf-8")
    run(monkeypatch, *arguments)
    # Logistic regression shares the first rank on one set and is second on the other.
    assert "| 100.0 | 50.0 | 75.0 | 1.8 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    "make",
    [
        bench_sources.METHODS["linear-svc-parts"].make,
        partial(bench_sources.vote, costs=(10.0,), widths=(1 / 4,)),
        partial(bench_sources.stacking, costs=(10.0,), widths=(1 / 4,)),
    ],
    ids=["linear-svc-parts", "vote", "stacking"],
)
@pytest.mark.process
def test_baselines_learn_from_each_source(folder: Path, make: Callable[..., Any]) -> None:
    data = bench_sources.SourcesSet.read(folder / "apart")
    assert np.mean(bench_sources.score(make, data)["accuracies"]) > 95
