"""Small things that tests are built from: views by spec string, a learner that costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.learners.ho_kashyap.rules import PAPER_GRID
from mklkit.learners.linear_decision import LinearDecision
from mklkit.plugin import FusionCombiner, Target
from mklkit.protocols import Learner, LearnerTraits
from mklkit.registry.columns import bind_kernels
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.view_set import ViewSet

TRIO = ["linear", "rbf(gamma=0.3)", "polynomial(degree=2)"]


def trio_grams(a: np.ndarray, b: np.ndarray | None = None) -> list[np.ndarray]:
    """Return scikit-learn's similarities by these kernels."""
    return [
        linear_kernel(a, b),
        rbf_kernel(a, b, gamma=0.3),
        polynomial_kernel(a, b, degree=2, gamma=1.0, coef0=1.0),
    ]


def views_of(
    kernels: Any, rows: np.ndarray, feature_map: Any = "implicit", seed: int = 0
) -> ViewSet:
    """Return the views of some kernels on all columns of the rows."""
    bound = [BoundKernel(kernel.label, kernel.kernel) for kernel in bind_kernels(kernels)]
    fitted_map = get_registry().create("feature_map", feature_map)
    return ViewSet.fit(bound, fitted_map, rows, np.random.RandomState(seed))


def in_blocks(views: ViewSet) -> ViewSet:
    """Have features made again, block by block, in each pass over the rows."""
    assert views.blocks is not None
    views.blocks.most_kept = 0
    return views


@attrs.frozen
class Mean(FusionCombiner):
    """The mean of the decisions."""

    name: ClassVar[str] = "mean"

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores.mean(axis=1))


def ifsl_search(
    kernels: Any = None,
    feature_map: Any = None,
    combiner: Any = "ifsl",
    learner: Any = None,
    ridges: Any = PAPER_GRID,
    lams: Any = PAPER_GRID,
    multiclass: str = "ovo",
    **settings: Any,
) -> MKLSearchCV:
    """Return the search of c and λ of coupled learners."""
    model = MKLClassifier(
        kernels,
        feature_map=feature_map,
        combiner=combiner,
        learner=learner,
        multiclass=multiclass,
    )
    return MKLSearchCV(model, {"learner__alpha": ridges, "combiner__lam": lams}, **settings)


def ids(n_rows: int) -> np.ndarray:
    """Return the column of row ids that a precomputed kernel reads."""
    return np.arange(n_rows, dtype=float)[:, None]


@attrs.frozen
class Silent(Learner):
    """A learner that says zero: for tests of what happens before a learner is asked."""

    name: ClassVar[str] = "silent"
    traits: ClassVar[LearnerTraits] = LearnerTraits(on_features=True, on_gram=True)

    def fit(self, side: Any, target: Target) -> LinearDecision:
        """Return the zero function."""
        return LinearDecision(np.zeros(side.n_features if side.explicit else len(target)), 0.0)


def weights_by(combiner: Any, views: ViewSet, y: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the weights on the simplex that a weighting combiner gives."""
    combiner = get_registry().create("combiner", combiner)
    decision = combiner.fit(views, Target.two_classes(y), Silent(), np.random.RandomState(seed))
    return np.asarray(decision.weights)


def tiles_of(values: np.ndarray, cuts: Sequence[int]) -> list[np.ndarray]:
    """Return the values cut into pieces at the given positions."""
    return np.split(values, sorted(cuts))
