"""The best single kernel against a plain loop over scikit-learn's SVC on the same folds."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import ids, views_of
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.combiners.best_single import BestSingle
from mklkit.errors import WeightsWarning
from mklkit.kernels import Precomputed
from mklkit.learners import SVM
from mklkit.learners.support_vectors import choose_C
from mklkit.plugin import Target

WIDTHS = [1e-3, 0.05, 1.0, 30.0]


def naive_scores(grams, y, n_folds, seed):
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=np.random.RandomState(seed))
    splits = list(folds.split(np.zeros((len(y), 1)), y))
    return [
        (cross_val_predict(SVC(kernel="precomputed"), gram, y, cv=splits) == y).mean()
        for gram in grams
    ]


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_the_chosen_kernel_is_the_one_a_plain_loop_finds(rng, feature_map):
    chosen = set()
    for seed in range(8):
        y = np.where(rng.random(60) < 0.45, 1.0, -1.0)
        rows = rng.normal(size=(60, 3))
        # Data of many scales, so that now one width is best and now another.
        rows = rows * 10.0 ** rng.uniform(-1, 1.5) + rng.choice([0.5, 2]) * y[:, None]
        scores = naive_scores([rbf_kernel(rows, gamma=g) for g in WIDTHS], y, 4, seed)
        views = views_of([f"rbf(gamma={g})" for g in WIDTHS], rows, feature_map)
        weights = BestSingle(cv=4).choose(
            views, Target.two_classes(y), SVM(C=1.0), np.random.RandomState(seed)
        )
        assert sorted(weights) == [0, 0, 0, 1]
        best = int(weights.argmax())
        if feature_map == "implicit":
            assert best == int(np.argmax(scores))
        else:  # the same machine on features: a held-out row may fall the other way by rounding
            assert scores[best] >= max(scores) - 1 / 60
        chosen.add(best)
    assert len(chosen) > 1


def test_the_first_of_equals_is_chosen(two_classes):
    rows, y = two_classes
    gram = Precomputed(rbf_kernel(rows, gamma=0.1))
    model = MKLClassifier([gram, gram, gram], combiner="best-single").fit(ids(70), y)
    np.testing.assert_array_equal(model.weights_, [[1, 0, 0]])


def test_few_rows_in_a_class_leave_fewer_folds_and_a_warning(rng):
    rows, y = rng.normal(size=(12, 2)), np.array([1] * 3 + [0] * 9)
    model = MKLClassifier(["rbf", "linear"], combiner="best-single(cv=5)")
    with pytest.warns(WeightsWarning, match="uses 3 folds, as the smaller class has 3 samples"):
        model.fit(rows, y)


def test_one_row_in_a_class_can_not_be_cross_validated(rng):
    rows, y = rng.normal(size=(12, 2)), np.array([1] + [0] * 11)
    model = MKLClassifier(["rbf", "linear"], combiner="best-single")
    with pytest.warns(WeightsWarning, match=r"takes the first kernel, rbf"):
        model.fit(rows, y)
    np.testing.assert_array_equal(model.weights_, [[1, 0]])


def test_the_learner_has_the_C_of_the_kernel_that_is_chosen(two_classes):
    rows, y = two_classes
    views = views_of([f"rbf(gamma={gamma})" for gamma in WIDTHS], rows)
    target = Target.two_classes(np.where(y > 0, 1.0, -1.0))
    weights, learner = BestSingle().prepare(views, target, SVM(), np.random.RandomState(0))
    assert choose_C(views[int(weights.argmax())], target) == learner.C


@pytest.mark.parametrize(("n_rows", "folds"), [(500, 5), (1500, 2), (3000, 1)])
def test_of_many_rows_five_hundred_are_left_out(n_rows, folds):
    target = Target.two_classes(np.resize([1.0, -1.0, -1.0], n_rows))
    splits = BestSingle()._splits(target, "rbf", np.random.RandomState(0))
    held_out = np.concatenate([rows for _, rows in splits])
    assert len(splits) == folds
    assert len(np.unique(held_out)) == len(held_out) >= min(n_rows, 500)
