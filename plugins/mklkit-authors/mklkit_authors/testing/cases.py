"""The small problem for checking a component, and the component fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import (
    Array,
    CombinerTraits,
    FeatureMapTraits,
    KernelTraits,
    Target,
    Task,
    traits_of,
)
from mklkit.registry.columns import bind_kernels
from mklkit.registry.composing import checked_decision, choose_components
from mklkit.registry.entries import TRAITS, Kind
from mklkit.registry.readings import texts_of
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import parse_spec
from mklkit.registry.tasks import all_tasks, kind_named
from mklkit.views.view_set import ViewSet
from mklkit_authors.testing.expectations import CheckFailure
from mklkit_authors.testing.rows import labels_of, numbers_of, two_classes

TASKS = ("two classes", "numbers", "none")
"""The tasks for checking learners and combiners; several classes have a check."""
OTHERS = ("several classes", "any")
"""What else components state that is not the kind of a package's task."""

GAUSSIAN = "rbf(sigma='mean')"
# With a fixed C: choosing it in every fit would only take time.
QUICK_SVM = "svm(C=1)"
# And choosing a ridge holds out a sample with all of its weight, but not all of a sample's copies.
QUICK = {"svm": QUICK_SVM, "ridge": "ridge(alpha=0.1)"}
# A combiner with a fixed number of kernels, its n_kernels, gets the first ones.
KERNELS = ("linear", GAUSSIAN, "polynomial(degree=2)", "rbf(sigma='0.5*mean')")


@attrs.frozen(eq=False)
class Fit:
    """A component fitted to samples: the result of ``fit``, and arrays by name for new samples."""

    fitted: Any
    results: Callable[[Array], dict[str, Array]]
    drawn: bool = False
    """Whether random numbers were drawn."""


