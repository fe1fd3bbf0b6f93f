"""scikit-learn's usual estimators as baselines of a comparison, with small grids for a search."""

from __future__ import annotations

from typing import Any

import attrs
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor

from mklkit.comparison.design import Design
from mklkit.comparison.methods import BASELINE, Method, estimator_method
from mklkit.errors import SpecError, UnknownNameError, quoted, suggest
from mklkit.protocols import Task

FEW: dict[str, dict[str, list[Any]]] = {
    "logistic regression": {"C": [0.01, 1.0, 100.0]},
    "random forest": {"max_features": ["sqrt", 0.3, 0.6]},
    "gradient boosting": {"learning_rate": [0.03, 0.1, 0.3]},
    "isolation forest": {"max_features": [0.3, 0.6, 1.0]},
}
"""The grids of a fast search: for a fair comparison, the baselines are tuned too."""
MORE: dict[str, dict[str, list[Any]]] = {
    "logistic regression": {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]},
    "random forest": {"min_samples_leaf": [1, 3, 10]},
    "gradient boosting": {"max_leaf_nodes": [7, 31]},
    "isolation forest": {"max_samples": [0.5, 1.0]},
}
"""The additional grids of a longer search."""


def baselines(design: Design) -> list[Method]:
    """Return scikit-learn's usual estimators of the task on the encoded, scaled features."""
    settings = design.settings
    usual = design.task.baselines(settings.seed, settings.n_jobs, settings.class_weight)
    names = list(usual) if design.baselines is None else design.baselines
    if "none" in names:
        raise SpecError("Baselines are either 'none' or names: leave out one or the other.")
    version = f"scikit-learn {sklearn.__version__}"
    methods = []
    for name in names:
        if name not in usual:
            raise UnknownNameError(
                f"There is no baseline {quoted(name)}.{suggest(name, usual)} Choose from"
                f" {', '.join(usual)}, or none.",
                name,
            )
        chosen = usual[name]
        if settings.tune and name in FEW:
            grid = FEW[name] | ({} if settings.tune == "fast" else MORE[name])
            if isinstance(chosen, MultiOutputRegressor):
                grid = {f"estimator__{key}": values for key, values in grid.items()}
            folds, jobs = ShuffledFolds(5, settings.seed, design.task), settings.n_jobs
            chosen = GridSearchCV(chosen, grid, scoring=design.scoring, cv=folds, n_jobs=jobs)
        methods.append(estimator_method(design, chosen, name, BASELINE, version))
    return methods


@attrs.frozen
class ShuffledFolds:
    """Folds for GridSearchCV, as elsewhere in mklkit: fewer if a class is small."""

    folds: int
    seed: int
    task: Task = attrs.field(repr=False)

    def split(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Return training and test rows."""
        return [tuple(split) for split in self.task.splits(y, self.folds, self.seed, groups)]

    def get_n_splits(self, X: Any, y: Any, groups: Any = None) -> int:
        """Return the number of folds."""
        return len(self.split(X, y, groups))
