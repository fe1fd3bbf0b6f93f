"""The usual estimators of a task as baselines of a comparison, tuned if the methods are."""

from __future__ import annotations

from typing import Any

import attrs
import sklearn
from sklearn.model_selection import GridSearchCV

from mklkit.comparison.design import Design
from mklkit.comparison.methods import BASELINE, Method, estimator_method
from mklkit.errors import SpecError, UnknownNameError, quoted, suggest
from mklkit.protocols import Task


def baselines(design: Design) -> list[Method]:
    """Return scikit-learn's usual estimators of the task on the encoded, scaled features."""
    settings = design.settings
    usual = design.task.baselines(settings.seed, settings.n_jobs, settings.class_weight)
    names = list(usual) if design.baselines is None else design.baselines
    if "none" in names:
        raise SpecError("Baselines are either 'none' or names: leave out one or the other.")
    is_fast = settings.tune == "fast"
    grids = design.task.baseline_grids(is_fast) if settings.tune else {}
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
        if name in grids:
            folds = ShuffledFolds(5, settings.seed, design.task)
            jobs = settings.n_jobs
            chosen = GridSearchCV(
                chosen, grids[name], scoring=design.scoring, cv=folds, n_jobs=jobs
            )
        methods.append(estimator_method(design, chosen, name, BASELINE, version))
    return methods


@attrs.frozen
class ShuffledFolds:
    """Folds for GridSearchCV, as elsewhere in mklkit: fewer if a class is small."""

    folds: int
    seed: int
    task: Task = attrs.field(repr=False)

    def split(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Return training and test samples."""
        return [tuple(split) for split in self.task.splits(y, self.folds, self.seed, groups)]

    def get_n_splits(self, X: Any, y: Any, groups: Any = None) -> int:
        """Return the number of folds."""
        return len(self.split(X, y, groups))
