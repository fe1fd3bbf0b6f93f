"""The page on large data: its commands and its listing run, on small data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents import commands, listings
from following import run_in_turn
from processes import run_script

from mklkit.errors import DataError
from mklkit.views import memory

PAGE = "docs/guides/large-data.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the page takes its reader to have."""
    folder = tmp_path_factory.mktemp("large")
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=600)
    X = draw.normal(size=(600, 4)).astype(np.float32) + 1.5 * y[:, None].astype(np.float32)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    table = pd.DataFrame(X, columns=list("abcd")).assign(
        site=np.where(X[:, 0] > 1, "north", "south"), target=np.where(y, "ill", "well")
    )
    for name in ("rows.csv", "big.csv"):
        table.to_csv(folder / name, index=False)
    for name in ("big.parquet", "huge.parquet"):
        table.to_parquet(folder / name)
    (folder / "rows").mkdir()
    table[:300].to_parquet(folder / "rows" / "1.parquet")
    table[300:].to_parquet(folder / "rows" / "2.parquet")
    return folder


@pytest.mark.process
def test_the_commands_run_in_turn(folder: Path) -> None:
    run_in_turn(commands(PAGE), folder)
    truth = pd.read_parquet(folder / "huge.parquet")["target"]
    found = pd.read_parquet(folder / "out.parquet")["prediction"]
    # Guessing would be right every other time.
    assert (found == truth).mean() > 0.9
    assert pd.read_csv(folder / "out.csv")["prediction"].tolist() == found.tolist()


@pytest.mark.process
def test_the_listing_runs(folder: Path) -> None:
    (listing,) = listings(PAGE, "python")
    (folder / "listing.py").write_text(listing, encoding="utf-8")
    outcome = run_script(folder / "listing.py", cwd=folder)
    assert outcome.code == 0, outcome
    assert outcome.out.split() == ["1.0", "True"]
    scores = np.load(folder / "scores.npy")
    assert ((scores > 0) == np.load(folder / "y.npy")).mean() > 0.9


def test_the_refusal_is_the_one_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: int(7.5 * 2**30))
    with pytest.raises(DataError) as refused:
        memory.check_gram_fits(100_000, 8)
    assert str(refused.value).split() == listings(PAGE, "text")[0].split()
