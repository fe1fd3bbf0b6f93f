"""Notebook display of an estimator: kernels and weights below scikit-learn's diagram."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from sklearn.base import BaseEstimator

from mklkit.display.html import bar, facts, grid, shown
from mklkit.display.numbers import number
from mklkit.errors import MKLKitError, counted, cut, plain_message
from mklkit.estimators.introspection import KernelModel, column_names
from mklkit.protocols import Array
from mklkit.registry.columns import are_proposed, bind_kernels
from mklkit.registry.composing import Choice
from mklkit.registry.specs import to_spec
from mklkit.views.bound_kernels import BoundKernel

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_KERNELS = 20
MOST_COLUMNS = 4
LONGEST = 60
"""The most letters of a name, a spec string or a column."""


@attrs.frozen(eq=False)
class KernelSummary:
    """Kernels with their weights, and the facts beside them.

    Columns are shown by the names in ``columns``, else as they were given. ``weights`` has a row
    per problem, or per problem and cluster; ``over`` says which.
    """

    kernels: Sequence[BoundKernel]
    facts: tuple[tuple[str, str], ...] = ()
    columns: Any = None
    weights: Array | None = None
    over: str = ""

    @classmethod
    def fitted(cls, model: KernelModel, weights: Array, n_rows: int) -> KernelSummary:
        """Return the summary of a fitted model, with its weights (n, M)."""
        parts = zip(model.kernel_names_, model.kernels_, model.kernel_columns_, strict=True)
        n_problems = len(model.problems_)
        over = [counted(n_problems, "problem")] * (n_problems > 1)
        over += ["clusters"] * (len(weights) > n_problems)
        fitted_on = f"{counted(n_rows, 'row')}, {counted(model.n_features_in_, 'column')}"
        components = _components(model.combiner_, model.learner_, model.feature_map_)
        return cls(
            [BoundKernel(*part) for part in parts],
            (*components, ("fitted on", fitted_on)),
            column_names(model),
            np.asarray(weights, dtype=np.float64),
            " and ".join(over),
        )

    @classmethod
    def planned(cls, kernels: Any, choice: Choice) -> KernelSummary:
        """Return the summary of the components that ``fit`` would use."""
        components = _components(choice.combiner, choice.learner, choice.feature_map)
        if are_proposed(kernels):
            proposed = ("kernels", "a bank that fit proposes from its rows")
            return cls([], (proposed, *components))
        return cls(bind_kernels(kernels), components)

    def and_fact(self, name: str, text: str) -> KernelSummary:
        """Return the summary with one more fact."""
        return attrs.evolve(self, facts=(*self.facts, (name, text)))

    def html(self) -> Markup:
        """Return a table of the kernels, the heaviest of many, and the facts."""
        listed = facts(self.facts)
        if not self.kernels:
            return listed
        places = list(range(len(self.kernels)))
        heads, rest = ["name", "kernel", "columns"], ""
        if self.weights is not None:
            means = self.weights.mean(axis=0)
            if len(places) > MOST_KERNELS:
                places = np.argsort(-np.abs(means), kind="stable").tolist()
            heads += ["mean weight", "", f"range over {self.over}"]
            if len(self.weights) == 1:
                heads[3:] = ["weight", ""]
            together = number(float(means[places[MOST_KERNELS:]].sum()), 3)
            rest = f" with smaller weights, {together} together"
        rows = [self._row(place)[: len(heads)] for place in places[:MOST_KERNELS]]
        more = len(places) - len(rows)
        return listed + grid(heads, rows, words=3, rest=f"and {more} more{rest}" if more else "")

    def _row(self, place: int) -> list[Any]:
        kernel = self.kernels[place]
        words = [cut(str(kernel.label), LONGEST), cut(to_spec(kernel.kernel), LONGEST)]
        words.append(_in_words(kernel.columns, self.columns))
        if self.weights is None:
            return words
        weights = self.weights[:, place]
        ends = float(weights.min()), float(weights.max())
        largest = float(np.nanmax(np.abs(self.weights), initial=0.0))
        mean = float(weights.mean())
        drawn = bar(mean, largest, ends if len(weights) > 1 else None)
        return [*words, number(mean, 3), drawn, " to ".join(number(end, 3) for end in ends)]


def _components(combiner: Any, learner: Any, feature_map: Any) -> tuple[tuple[str, str], ...]:
    parts = {"combiner": combiner, "learner": learner, "feature map": feature_map}
    return tuple(
        (name, cut(to_spec(part), 2 * LONGEST)) for name, part in parts.items() if part is not None
    )


def _in_words(columns: Any, names: Any) -> str:
    """Return columns as text: by name if known, and only the first few of many."""
    if columns is None:
        return "all"
    if isinstance(columns, slice):
        ends = ("" if end is None else str(end) for end in (columns.start, columns.stop))
        return ":".join(ends)
    if isinstance(columns, str) or not np.ndim(columns):
        return cut(str(columns), LONGEST)
    first = columns[:MOST_COLUMNS]
    words = ", ".join(cut(str(c if names is None else names[c]), LONGEST) for c in first)
    more = len(columns) - len(first)
    return f"{words} and {more} more" if more else words


class ShowsKernels(BaseEstimator):
    """Mix-in for estimators whose kernels and weights are shown below scikit-learn's diagram."""

    @abstractmethod
    def _kernel_summary(self) -> KernelSummary:
        """Return the summary to show; errors may be raised, and are shown too."""

    @abstractmethod
    def _planned_summary(self) -> KernelSummary:
        """Return the summary shown before a fit, whether fitted or not."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # If scikit-learn is set to display text, there is no such attribute.
        diagram: Callable[[], str] = super()._repr_html_
        return lambda: diagram() + self._kernels_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._kernels_html()
        return bundle

    def _kernels_html(self) -> str:
        """Return the kernels, or the reason why there are none to show."""
        try:
            return shown(self._kernel_summary().html())
        except MKLKitError as error:
            reason = f"Its kernels can't be shown, and fit would fail: {plain_message(error)}"
        except Exception as error:
            # Parameters and components may be anything; the estimator must be shown all the same.
            reason = f"Its kernels can't be shown: {plain_message(error)}"
        return shown(reason)
