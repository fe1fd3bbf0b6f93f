"""A model that is loaded predicts exactly as the one that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from crafted import fitted
from helpers.builders import ifsl_search

from mklkit.datasets import load_table
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.persistence import load_model, read_metadata, save_model
from mklkit.persistence.metadata import metadata_of_model


class TestRoundTrip:
    @pytest.mark.parametrize(
        "labels",
        [
            ["no", "yes"] * 20,
            [7, -3] * 20,
            [True, False] * 20,
            ["ä", "ö", "ü", "ß"] * 10,
            pd.Series(["x", "y"] * 20, dtype="category"),
            pd.Series(["x", "y"] * 20, dtype="str"),
        ],
        ids=["text", "int", "bool", "several", "category", "str"],
    )
    @pytest.mark.parametrize("multiclass", ["ovo", pytest.param("ovr", marks=pytest.mark.slow)])
    def test_labels_keep_value_and_type(
        self, tmp_path: Path, mixed: pd.DataFrame, labels: Any, multiclass: str
    ) -> None:
        model = fitted(mixed, np.asarray(labels), multiclass=multiclass)
        save_model(model, tmp_path / "model.mkl")
        again, metadata = load_model(tmp_path / "model.mkl"), read_metadata(tmp_path / "model.mkl")
        assert again.classes_.tolist() == model.classes_.tolist()
        assert again.classes_.dtype == model.classes_.dtype
        assert metadata["model"]["classes"] == model.classes_.tolist()
        expected = "binary" if len(model.classes_) == 2 else multiclass
        assert metadata["model"]["multiclass"] == expected
        assert again.predict(mixed).tolist() == model.predict(mixed).tolist()

    def test_labels_may_be_dates(self, tmp_path: Path) -> None:
        rows = np.random.default_rng(0).normal(size=(20, 2))
        labels = np.where(rows[:, 0] > 0, np.datetime64("2021-01-01"), np.datetime64("2020-01-01"))
        model = MKLClassifier().fit(rows, labels)
        save_model(model, tmp_path / "model.mkl", metadata_of_model(model))
        assert load_model(tmp_path / "model.mkl").predict(rows).dtype == labels.dtype
        assert read_metadata(tmp_path / "model.mkl")["classes"] == ["2020-01-01", "2021-01-01"]

    def test_votes_and_searches_can_be_saved(self, tmp_path: Path) -> None:
        table = load_table("iris")
        rows, labels = table.features.to_numpy(), table.target.to_numpy()
        vote = MKLVotingClassifier(
            MKLClassifier(feature_map="empirical(subset=0.3)", learner="mhks"), random_state=0
        )
        search = ifsl_search(kernels=["linear", "rbf"], ridges=(1.0,), lams=(1.0, 2.0), cv=2)
        for model in (vote, search):
            save_model(model.fit(rows, labels), tmp_path / "model.mkl")
            again, metadata = (
                load_model(tmp_path / "model.mkl"),
                read_metadata(tmp_path / "model.mkl"),
            )
            assert again.predict(rows).tolist() == model.predict(rows).tolist()
            assert metadata["model"]["classes"] == ["setosa", "versicolor", "virginica"]
            assert metadata["model"]["multiclass"] == "ovo"
        assert [row["name"] for row in metadata["model"]["kernels"]] == ["linear", "rbf"]
        assert metadata["model"]["combiner"].startswith("ifsl")

    def test_facts_name_components_and_weights(self, saved: Path, mixed: pd.DataFrame) -> None:
        metadata = read_metadata(saved)
        assert metadata["data"] == {"name": "toy"}
        model = metadata["model"]
        assert [kernel["name"] for kernel in model["kernels"]] == [
            "cosine_linear",
            "rbf",
            "cosine_polynomial",
        ]
        assert model["combiner"] == "uniform"
        assert [row["weight"] for row in model["weights"]] == pytest.approx([1 / 3] * 3)
        assert metadata["plugins"] == []
