"""Notebook display of an estimator: kernels and weights below scikit-learn's diagram."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from sklearn.base import BaseEstimator

from mklkit.display.html import facts, html_table, shown
from mklkit.display.numbers import number
from mklkit.display.table import Column, ResultTable
from mklkit.errors import MKLKitError, counted, cut, plain_message
from mklkit.estimators.introspection import KernelModel, column_names
from mklkit.estimators.weights_table import weights_result
from mklkit.protocols import Array
from mklkit.registry.columns import bind_kernels
from mklkit.registry.composing import Choice
from mklkit.registry.specs import kernel_spec, to_spec
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

    Columns are shown by the names in ``columns``, else as they were given. ``weights`` has a sample
    per problem, or per problem and cluster.
    """

    kernels: Sequence[BoundKernel]
    facts: tuple[tuple[str, str], ...] = ()
    columns: Any = None
    weights: Array | None = None
    n_problems: int = 1

    @classmethod
    def fitted(cls, model: KernelModel, weights: Array, n_rows: int) -> KernelSummary:
        """Return the summary of a fitted model, with its weights (n, M)."""
        fitted_on = f"{counted(n_rows, 'sample')}, {counted(model.n_features_in_, 'column')}"
        components = _components(model.combiner_, model.learner_, model.feature_map_)
        return cls(
            model.bound_kernels_,
            (*components, ("fitted on", fitted_on)),
            column_names(model),
            np.asarray(weights, dtype=np.float64),
            len(model.problems_),
        )

    @classmethod
    def planned(cls, kernels: Any, choice: Choice) -> KernelSummary:
        """Return the summary of the components that ``fit`` would use."""
        components = _components(choice.combiner, choice.learner, choice.feature_map)
        bank = bind_kernels(kernels)
        if any(bound.auto for bound in bank):
            labels = ", ".join(bound.label for bound in bank if bound.auto)
            components = (("chosen by fit", cut(labels, 2 * LONGEST)), *components)
        return cls([bound for bound in bank if not bound.auto], components)

    def and_fact(self, name: str, text: str) -> KernelSummary:
        """Return the summary with one more fact."""
        return attrs.evolve(self, facts=(*self.facts, (name, text)))

    def html(self) -> Markup:
        """Return a table of the kernels, the heaviest of many, and the facts."""
        listed = facts(self.facts)
        return listed + html_table(self._table()) if self.kernels else listed

    def _table(self) -> ResultTable:
        """Return the table of the kernels, the heaviest of many."""
        rows = [
            {
                "kernel": cut(str(kernel.label), LONGEST),
                "spec": cut(kernel_spec(kernel), LONGEST),
                "columns": _in_words(kernel.columns, self.columns),
            }
            for kernel in self.kernels
        ]
        words = (Column("spec", "kernel"), Column("columns", "columns"))
        if self.weights is None:
            return ResultTable([Column("kernel", "name"), *words], rows).first(MOST_KERNELS)
        table = weights_result(rows, self.weights.T.tolist(), self.n_problems, words)
        ordered = table.rows
        if len(rows) > MOST_KERNELS:
            ordered = sorted(ordered, key=lambda row: -abs(row["weight"]))
        together = number(sum(row["weight"] for row in ordered[MOST_KERNELS:]), 3)
        which = f"with smaller weights, {together} together"
        return attrs.evolve(table, rows=ordered).first(MOST_KERNELS, which)


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
