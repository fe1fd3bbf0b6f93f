"""What estimators of every task share: fits of their problems, kernel weights, and their table."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import IncompatibleError, MKLKitError, SpecError, quoted
from mklkit.estimators.checking import check_new_rows
from mklkit.estimators.fit import Fitted
from mklkit.estimators.kernel_summary import KernelSummary, fitted_summary, planned_summary
from mklkit.estimators.plan import Plan
from mklkit.estimators.showing import ShowsKernels
from mklkit.estimators.weight_frames import tidy_weights
from mklkit.protocols import Array, Decision, GatedDecision, Task
from mklkit.protocols.component import COMBINER, Component
from mklkit.registry.columns import bind_kernels, kernel_list, parts_of
from mklkit.registry.composing import Choice, choose_components
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["KernelEstimator", "NestedParameters"]

COMPONENT_KINDS = ("combiner", "feature_map", "learner")


class NestedParameters(BaseEstimator):
    """Mix-in for estimators whose components are given as spec strings or as objects.

    The parameters among ``combiner``, ``feature_map``, ``learner`` and ``kernels`` that the
    estimator has are detected.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> model = MKLClassifier(["linear", "rbf"], learner="svm(C=2)")
    >>> model.get_params()["learner__C"]
    2.0
    >>> model.set_params(kernels__rbf__sigma=3.0).get_params()["kernels__rbf__sigma"]
    3.0
    """

    _task: ClassVar[Task] = "two classes"
    """What is learned: several classes are problems of two, or one problem where asked for."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of components as ``combiner__lam``, ``kernels__rbf__sigma``.

        Spec strings are resolved for that; those that can't be resolved have no nested parameters
        (``fit`` reports them).
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for outer, component in self.named_components().items():
                params |= {f"{outer}__{key}": v for key, v in component.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one replaces its (frozen) component by a changed copy.

        Raises
        ------
        ValueError
            If there is no parameter of that name.
        MKLKitError
            A ``ValueError`` too: for nested names, and values that a component refuses.
        """
        plain = {key: value for key, value in params.items() if "__" not in key}
        if plain:
            super().set_params(**plain)
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            if key in plain:
                continue
            depth = 2 if key.startswith("kernels__") else 1
            *outer, inner = key.split("__", depth)
            if len(outer) < depth:
                raise self._invalid(
                    key, "name one of the kernel's parameters, or give all kernels."
                )
            nested.setdefault("__".join(outer), {})[inner] = value
        for prefix, changes in nested.items():
            components = self.named_components()
            if prefix not in components:
                inner = next(iter(changes))
                raise self._invalid(
                    f"{prefix}__{inner}", self._why_absent(prefix, inner, components)
                )
            self._replace(prefix, components[prefix].with_params(**changes))
        return self

    def _invalid(self, key: str, why: str) -> SpecError:
        return SpecError(f"Invalid parameter {quoted(key)} for {type(self).__name__}: {why}")

    def _kernels(self) -> Any:
        """Return the kernels as given; overridden by estimators with their own default kernels."""
        return self.kernels

    def _component_kinds(self) -> list[str]:
        return [kind for kind in COMPONENT_KINDS if kind in self._get_param_names()]

    def named_components(self) -> dict[str, Component]:
        """Return the components that have parameters, by the prefix of their nested names."""
        components: dict[str, Component] = {}
        for outer in self._component_kinds():
            value = getattr(self, outer)
            component = _created(outer, value) if isinstance(value, str) else value
            if isinstance(component, Component):
                components[outer] = component
        try:
            bound = bind_kernels(self._kernels())
        except MKLKitError:
            return components
        names = [_nested_name(kernel) for kernel in bound]
        for name, kernel in zip(names, bound, strict=True):
            if names.count(name) == 1 and isinstance(kernel.kernel, Component):
                components[f"kernels__{name}"] = kernel.kernel
        return components

    def _why_absent(self, outer: str, inner: str, components: dict[str, Component]) -> str:
        """Return why no component has that prefix, and what to do.

        Raises
        ------
        MKLKitError
            If a spec string can't be resolved, which is the reason.
        """
        if outer.startswith("kernels__"):
            name = outer.removeprefix("kernels__")
            count = [_nested_name(kernel) for kernel in bind_kernels(self._kernels())].count(name)
            if count > 1:
                return (
                    f"{count} kernels have the name {name!r}. Label them with Python"
                    f" names, as in kernels=['a:{name}', 'b:{name}'], and set kernels__a__{inner}."
                )
        elif outer in self._component_kinds():
            value = getattr(self, outer)
            if value is None and outer != "combiner":
                combiner, *others = (getattr(self, kind, None) for kind in COMPONENT_KINDS)
                choice = choose_components(combiner, others[0], others[1], task=self._task)
                chosen = getattr(choice, outer).name
                return f"{outer} is None. Give {outer}={chosen!r} (what fit would use) or another."
            get_registry().create(outer, value)  # type: ignore[arg-type]
        return f"components with parameters are {', '.join(components) or 'none'}."

    def _replace(self, outer: str, component: Component) -> None:
        if outer in COMPONENT_KINDS:
            setattr(self, outer, component)
            return
        name = outer.removeprefix("kernels__")
        kernels = bind_kernels(self._kernels())
        place = [_nested_name(kernel) for kernel in kernels].index(name)
        # A label derived from the kernel's old parameters is not kept.
        label = parts_of(kernel_list(self._kernels())[place])[0]
        chosen: list[Any] = [(each.label, each.kernel, each.columns) for each in kernels]
        chosen[place] = (label, component, kernels[place].columns)
        self.kernels = chosen


def _created(kind: Any, spec: str) -> Any:
    try:
        return get_registry().create(kind, spec)
    except MKLKitError:
        return None


def _nested_name(kernel: BoundKernel) -> str:
    """Return the label where the user gave one, else the kernel's name."""
    name: str = getattr(kernel.kernel, "name", kernel.label)
    return kernel.label if kernel.label.isidentifier() else name


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
        gated = [d for d in self.decisions_ if isinstance(d, GatedDecision)]
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
