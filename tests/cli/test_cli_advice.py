"""What a command says where a model, a column or a file name is of no use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from processes import Fitted, Run
from sklearn.datasets import load_iris

from mklkit.evaluation.alignment import alignment_matrix


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classes, one of them rare and like no other; a text column and an identifier."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(120, 2))
    kinds = np.where(numbers[:, 0] > 0, "a", "b").astype(object)
    kinds[random.choice(120, 8, replace=False)] = "rare"
    frame = pd.DataFrame(numbers, columns=["w", "x"]).assign(
        site=np.where(numbers[:, 1] > 0, "north", "south"),
        patient=[f"p{number}" for number in range(120)],
        kind=kinds,
    )
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
        assert f"no row of class 'rare' ({rows} rows)" in done.err
        assert "more rows of such classes" in done.err
    assert "recognised no row" not in mklkit("fit", "iris", "-k", "linear").err


def test_an_overfitted_model_is_not_told_to_fit_more(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(60, 3)), columns=list("abc"))
    frame.assign(kind=["u", "u", "v"] * 20).to_csv(tmp_path / "noise.csv", index=False)
    noise = (tmp_path / "noise.csv", "-k", "rbf(sigma=0.01)", "-l", "svm(C=100.0)")
    for command, few in (("fit", True), ("evaluate", False)):
        done = mklkit(command, *noise)
        message = " ".join(done.err.split())
        assert "trained with its accuracy is 100.0%" in message
        assert "a smaller C (--learner 'svm(C=1.0)')" in message
        assert "wider kernels" in message
        assert message.count("more rows") == 1
        assert "larger C" not in message
        assert ("'mklkit evaluate'" in message) == few  # 12 rows held out, 60 scored


def test_kernels_find_encoded_columns_by_the_users_name(mklkit: Run, sites: Path) -> None:
    whole = mklkit("fit", sites, "-k", "s:linear@site", "--json").json["model"]["kernels"]
    glob = mklkit("fit", sites, "-k", "s:linear@site_*", "--json").json["model"]["kernels"]
    assert whole == glob


def test_the_kernels_of_a_preset_are_compared(mklkit: Run) -> None:
    found = mklkit("kernels", "iris", "-p", "rpemekl", "--json").json
    assert found["kernels"] == ["cosine", "rbf", "rbf_narrow"]
    mklkit("kernels", "iris", "-p", "rpemekls").refused("Did you mean 'rpemekl'")


def test_kernels_are_compared_on_a_sample_of_many_rows(
    mklkit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mklkit.cli.kernels.MOST_ROWS", 100)
    done = mklkit("kernels", "iris", "--scale", "none", "-k", "linear", "-k", "rbf", "--json")
    assert "compared on 100 rows of 150" in done.json["data"]["notes"][0]
    rows = load_iris().data
    expected = alignment_matrix(["linear", "rbf"], rows)
    np.testing.assert_allclose(done.json["alignment"], expected, atol=0.05)


def test_a_dash_is_stdout_for_results(mklkit: Run, fitted: Fitted, tmp_path: Path) -> None:
    done = mklkit("predict", fitted.model, fitted.data, "-o", "-", cwd=tmp_path)
    assert done.out.startswith("prediction\n")
    assert not list(tmp_path.iterdir())
