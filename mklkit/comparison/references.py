"""The methods that every comparison has, so that a result is seen beside simple alternatives."""

from __future__ import annotations

from typing import Any

import attrs
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from mklkit.comparison.methods import BASELINE, METHOD, ONE_KERNEL, Method, MethodOptions
from mklkit.errors import IncompatibleError
from mklkit.estimators.folds import plan_folds
from mklkit.protocols.component import Preset
from mklkit.registry.columns import are_proposed, bind_kernels, kernel_list, parts_of
from mklkit.registry.composing import choose_components

DEFAULT_METHODS = ("centered-alignment", "dimkl*", "ifsl")
"""The combiners that are compared where none is named."""
EVEN, BEST_KERNEL = "uniform", "best-single"
"""The combiners beside which kernels are seen: their even sum, and the best of them."""
LEAF = 10
"""Rows of a leaf of gradient boosting: with scikit-learn's 20 it can't split a few dozen rows."""
FEW: dict[str, dict[str, list[Any]]] = {
    "logistic regression": {"C": [0.01, 1.0, 100.0]},
    "random forest": {"max_features": ["sqrt", 0.3, 0.6]},
    "gradient boosting": {"learning_rate": [0.03, 0.1, 0.3]},
}
"""What is tried where methods are tuned fast: the baselines are tuned too, or it is not fair."""
MORE: dict[str, dict[str, list[Any]]] = {
    "logistic regression": {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]},
    "random forest": {"min_samples_leaf": [1, 3, 10]},
    "gradient boosting": {"max_leaf_nodes": [7, 31]},
}
"""What is tried besides where they are tuned longer."""


def kernel_baselines(options: MethodOptions) -> list[Method]:
    """Return the even sum of the kernels, each alone, and the best of them.

    Kernels that are proposed differ between splits, and are not listed alone.
    """
    learner = options.learners[0] if len(options.learners) == 1 else None
    feature_map = options.feature_map
    try:
        choose_components(EVEN, feature_map, learner)
    except IncompatibleError:
        learner = feature_map = None  # Those of the methods don't go together without them.
    parts = {"learner": learner, "feature_map": feature_map}
    even, best = Preset(EVEN, "", EVEN), Preset(BEST_KERNEL, "", BEST_KERNEL)
    alone = []
    if not are_proposed(options.kernels):
        kernels = kernel_list(options.kernels)
        for kernel, bound in zip(kernels, bind_kernels(kernels), strict=True):
            _, component, columns = parts_of(kernel)
            bank: Any = [(bound.label, component, columns)]
            alone.append(options.of_preset(even, bound.label, ONE_KERNEL, kernels=bank, **parts))
    if len(alone) == 1:
        return alone  # which all three are
    together = options.of_preset(even, EVEN, METHOD, **parts)
    return [together, *alone, options.of_preset(best, BEST_KERNEL, METHOD, **parts)]


def baselines(options: MethodOptions) -> list[Method]:
    """Return scikit-learn's usual classifiers on the encoded, scaled features."""
    seed, jobs = options.seed, options.n_jobs
    usual = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(n_jobs=jobs, random_state=seed),
        "gradient boosting": HistGradientBoostingClassifier(
            min_samples_leaf=LEAF, random_state=seed
        ),
    }
    version = f"scikit-learn {sklearn.__version__}"
    methods = []
    for name, estimator in usual.items():
        grid = FEW[name] | ({} if options.tune == "fast" else MORE[name])
        search = GridSearchCV(estimator, grid, cv=ShuffledFolds(5, seed), n_jobs=jobs)
        chosen = search if options.tune else estimator
        methods.append(options.of_estimator(chosen, name, BASELINE, version))
    return methods


@attrs.frozen
class ShuffledFolds:
    """Stratified folds as everywhere in mklkit, fewer where a class is small, for GridSearchCV."""

    folds: int
    seed: int

    def split(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Yield training and test rows."""
        return plan_folds(y, self.folds).splits(y, self.seed)

    def get_n_splits(self, X: Any, y: Any, groups: Any = None) -> int:
        """Return the number of folds."""
        return plan_folds(y, self.folds).folds
