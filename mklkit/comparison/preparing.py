"""What a comparison runs: its data as read, their splits, and the methods, for each seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Self

import attrs
import numpy as np

from mklkit.comparison.data import DataSet
from mklkit.comparison.design import Design
from mklkit.comparison.incomplete import with_missing_sources
from mklkit.comparison.methods import Method
from mklkit.comparison.running import one_split_of
from mklkit.datasets.pipeline import weights_of_labels
from mklkit.estimators.training_data import class_weights
from mklkit.evaluation.equivalence import MARGIN, equivalence_margin
from mklkit.evaluation.leakage import leakage_notes
from mklkit.evaluation.resolution import resolution_of
from mklkit.persistence.metadata import versions
from mklkit.protocols.splits.making import PartsColumn
from mklkit.protocols.splits.split import Splits
from mklkit.registry.columns import are_proposed

LineUp = Callable[[Design], tuple[list[Method], list[dict[str, Any]], list[str]]]
"""Returns the methods of a design, the planned questions, and notes."""


@attrs.frozen(kw_only=True, eq=False)
class Prepared:
    """The data, splits and methods of a comparison with one seed.

    Attributes
    ----------
    data : list of DataSet
        As the methods read them.
    requests : list
        How each data set is to be split.
    plans : list of Splits
        The splits of each data set.
    methods : list of Method
    design : Design
    metadata : dict
        The plan in plain values.
    """

    data: list[DataSet]
    requests: list[Any]
    plans: list[Splits]
    methods: list[Method]
    design: Design
    metadata: dict[str, Any]

    @property
    def n_runs(self) -> int:
        """The number of runs of all methods on all splits."""
        return len(self.methods) * sum(len(plan) for plan in self.plans)

    def with_seed(self, seed: int, line_up: LineUp) -> Self:
        """Return the same comparison with other splits and another seed of the fits."""
        design = attrs.evolve(self.design, settings=attrs.evolve(self.design.settings, seed=seed))
        methods, _, _ = line_up(design)
        pairs = zip(self.data, self.requests, strict=True)
        plans = [
            source.task.splits(source.target, request, seed, source.groups)
            for source, request in pairs
        ]
        margin = self.metadata["margin"]
        same = {key: self.metadata[key] for key in ("questions", "reference")}
        metadata = plan_metadata(self.data, plans, methods, design, margin) | same
        return attrs.evolve(self, plans=plans, methods=methods, design=design, metadata=metadata)


def as_read(data: Sequence[DataSet], design: Design, compared: Sequence[Method]) -> list[DataSet]:
    """Return the data as the methods' kernels read them; an error if some column can't be read."""
    kernels: Any = design.settings.kernels
    covariates = design.settings.covariates
    if kernels is None and design.by_source:
        kernels = design.kernels
    for source in data if covariates else ():
        source.check_columns(covariates)
    if covariates and kernels and are_proposed(kernels):
        kernels = None  # They are proposed only on numbers.
    read = [with_missing_sources(source.for_kernels(kernels), compared) for source in data]
    for source, kernel in product(read, design.also):
        source.for_kernels(kernel)
    return read


def check_class_weights(data: Sequence[DataSet], class_weight: Any) -> None:
    """Raise the error that each fit would raise for class weights, such as one of no class."""
    for source in data:
        if source.task.has_classes:
            classes, codes = np.unique(source.target, return_inverse=True)
            class_weights(weights_of_labels(class_weight, classes), classes, codes)


def with_roles(
    data: DataSet, groups: Any, split_column: str | None, request: Any
) -> tuple[DataSet, Any]:
    """Return data with their groups, and the request for their splits."""
    if groups is not None:
        data = data.grouped(groups)
    if split_column is not None:
        data, parts = data.without(split_column, "says which samples are for testing", "split")
        request = PartsColumn(parts.to_numpy(), str(parts.name))
    return data, request


def divided(data: DataSet, request: Any, kernels: Any, seed: int) -> Splits:
    """Return the splits of data, with notes on leaks."""
    splits = data.task.splits(data.target, request, seed, data.groups)
    columns = data.read_by(kernels)
    leaks = leakage_notes(columns, data.target, splits, data.groups, data.task.gives)
    return attrs.evolve(splits, notes=(*splits.notes, *leaks))


def plan_metadata(
    data: list[DataSet],
    plans: list[Splits],
    methods: list[Method],
    design: Design,
    margin: float = MARGIN,
) -> dict[str, Any]:
    """Return the plain values that identify a comparison."""
    return {
        "data": [source.metadata() for source in data],
        "splits": [
            {
                "name": source.name,
                "description": plan.description,
                "number": len(plan),
                "training": plan.training,
                "samples": len(source.target),
                "digest": plan.digest(),
            }
            for source, plan in zip(data, plans, strict=True)
        ],
        "task": design.task.name,
        "score": design.score,
        "margin": margin,
        "margins": {
            source.name: equivalence_margin(design.task, str(design.score), source.truth, margin)
            for source in data
        },
        "resolution": {
            source.name: units
            for source, plan in zip(data, plans, strict=True)
            if (units := _resolution(source, plan, str(design.score))) is not None
        },
        "one_split": {
            source.name: one_split.test
            for source, plan in zip(data, plans, strict=True)
            if (one_split := one_split_of(source, plan, str(design.score))) is not None
        },
        "seed": design.settings.seed,
        "tune": design.settings.tune,
        "methods": [method.metadata() for method in methods],
        "versions": versions(),
    }


def _resolution(data: DataSet, plan: Splits, score: str) -> dict[str, Any] | None:
    """Return the units that the score counts in all splits, as plain values."""
    rows = np.unique(np.concatenate(plan.tests))
    groups = None if data.groups is None else data.groups[rows]
    units = resolution_of(data.task.score_named(score), data.truth[rows], groups)
    return None if units is None else attrs.asdict(units)
