"""What is shown of an estimator in a notebook: its kernels, their weights, and what joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mklkit.display.html import bar, facts, grid
from mklkit.display.numbers import number
from mklkit.errors import counted, cut
from mklkit.estimators.introspection import KernelModel, column_names
from mklkit.protocols import Array
from mklkit.registry.columns import are_proposed, bind_kernels, kernel_list
from mklkit.registry.composing import Choice
from mklkit.registry.specs import to_spec
from mklkit.views.bound_kernels import BoundKernel

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["KernelSummary", "fitted_summary", "planned_summary"]

MOST_KERNELS = 20
MOST_COLUMNS = 4
LONGEST = 60
"""Letters of a name, a spec string or a column."""


@attrs.frozen(eq=False)
class KernelSummary:
    """Kernels with their weights, and the facts beside them.

    Attributes
    ----------
    kernels : sequence of BoundKernel
        As far as they are shown where nothing is fitted; all of them where there are weights.
    n_kernels : int
        The number of all of them.
    facts : tuple of (name, text)
    columns : ndarray of str or int, optional
        The names of all columns; without it, columns are shown as they were given.
    weights : ndarray of shape (n, M), optional
        A row per problem, or per problem and cluster.
    over : str, default=""
        What several rows of weights are of.
    """

    kernels: Sequence[BoundKernel]
    n_kernels: int
    facts: tuple[tuple[str, str], ...] = ()
    columns: Any = None
    weights: Array | None = None
    over: str = ""

    def html(self) -> Markup:
        """Return a table of the kernels, the heaviest of many, and the facts."""
        listed = facts(self.facts)
        if not self.kernels:
            return listed
        return listed + (self._names() if self.weights is None else self._weights(self.weights))

    def _names(self) -> Markup:
        rows = [self._words(kernel) for kernel in self.kernels[:MOST_KERNELS]]
        more = self.n_kernels - len(rows)
        rest = f"and {more} more" if more > 0 else ""
        return grid(["name", "kernel", "columns"], rows, words=3, rest=rest)

    def _weights(self, weights: Array) -> Markup:
        means, lowest, highest = weights.mean(axis=0), weights.min(axis=0), weights.max(axis=0)
        largest = float(np.nanmax(np.abs(weights), initial=0.0))
        several = len(weights) > 1
        places = list(range(self.n_kernels))
        if self.n_kernels > MOST_KERNELS:
            places = np.argsort(-np.abs(means), kind="stable")[:MOST_KERNELS].tolist()
        rows = []
        for place in places:
            mean, ends = float(means[place]), (float(lowest[place]), float(highest[place]))
            drawn = bar(mean, largest, ends if several else None)
            row = [*self._words(self.kernels[place]), number(mean, 3), drawn]
            rows.append([*row, f"{number(ends[0], 3)} to {number(ends[1], 3)}"] if several else row)
        heads = ["name", "kernel", "columns", "mean weight" if several else "weight", ""]
        heads += [f"range over {self.over}"] * several
        rest = ""
        if more := self.n_kernels - len(places):
            together = number(float(means.sum() - means[places].sum()), 3)
            rest = f"and {more} more with smaller weights, {together} together"
        return grid(heads, rows, words=3, rest=rest)

    def _words(self, kernel: BoundKernel) -> list[Any]:
        columns = _in_words(kernel.columns, self.columns)
        return [cut(str(kernel.label), LONGEST), cut(to_spec(kernel.kernel), LONGEST), columns]


def fitted_summary(
    model: KernelModel, weights: Array, n_rows: int, more: Sequence[tuple[str, str]] = ()
) -> KernelSummary:
    """Return the summary of a fitted model.

    Parameters
    ----------
    model : KernelModel
    weights : ndarray of shape (n, M)
    n_rows : int
        On how many rows it was fitted.
    more : sequence of (name, text)
        Further facts.
    """
    parts = zip(model.kernel_names_, model.kernels_, model.kernel_columns_, strict=True)
    kernels = [BoundKernel(*part) for part in parts]
    n_problems = len(model.problems_)
    over = [counted(n_problems, "problem")] * (n_problems > 1)
    over += ["clusters"] * (len(weights) > n_problems)
    fitted_on = f"{counted(n_rows, 'row')}, {counted(model.n_features_in_, 'column')}"
    return KernelSummary(
        kernels,
        len(kernels),
        (*_components(model.combiner_, model.learner_, model.feature_map_),
         ("fitted on", fitted_on), *more),
        column_names(model),
        np.asarray(weights, dtype=np.float64),
        " and ".join(over),
    )  # fmt: skip


def planned_summary(
    kernels: Any, choice: Choice, more: Sequence[tuple[str, str]] = ()
) -> KernelSummary:
    """Return the summary of an estimator that is not fitted: what ``fit`` would use.

    Raises
    ------
    MKLKitError
        If there is no such kernel.
    """
    parts = _components(choice.combiner, choice.learner, choice.feature_map)
    if are_proposed(kernels):
        proposed = ("kernels", "a bank that fit proposes from its rows")
        return KernelSummary([], 0, (proposed, *parts, *more))
    listed = kernel_list(kernels)
    return KernelSummary(bind_kernels(listed[:MOST_KERNELS]), len(listed), (*parts, *more))


def _components(combiner: Any, learner: Any, feature_map: Any) -> tuple[tuple[str, str], ...]:
    pairs = (("combiner", combiner), ("learner", learner), ("feature map", feature_map))
    return tuple(
        (name, cut(to_spec(component), 2 * LONGEST))
        for name, component in pairs
        if component is not None
    )


def _in_words(columns: Any, names: Any) -> str:
    """Return columns as text: names where they are known, and only the first few of many."""
    if columns is None:
        return "all"
    if isinstance(columns, slice):
        ends = ("" if end is None else str(end) for end in (columns.start, columns.stop))
        return ":".join(ends)
    if isinstance(columns, str) or not np.ndim(columns):
        return cut(str(columns), LONGEST)
    first = columns[:MOST_COLUMNS]
    shown = [str(column if names is None else names[column]) for column in first]
    more = len(columns) - len(shown)
    rest = f" and {more} more" if more else ""
    return ", ".join(cut(name, LONGEST) for name in shown) + rest
