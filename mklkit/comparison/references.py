"""The methods of every comparison, which show a result beside simple alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor

from mklkit.comparison.methods import BASELINE, METHOD, ONE_KERNEL, Method, MethodOptions
from mklkit.errors import IncompatibleError, SpecError, UnknownNameError, quoted, suggest
from mklkit.evaluation.tasks import Task
from mklkit.protocols.component import FILLED, Preset
from mklkit.registry.columns import are_proposed, bind_kernels, kernel_list, parts_of
from mklkit.registry.composing import choose_components

EVEN, BEST_KERNEL = "uniform", "best-single"
"""The combiners to compare kernels with: their even sum, and the best of them."""
ON_ALL = ("rbf on all columns", "rbf", None)
"""The reference for several kernels that read different columns."""
MOST_LEARNED = 4
"""Methods with learned weights to test against even ones: each lowers the power of all tests."""
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


References = dict[str, list[Method]]
"""For one learner: the ``even`` sum, kernels ``alone``, the ``best`` single one, those that are
``also`` compared but not combined, and those ``kept`` with a fixed share, such as covariates. For a
single kernel there are no sum and best."""


def kernel_references(options: MethodOptions) -> list[References]:
    """Return, for each learner, the references for methods of several kernels.

    Proposed kernels differ between splits, so they are not compared alone. If kernels read
    different columns of numbers, one on all columns is compared too.
    """
    kernels = [] if are_proposed(options.kernels) else kernel_list(options.kernels)
    bank, also = bind_kernels(kernels) if kernels else [], list(options.also)
    if any(k.columns is not None for k in bank) and all(k.reads == "numbers" for k in bank):
        also = also or [ON_ALL]
    alone = [
        (bound.label, (bound.label, *parts_of(kernel)[1:]))
        for kernel, bound in zip(kernels, bank, strict=True)
    ]
    besides = [
        (kernel.strip() if isinstance(kernel, str) else bind_kernels([kernel])[0].label, kernel)
        for kernel in also
    ]
    learners = options.learners or (None,)
    shared = [place for place, bound in enumerate(bank) if bound.traits.share]
    return [_of_learner(options, learner, alone, besides, shared) for learner in learners]


def _of_learner(
    options: MethodOptions, learner: Any, alone: Any, also: Any, shared: Sequence[int]
) -> References:
    parts = {"learner": learner, "feature_map": options.feature_map}
    try:
        choose_components(EVEN, options.feature_map, learner, task=options.task.learned)
    except IncompatibleError:
        # The learner and map work only with the combiners of the methods.
        parts = dict.fromkeys(parts)

    def method(name: str, combiner: str, kind: str, **bank: Any) -> Method:
        label = name if parts["learner"] is None else options.label(name, learner)
        return options.of_preset(Preset(combiner, "", combiner), label, kind, **bank, **parts)

    # A kernel alone can't decide rows that lack its source, unless this is filled in.
    single, besides = (
        [
            method(name, EVEN, ONE_KERNEL, kernels=[kernel], missing=FILLED)
            for name, kernel in kernels
        ]
        for kernels in (alone, also)
    )
    even = [method(EVEN, EVEN, METHOD)] if len(single) != 1 else []
    # Without labels there is no best kernel.
    is_several = len(single) != 1 and options.task.learned != "none"
    best = [method(BEST_KERNEL, BEST_KERNEL, METHOD)] if is_several else []
    kept = [single[place] for place in shared] if is_several else []
    return {"even": even, "alone": single, "best": best, "also": besides, "kept": kept}


def planned_questions(
    methods: Sequence[Method],
    references: Sequence[References],
    rivals: Sequence[Method],
    are_named: bool,
) -> list[tuple[str, Method, list[Method]]]:
    """Return the questions that follow from the request, without any score.

    Each has a title, a method and its references. Scores choose only the best of several
    ``rivals``, other classifiers, for which its test corrects; they are compared with the first
    method that the user named, else with the even sum. To keep the number of tests small, only
    the first methods with learned weights are tested.
    """
    most = max(1, MOST_LEARNED // max(1, len(references)))
    together = [[*group["even"], *group["alone"]][0] for group in references]
    beside: dict[str, list[tuple[Method, list[Method]]]] = {
        "Learned weights": [
            (method, [even])
            for group in references
            for even in group["even"]
            for method in [m for m in methods if m.is_learned_as(even)][:most]
        ],
        **{
            f"All kernels or {words} one": [
                (kernels, [reference])
                for kernels, group in zip(together, references, strict=True)
                for reference in group[role]
            ]
            for role, words in (("best", "the best"), ("also", "another"))
        },
        "All kernels or the covariates alone": [
            (kernels, [reference])
            for kernels, group in zip(together, references, strict=True)
            for reference in group["kept"]
        ],
    }
    questions = [(title, *pair) for title, pairs in beside.items() for pair in pairs]
    asked = [method for method in methods if method.weights_are and are_named]
    for kernels in [*asked, *together][: len(rivals)][:1]:
        questions.append(("Kernels or other classifiers", kernels, list(rivals)))
    return questions


def baselines(options: MethodOptions) -> list[Method]:
    """Return scikit-learn's usual estimators of the task on the encoded, scaled features."""
    usual = options.task.baselines(options.seed, options.n_jobs, options.class_weight)
    names = list(usual) if options.baselines is None else options.baselines
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
        if options.tune and name in FEW:
            grid = FEW[name] | ({} if options.tune == "fast" else MORE[name])
            if isinstance(chosen, MultiOutputRegressor):
                grid = {f"estimator__{key}": values for key, values in grid.items()}
            folds, jobs = ShuffledFolds(5, options.seed, options.task), options.n_jobs
            chosen = GridSearchCV(chosen, grid, scoring=options.scoring, cv=folds, n_jobs=jobs)
        methods.append(options.of_estimator(chosen, name, BASELINE, version))
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
