"""A learner from outside, coupled by ifsl: ridge regression on margins, by its own subproblem.

It imports nothing but public names, has no bias and keeps its coefficients as plain arrays.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from coupled_fits import TRIO, couple
from helpers.builders import views_of
from helpers.documents import listings
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.combiners import IFSL
from mklkit.errors import IncompatibleError
from mklkit.plugin import Learner, LearnerTraits, LinearDecision, Subproblem
from mklkit.protocols import CouplingTraits


@attrs.frozen
class UntilStill:
    """A stopping rule of one's own: both objectives given, (G,) each."""

    tol: float
    max_iter: int = 20_000

    def reached(self, previous: np.ndarray, current: np.ndarray) -> np.ndarray:
        return np.abs(previous - current) <= self.tol * np.abs(current)


@attrs.frozen(eq=False)
class RidgeSubproblem(Subproblem):
    """min s‖Φw − t/s‖² + c‖w‖², by a dense solve each time; one column."""

    features: np.ndarray
    alpha: float

    def solve(self, targets, data_weights, columns=slice(None)):
        products = data_weights[0] * self.features.T @ self.features
        ridge = self.alpha * np.eye(len(products))
        return np.linalg.solve(products + ridge, self.features.T @ targets)

    def outputs(self, coefficients):
        return self.features @ coefficients

    def penalty(self, coefficients, columns=slice(None)):
        return self.alpha * (coefficients**2).sum(axis=0)

    def finish(self, coefficients, column=0):
        return LinearDecision(coefficients[:, column], 0.0)


@attrs.frozen
class Ridge(Learner):
    """Ridge regression on the labels: margins stay at one."""

    name: ClassVar[str] = "outside-ridge"
    traits: ClassVar[LearnerTraits] = LearnerTraits(on_features=True)

    alpha: float = 1.0

    coupling: ClassVar = CouplingTraits(stopping=UntilStill(1e-14))

    def subproblem(self, side: Any, target: Any, variants: Any) -> RidgeSubproblem:
        return RidgeSubproblem(side.features(), self.alpha)

    def fit(self, side: Any, target: Any) -> LinearDecision:
        problem = self.subproblem(side, target, [self])
        return problem.finish(problem.solve(target.values[:, None], np.ones(1)))


def test_a_learner_without_variants_is_searched_fit_by_fit(two_classes):
    rows, y = two_classes
    folds = StratifiedKFold(3)
    model = MKLClassifier(combiner="ifsl", feature_map="empirical", learner=Ridge())
    grid = {"learner__alpha": (0.1, 10.0), "combiner__lam": (0.0, 2.0)}
    ours = MKLSearchCV(model, grid, cv=folds).fit(rows, y).cv_results_
    reference = GridSearchCV(model, grid, cv=folds).fit(rows, y).cv_results_
    order = [reference["params"].index(params) for params in ours["params"]]
    np.testing.assert_allclose(ours["mean_test_score"], reference["mean_test_score"][order])


def test_the_learner_of_the_page_on_couplings_is_coupled():
    (listing,) = listings("docs/guides/plugins/write-a-coupling.md", "py")
    exec(listing, {})  # its last line asserts that it learns


def test_a_start_that_a_subproblem_cannot_take_is_refused(two_classes):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    with pytest.raises(IncompatibleError, match=r"RidgeSubproblem.*initial='zeros'"):
        couple(views, y, IFSL(initial="unit"), Ridge())
