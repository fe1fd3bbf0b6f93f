"""Coupled fits as tests ask for them: on views, with the margins at hand, in given silence."""

from __future__ import annotations

import warnings
from typing import Any

import attrs
import numpy as np
import pytest
from helpers.builders import views_of
from sklearn.exceptions import ConvergenceWarning

from mklkit import MKLClassifier
from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS
from mklkit.plugin import Target

TRIO = ["linear", "rbf(sigma='mean')", "polynomial(degree=2)"]
"""The library's default kernels, those of Wang, Chen and Sun 2008."""


SIDES = [(MHKS, "empirical"), (KMHKS, "implicit")]
each_side = pytest.mark.parametrize(("learner", "feature_map"), SIDES, ids=["mhks", "kmhks"])
each_rule = pytest.mark.parametrize("rule", ["gradient", "fixed-mean"])


def quietly(model, X, y):
    """Fit without the warning that max_iter was reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def coupled(learner, feature_map, rule="gradient", lam=1.0, kernels=TRIO, alpha=1.0, **settings):
    """Return a classifier that couples such learners; it starts from zeros."""
    return MKLClassifier(
        kernels,
        feature_map=feature_map,
        combiner=IFSL(lam=lam, rule=rule, initial=settings.pop("initial", "zeros")),
        learner=learner(alpha=alpha, **settings),
    )


def couple(views: Any, y: np.ndarray, combiner: IFSL, learner: Any, seed: int = 0) -> Any:
    """Return the combiner's decision, without the warning that max_iter was reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return combiner.fit(views, Target.two_classes(y), learner, np.random.RandomState(seed))


def coefficients_of(decision: Any) -> list[np.ndarray]:
    """Return each view's coefficients with the bias last."""
    return [np.append(learner.coefficients, learner.bias) for learner in decision.learners]


@attrs.frozen(eq=False)
class Ending:
    """Where an iteration ended: outputs and margins (M, N), penalties c‖ω̃‖² (M,), the history."""

    outputs: np.ndarray
    margins: np.ndarray
    penalties: np.ndarray
    history: np.ndarray

    def objective(
        self, y: np.ndarray, lam: float, mu: np.ndarray, shares: np.ndarray | float = 1.0
    ) -> float:
        """Return Σ_l s_l(‖e_l‖² + c‖ω̃_l‖² + λ‖f_l − f̄‖²)."""
        error = y * self.outputs - 1 - self.margins
        gap = self.outputs - mu @ self.outputs
        each = (error**2).sum(axis=1) + self.penalties + lam * (gap**2).sum(axis=1)
        return float((shares * each).sum())


def run_to(
    y: np.ndarray,
    rows: np.ndarray,
    combiner: IFSL,
    learner: MHKS | KMHKS,
    feature_map: str = "empirical",
    kernels: Any = None,
) -> Ending:
    """Run the combiner's rule on views of the rows; the margins are kept, as no decision does."""
    views = views_of(kernels or TRIO, rows, feature_map)
    target = Target.two_classes(y)
    problems = [learner.subproblem(view, target, [learner]) for view in views]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        (solution,) = combiner.solutions(
            problems, target, learner, [combiner.lam], np.random.RandomState(0)
        )
    outputs, penalties = [], []
    for view, fitted in zip(views, solution.learners, strict=True):
        outputs.append(fitted.decide(view.features() if view.explicit else view.gram()))
        products = fitted.coefficients if view.explicit else view.gram() @ fitted.coefficients
        penalties.append(learner.alpha * fitted.coefficients @ products)
    return Ending(
        np.array(outputs), solution.margins, np.array(penalties), np.array(solution.history)
    )
