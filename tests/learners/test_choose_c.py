"""The C that the support vector machine chooses by itself."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import views_of
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLClassifier
from mklkit.learners import SVM
from mklkit.learners.support_vectors import choose_C
from mklkit.plugin import GramSide, Target


def problem(n_rows, seed=0, noise=1.0):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n_rows, 3))
    y = np.where(np.prod(rows[:, :2], axis=1) + noise * generator.normal(size=n_rows) > 0, 1.0, -1)
    return rows, y


@pytest.mark.parametrize("n_rows", [40, 700])
def test_neither_order_nor_signs_nor_scale_matter(n_rows):
    rows, y = problem(n_rows)
    gram = rbf_kernel(rows, gamma=0.3)
    chosen = choose_C(GramSide(gram), Target.two_classes(y))
    order = np.random.default_rng(1).permutation(n_rows)
    assert choose_C(GramSide(gram[np.ix_(order, order)]), Target.two_classes(y[order])) == chosen
    assert choose_C(GramSide(gram), Target.two_classes(-y)) == chosen
    assert choose_C(GramSide(64 * gram), Target.two_classes(y)) == chosen / 64


def test_features_are_their_inner_products():
    rows, y = problem(400)
    view = views_of("rbf(gamma=0.3)", rows, "empirical(subset=30)")[0]
    features = view.features()
    target, known = Target.two_classes(y), GramSide(features @ features.T)
    assert np.isclose(choose_C(view, target), choose_C(known, target))


def test_noise_asks_for_a_lower_C():
    chosen = []
    for noise in (0.0, 3.0):
        rows, y = problem(300, noise=noise)
        chosen.append(choose_C(GramSide(rbf_kernel(rows, gamma=0.3)), Target.two_classes(y)))
    assert chosen[0] > chosen[1]


def test_too_few_rows_of_a_class_leave_the_middle_C():
    y = problem(30)[1]
    y[:] = -1
    y[:2] = 1
    assert choose_C(GramSide(2 * np.eye(30)), Target.two_classes(y)) == 5
    assert choose_C(GramSide(np.zeros((30, 30))), Target.two_classes(y)) == 10


def test_the_decision_says_its_C():
    rows, y = problem(60)
    side = GramSide(rbf_kernel(rows, gamma=0.3))
    fitted = SVM().fit(side, Target.two_classes(y))
    assert choose_C(side, Target.two_classes(y)) == fitted.C
    assert SVM(C=3).fit(side, Target.two_classes(y)).C == 3
    model = MKLClassifier("rbf(gamma=0.3)").fit(rows, y)
    assert model.decisions_[0].learner.C == fitted.C
