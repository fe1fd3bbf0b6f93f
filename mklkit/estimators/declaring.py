"""The sources that the kernels of an estimator read, which it declares before a table is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal, Protocol, runtime_checkable

import attrs
from sklearn.base import MetaEstimatorMixin

from mklkit.errors import MKLKitError
from mklkit.estimators.sources import may_name_source
from mklkit.protocols import Missing, Source
from mklkit.registry.columns import AUTO_KERNELS, bind_kernels
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel

READS_TABLES = ("numbers", "amounts", "text", "row ids")
"""What kernels read whose columns are a source that a sample may miss."""


@runtime_checkable
class DeclaresSources(Protocol):
    """An estimator with kernels, or a search or vote that has one."""

    def declared_sources(self) -> list[Source]:
        """Return the sources that the kernels read, before ``fit``."""


def declared_sources(estimator: Any) -> list[Source]:
    """Return the sources that an estimator's kernels read, before ``fit``; none if it has none.

    A scikit-learn estimator around another one has its sources, and those of the kernels in its
    ``param_grid``.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> sources = declared_sources(MKLClassifier(["age:rbf@age", "spectrum@note", "rbf"]))
    >>> [(source.label, source.columns, source.reads) for source in sources]
    [('age', 'age', 'numbers'), ('spectrum@note', 'note', 'text'), ('rbf', None, 'numbers')]
    """
    if isinstance(estimator, DeclaresSources):
        return estimator.declared_sources()
    if not isinstance(estimator, MetaEstimatorMixin):
        return []
    parameters = estimator.get_params(deep=False)
    inner = declared_sources(parameters.get("estimator"))
    return [*inner, *sources_of_grids(parameters.get("param_grid"))]


def sources_of_grids(grids: Any) -> list[Source]:
    """Return the sources of all kernels in a grid of parameters, a list of grids, or None.

    No sample is said to miss one, since other points of the grid may have other sources.
    """
    listed = [grids] if isinstance(grids, Mapping) else grids or []
    banks = [bank for grid in listed for bank in grid.get("kernels", ())]
    sources = [source for bank in banks for source in sources_of(bank, None)]
    return [attrs.evolve(source, missing=None) for source in sources]


def sources_of(kernels: Any, missing: Any) -> list[Source]:
    """Return the sources of kernels, given a strategy for missing sources or its name.

    Kernels that can't be made are left to ``fit``, which reports the error.
    """
    if kernels is None:
        return []
    bound: list[BoundKernel] = []
    with suppress(MKLKitError):
        bound = bind_kernels(kernels)
    fate = _fate(missing)
    return [
        attrs.evolve(source, missing=fate)
        if source.reads in (*READS_TABLES, None)
        and (
            source.columns is not None
            or source.by_name is not None
            or may_name_source(source.label)
        )
        else source
        for source in map(_source, bound)
    ]


def sources_by_name(missing: Any) -> list[Source]:
    """Return what an estimator declares that chooses kernels for the sources of a table of numbers.

    A strategy for missing sources, or its name, says what becomes of their gaps.
    """
    return [Source(AUTO_KERNELS, missing=_fate(missing), by_name="if large")]


def missable(sources: Iterable[Source]) -> dict[str, Any]:
    """Return the columns of the sources that a sample may miss, by the kernels' labels.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> missable(declared_sources(MKLClassifier(["age:rbf@age", "lab:linear@lab_*", "rbf"])))
    {'age': 'age', 'lab': 'lab_*'}
    """
    return {source.label: source.columns for source in sources if source.missing is not None}


def _fate(missing: Any) -> Literal["kept", "filled"]:
    """Return what a strategy does to gaps; one that can't be made is left to ``fit``."""
    if missing is not None:
        with suppress(MKLKitError):
            strategy: Missing = get_registry().create("missing", missing)
            return "filled" if strategy.fills else "kept"
    return "kept"


def _source(kernel: BoundKernel) -> Source:
    reads = None if kernel.auto else kernel.reads
    by_name: Literal["always"] | None = None
    if kernel.auto and kernel.columns is None:
        by_name = "always"
    return Source(kernel.label, kernel.columns, reads, kernel.traits.allows_gaps, by_name=by_name)
