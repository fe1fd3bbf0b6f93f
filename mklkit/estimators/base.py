"""What estimators of every task share: fits of their problems, kernel weights, and their table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import IncompatibleError
from mklkit.estimators.checking import check_new_rows
from mklkit.estimators.fit import Fitted
from mklkit.estimators.kernel_summary import KernelSummary, fitted_summary, planned_summary
from mklkit.estimators.nested_parameters import NestedParameters
from mklkit.estimators.plan import Plan
from mklkit.estimators.showing import ShowsKernels
from mklkit.estimators.weight_frames import tidy_weights
from mklkit.protocols import Array, Decision, RowWeights
from mklkit.protocols.defaults import COMBINER
from mklkit.registry.composing import Choice, choose_components

__all__ = ["KernelEstimator"]


class KernelEstimator(NestedParameters, ShowsKernels):
    """Kernels, each through a feature map, joined by a combiner, on one or several problems.

    A subclass may have other parameters, and keeps what it learns in ``fitted_``.
    """

    fitted_: Fitted
    # Of estimators without these parameters.
    learner: Any = None
    class_weight: Any = None
    bandwidths: Any = "per-problem"
    n_jobs: int | None = None

    def __init__(
        self,
        kernels: Any = None,
        *,
        feature_map: Any = None,
        combiner: Any = COMBINER,
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

    @property
    def plan_(self) -> Plan:
        """What was settled before anything was learned."""
        return self.fitted_.plan

    @property
    def kernels_(self) -> list[Any]:
        """The kernels."""
        return [kernel.kernel for kernel in self.fitted_.plan.kernels]

    @property
    def kernel_names_(self) -> list[str]:
        """The kernels' names in results."""
        return [kernel.label for kernel in self.fitted_.plan.kernels]

    @property
    def kernel_columns_(self) -> list[Any]:
        """The positions of the columns that each kernel uses; None for all."""
        return [kernel.columns for kernel in self.fitted_.plan.kernels]

    @property
    def feature_map_(self) -> Any:
        """The feature map."""
        return self.fitted_.plan.feature_map

    @property
    def combiner_(self) -> Any:
        """The combiner."""
        return self.fitted_.plan.combiner

    @property
    def learner_(self) -> Any:
        """The learner."""
        return self.fitted_.plan.learner

    @property
    def decisions_(self) -> list[Decision]:
        """The decision of each problem."""
        return list(self.fitted_.decisions)

    @property
    def weights_(self) -> Array:
        """The kernel weights, a row per problem (and per cluster in cluster gating)."""
        return np.vstack([decision.weights for decision in self.fitted_.decisions])

    @property
    def n_samples_fit_(self) -> int:
        """The number of training rows, without those of weight 0."""
        return self.fitted_.n_rows

    @property
    def problems_(self) -> list[Any]:
        """The names of the problems."""
        return list(self.fitted_.names)

    @property
    def choices_(self) -> list[str]:
        """What was chosen because nothing was given, a sentence each."""
        return self.fitted_.choices

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether it can predict."""
        return hasattr(self, "fitted_")

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
