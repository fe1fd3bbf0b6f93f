"""What is saved, and what is refused before an older file is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from mklkit.errors import DataError, ModelFileError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.persistence import load_model, save_model


class Stranger(ClassifierMixin, BaseEstimator):
    """An estimator that no one registered."""

    def fit(self, X: Any, y: Any) -> Stranger:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[0], len(X))


class TestSaving:
    def test_what_could_not_be_loaded_is_not_saved(self, tmp_path: Path) -> None:
        goal = tmp_path / "model.mkl"
        goal.write_bytes(b"precious")
        model = Stranger().fit([[0.0]], [1])
        with pytest.raises(ModelFileError, match="Stranger' is registered neither"):
            save_model(model, goal)
        model.helper = lambda x: x
        with pytest.raises(ModelFileError, match="can't be saved"):
            save_model(model, goal)
        assert goal.read_bytes() == b"precious"
        assert os.listdir(tmp_path) == ["model.mkl"]

    def test_facts_that_are_not_plain_are_refused(self, tmp_path: Path, saved: Path) -> None:
        model = load_model(saved)
        with pytest.raises(ModelFileError, match="metadata can't be saved"):
            save_model(model, tmp_path / "a.mkl", {"function": len})
        with pytest.raises(ModelFileError, match="reserved names versions"):
            save_model(model, tmp_path / "a.mkl", {"versions": 1})
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("thing", "message"),
        [
            ([1, 2], "Expected a fitted estimator .* got .1, 2."),
            ({"a": 1}, "Expected a fitted estimator"),
            (MKLClassifier, "Expected a fitted estimator"),
            (MKLClassifier(), "MKLClassifier is not fitted: fit it first"),
        ],
    )
    def test_what_is_no_fitted_model_replaces_none(
        self, tmp_path: Path, thing: Any, message: str
    ) -> None:
        goal = tmp_path / "model.mkl"
        goal.write_bytes(b"precious")
        with pytest.raises(ModelFileError, match=message):
            save_model(thing, goal)
        assert goal.read_bytes() == b"precious"

    def test_a_search_says_what_of_it_to_save(self, tmp_path: Path, mixed: pd.DataFrame) -> None:
        rows = mixed.select_dtypes("number").fillna(0).to_numpy()
        search = GridSearchCV(MKLClassifier("rbf"), {"learner": ["svm"]}, cv=2)
        search.fit(rows, [0, 1] * (len(rows) // 2))
        with pytest.raises(ModelFileError, match="best_estimator_"):
            save_model(search, tmp_path / "model.mkl")

    def test_a_path_before_the_model_is_refused(self, tmp_path: Path, saved: Path) -> None:
        model = load_model(saved)
        with pytest.raises(DataError, match="the model first, then the path"):
            save_model(tmp_path / "a.mkl", model)
