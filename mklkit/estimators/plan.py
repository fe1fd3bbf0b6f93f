"""The plan of a fit: what an estimator asks for, settled once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from mklkit.errors import SpecError
from mklkit.estimators.table_reading import TableReading
from mklkit.protocols import Task
from mklkit.registry.composing import are_proposed, bind_kernels, choose_components
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.memory import memory_given

__all__ = ["Plan", "kernels_to_bind", "plan_of"]

BANDWIDTHS = ("per-problem", "all-rows")


@attrs.frozen(eq=False)
class Plan:
    """What an estimator asks for, settled once.

    Attributes
    ----------
    kernels : tuple of BoundKernel
        Bound to columns of the table; the default ones while they are still to be proposed.
    feature_map, combiner, learner : components
    reading : TableReading
        How the table is read for these kernels.
    proposed : bool
        Whether the kernels are proposed from the rows and what is to be learned of them.
    task : Task
    bandwidths : {"per-problem", "all-rows"}
        Whether kernels are fitted to each problem's own rows or once to all of them.
    max_memory : int, optional
        Bytes that features and sums over them may take; half of what is free where not given.
    n_jobs : int, optional
        Threads over problems.
    kernel_notes : tuple of str
        What became of gaps in the kernels' columns, or which kernels were proposed and why.
    notes : tuple of str
        What was chosen because nothing was given, a sentence each.
    """

    kernels: tuple[BoundKernel, ...]
    feature_map: Any
    combiner: Any
    learner: Any
    reading: TableReading
    proposed: bool = False
    task: Task = "two classes"
    bandwidths: str = "per-problem"
    max_memory: int | None = None
    n_jobs: int | None = None
    kernel_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def plan_of(
    estimator: Any,
    task: Task,
    reading: TableReading,
    kernels: Sequence[BoundKernel],
    weighted: bool = False,
) -> Plan:
    """Return what an estimator would do with a table.

    Parameters
    ----------
    estimator : KernelEstimator
    task : Task
        What is to be learned.
    reading : TableReading
    kernels : sequence of BoundKernel
        Its kernels, bound to columns of the table.
    weighted : bool, default=False
        Whether rows count differently.

    Raises
    ------
    MKLKitError
        For unknown names, and components that don't fit together.
    """
    parts = estimator.combiner, estimator.feature_map, estimator.learner
    choice = choose_components(*parts, task=task, weighted=weighted)
    if estimator.bandwidths not in BANDWIDTHS:
        raise SpecError(
            f"bandwidths must be one of {', '.join(map(repr, BANDWIDTHS))};"
            f" got {estimator.bandwidths!r:.80}."
        )
    return Plan(
        tuple(kernels),
        choice.feature_map,
        choice.combiner,
        choice.learner,
        reading,
        proposed=are_proposed(estimator.kernels),
        task=task,
        bandwidths=estimator.bandwidths,
        max_memory=None if estimator.max_memory is None else memory_given(estimator.max_memory),
        n_jobs=estimator.n_jobs,
        kernel_notes=reading.notes,
        notes=choice.notes,
    )


def kernels_to_bind(estimator: Any) -> list[BoundKernel]:
    """Return an estimator's kernels, by which its table is read."""
    # What is proposed reads numbers, like the kernels that are taken by default.
    return bind_kernels(None if are_proposed(estimator.kernels) else estimator.kernels)
