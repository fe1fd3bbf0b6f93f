"""Probabilities where asked for, against scikit-learn's."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from mklkit import (
    DataError,
    MKLClassifier,
    MKLSearchCV,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    StoredRows,
    load_model,
    preset_classifier,
    save_model,
)
from mklkit.estimators.predicting import cross_fitted
from mklkit.explanation.refitting import Refit
from mklkit.plugin import WeightingCombiner
from mklkit.protocols.splits.making import make_splits

NAMES = np.array(["fern", "moss", "nettle"])


@cache
def problem(n_classes: int, n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(5)
    codes = np.arange(n_rows) % n_classes
    return draw.normal(size=(n_rows, 3)) + 1.5 * np.eye(3)[codes], NAMES[codes]


def model_of(**settings: Any) -> MKLClassifier:
    defaults = {"kernels": ["linear", "rbf"], "learner": "svm(C=1.0)", "random_state": 0}
    return MKLClassifier(**{**defaults, **settings})


def probable(**settings: Any) -> MKLClassifier:
    return model_of(probability=True, **settings)


RANDOM = {"feature_map": "empirical(subset=12)", "learner": "mhks"}
SETTINGS = [
    (2, {}),
    (2, {"kernels": "auto", "combiner": "dimkl5"}),
    (2, {**RANDOM, "combiner": "ifsl"}),
    (3, {"bandwidths": "all-rows"}),
    (3, {"multiclass": "ovr", "n_jobs": 2}),
    (3, {**RANDOM, "combiner": "dimkl3"}),
    (3, {"combiner": "cluster-gating(n_clusters=2)", "learner": "kda", "multiclass": "native"}),
    (3, {"learner": "ridge"}),
]
IDS = ["svm", "auto", "ifsl", "ovo", "ovr", "random map", "native", "one-hot"]


@pytest.mark.parametrize(("n_classes", "settings"), SETTINGS, ids=IDS)
def test_they_are_those_of_scikit_learn(n_classes: int, settings: dict[str, Any]) -> None:
    X, y = problem(n_classes)
    new = X[::3] + 0.1
    plain, model = model_of(**settings), probable(**settings).fit(X, y)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    folds = [tuple(split) for split in make_splits(y, 5, seed=seed)]
    reference = CalibratedClassifierCV(plain, method="sigmoid", cv=folds, ensemble=False).fit(X, y)
    chances = model.predict_proba(new)
    np.testing.assert_allclose(chances, reference.predict_proba(new), rtol=1e-9)
    np.testing.assert_array_equal(model.predict_log_proba(new), np.log(chances))
    # The model is the one without probabilities.
    plain.fit(X, y)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.decision_function(new), plain.decision_function(new))
    np.testing.assert_array_equal(model.predict(new), plain.predict(new))
    assert model.choices_[:-1] == plain.choices_
    assert model.choices_[-1].endswith("in 5-fold cross-validation")


def test_seeds_of_every_kind() -> None:
    X, y = problem(2)
    first, again, drawn = (
        probable(**{**RANDOM, "random_state": source}).fit(X, y).predict_proba(X)
        for source in (np.random.RandomState(4), np.random.RandomState(4), None)
    )
    np.testing.assert_array_equal(first, again)
    for fitted in (first, drawn):
        assert np.mean(fitted.argmax(axis=1) == (y == "moss")) > 0.8


class TestWhereAskedFor:
    @pytest.mark.parametrize(
        ("without", "asked"),
        [
            (model_of(), probable()),
            (MKLSearchCV(model_of()), MKLSearchCV(probable())),
            (MKLVotingClassifier(), MKLVotingClassifier(MKLSearchCV(probable()))),
            (RPEMEKLClassifier(), RPEMEKLClassifier(probability=True)),
            (preset_classifier("rpemekl"), preset_classifier("rpemekl", probability=True)),
            (preset_classifier("plain"), preset_classifier("plain", probability=True, tune=2)),
            (make_pipeline(model_of()), make_pipeline(probable())),
        ],
        ids=["classifier", "search", "vote", "rpemekl", "preset", "tuned preset", "pipeline"],
    )
    def test_there_is_a_method(self, without: Any, asked: Any) -> None:
        for name in ("predict_proba", "predict_log_proba"):
            assert not hasattr(without, name)
            assert hasattr(asked, name)
        with pytest.raises(NotFittedError):
            asked.predict_proba([[0.0]])

    def test_what_is_missing_is_said(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'predict_proba'") as refused:
            _ = model_of().predict_proba
        assert "set probability=True" in str(refused.value.__cause__)
        model = model_of().fit(*problem(2)).set_params(probability=True)
        with pytest.raises(NotFittedError, match="fit with probability=True"):
            model.predict_proba([[0.0, 0.0, 0.0]])

    def test_another_fit_forgets_them(self) -> None:
        X, y = problem(2)
        model = probable(feature_map="empirical(subset=9)", learner="kda").fit(X, y)
        model.set_params(probability=False).partial_fit(X, y, classes=np.unique(y))
        assert model.calibration_ is None

    def test_explanations_refit_without_them(self) -> None:
        assert not Refit.of(probable().fit(*problem(2)), 0).estimator.probability


@attrs.frozen
class Counting(WeightingCombiner):
    """Even weights, and the number of rows of each fit."""

    name: ClassVar[str] = "counting"
    fits: ClassVar[list[int]] = []

    def weights(self, views: Any, y: Any) -> Any:
        self.fits.append(len(y))
        return np.ones(len(views))


def test_a_search_calibrates_its_last_fit_alone() -> None:
    X, y = problem(3)
    model = probable(combiner=Counting(), multiclass="ovr")
    Counting.fits.clear()
    search = MKLSearchCV(model, {"learner__C": [0.1, 1.0]}, cv=2, random_state=0).fit(X, y)
    # Three classes in each of two folds, then in the last fit and in its five folds.
    assert sorted(Counting.fits) == [30] * 6 + [48] * 15 + [60] * 3
    alone = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(X), alone.predict_proba(X))
    assert sum("probabilities by" in note for note in search.choices_) == 1
    ensemble = RPEMEKLClassifier(subset=[6, 9], n_members=2, cv=2, probability=True, random_state=0)
    assert all(member.calibration_ is not None for member in ensemble.fit(X, y).members_)


@pytest.mark.parametrize("settings", [{}, RANDOM], ids=["implicit", "landmarks"])
def test_rows_in_parts_have_the_same(tmp_path: Path, settings: dict[str, Any]) -> None:
    X, y = problem(2)
    X.astype("<f8").tofile(tmp_path / "rows")
    rows = np.memmap(tmp_path / "rows", dtype="<f8", mode="r", shape=X.shape)
    assert StoredRows.of_memmap(rows) is not None
    here, there = probable(**settings).fit(X, y), probable(**settings).fit(rows, y)
    np.testing.assert_allclose(there.predict_proba(rows), here.predict_proba(X), atol=1e-6)


def test_votes_have_their_members_mean_also_from_a_file(tmp_path: Path) -> None:
    X, y = problem(3)
    model = RPEMEKLClassifier(subset=12, probability=True, random_state=0).fit(X, y)
    each = [member.predict_proba(X) for member in model.members_]
    assert not np.allclose(each[0], each[1])
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0))
    save_model(model, tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


class TestSmallClasses:
    def test_two_rows_of_a_class_make_two_folds(self) -> None:
        X, y = problem(3)
        y = np.where(np.arange(60) < 2, "ivy", y)
        model = probable().fit(X, y)
        assert model.choices_[-1].endswith("2 folds instead of 5: the smallest class has 2 samples")
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_a_single_row_is_never_held_out(self, n_classes: int) -> None:
        X, y = problem(n_classes)
        y = np.where(np.arange(60) == 7, "a", "b" if n_classes == 2 else y)
        model = probable().fit(X, y)
        assert "1 class has a single sample" in model.choices_[-1]
        chances = model.predict_proba(X)
        # Of 59 rows held out none was of that class: Platt's estimate is (0 + 1)/(59 + 2).
        if n_classes == 2:
            np.testing.assert_allclose(chances[:, 0], 1 / 61, rtol=1e-3)
        assert (chances[:, 0] < 0.05).all()

    def test_a_fold_that_cannot_be_fitted_is_said(self) -> None:
        def decide(training: np.ndarray, held_out: np.ndarray) -> np.ndarray:
            raise DataError("Odd samples.")

        with pytest.raises(DataError, match="that on 16 of 20 failed: Odd samples"):
            cross_fitted(np.arange(20) % 2, 0, decide)
