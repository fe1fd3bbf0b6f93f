"""NestedParameters: scikit-learn's ``outer__inner`` names for parameters inside spec strings."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from mklkit.errors import MKLKitError, SpecError, quoted
from mklkit.protocols import Task
from mklkit.protocols.component import Component
from mklkit.registry.composing import bind_kernels, choose_components, kernel_list, parts_of
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["NestedParameters"]

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
        found: dict[str, Component] = {}
        for outer in self._component_kinds():
            value = getattr(self, outer)
            component = _created(outer, value) if isinstance(value, str) else value
            if isinstance(component, Component):
                found[outer] = component
        try:
            bound = bind_kernels(self._kernels())
        except MKLKitError:
            return found
        names = [_nested_name(kernel) for kernel in bound]
        for name, kernel in zip(names, bound, strict=True):
            if names.count(name) == 1 and isinstance(kernel.kernel, Component):
                found[f"kernels__{name}"] = kernel.kernel
        return found

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
