"""What a command says of a model that is of no use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Run


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classes, one of them rare and like no other."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(120, 2))
    kinds = np.where(numbers[:, 0] > 0, "a", "b").astype(object)
    kinds[random.choice(120, 8, replace=False)] = "rare"
    frame = pd.DataFrame(numbers, columns=["w", "x"]).assign(kind=kinds)
    path = tmp_path_factory.mktemp("sites") / "sites.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_class_that_is_never_recognised_is_named(mklkit: Run, sites: Path) -> None:
    for command in (("fit", "--holdout", "0.5"), ("evaluate", "--folds", "2")):
        done = mklkit(command[0], sites, *command[1:], "-k", "linear@w", "--json")
        score = done.json["scores"].get("held_out") or done.json["pooled"]
        assert dict(zip(score["classes"], score["recall"], strict=True))["rare"] == 0
        rows = sum(score["confusion"][2])
        assert score["better_than_baseline"]
        assert f"no sample of class 'rare' ({rows} samples)" in done.err
        assert "more samples of each class" in done.err
        assert "--class-weight balanced" in done.err
        assert "kernels" not in done.err
    assert "recognised no sample" not in mklkit("fit", "iris", *FIXED, "-k", "linear").err


def test_an_overfitted_model_is_not_told_to_fit_more(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(60, 3)), columns=list("abc"))
    frame.assign(kind=["u", "u", "v"] * 20).to_csv(tmp_path / "noise.csv", index=False)
    noise = (tmp_path / "noise.csv", "-k", "rbf(sigma=0.01)", "-l", "svm(C=100.0)")
    for command, few in (("fit", True), ("evaluate", False)):
        done = mklkit(command, *noise)
        message = " ".join(done.err.split())
        assert "overfitted: 100.0 %" in message
        assert "a smaller C (--learner 'svm(C=1.0)')" in message
        assert "wider kernels" in message
        assert message.count("more samples") == 1
        assert "larger C" not in message
        assert ("'mklkit evaluate'" in message) == few  # 12 rows held out, 60 scored
