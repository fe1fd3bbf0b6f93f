"""The settings that run Table 1 of Wang's three papers as printed, and values per view."""

from __future__ import annotations

import numpy as np
import pytest
from coupled_fits import TRIO, coefficients_of, couple, quietly
from helpers.builders import ifsl_search, views_of
from oracles.printed import table_1_of_wang_2008, table_1_of_wang_2009, table_1_of_wang_2013

from mklkit import MKLClassifier, MKLVotingClassifier, preset_classifier
from mklkit.combiners import IFSL
from mklkit.errors import IncompatibleError, SpecError
from mklkit.learners import KMHKS, MHKS, SVM
from mklkit.learners.ho_kashyap.rules import COUPLINGS_OF_WANG_2009, PAPER_GRID
from mklkit.plugin import Target

RIDGES, RATES = (0.5, 2.0, 0.25), (0.99, 0.4, 0.8)
EVEN = (1.0, 1.0, 1.0)
PAIR = ["rbf(sigma='mean')", "polynomial(degree=3)"]


def assert_close(computed, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(computed, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def unit_vectors(features):
    """Return vectors of equal entries and length one, the bias included."""
    widths = [columns.shape[1] + 1 for columns in features]
    return [np.full(width, width**-0.5) for width in widths]


@pytest.mark.parametrize(("ridges", "rates"), [(EVEN, [0.99] * 3), (RIDGES, RATES)], ids=str)
@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=15)"])
@pytest.mark.parametrize("lam", [2.0**-4, 1.0, 16.0])
def test_table_1_of_wang_2008(two_classes, feature_map, lam, ridges, rates):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    features = [view.features() for view in views]
    ours = IFSL(lam=lam, order="at-once", initial="unit", ridges=ridges, rates=rates)
    c = 0.5 * np.array(ridges)
    for xi, passes in ((1e-3, 1000), (1e-300, 9)):
        printed = table_1_of_wang_2008(
            features, y, lam, c, rates, 1e-6, unit_vectors(features), xi, passes
        )
        decision = couple(views, y, ours, MHKS(alpha=0.5, tol=xi, max_iter=passes))
        assert len(decision.history) == len(printed.losses) > 3
        assert_close(decision.history, printed.losses)
        for coefficients, expected in zip(coefficients_of(decision), printed.omega, strict=True):
            assert_close(coefficients, expected)


@pytest.mark.parametrize("ridges", [(1.0, 1.0), (0.5, 2.0)], ids=str)
@pytest.mark.parametrize("rates", [(0.99, 0.99), (0.3, 0.9)], ids=str)
@pytest.mark.parametrize("gamma", [1e-5, 1.0, 10.0])
def test_table_1_of_wang_2009(two_classes, gamma, ridges, rates):
    rows, y = two_classes
    views = views_of(PAIR, rows)
    grams = [view.gram() for view in views]
    draw = np.random.RandomState(3)
    begin = [draw.standard_normal(len(y) + 1) for _ in grams]
    begin = [view / np.linalg.norm(view) for view in begin]
    b_1 = 1 - draw.random_sample((2, len(y)))
    assert 0 < b_1.min() < b_1.max() <= 1
    signed = [np.append(y * view[:-1], view[-1]) for view in begin]
    mu, c = (0.5, 0.5), 0.5 * np.array(ridges)
    ours = IFSL(lam=gamma, order="late-margins", initial="random", ridges=ridges, rates=rates)
    for xi, passes in ((1e-3, 1000), (1e-300, 9)):
        printed = table_1_of_wang_2009(grams, y, gamma, c, rates, mu, b_1, signed, xi, passes)
        learner = KMHKS(alpha=0.5, b0=0.5, tol=xi, max_iter=passes)
        decision = couple(views, y, ours, learner, seed=3)
        assert len(decision.history) == len(printed.losses) > 2
        assert_close(decision.history, printed.losses)
        for fitted, expected, gram in zip(decision.learners, printed.omega, grams, strict=True):
            assert_close(fitted.decide(gram), gram @ (y * expected[:-1]) + expected[-1])


def test_table_1_of_wang_2013(two_classes, rng):
    rows, y = two_classes
    member = MKLClassifier(
        ["cosine(linear)", "rbf", "rbf(sigma='mean/10')"],
        feature_map="empirical(subset=0.1)",
        combiner=IFSL(lam=0.25, order="at-once", initial="unit", ridges=RIDGES, rates=RATES),
        learner=MHKS(alpha=2.0),
    )
    model = MKLVotingClassifier(member, n_members=3, random_state=0).fit(rows, y)
    new = rng.normal(size=(200, 4))
    maps = [
        [projector.map for projector in member.decisions_[0].projectors]
        for member in model.members_
    ]
    votes = table_1_of_wang_2013(
        [[map_.transform(rows) for map_ in member_maps] for member_maps in maps],
        [[map_.transform(new) for map_ in member_maps] for member_maps in maps],
        y,
        0.25,
        2.0 * np.array(RIDGES),
        RATES,
        1e-6,
        1e-3,
    )
    assert 0.1 < np.mean(votes > 0) < 0.9
    np.testing.assert_array_equal(model.predict(new), votes)


@pytest.mark.parametrize("rule", ["gradient", "fixed-mean"])
@pytest.mark.parametrize("order", ["in-turn", "at-once", "late-margins"])
def test_both_maps_take_values_per_view(two_classes, rule, order):
    """The primal is the dual, with ridges and rates per view and in every order."""
    rows, y = two_classes
    combiner = IFSL(lam=2.0, rule=rule, order=order, ridges=RIDGES, rates=RATES)
    sides = [(MHKS, "empirical"), (KMHKS, "implicit")]
    values = [
        couple(
            views_of(TRIO, rows, feature_map), y, combiner, learner(tol=1e-300, max_iter=12)
        ).decide(rows + 0.1)
        for learner, feature_map in sides
    ]
    np.testing.assert_allclose(*values, atol=1e-7 * np.abs(values[0]).max())


@pytest.mark.parametrize(
    ("learner", "feature_map", "order"),
    [(MHKS, "empirical", "in-turn"), (KMHKS, "implicit", "late-margins")],
    ids=["mhks", "kmhks"],
)
def test_a_grid_has_the_ridges_of_separate_fits(two_classes, learner, feature_map, order):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    combiner = IFSL(ridges=RIDGES, rates=RATES, order=order, initial="random")
    points = [
        {"learner__alpha": c, "combiner__lam": lam} for c in (0.25, 4.0) for lam in (0.0, 2.0)
    ]
    grid = combiner.fit_grid(
        views, Target.two_classes(y), learner(), points, np.random.RandomState(0)
    )
    for place, point in enumerate(points):
        alone = combiner.with_params(lam=point["combiner__lam"])
        single = couple(views, y, alone, learner(alpha=point["learner__alpha"]))
        assert grid.n_iter[place] == len(single.history)
        expected = single.decide(rows)
        np.testing.assert_allclose(
            grid.decide(rows)[:, place], expected, atol=1e-8 * np.abs(expected).max()
        )


@pytest.mark.parametrize("name", ["ridges", "rates"])
def test_a_wrong_number_of_values_is_refused(two_classes, name):
    with pytest.raises(SpecError, match=f"ifsl has 2 {name} for 3 kernels; give one each"):
        MKLClassifier(TRIO, combiner=f"ifsl({name}=(0.5, 1))").fit(*two_classes)
    search = ifsl_search(TRIO, combiner=f"ifsl({name}=(0.5, 1))", ridges=[1.0], lams=[1.0], cv=2)
    with pytest.raises(SpecError, match=f"2 {name} for 3 kernels"):
        search.fit(*two_classes)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ifsl(rates=(0.5, 0))", "rates must be above 0 and at most 1, one per kernel"),
        ("ifsl(rates=(0.5, 1.5))", "rates must be above 0 and at most 1"),
        ("ifsl(ridges=(1, -1))", "ridges must be finite and at least 0, one per kernel"),
        ("ifsl(ridges=())", "ridges must be finite and at least 0, one per kernel"),
        ("ifsl(ridges=0.5)", "expected one number per kernel"),
        ("ifsl(ridges='12')", "expected one number per kernel"),
        ("ifsl(rates={0.5, 1})", "expected one number per kernel"),
        ("ifsl(weights=(-1, 2))", "weights must be non-negative numbers, not all zero"),
        ("ifsl(weights=(0, 0))", "not all zero"),
        ("ifsl(lam=-1)", "lam"),
        ("ifsl(rule='newton')", "rule"),
        ("ifsl(initial='ten')", "initial"),
    ],
)
def test_wrong_values_are_refused(two_classes, spec, said):
    with pytest.raises(SpecError, match=said):
        MKLClassifier(TRIO, combiner=spec).fit(*two_classes)


