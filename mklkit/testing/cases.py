"""The small problem on which a component is checked, and the component fitted to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import MKLKitError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fitting import checked_decision
from mklkit.estimators.from_preset import preset_classifier
from mklkit.estimators.one_class import MKLOneClass
from mklkit.estimators.regressor import MKLRegressor
from mklkit.protocols import (
    Array,
    CombinerFacts,
    Decision,
    FeatureMapFacts,
    KernelFacts,
    LearnerFacts,
    Reads,
    Target,
    Task,
    facts_of,
)
from mklkit.protocols.component import Preset
from mklkit.registry.composing import choose_components
from mklkit.registry.entries import completed
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import parse_spec
from mklkit.testing.expectations import CheckFailure
from mklkit.testing.rows import N_NEW, as_table, labelled, two_classes
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.view_set import ViewSet

__all__ = ["Case", "ComponentKind", "kind_of", "values_of"]

ComponentKind = Literal["kernel", "feature_map", "learner", "combiner", "preset"]
KINDS: tuple[ComponentKind, ...] = ("kernel", "feature_map", "learner", "combiner", "preset")

ESTIMATORS: dict[Task, Callable[..., Any]] = {
    "two classes": MKLClassifier,
    "several classes": MKLClassifier,
    "numbers": MKLRegressor,
    "none": MKLOneClass,
}
"""The estimator in which a learner or combiner of a task is checked."""

GAUSSIAN = "rbf(sigma='mean')"
# With a fixed C: choosing it in every fit would take time and check nothing more.
QUICK_SVM = "svm(C=1)"
# A combiner with a fixed number of kernels, its n_kernels, gets the first ones.
KERNELS = ("linear", GAUSSIAN, "polynomial(degree=2)", "rbf(sigma='0.5*mean')")


class Case:
    """A component, rows to train on and new ones, and the labels.

    Parameters
    ----------
    component : component, component class or preset
    kind : {"kernel", "feature_map", "learner", "combiner", "preset"}
    rows : ndarray of shape (T, d), optional
        Rows for a kernel that needs particular ones, 12 or more; by default of what it reads.
    fits : dict, optional
        Cache of fitted objects, shared by the cases of a component.
    """

    def __init__(
        self,
        component: Any,
        kind: ComponentKind,
        rows: Array | None = None,
        fits: dict[str, Any] | None = None,
    ) -> None:
        self._given = component
        self._fits = {} if fits is None else fits
        self.kind = kind
        self.custom_rows = rows is not None
        self._rows = None if rows is None else labelled(rows)

    @cached_property
    def _kernel_facts(self) -> KernelFacts:
        """The facts of a kernel; the default ones of another component, or for other facts."""
        stated = getattr(self.component, "facts", None)
        return stated if isinstance(stated, KernelFacts) else KernelFacts()

    @property
    def reads(self) -> Reads:
        """What the columns of the rows hold."""
        return self._kernel_facts.reads

    @property
    def examples(self) -> tuple[Any, ...]:
        """The only values that the rows may hold, if a kernel has stated some."""
        return self._kernel_facts.examples

    @cached_property
    def _all(self) -> tuple[Array, Array, int]:
        """All rows and their labels, and how many of them are new ones."""
        if self._rows is None:
            return *two_classes(self.reads, self.examples), N_NEW
        return *self._rows, len(self._rows[0]) // 4

    @cached_property
    def rows(self) -> Array:
        """The rows to train on, (N, d)."""
        return self._all[0][: -self._all[2]]

    @cached_property
    def new_rows(self) -> Array:
        """Other rows, (n, d)."""
        return self._all[0][-self._all[2] :]

    @cached_property
    def y(self) -> Array:
        """The labels of the rows to train on, −1 and +1."""
        return self._all[1][: -self._all[2]]

    @cached_property
    def new_y(self) -> Array:
        """The labels of the other rows."""
        return self._all[1][-self._all[2] :]

    @cached_property
    def orders(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Outlying rows first; and backwards, with rows of another class at both ends.

        A fit that uses only the first few rows, or a single one, gives other results.
        """
        distances = np.square(self.rows - self.rows.mean(axis=0)).sum(axis=1)
        alike = self.y == self.y[0]
        first, *others = np.flatnonzero(~alike)
        backwards = np.array([*others[::-1], *np.flatnonzero(alike)[::-1], first])
        return np.argsort(-distances, kind="stable"), backwards

    def table(self, rows: Array) -> NDArray[Any]:
        """Return rows as a classifier is given them."""
        return as_table(rows, self.reads)

    @cached_property
    def component(self) -> Any:
        """The component; a class is instantiated with its defaults."""
        cls = self._given if isinstance(self._given, type) else type(self._given)
        if self.kind != "preset":
            completed(self.kind, cls)
        if cls is not self._given:
            return self._given
        try:
            return cls()
        except (TypeError, ValueError) as error:
            raise CheckFailure(
                f"Expected {self._given.__name__}() to make a component with its defaults; it"
                f" raised {type(error).__name__}: {error}. Give every parameter a default, or"
                " check an instance of the class."
            ) from error

    @property
    def label(self) -> str:
        """The component's name."""
        return str(getattr(self._given, "name", getattr(self._given, "__name__", self._given)))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Kernels with which the component is checked: as many as it needs."""
        fixed = self.kind == "combiner" and facts_of(self.component, CombinerFacts).n_kernels
        count = fixed or 3
        return (self.suitable * count)[:count]

    @cached_property
    def suitable(self) -> tuple[str, ...]:
        """Different kernels that the component's feature map can be fitted to."""
        only = facts_of(self.partners()[0], FeatureMapFacts).for_kernels
        ours = tuple(spec for spec in KERNELS if not only or parse_spec(spec).name in only)
        known = {parse_spec(spec).name for spec in ours}
        return ours + tuple(name for name in only if name not in known)

    @property
    def one_kernel(self) -> str:
        """The kernel for checks that need a single one."""
        return GAUSSIAN if GAUSSIAN in self.suitable else self.suitable[0]

    def fit(self, rows: Array | None = None, y: Array | None = None, seed: int = 0) -> Any:
        """Return the component fitted to rows and labels, by default the case's own."""
        # Copies, so that a component that writes into its input fails only the check for that.
        rows = (self.rows if rows is None else rows).copy()
        y = (self.y if y is None else y).copy()
        random_state = np.random.RandomState(seed)
        if self.kind == "kernel":
            return self.component.fit(rows)
        if self.kind == "feature_map":
            return self.component.fit(self.kernel(rows), rows, random_state)
        if self.kind == "learner":
            return self.component.fit(self.views(rows)[1], self.target_of(y))
        return self.fit_views(self.views(rows, seed=seed), y, random_state)

    def fit_views(self, views: ViewSet, y: Array, random_state: np.random.RandomState) -> Decision:
        """Return the decision of a combiner fitted to views and labels."""
        target, learner = self.target_of(y), self.partners()[1]
        decision = self.component.fit(views, target, learner, random_state)
        return checked_decision(self.component, decision, len(views))

    @property
    def task(self) -> Task:
        """What the component is checked with: labels where it learns from them."""
        tasks: tuple[Task, ...] = ("two classes",)
        if self.kind == "learner":
            tasks = facts_of(self.component, LearnerFacts).tasks
        elif self.kind == "combiner":
            tasks = facts_of(self.component, CombinerFacts).tasks
        return next(task for task in get_args(Task) if task in tasks)

    @property
    def learns_classes(self) -> bool:
        """Whether the component learns from class labels."""
        return self.task in ("two classes", "several classes")

    def target_of(self, y: Array) -> Target:
        """Return labels −1 and +1 as a target that the learner or combiner takes."""
        if self.learns_classes:
            return Target.two_classes(y)
        return Target.numbers(y) if self.task == "numbers" else Target.nothing(len(y))

    @property
    def target(self) -> Target:
        """The target of the case's rows."""
        return self.target_of(self.y)

    def fitted(self) -> Any:
        """Return the component fitted to the case's rows; read-only checks share it."""
        if "component" not in self._fits:
            self._fits["component"] = self.fit()
        return self._fits["component"]

    def model(self) -> Any:
        """Return an estimator fitted with the component; read-only checks share it."""
        if "model" not in self._fits:
            self._fits["model"] = self.fit_model()
        return self._fits["model"]

    def fit_model(self) -> Any:
        """Return an estimator, or a preset's system, fitted to the rows; labels are text."""
        labels = np.where(self.y > 0, "well", "ill") if self.learns_classes else self.y
        if self.kind == "preset":
            return preset_classifier(self.component, random_state=0).fit(self.rows, labels)
        return self.estimator().fit(self.table(self.rows), labels)

    def kernel(self, rows: Array) -> Any:
        """Return the single kernel fitted to rows."""
        return get_registry().create("kernel", self.one_kernel).fit(rows)

    def answer(self, fitted: Any) -> Array:
        """Return a fitted component's values for the new rows."""
        if self.kind == "kernel":
            values = fitted(self.new_rows, self.rows)
        elif self.kind == "feature_map":
            values = fitted.transform(self.new_rows)
        elif self.kind == "learner":
            values = fitted.decide(self.views()[1].projector.transform(self.new_rows))
        else:
            values = fitted.decide(self.new_rows)
        return np.asarray(values)

    def partners(self) -> tuple[Any, Any]:
        """Return the feature map and learner that an estimator would use with the component."""
        registry = get_registry()
        if self.kind == "combiner":
            choice = choose_components(self.component, None, None, task=self.task)
            usual = choice.learner == registry.create("learner", "svm")
            learner = registry.create("learner", QUICK_SVM) if usual else choice.learner
            return choice.feature_map, learner
        if self.kind == "learner":
            on_features = facts_of(self.component, LearnerFacts).on_features
            kind = "empirical" if on_features else "implicit"
            return registry.create("feature_map", kind), self.component
        if self.kind == "feature_map":
            explicit = facts_of(self.component, FeatureMapFacts).explicit
            learner = "mhks" if explicit else QUICK_SVM
            return self.component, registry.create("learner", learner)
        return registry.create("feature_map", "implicit"), registry.create("learner", QUICK_SVM)

    def views(
        self,
        rows: Array | None = None,
        kernels: tuple[str, ...] | None = None,
        feature_map: Any = None,
        seed: int = 0,
    ) -> ViewSet:
        """Return the views of some kernels on rows, through the component's feature map."""
        registry = get_registry()
        specs = self.kernels if kernels is None else kernels
        bound = [BoundKernel(spec, registry.create("kernel", spec)) for spec in specs]
        fitted_map = self.partners()[0] if feature_map is None else feature_map
        random_state = np.random.RandomState(seed)
        return ViewSet.fit(bound, fitted_map, self.rows if rows is None else rows, random_state)

    def estimator(self, **settings: Any) -> Any:
        """Return an unfitted estimator of the component's task with the component."""
        feature_map, learner = self.partners()
        chosen: dict[str, Any] = {
            "kernels": [self.component] if self.kind == "kernel" else list(self.kernels),
            "combiner": self.component if self.kind == "combiner" else "uniform",
            "feature_map": feature_map,
            "learner": learner,
            "random_state": 0,
        }
        return ESTIMATORS[self.task](**{**chosen, **settings})

    def three_classes(self) -> tuple[Array, NDArray[Any]]:
        """Return the training rows with labels of three classes, as text."""
        kinds = np.where(self.y > 0, "well", "ill")
        kinds[np.arange(len(kinds)) % 3 == 0] = "new"
        free = self.reads == "numbers" and not (self.custom_rows or self.examples)
        moved = 4.0 if free else 0.0
        return self.rows + moved * (kinds == "new")[:, None], kinds


def values_of(model: Any, rows: Array) -> Array:
    """Return an estimator's decision values, or its predictions where these are numbers."""
    decide = getattr(model, "decision_function", model.predict)
    return np.asarray(decide(rows))


def kind_of(component: Any) -> ComponentKind:
    """Return a component's kind: as registered, else by the arguments of its fit.

    Raises
    ------
    MKLKitError
        If it is not a component.
    """
    if isinstance(component, Preset):
        return "preset"
    cls: Any = component if isinstance(component, type) else type(component)
    registry = get_registry()
    for kind in KINDS:
        if any(entry.target is cls for entry in registry.entries(kind)):
            return kind
    if not callable(getattr(cls, "fit", None)):
        raise MKLKitError(
            f"Expected a component or its class, with a 'fit' method; got {component!r}."
        )
    arguments = inspect.signature(cls.fit).parameters
    by_argument: dict[str, ComponentKind] = {
        "views": "combiner",
        "side": "learner",
        "kernel": "feature_map",
    }
    return next((kind for name, kind in by_argument.items() if name in arguments), "kernel")
