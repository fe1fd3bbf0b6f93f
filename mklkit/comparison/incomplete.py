"""The samples of a comparison that miss a source of some compared kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pandas as pd

from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import Method
from mklkit.datasets.pipeline import for_table, missing_and_none_in
from mklkit.estimators.declaring import declared_sources
from mklkit.estimators.missing_sources import counts, numbered, refuse_without_source


def with_missing_sources(data: DataSet, methods: Sequence[Method]) -> DataSet:
    """Return the data with the samples with a missing source of some method's kernels, and notes.

    A ``DataError`` is raised for samples in which a method has nothing to read, as each of its fits
    would.
    """
    sources: dict[Any, pd.Series] = {}
    examined: set[tuple[tuple[str, str | None], ...]] = set()
    for method in methods:
        declared = declared_sources(method.pipeline[-1])
        fates = tuple((source.label, source.missing) for source in declared)
        if fates not in examined:
            examined.add(fates)
            model = for_table(method.pipeline, data.schema)
            missing, none = missing_and_none_in(model, data.features)
            refuse_without_source(none, index=data.features.index)
            sources |= dict(missing.items())
    missing = pd.DataFrame(sources)
    if not missing.any(axis=None):
        return data
    strata = data.task.strata(data.target)
    codes, named = (data.target, []) if strata is None else numbered(strata)
    told = counts(list(sources), missing.to_numpy(), codes, named)
    return attrs.evolve(data, incomplete=missing.any(axis=1).to_numpy(), notes=[*data.notes, *told])
