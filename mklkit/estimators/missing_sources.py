"""Missing sources: how a strategy treats training and new samples, and their counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.display.numbers import percentage
from mklkit.errors import DataError, NoSourceError, counted, quoted
from mklkit.estimators.reading import row_of
from mklkit.protocols import Rows
from mklkit.protocols.component import MISSING_STRATEGY
from mklkit.registry.tasks import kind_named

if TYPE_CHECKING:
    from mklkit.estimators.plan import Plan
    from mklkit.estimators.training_data import TrainingData

LEAVE_OUT = "leave it out"
WARNING = "warning: its absence alone predicts the class"


def with_sources(
    plan: Plan, data: TrainingData, classes: Sequence[Any], index: pd.Index | None = None
) -> TrainingData:
    """Return the training samples that the strategy takes, with notes on which miss sources.

    A ``DataError`` is raised for samples that have no source, named by their ``index``, and a
    strategy that leaves too few samples.
    """
    missing = data.rows.missing_of(plan.kernels)
    labels = [kernel.label for kernel in plan.kernels]
    told = () if missing is None else counts(labels, missing, data.values, classes)
    notes = tuple(f"{plan.strategy.name}: {note}" for note in told)
    if missing is not None and not (plan.strategy.fills or plan.strategy.drops):
        refuse_without_source(np.asarray(missing.all(axis=1)), LEAVE_OUT, index)
    return attrs.evolve(as_taken(plan, data), notes=notes)


def as_taken(plan: Plan, data: TrainingData) -> TrainingData:
    """Return training samples as the strategy takes them: filled, only complete ones, or all."""
    rows = data.rows
    if plan.strategy.fills:
        return attrs.evolve(data, rows=rows.filled(), whole=None)
    missing = rows.missing_of(plan.kernels)
    if missing is None or not plan.strategy.drops:
        return data
    kept = np.flatnonzero(~missing.any(axis=1))
    classes = np.unique(data.values) if kind_named(plan.kind).of_classes else ()
    if len(kept) < 2 or not np.isin(classes, data.values[kept]).all():
        raise DataError(
            f"{counted(len(kept), 'sample')} of {len(rows)} have all sources, too few to learn from"
            f" with missing={plan.strategy.name!r}: use another strategy, such as"
            f" {MISSING_STRATEGY!r}."
        )
    return data.take(kept)


def accepted(
    plan: Plan, rows: Rows, index: pd.Index | None = None
) -> tuple[Rows, NDArray[np.bool_] | None]:
    """Return new samples as the strategy takes them, and which have no source (None if all have).

    A ``DataError`` names a wrong sample by its ``index``.
    """
    if rows.medians is None:
        return rows, None
    strategy = plan.strategy
    missing = rows.missing_of(plan.kernels)
    if plan.schema.fills is None:
        _refuse_gaps(plan, rows, index)
    if strategy.fills or missing is None:
        return rows.filled() if strategy.fills else rows, None
    if strategy.drops:
        row, kernel = np.argwhere(missing)[0]
        raise DataError(
            f"{_title(row, index)} misses the columns of kernel"
            f" {quoted(plan.kernels[kernel].label)}, and missing={strategy.name!r} takes complete"
            f" samples only: fit the model with another strategy, such as {MISSING_STRATEGY!r}."
        )
    return rows, np.asarray(missing.all(axis=1))


def refuse_without_source(
    none: NDArray[np.bool_], remedy: str = LEAVE_OUT, index: pd.Index | None = None
) -> None:
    """Raise a ``NoSourceError``, which names a sample by its ``index``, if one has no source."""
    if none.any():
        raise NoSourceError(
            f"{_title(int(none.argmax()), index)} ({counted(int(none.sum()), 'sample')} in all) has"
            f" no value in the columns of any kernel, so it can't be compared: {remedy}.",
            none.tolist(),
        )


def _title(position: int, index: pd.Index | None) -> str:
    """Return the name of a sample at the beginning of a sentence."""
    if index is None:
        return f"Sample {position} (counted from 0)"
    name = row_of(index, position)
    return f"{name[0].upper()}{name[1:]}"


def numbered(strata: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the number of each sample's class (N,), and the classes."""
    classes, codes = np.unique(strata, return_inverse=True)
    return codes, classes.tolist()


def counts(
    labels: Sequence[str], missing: NDArray[np.bool_], codes: NDArray[Any], classes: Sequence[Any]
) -> Iterator[str]:
    """Yield a sentence per source that samples miss: how many do, of all and of each class.

    ``missing`` is (N, M); ``codes`` (N,) number the ``classes``, which are empty for numbers. It
    warns if missing the source is in itself a predictor of the class.
    """
    sources: dict[bytes, list[str]] = {}
    for label, absent in zip(labels, missing.T, strict=True):
        sources.setdefault(absent.tobytes(), []).append(label)
    for mask, names in sources.items():
        absent = np.frombuffer(mask, bool)
        if absent.any():
            lack = "lacks" if absent.sum() == 1 else "lack"
            text = f"{int(absent.sum())} of {counted(len(absent), 'sample')} {lack}"
            text += f" {', '.join(names)}"
            of_classes = [absent[codes == code] for code in range(len(classes))]
            pairs = zip(classes, of_classes, strict=True)
            shares = ", ".join(
                f"{label} {percentage(float(share.mean()), digits=0)}" for label, share in pairs
            )
            warning = f"; {WARNING}" if _tell_class(of_classes) else ""
            yield f"{text}{shares and f' ({shares})'}{warning}"


def _tell_class(of_classes: Sequence[NDArray[np.bool_]]) -> bool:
    """Return whether the share with a missing source depends on the class: χ² with p < 0.001."""
    from scipy.stats import chi2_contingency

    table = np.array([[mask.sum(), (~mask).sum()] for mask in of_classes if len(mask)])
    varies = len(table) > 1 and table.any(axis=0).all()
    return bool(varies and chi2_contingency(table).pvalue < 1e-3)


def _refuse_gaps(plan: Plan, rows: Rows, index: pd.Index | None) -> None:
    """Raise an error on gaps that need medians, which samples read in parts do not have."""
    for kernel in plan.kernels:
        lack_all, lack_some = rows.gaps_in(kernel)
        single = lack_some & ~(lack_all & (not plan.strategy.fills))
        if single.any() and not kernel.traits.allows_gaps:
            raise DataError(
                f"{_title(int(single.argmax()), index)} has gaps in columns of kernel"
                f" {quoted(kernel.label)}, and no medians of the training samples are known, which"
                " were read in parts: fill the gaps, or put an imputer before the model."
            )
