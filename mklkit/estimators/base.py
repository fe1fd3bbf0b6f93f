"""What estimators of every task share: nested parameters, and attributes of a fit."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import IncompatibleError, MKLKitError, SpecError, quoted
from mklkit.estimators.declaring import sources_by_name, sources_of
from mklkit.estimators.fit import Fitted
from mklkit.estimators.plan import (
    check_new_rows,
    chooses_in_fit,
    is_open,
    kernels_to_bind,
    may_choose,
)
from mklkit.estimators.reading import TakesGaps
from mklkit.estimators.showing import KernelSummary, ShowsKernels
from mklkit.protocols import TWO_CLASSES, Array, Decision, GatedDecision, Source, TargetKind
from mklkit.protocols.component import COMBINER, MISSING_STRATEGY, RIDGE, Component
from mklkit.registry.columns import bind_kernels, kernel_list, parts_of
from mklkit.registry.composing import Choice, choose_components
from mklkit.registry.entries import Kind
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel

COMPONENT_KINDS: tuple[Kind, ...] = ("combiner", "feature_map", "learner")


class NestedParameters(BaseEstimator):
    """Mix-in for estimators whose components are given as spec strings or as objects.

    The parameters among ``combiner``, ``feature_map``, ``learner`` and ``kernels`` that the
    estimator has are detected.

    >>> from mklkit import MKLClassifier
    >>> model = MKLClassifier(["linear", "rbf"], learner="svm(C=2)")
    >>> model.set_params(kernels__rbf__sigma=3.0).get_params()["kernels__rbf__sigma"]
    3.0
    """

    kind: ClassVar[TargetKind] = TWO_CLASSES
    """What is learned: several classes are problems of two classes, or one problem if requested."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of components as ``combiner__lam``, ``kernels__rbf__sigma``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include those of components. Spec strings are resolved for that; those that
            can't be have no nested parameters, and ``fit`` reports them.

        Returns
        -------
        dict of str to object
            The values by name.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for outer, component in self.named_components().items():
                params |= {f"{outer}__{key}": v for key, v in component.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one replaces its (frozen) component by a changed copy.

        Parameters
        ----------
        **params
            Values by name, such as ``combiner__lam=0.5``.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no parameter of that name.
        SpecError
            A ``ValueError`` too: for nested names that do not exist, and for values that a
            component does not accept.
        """
        plain = {key: value for key, value in params.items() if "__" not in key}
        if plain:
            super().set_params(**plain)
        nested: dict[str, dict[str, Any]] = {}
        for key in (key for key in params if key not in plain):
            outer, _, inner = key.partition("__")
            if outer == "kernels":
                name, _, inner = inner.partition("__")
                outer = f"kernels__{name}"
            nested.setdefault(outer, {})[inner] = params[key]
        for outer, changes in nested.items():
            component = self.named_components().get(outer)
            if component is None or "" in changes:
                key = f"{outer}__{next(iter(changes))}".removesuffix("__")
                why = self._why_absent(outer)
                raise SpecError(f"Invalid parameter {quoted(key)} for {type(self).__name__}: {why}")
            self._replace(outer, component.with_params(**changes))
        return self

    def _kernels(self) -> Any:
        """Return the kernels as given; overridden by estimators with their own default kernels."""
        return self.kernels

    def _given(self) -> dict[Kind, Any]:
        """Return the components among the parameters, as they were given."""
        params = super().get_params(deep=False)
        return {kind: params[kind] for kind in COMPONENT_KINDS if kind in params}

    def named_components(self) -> dict[str, Component]:
        """Return the components that have parameters.

        Returns
        -------
        dict of str to Component
            By the prefix of their nested names, such as ``learner`` and ``kernels__rbf``.
        """
        components: dict[str, Any] = {}
        for kind, value in self._given().items():
            with suppress(MKLKitError):
                is_spec = isinstance(value, str)
                components[kind] = get_registry().create(kind, value) if is_spec else value
        kernels: list[BoundKernel] = []
        with suppress(MKLKitError):
            kernels = bind_kernels(self._kernels())
        names = [_nested_name(kernel) for kernel in kernels]
        for name, kernel in zip(names, kernels, strict=True):
            if names.count(name) == 1 and not kernel.auto:
                components[f"kernels__{name}"] = kernel.kernel
        return {name: part for name, part in components.items() if isinstance(part, Component)}

    def _why_absent(self, outer: str) -> str:
        """Return why no component has that prefix and what to do; raise if a spec is wrong."""
        for kind, value in self._given().items():
            if kind == outer and value is not None:
                get_registry().create(kind, value)
            elif kind == outer:
                choice = choose_components(*self._given().values(), target=self.kind)
                if outer == "learner" and chooses_in_fit(self) and is_open(self, choice):
                    return (
                        "learner is None, so it is chosen with the kernels. Give a learner, such as"
                        f" learner={RIDGE!r}."
                    )
                usual = attrs.asdict(choice, recurse=False)[kind].name
                return f"{outer} is None. Give {outer}={usual!r} (what fit would use) or another."
        name = outer.removeprefix("kernels__")
        names = [_nested_name(kernel) for kernel in bind_kernels(self._kernels())]
        if names.count(name) > 1:
            return (
                f"{names.count(name)} kernels have the name {name!r}. Label them with Python names,"
                f" as in kernels=['a:{name}', 'b:{name}'], and set kernels__a__…."
            )
        components = ", ".join(self.named_components()) or "none"
        return f"name one of a component's parameters; components with parameters: {components}."

    def _replace(self, outer: str, component: Component) -> None:
        if not outer.startswith("kernels__"):
            setattr(self, outer, component)
            return
        kernels = bind_kernels(self._kernels())
        names = [_nested_name(kernel) for kernel in kernels]
        place = names.index(outer.removeprefix("kernels__"))
        # A label derived from the kernel's old parameters is not kept.
        label = parts_of(kernel_list(self._kernels())[place])[0]
        chosen: list[Any] = list(kernels)
        chosen[place] = (label, component, kernels[place].columns, kernels[place].scale)
        self.kernels = chosen


def _nested_name(kernel: BoundKernel) -> str:
    """Return the user's label if there is one, else the kernel's name."""
    return kernel.label if kernel.label.isidentifier() else str(kernel.kernel.name)


class FittedKernels(TakesGaps, ShowsKernels):
    """An estimator with kernels, whose attributes tell what was fitted (``fitted_`` has it all)."""

    fitted_: Fitted

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether it can predict."""
        return "fitted_" in vars(self)

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
    def bound_kernels_(self) -> list[BoundKernel]:
        """The kernels with names, columns and scalings; fits may take them as ``kernels``."""
        return list(self.fitted_.plan.kernels)

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
    def weights_(self) -> Array:
        """The kernel weights, a row per problem (and per cluster in cluster gating)."""
        return np.vstack([decision.weights for decision in self.fitted_.decisions])

    @property
    def n_samples_fit_(self) -> int:
        """The number of training samples, without those of weight 0."""
        return self.fitted_.n_rows

    @property
    def n_groups_fit_(self) -> int | None:
        """The number of groups of the training samples; None if ``fit`` got no groups."""
        return self.fitted_.n_groups

    @property
    def problems_(self) -> list[Any]:
        """The names of the problems."""
        return list(self.fitted_.names)

    @property
    def chosen_(self) -> dict[str, tuple[float, ...]]:
        """The values of rules such as ``C="auto"``, by nested name: a number per problem."""
        return self.fitted_.chosen

    @property
    def choices_(self) -> list[str]:
        """The choices made where nothing was given, a sentence each."""
        return self.fitted_.choices

    def weights_frame(self) -> pd.DataFrame:
        """Return the kernel weights as a tidy table.

        Returns
        -------
        DataFrame
            With the columns ``problem``, ``cluster`` (only with cluster gating), ``kernel`` and
            ``weight``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If it is not fitted.
        """
        check_is_fitted(self)
        rows = [
            (_problem_name(problem), cluster)
            for problem, decision in zip(self.problems_, self.fitted_.decisions, strict=True)
            for cluster in range(len(np.atleast_2d(decision.weights)))
        ]
        frame = pd.DataFrame(rows, columns=["problem", "cluster"])
        frame = frame.merge(pd.DataFrame({"kernel": self.kernel_names_}), how="cross")
        if self.fitted_.decisions[0].weights.ndim == 1:
            frame = frame.drop(columns="cluster")
        return frame.assign(weight=np.ravel(self.weights_))

    def _kernel_summary(self) -> KernelSummary:
        if self.__sklearn_is_fitted__():
            return KernelSummary.fitted(self, self.weights_, self.n_samples_fit_)
        return self._planned_summary()


def _problem_name(problem: Any) -> str:
    if isinstance(problem, str):
        return problem
    negative, positive = problem
    return "all classes" if str(positive) == "(all)" else f"{positive} vs {negative}"


class KernelEstimator(NestedParameters, FittedKernels):
    """Kernels, each with a feature map, joined by a combiner, on one or several problems.

    A subclass may have other parameters, and keeps what it learns in ``fitted_``.
    """

    # Of estimators without these parameters.
    learner: Any = None
    class_weight: Any = None
    bandwidths: Any = "per-problem"
    missing: Any = MISSING_STRATEGY
    n_jobs: int | None = None
    scale: Any = None

    chooses_kernels: ClassVar[bool] = False
    """Whether ``fit`` chooses kernels if none are given."""

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
        missing: Any = MISSING_STRATEGY,
        scale: Any = None,
    ) -> None:
        self.kernels = kernels
        self.feature_map = feature_map
        self.combiner = combiner
        self.learner = learner
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.missing = missing
        self.scale = scale

    def declared_sources(self) -> list[Source]:
        """Return the columns that the kernels read, before ``fit``.

        Returns
        -------
        list of Source
            One for each kernel; none if the kernels can't be made, which ``fit`` reports.
        """
        if may_choose(self, self.kind):
            return sources_by_name(self.missing)
        return sources_of(self.kernels, self.missing)

    @property
    def decisions_(self) -> list[Decision]:
        """The decision of each problem."""
        return list(self.fitted_.decisions)

    def _planned_summary(self) -> KernelSummary:
        kernels_to_bind(self, self.kind)  # It reports what is wrong with them.
        return KernelSummary.planned(self._kernels(), self._planned())

    def _planned(self) -> Choice:
        """Return the components that ``fit`` would use."""
        parts = self.combiner, self.feature_map, self.learner
        return choose_components(*parts, target=self.kind)

    def gate_weights(self, X: Any) -> Array:
        """Return the kernel weights of each sample, if the combiner gates the kernels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n, M)
            The weights; for several problems, their mean over the problems.

        Raises
        ------
        IncompatibleError
            If the combiner's weights are the same for all samples.
        """
        check_is_fitted(self)
        X = check_new_rows(self, X)
        gated = [d for d in self.decisions_ if isinstance(d, GatedDecision)]
        if not gated:
            raise IncompatibleError(
                f"{self.combiner_.name} has the same kernel weights for all samples; see weights_."
                " A combiner that gates its kernels has weights per sample."
            )
        return np.asarray(np.mean([decision.gate_weights(X) for decision in gated], axis=0))
