"""A learner from outside, coupled by ifsl: ridge regression on margins, by its own subproblem.

It imports nothing but public names, has no bias and keeps its coefficients as plain arrays.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from builders import views_of
from coupled_fits import TRIO, coefficients_of, couple
from documents import listings
from oracles.coupled import ifsl_residuals, multik_mhks
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.combiners import IFSL
from mklkit.errors import IncompatibleError
from mklkit.plugin import Learner, LearnerFacts, LinearDecision, Subproblem
from mklkit.protocols import CouplingFacts


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
    facts: ClassVar[LearnerFacts] = LearnerFacts(on_features=True)

    alpha: float = 1.0

    coupling: ClassVar = CouplingFacts(stopping=UntilStill(1e-14))

    def subproblem(self, side: Any, target: Any, variants: Any) -> RidgeSubproblem:
        return RidgeSubproblem(side.features(), self.alpha)

    def fit(self, side: Any, target: Any) -> LinearDecision:
        problem = self.subproblem(side, target, [self])
        return problem.finish(problem.solve(target.values[:, None], np.ones(1)))


@attrs.frozen(eq=False)
class WithBias(RidgeSubproblem):
    """The same with a bias, last of the coefficients and free."""

    def solve(self, targets, data_weights, columns=slice(None)):
        design = self._design()
        ridge = self.alpha * np.eye(design.shape[1])
        ridge[-1, -1] = 0
        return np.linalg.solve(data_weights[0] * design.T @ design + ridge, design.T @ targets)

    def outputs(self, coefficients):
        return self._design() @ coefficients

    def penalty(self, coefficients, columns=slice(None)):
        return super().penalty(coefficients[:-1])

    def finish(self, coefficients, column=0):
        return LinearDecision(coefficients[:-1, column], float(coefficients[-1, column]))

    def _design(self) -> np.ndarray:
        return np.column_stack([self.features, np.ones(len(self.features))])


@attrs.frozen
class RidgeOnMargins(Learner):
    """Ridge regression on margins that grow; it leaves the stopping rule to ifsl."""

    name: ClassVar[str] = "outside-ridge-on-margins"
    facts: ClassVar[LearnerFacts] = LearnerFacts(on_features=True)

    alpha: float = 1.0
    rho: float = 0.5
    b0: float = 0.25

    @property
    def coupling(self) -> CouplingFacts:
        return CouplingFacts(self.rho, self.b0)

    def subproblem(self, side: Any, target: Any, variants: Any) -> WithBias:
        return WithBias(side.features(), self.alpha)

    def fit(self, side: Any, target: Any) -> LinearDecision:
        raise NotImplementedError("only ever coupled")


def stationary(features, y, margins, c, lam, mu):
    """Return the coefficients that minimise L for given margins: one dense least-squares problem.

    L's residuals are affine in all views' coefficients together; no bias, so that column is zero.
    """
    widths = [f.shape[1] for f in features]
    ends = np.cumsum([0, *widths])
    designs = [np.column_stack([f, np.zeros(len(y))]) for f in features]

    def residuals(values):
        parts = [np.append(values[i:j], 0.0) for i, j in pairwise(ends)]
        return ifsl_residuals(designs, y, parts, margins, c, lam, mu)

    constant = residuals(np.zeros(ends[-1]))
    slopes = np.column_stack([residuals(unit) - constant for unit in np.eye(ends[-1])])
    solution = np.linalg.lstsq(slopes, -constant, rcond=None)[0]
    return np.split(solution, ends[1:-1])


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=20)"])
@pytest.mark.parametrize("weights", [None, (3, 1, 1)])
@pytest.mark.parametrize(("c", "lam"), [(0.5, 0.0), (0.25, 0.5), (2.0, 4.0)])
def test_views_end_at_the_joint_solution(two_classes, feature_map, weights, c, lam):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    mu = np.ones(3) / 3 if weights is None else np.array(weights) / 5
    decision = couple(views, y, IFSL(lam=lam, weights=weights), Ridge(c))
    features = [view.features() for view in views]
    expected = stationary(features, y, np.zeros((3, len(y))), c, lam, mu)
    for learner, f, w in zip(decision.learners, features, expected, strict=True):
        scale = np.abs(f @ w).max()
        np.testing.assert_allclose(learner.decide(f), f @ w, atol=1e-5 * scale)


@pytest.mark.parametrize(("rho", "b0"), [(0.5, 0.25), (0.99, 1e-6), (0.0, 0.75), (0.2, 0.0)])
def test_margins_grow_as_the_learner_says(two_classes, rho, b0):
    """MHKS written again outside the library: the naive iteration is what it must give."""
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    naive = multik_mhks([view.features() for view in views], y, 0.5, 1.5, rho=rho, b0=b0)
    decision = couple(views, y, IFSL(lam=1.5), RidgeOnMargins(0.5, rho, b0))
    assert len(decision.history) == len(naive.history) > 3
    np.testing.assert_allclose(decision.history, naive.history, rtol=1e-8)
    for ours, theirs in zip(coefficients_of(decision), naive.coefficients, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())


def test_a_learner_without_variants_is_searched_fit_by_fit(two_classes):
    rows, y = two_classes
    folds = StratifiedKFold(3)
    model = MKLClassifier(combiner="ifsl", feature_map="empirical", learner=Ridge())
    grid = {"learner__alpha": (0.1, 10.0), "combiner__lam": (0.0, 2.0)}
    ours = MKLSearchCV(model, grid, cv=folds).fit(rows, y).cv_results_
    theirs = GridSearchCV(model, grid, cv=folds).fit(rows, y).cv_results_
    order = [theirs["params"].index(params) for params in ours["params"]]
    np.testing.assert_allclose(ours["mean_test_score"], theirs["mean_test_score"][order])


def test_the_learner_of_the_page_on_couplings_is_coupled():
    (listing,) = listings("docs/guides/plugins/write-a-coupling.md", "py")
    exec(listing, {})  # its last line asserts that it learns


def test_a_start_that_a_subproblem_cannot_take_is_refused(two_classes):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    with pytest.raises(IncompatibleError, match=r"RidgeSubproblem.*initial='zeros'"):
        couple(views, y, IFSL(initial="unit"), Ridge())