def test_ridges_need_a_learner_with_a_ridge(two_classes):
    class WithoutRidge:
        name = "bare"
        coupling = MHKS().coupling
        traits = MHKS().traits

        def get_params(self):
            return {}

        def fit(self, side, target): ...

        def subproblem(self, side, target, variants): ...

    rows, y = two_classes
    with pytest.raises(IncompatibleError, match=r"multiplies the parameter 'alpha' .* bare has"):
        couple(views_of(TRIO, rows), y, IFSL(ridges=RIDGES), WithoutRidge())
    with pytest.raises(IncompatibleError, match=r"svm does not offer: .* 'mhks'"):
        couple(views_of(TRIO, rows), y, IFSL(ridges=RIDGES), SVM())


@pytest.mark.process
def test_the_search_space_is_that_of_the_rules_paper(two_classes):
    assert tuple(float(f"1e{k}") for k in range(-5, 5)) == pytest.approx(COUPLINGS_OF_WANG_2009)
    for preset, values in (("multik-mhks", PAPER_GRID), ("multiv-kmhks", COUPLINGS_OF_WANG_2009)):
        search = preset_classifier(preset, tune="fast")
        assert search.search_space()["combiner__lam"] == values[::-1]
    quietly(search, *two_classes)
    assert set(search.cv_results_["param_combiner__lam"]) == set(COUPLINGS_OF_WANG_2009)