@attrs.frozen(slots=False, eq=False)
class Case:
    """A component, its class or a preset, with training samples, new samples and their targets."""

    source: Any
    kind: Kind
    custom_rows: Array | None = None
    """Samples (T, d) for a kernel that needs particular ones; by default of the kind it reads."""
    fits: dict[Any, Any] = attrs.field(factory=dict)
    """Cache of fitted objects, shared by the cases of a component."""
    variant: tuple[str, str | None] | None = None
    """The task and the map of a learner or combiner; by default the first that it declares."""

    @cached_property
    def component(self) -> Any:
        """The component; a class is instantiated with its defaults."""
        if not isinstance(self.source, type):
            return self.source
        try:
            return self.source()
        except (TypeError, ValueError, AttributeError) as error:
            raise CheckFailure(
                f"Expected {self.source.__name__}() to make a component with its defaults; it"
                f" raised {type(error).__name__}: {error}. Give every parameter a default, as"
                " a field of an @attrs.frozen class without __init__, or check an instance of the"
                " class."
            ) from error

    @property
    def label(self) -> str:
        """The component's name."""
        return str(getattr(self.source, "name", self.source))

    @cached_property
    def kernel_traits(self) -> KernelTraits:
        """The traits of a kernel; default traits for other components."""
        return traits_of(self.component, KernelTraits) if self.kind == "kernel" else KernelTraits()

    # The samples.

    @cached_property
    def _data(self) -> tuple[Array, Array]:
        """All samples with their labels, −1 and +1; the last quarter is new."""
        if self.custom_rows is None:
            return two_classes(self.kernel_traits.reads, self.kernel_traits.examples)
        return self.custom_rows, labels_of(len(self.custom_rows))

    @property
    def _n_rows(self) -> int:
        return len(self._data[0]) - len(self._data[0]) // 4

    @property
    def rows(self) -> Array:
        """The samples to train on, (N, d)."""
        return self._data[0][: self._n_rows]

    @property
    def labels(self) -> Array:
        """The labels of the samples to train on, −1 and +1."""
        return self._data[1][: self._n_rows]

    @property
    def new_rows(self) -> Array:
        """Other samples, (n, d)."""
        return self._data[0][self._n_rows :]

    @property
    def y(self) -> Array:
        """The target of the training samples: labels, numbers, or a package's task's example."""
        return self._target_of(self.rows, self.labels)

    @property
    def new_y(self) -> Array:
        """The target of the new samples."""
        return self._target_of(self.new_rows, self._data[1][self._n_rows :])

    def _target_of(self, rows: Array, labels: Array) -> Array:
        if self.packages_task is not None:
            example = self.packages_task.example(numbers_of(rows))
            return np.asarray(self.packages_task.kinds[0].read(example), np.float64)
        return numbers_of(rows) if self.task == "numbers" else labels

    def table(self, rows: Array) -> NDArray[Any]:
        """Return samples as an estimator gets them: texts as a column of text."""
        if self.kernel_traits.reads != "text":
            return rows
        return np.array(texts_of(rows), dtype=object)[:, None]

    def three_classes(self) -> tuple[Array, NDArray[Any]]:
        """Return the training samples in three classes, the third separate if possible."""
        kinds = np.where(self.labels > 0, "well", "ill")
        kinds[np.arange(len(kinds)) % 3 == 0] = "new"
        traits = self.kernel_traits
        custom = self.custom_rows is not None
        free = traits.reads == "numbers" and not (traits.examples or custom)
        return self.rows + (4.0 if free else 0.0) * (kinds == "new")[:, None], kinds

    # The parts for checking the component.

    def variants(self) -> Iterator[Case]:
        """Yield a case for each task of a learner or combiner, and each kind of view it takes."""
        if self.kind not in ("learner", "combiner"):
            yield self
            return
        traits: Any = traits_of(self.component, TRAITS[self.kind])
        maps: list[Any] = [None]
        if self.kind == "learner":
            maps = ["empirical"] * traits.on_features + ["implicit"] * traits.on_gram
        packages = [kind for kind in traits.learns if kind not in {*TASKS, *OTHERS}]
        for task in (*TASKS, *packages):
            for name in maps if task in traits.learns else []:
                yield attrs.evolve(self, variant=(task, name))

    @cached_property
    def _variant(self) -> tuple[str, str | None]:
        usual = next(self.variants()).variant if self.variant is None else self.variant
        return ("two classes", None) if usual is None else usual

    @property
    def task(self) -> str:
        """The values for checking the component: labels if it learns from them."""
        return self._variant[0]

    @cached_property
    def packages_task(self) -> Task | None:
        """The task of a package, if the component is checked on its targets."""
        if self.task in TASKS:
            return None
        return next(task() for task in all_tasks() if task.kinds[0].name == self.task)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Kernels for checking the component, as many as it needs."""
        fixed = self.kind == "combiner" and traits_of(self.component, CombinerTraits).n_kernels
        count = fixed or 3
        return (self.suitable * count)[:count]

    @cached_property
    def suitable(self) -> tuple[str, ...]:
        """Different kernels that the component's feature map can be fitted to."""
        names = traits_of(self.partners[0], FeatureMapTraits).for_kernels
        specs = tuple(spec for spec in KERNELS if not names or parse_spec(spec).name in names)
        known = {parse_spec(spec).name for spec in specs}
        return specs + tuple(name for name in names if name not in known)

    @property
    def single_kernel(self) -> str:
        """The kernel for checks that need a single one."""
        return GAUSSIAN if GAUSSIAN in self.suitable else self.suitable[0]

    @cached_property
    def partners(self) -> tuple[Any, Any]:
        """The feature map and learner that an estimator would use with the component."""
        registry = get_registry()
        if self.kind == "combiner":
            choice = choose_components(self.component, None, None, target=kind_named(self.task))
            for usual, quick in QUICK.items():
                if choice.learner == registry.create("learner", usual):
                    return choice.feature_map, registry.create("learner", quick)
            return choice.feature_map, choice.learner
        if self.kind == "learner":
            return registry.create("feature_map", self._variant[1]), self.component
        if self.kind == "feature_map":
            explicit = traits_of(self.component, FeatureMapTraits).explicit
            return self.component, registry.create("learner", "mhks" if explicit else QUICK_SVM)
        return registry.create("feature_map", "implicit"), registry.create("learner", QUICK_SVM)

    def kernel(self, rows: Array) -> Any:
        """Return the single kernel fitted to samples."""
        return get_registry().create("kernel", self.single_kernel).fit(rows)

    def views(self, rows: Array | None = None, kernels: tuple[str, ...] | None = None) -> ViewSet:
        """Return views on samples: for a learner of a single kernel, otherwise of several."""
        usual = (self.single_kernel,) if self.kind == "learner" else self.kernels
        bound = bind_kernels(usual if kernels is None else kernels)
        rows = self.rows if rows is None else rows
        return ViewSet.fit(bound, self.partners[0], rows, np.random.RandomState(0))

    def target(
        self,
        y: Array | None = None,
        row_weights: Array | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Target:
        """Return labels −1 and +1, or numbers, as a target that the learner or combiner takes."""
        y = self.y if y is None else y
        values = np.zeros(len(y)) if self.task == "none" else y
        return Target(kind_named(self.task), values, row_weights, groups)

    # The fitted component.

    def fit(
        self,
        rows: Array | None = None,
        y: Array | None = None,
        row_weights: Array | None = None,
        kernels: tuple[str, ...] | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Fit:
        """Return the component fitted to samples and their target, by default the case's own."""
        # Copies, so that a component that writes into its input fails only the check for that.
        rows = (self.rows if rows is None else rows).copy()
        y = (self.y if y is None else y).copy()
        if self.kind in ("kernel", "feature_map"):
            return self.fit_rows(rows)
        return self.fit_views(self.views(rows, kernels), self.target(y, row_weights, groups))

    def fit_rows(self, rows: Array) -> Fit:
        """Return a kernel or feature map fitted to these samples, without a copy."""
        if self.kind == "kernel":
            kernel = self.component.fit(rows)
            return Fit(kernel, lambda new: _similarities(kernel, new, self.rows))
        random_state = np.random.RandomState(0)
        fitted = self.component.fit(self.kernel(rows.copy()), rows, random_state)

        def similarities(new_rows: Array) -> dict[str, Array]:
            columns = fitted.transform(new_rows)
            # Their order is independent of that of the training samples.
            landmarks = fitted.transform(self.rows).T if fitted.explicit else None
            ordered = np.sort(columns, axis=1) if landmarks is None else columns @ landmarks
            return {"similarities": np.asarray(ordered)}

        return Fit(fitted, similarities, _has_drawn(random_state))

    def fit_views(self, views: ViewSet, target: Target | None = None) -> Fit:
        """Return a learner or combiner fitted to these views, without a copy."""
        target = self.target() if target is None else target
        if self.kind == "learner":
            learned = self.component.fit(views[0], target)
            map_rows = views[0].projector.transform
            return Fit(learned, lambda new: {"decisions": learned.decide(map_rows(new))})
        random_state = np.random.RandomState(0)
        returned = self.component.fit(views, target, self.partners[1], random_state)
        decision: Any = checked_decision(self.component, returned, len(views))

        def decide(new_rows: Array) -> dict[str, Array]:
            return {"weights": decision.weights, "decisions": decision.decide(new_rows)}

        return Fit(decision, decide, _has_drawn(random_state))

    def fitted(self) -> Fit:
        """Return the component fitted to the case's samples; read-only checks share it."""
        if self._variant not in self.fits:
            self.fits[self._variant] = self.fit()
        return self.fits[self._variant]


def _similarities(kernel: Any, new_rows: Array, rows: Array) -> dict[str, Array]:
    return {"similarities": kernel(new_rows, rows), "diagonal": kernel.diagonal(new_rows)}


def _has_drawn(random_state: np.random.RandomState) -> bool:
    """Return whether numbers were drawn from the seed, by drawing the next one."""
    return bool(random_state.random_sample() != np.random.RandomState(0).random_sample())
