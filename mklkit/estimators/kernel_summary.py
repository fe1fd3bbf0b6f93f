"""What is shown of an estimator in a notebook: its kernels, their weights, and what joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from mklkit.display.markup import EMPTY, Html, joined
from mklkit.display.notebook import bar, facts, grid
from mklkit.display.numbers import number
from mklkit.errors import counted, cut
from mklkit.estimators.introspection import KernelModel, column_names
from mklkit.protocols import Array
from mklkit.registry.composing import Choice, are_proposed, bind_kernels, kernel_list
from mklkit.registry.specs import to_spec
from mklkit.views.bound_kernels import BoundKernel

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

    def caption(self) -> str:
        """Return a few words for a diagram."""
        known = dict(self.facts)
        parts = [known[name] for name in ("combiner", "learner") if name in known]
        many = [counted(self.n_kernels, "kernel")] if self.n_kernels else []
        return cut(", ".join([*many, *parts]), 2 * LONGEST)

    def html(self) -> Html:
        """Return a table of the kernels, the heaviest of many, and the facts."""
        return joined(facts(self.facts), self._table() if self.kernels else EMPTY)

    def _table(self) -> Html:
        heads = ["name", "kernel", "columns"]
        if self.weights is None:
            rows: list[Sequence[object]] = [self._words(place) for place in self._shown()]
            return grid(heads, rows, words=3, rest=self._rest())
        means, low, high = (found(self.weights, axis=0) for found in (np.mean, np.min, np.max))
        largest = float(np.nanmax(np.abs([low, high, means]), initial=0.0))
        several = len(self.weights) > 1
        heads += ["mean weight" if several else "weight", ""]
        rows = []
        for place in self._shown():
            ends = (float(low[place]), float(high[place])) if several else None
            weight = [number(means[place], 3), bar(float(means[place]), largest, ends)]
            if ends is not None:
                weight.append(f"{number(ends[0], 3)} to {number(ends[1], 3)}")
            rows.append([*self._words(place), *weight])
        if several:
            heads.append(f"range over {self.over}")
        return grid(heads, rows, words=3, rest=self._rest())

    def _shown(self) -> list[int]:
        """Return the places of the kernels to show: all, or the heaviest or first of many."""
        places = range(min(self.n_kernels, len(self.kernels)))
        if self.weights is None or self.n_kernels <= MOST_KERNELS:
            return list(places[:MOST_KERNELS])
        heaviest = np.argsort(-np.abs(self.weights.mean(axis=0)), kind="stable")
        return [int(place) for place in heaviest[:MOST_KERNELS]]

    def _rest(self) -> str:
        shown = self._shown()
        more = self.n_kernels - len(shown)
        if more <= 0 or not shown:
            return ""
        if self.weights is None:
            return f"and {more} more"
        means = self.weights.mean(axis=0)
        rest = number(float(means.sum() - means[shown].sum()), 3)
        return f"and {more} more with smaller weights, {rest} together"

    def _words(self, place: int) -> list[str]:
        kernel = self.kernels[place]
        own = _in_words(kernel.columns, self.columns)
        return [cut(str(kernel.label), LONGEST), cut(to_spec(kernel.kernel), LONGEST), own]


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
    parts = model.kernel_names_, model.kernels_, model.kernel_columns_
    kernels = [BoundKernel(*one) for one in zip(*parts, strict=True)]
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
    given = kernel_list(kernels)
    return KernelSummary(bind_kernels(given[:MOST_KERNELS]), len(given), (*parts, *more))


def _components(combiner: Any, learner: Any, feature_map: Any) -> tuple[tuple[str, str], ...]:
    pairs = (("combiner", combiner), ("learner", learner), ("feature map", feature_map))
    return tuple((name, cut(to_spec(one), 2 * LONGEST)) for name, one in pairs if one is not None)


def _in_words(columns: Any, names: Any) -> str:
    """Return columns as text: names where they are known, and only the first few of many."""
    if columns is None:
        return "all"
    if isinstance(columns, slice):
        ends = ("" if end is None else str(end) for end in (columns.start, columns.stop))
        return ":".join(ends)
    if isinstance(columns, str) or not np.ndim(columns):
        return cut(str(columns), LONGEST)
    first = list(columns[:MOST_COLUMNS])
    found = first if names is None else [names[place] for place in first]
    more = len(columns) - len(first)
    rest = f" and {more} more" if more else ""
    return ", ".join(cut(str(one), LONGEST) for one in found) + rest
