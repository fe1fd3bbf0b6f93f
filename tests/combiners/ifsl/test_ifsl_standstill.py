"""What a large λ does to the iteration, and that it is said."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from coupled_fits import TRIO, coupled, each_rule, each_side
from helpers.builders import ifsl_search, views_of
from oracles.coupled import joint_minimum
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners import IFSL


@each_side
@each_rule
@pytest.mark.parametrize("lam", [1e6, 1e8])
def test_a_standstill_is_said(two_classes, learner, feature_map, rule, lam):
    """The more λ weighs, the less a pass moves: the papers' stop then comes near the start."""
    X, y = two_classes
    model = coupled(learner, feature_map, rule, lam)
    said = re.escape(f"lam={lam:g}") + " .* stopped far from .* smaller lam or tol"
    with pytest.warns(ConvergenceWarning, match=said):
        model.fit(X, y)
    least = joint_minimum([view.features() for view in views_of(TRIO, X, "empirical")], y, 1.0, lam)
    history = model.decisions_[0].history
    assert history[-1] > 1.1 * least  # what was said is so
    assert np.isfinite(history).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.7


@each_side
@each_rule
@pytest.mark.parametrize("lam", [0.0, 1.0, 16.0])
def test_nothing_is_said_of_the_papers_values(two_classes, learner, feature_map, rule, lam):
    X, y = two_classes
    model = coupled(learner, feature_map, rule, lam)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X + 20 * y[:, None], y)  # far apart: the loss is all but zero
        model.fit(X, y)
    least = joint_minimum([view.features() for view in views_of(TRIO, X, "empirical")], y, 1.0, lam)
    assert model.decisions_[0].history[-1] < 1.05 * least


@pytest.mark.parametrize("lams", [(1e6, 1e5), (1e6, 1e5, 1.0)], ids=str)
def test_a_search_says_it_of_the_point_that_it_takes(two_classes, lams):
    X, y = two_classes
    search = ifsl_search(
        TRIO,
        feature_map="implicit",
        combiner=IFSL(initial="zeros"),
        learner="kmhks",
        ridges=(1.0,),
        lams=lams,
        cv=2,
        random_state=0,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    taken = search.best_params_["combiner__lam"]
    said = [
        str(issue.message) for issue in caught if issubclass(issue.category, ConvergenceWarning)
    ]
    assert len(said) == (taken > 1)
    assert all(f"lam={taken:g} " in text for text in said)
