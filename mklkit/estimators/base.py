"""What estimators of every task share: fits of their problems, kernel weights, and their table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklkit.display.progress import BRIEF, reported
from mklkit.errors import IncompatibleError
from mklkit.estimators.checking import check_new_rows
from mklkit.estimators.fitting import fit_decision
from mklkit.estimators.kernel_summary import KernelSummary, fitted_summary, planned_summary
from mklkit.estimators.nested_parameters import NestedParameters
from mklkit.estimators.parallel import in_threads
from mklkit.estimators.problems import Problem
from mklkit.estimators.proposing import KernelBank
from mklkit.estimators.shared_views import problem_views
from mklkit.estimators.showing import ShowsKernels
from mklkit.estimators.weight_frames import tidy_weights
from mklkit.protocols import Array, Decision, Rows, RowWeights
from mklkit.registry.composing import Choice, choose_components
from mklkit.views.memory import memory_given

__all__ = ["KernelEstimator"]

Kind = TypeVar("Kind", bound=Problem)


class KernelEstimator(NestedParameters, ShowsKernels, Generic[Kind]):
    """Kernels, each through a feature map, joined by a combiner, on one or several problems.

    A subclass may have other parameters, and learns in ``fit`` what :meth:`_keep` gets.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        feature_map: Any = None,
        combiner: Any = "uniform",
        learner: Any = None,
        max_memory: int | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.feature_map = feature_map
        self.combiner = combiner
        self.learner = learner
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_problems(
        self,
        problems: Sequence[Kind],
        bank: KernelBank,
        choice: Choice,
        X: Rows,
        values: NDArray[Any],
        row_weights: Array | None = None,
        bandwidths: str = "per-problem",
    ) -> list[Decision]:
        """Return the decision of each problem, learned from the values of all rows (N,)."""
        # Seeds are drawn before anything runs, so that the order of the threads does not matter.
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(problems) + 1)
        memory = memory_given(self.max_memory)
        views_of = problem_views(
            bank.kernels,
            choice.feature_map,
            X,
            values,
            seeds[-1],
            bandwidths,
            memory,
            row_weights=row_weights,
        )
        views_of.say_if_long(problems)

        def fit_one(problem: Kind, seed: int) -> Decision:
            views, target, random_state = views_of.of(problem, seed)
            return fit_decision(choice.combiner, views, target, choice.learner, random_state)

        pairs = zip(problems, seeds[:-1], strict=True)
        tasks = [partial(fit_one, *pair) for pair in pairs]
        decisions: list[Decision] = []
        with reported(None, "fitting", BRIEF) as report:
            for decision in in_threads(tasks, self.n_jobs, len(X)):
                decisions.append(decision)
                report(len(decisions), len(tasks))
        return decisions

    def _keep(
        self,
        choice: Choice,
        bank: KernelBank,
        problems: Sequence[Kind],
        decisions: list[Decision],
        names: Sequence[Any],
        n_rows: int,
    ) -> None:
        """Keep what was fitted on so many rows; ``names`` are those of the problems."""
        self.decisions_ = decisions
        self.n_samples_fit_ = n_rows
        self._problems = list(problems)
        self.kernels_ = [kernel.kernel for kernel in bank.kernels]
        self.kernel_names_ = [kernel.label for kernel in bank.kernels]
        self.kernel_columns_ = [kernel.columns for kernel in bank.kernels]
        self.combiner_, self.feature_map_ = choice.combiner, choice.feature_map
        self.learner_, self.choices_ = choice.learner, [*bank.notes, *choice.notes]
        self.problems_ = list(names)
        self.weights_ = np.vstack([decision.weights for decision in decisions])

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether it can predict."""
        return hasattr(self, "decisions_")

    def _kernel_summary(self) -> KernelSummary:
        if self.__sklearn_is_fitted__():
            return fitted_summary(self, self.weights_, self.n_samples_fit_)
        return self._planned_summary()

    def _planned_summary(self) -> KernelSummary:
        return planned_summary(self._kernels(), self._planned())

    def _planned(self) -> Choice:
        """Return the components that ``fit`` would use."""
        parts = self.combiner, self.feature_map, self.learner
        return choose_components(*parts, task=self._task)

    def gate_weights(self, X: Any) -> Array:
        """Return each row's weight on each kernel, (n, M), where the combiner gates them.

        For several problems, the mean over the problems.

        Raises
        ------
        IncompatibleError
            If the combiner's weights are the same for all rows.
        """
        check_is_fitted(self)
        X = check_new_rows(self, X)
        gated = [d for d in self.decisions_ if isinstance(d, RowWeights)]
        if not gated:
            raise IncompatibleError(
                f"{self.combiner_.name} has the same kernel weights for all rows; see weights_."
                " A gating combiner, such as cluster-gating, has weights per row."
            )
        return np.asarray(np.mean([decision.gate_weights(X) for decision in gated], axis=0))

    def weights_frame(self) -> pd.DataFrame:
        """Return the kernel weights as a tidy table: problem, (cluster,) kernel, weight."""
        check_is_fitted(self)
        weights = [decision.weights for decision in self.decisions_]
        return tidy_weights(self.problems_, self.kernel_names_, weights)
