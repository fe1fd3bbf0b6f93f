"""Rows of a group are never on both sides of a split, whoever makes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.svm import SVC
from sklearn.svm import SVR as PeerOfSVR

import mklkit
from mklkit import MKLClassifier, MKLRegressor, MKLSearchCV
from mklkit.errors import DataError, IncompatibleError
from mklkit.learners import SVM, SVR
from mklkit.learners.ridge import Ridge as RidgeLearner
from mklkit.numerics.ridge import FeatureRidge, GramRidge, WeightedRows
from mklkit.protocols import Target
from mklkit.protocols.splits.making import make_splits

RANDOM = np.random.default_rng(7)
PATIENTS = np.repeat(np.arange(24), 3)
LABELS = (np.arange(24) % 2)[PATIENTS]
ROWS = RANDOM.normal(size=(72, 4)) + LABELS[:, None] + RANDOM.normal(size=(24, 4))[PATIENTS]
KERNELS = ["linear", "rbf"]


@attrs.frozen
class Spy(RidgeLearner):
    """A ridge that remembers the groups of each fit: those of the rows, as targets have them."""

    name: ClassVar[str] = "spy"
    fits: ClassVar[list[set[int]]] = []

    def fit(self, side: Any, target: Target) -> Any:
        assert target.groups is not None
        assert len(target.groups) == len(target)
        rows, counts = np.unique(target.groups, return_counts=True)
        assert (counts == 3).all(), "a group is divided"
        self.fits.append(set(rows.tolist()))
        return super().fit(side, target)


@pytest.fixture
def fits() -> Iterator[list[set[int]]]:
    Spy.fits.clear()
    return Spy.fits


@pytest.mark.parametrize("combiner", ["best-single", "uniform", "centered-alignment"])
def test_searches_probabilities_and_choices_keep_groups(
    fits: list[set[int]], combiner: str
) -> None:
    model = MKLClassifier(KERNELS, combiner=combiner, learner=Spy(), random_state=0)
    model.set_params(probability=True)
    MKLSearchCV(model, {"learner__alpha": [0.1, 1.0]}, cv=3).fit(ROWS, LABELS, groups=PATIENTS)
    sizes = {len(groups) for groups in fits}
    assert 24 in sizes
    assert 16 in sizes
    assert len(sizes) > 2
    if combiner == "best-single":
        assert min(sizes) < 14  # folds inside of folds


def best_of_three(peer: Any, y: Any, splits: Any, gram: Any) -> float:
    """Return the C of 1, 10 and 100 whose machine errs least on the held-out rows."""
    errors = [
        sum(
            np.abs(
                peer(C=C, kernel="precomputed")
                .fit(gram[np.ix_(train, train)], y[train])
                .predict(gram[np.ix_(held_out, train)])
                - y[held_out]
            ).sum()
            for train, held_out in splits
        )
        for C in (1.0, 10.0, 100.0)
    ]
    return (1.0, 10.0, 100.0)[int(np.argmin(errors))]


@pytest.mark.parametrize(
    ("estimator", "learner", "peer"),
    [(MKLClassifier, SVM(), SVC), (MKLRegressor, SVR(), PeerOfSVR)],
    ids=["classes", "numbers"],
)
def test_the_choice_of_c_keeps_groups(estimator: Any, learner: Any, peer: Any) -> None:
    """Rows of a patient are nearly the same: with one of them in training, a large C is best."""
    draw = np.random.default_rng(1)
    patients = draw.normal(size=(24, 4)) + 0.5 * (np.arange(24) % 2)[:, None]
    rows = patients[PATIENTS] + 0.1 * draw.normal(size=(72, 4))
    y = np.where(LABELS, 1.0, -1.0)
    gram = rbf_kernel(rows, gamma=0.2)
    apart = best_of_three(peer, y, list(GroupKFold(3).split(rows, y, PATIENTS)), gram)
    mixed = best_of_three(peer, y, list(KFold(3, shuffle=True, random_state=0).split(rows)), gram)
    assert apart < mixed
    model = estimator(["rbf(gamma=0.2)"], learner=learner)
    assert model.fit(rows, y, groups=PATIENTS).fitted_.chosen["learner__C"] == (apart,)
    assert model.fit(rows, y).fitted_.chosen["learner__C"] > (apart,)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_ridges_are_chosen_by_groups_left_out(weighted: bool, intercept: bool) -> None:
    weights = RANDOM.uniform(0.5, 2, 72) if weighted else np.ones(72)
    targets, alphas = RANDOM.normal(size=(72, 2)), np.array([1.0, 0.1])
    rows = WeightedRows.of(72, weights, intercept, PATIENTS)
    center = rows.shares @ ROWS
    products = (ROWS - center).T @ (weights[:, None] * (ROWS - center))
    features = FeatureRidge(products, center, rows, 0.0, lambda t: ROWS.T @ t, lambda i: ROWS[i])
    expected = np.zeros((2, 2))
    for place, alpha in enumerate(alphas):
        for patient in range(24):
            left_out = patient == PATIENTS
            ridge = Ridge(alpha, fit_intercept=intercept)
            ridge.fit(ROWS[~left_out], targets[~left_out], weights[~left_out])
            errors = targets[left_out] - ridge.predict(ROWS[left_out])
            expected[:, place] += weights[left_out] @ errors**2
    expected /= weights.sum()
    assert_allclose(GramRidge(ROWS @ ROWS.T, rows).errors(targets, alphas), expected)
    assert_allclose(features.errors(targets, alphas), expected)


def test_folds_train_on_every_class() -> None:
    labels = np.where(PATIENTS < 2, 2, LABELS)  # a class of two patients
    labels[PATIENTS == 5] = 3  # and one of a single patient
    splits = make_splits(labels, 5, groups=PATIENTS)
    assert splits.n_folds == 2
    assert "a single group" in splits.notes[0]
    for training, held_out in splits:
        assert not set(PATIENTS[training]) & set(PATIENTS[held_out])
        assert set(labels[training]) == {0, 1, 2, 3}
        assert len(held_out)


def test_scikit_learn_routes_groups(fits: list[set[int]]) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = MKLClassifier(KERNELS, learner=Spy()).set_fit_request(groups=True)
        params = {"groups": PATIENTS}
        scores = cross_validate(model, ROWS, LABELS, cv=GroupKFold(3), params=params)
        assert len(scores["test_score"]) == 3
        assert {len(groups) for groups in fits} == {16}
        search = GridSearchCV(model, {"combiner": ["uniform", "alignment"]}, cv=GroupKFold(3))
        search.fit(ROWS, LABELS, groups=PATIENTS)
        inner = MKLSearchCV(MKLClassifier(KERNELS, learner=Spy()), {}, cv=GroupKFold(2))
        inner.set_fit_request(groups=True)
        cross_validate(inner, ROWS, LABELS, cv=GroupKFold(3), params=params)
    assert {len(groups) for groups in fits} == {24, 16, 8}


def test_scores_of_the_library_keep_groups(fits: list[set[int]]) -> None:
    model = MKLClassifier(KERNELS, learner=Spy())
    scored = mklkit.cross_validate(model, ROWS, LABELS, "groups", groups=PATIENTS)
    assert scored.splits.n_folds == 24
    assert {len(groups) for groups in fits} == {23}
    plain_search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=GroupKFold(2))
    fitted = mklkit.cross_validate(plain_search, ROWS, LABELS, "3x2", groups=PATIENTS)
    assert len(fitted.folds) == 6
    for training, held_out in fitted.estimator.cv:
        some = PATIENTS[fitted.splits[-1].train]
        assert not set(some[training]) & set(some[held_out])
    with pytest.raises(DataError, match="GroupKFold"):
        mklkit.cross_validate(plain_search.set_params(cv=3), ROWS, LABELS, 3, groups=PATIENTS)
    with pytest.raises(IncompatibleError, match="MKLSearchCV"):
        mklkit.cross_validate(GridSearchCV(model, {}), ROWS, LABELS, 3, groups=PATIENTS)
    with pytest.raises(DataError, match="GroupKFold"):
        mklkit.cross_validate(model, ROWS, LABELS, "time:5", groups=PATIENTS[::-1] % 12)
    with pytest.raises(DataError, match="72 samples"):
        model.fit(ROWS, LABELS, groups=PATIENTS[:70])
