"""What the kernels of an estimator read, which it declares before any table is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from mklkit.errors import MKLKitError
from mklkit.protocols import Missing, Schema, Source
from mklkit.registry.columns import are_proposed, bind_kernels, kernels_beside, proposed_for
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel


@runtime_checkable
class DeclaresSources(Protocol):
    """An estimator with kernels, or a search or vote around one."""

    def declared_schema(self) -> Schema:
        """Return the sources that the kernels read, without columns, before ``fit``."""


def declared_schema(estimator: Any) -> Schema:
    """Return the sources that an estimator's kernels read, without columns, before ``fit``.

    An estimator around another one, as scikit-learn has them, has its sources and those of the
    kernels in its ``param_grid``.

    >>> from mklkit import MKLClassifier
    >>> schema = declared_schema(MKLClassifier(["age:rbf@age", "spectrum@note", "rbf"]))
    >>> [(source.name, source.columns, source.reads) for source in schema.sources]
    [('age', 'age', 'numbers'), ('spectrum@note', 'note', 'text'), ('rbf', None, 'numbers')]
    """
    if isinstance(estimator, DeclaresSources):
        return estimator.declared_schema()
    parameters = estimator.get_params(deep=False)
    inner = parameters.get("estimator")
    if inner is None:
        return Schema()
    return joined([declared_schema(inner), *of_grids(parameters.get("param_grid"))])


def of_grids(grids: Any) -> list[Schema]:
    """Return the sources of each set of kernels in a grid of parameters, or a list of grids."""
    listed = [grids] if isinstance(grids, Mapping) else grids or []
    # Which of them samples may miss depends on the estimator's own strategy.
    return [sources_of(bank, None) for grid in listed for bank in grid.get("kernels", ())]


def joined(schemas: Iterable[Schema]) -> Schema:
    """Return the sources of several sets of kernels, each once."""
    several = [schema for schema in schemas if schema.sources]
    sources = {repr(source): source for schema in several for source in schema.sources}
    infer = bool(several) and all(schema.infer for schema in several)
    return Schema(sources=sources.values(), infer=infer)


def sources_of(kernels: Any, missing: Any) -> Schema:
    """Return the sources of an estimator's kernels, with its strategy for missing sources.

    None as the strategy: no sample misses any. Kernels that can't be made are left to ``fit``,
    which reports the error.
    """
    if kernels is None:
        return Schema()
    may_miss = missing is not None and not _fills(missing)
    if not are_proposed(kernels):
        bound: list[BoundKernel] = []
        with suppress(MKLKitError):
            bound = bind_kernels(kernels)
        return Schema(sources=[_source(kernel, may_miss) for kernel in bound])
    columns = proposed_for(kernels) or (None,)
    proposed = [
        Source(str(each), each, may_miss=may_miss and each is not None, proposed=True)
        for each in columns
    ]
    beside = kernels_beside(kernels)
    return Schema(
        sources=[*proposed, *(_source(kernel, False) for kernel in beside)], infer=not beside
    )


def _fills(missing: Any) -> bool:
    with suppress(MKLKitError):
        strategy: Missing = get_registry().create("missing", missing)
        return strategy.fills
    return False


def _source(kernel: BoundKernel, may_miss: bool) -> Source:
    named = kernel.columns is not None and kernel.reads in ("numbers", "amounts", "text")
    return Source(
        kernel.label,
        kernel.columns,
        kernel.reads,
        skips_gaps=kernel.traits.allows_gaps,
        may_miss=may_miss and named,
    )
