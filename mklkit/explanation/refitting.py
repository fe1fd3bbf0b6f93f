"""Refitting a model with the same parameters and kernels, or without one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mklkit.datasets.encoder import TableEncoder
from mklkit.errors import listed
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.introspection import column_names, split
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.registry.columns import AUTO_KERNELS, kernel_list, parts_of, resolve_columns
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.scaling import scale_of

Binding = tuple[str, Any, Any, str | None]
"""A label, a kernel, its columns, and what is done to these."""


@attrs.frozen(eq=False)
class Refit:
    """The unfitted parts of a model, with the parameters that its search chose.

    The estimator has the sources of the model, and the kernel of each is chosen again on every fold
    if it was chosen. Their columns are as the user gave them; one that was chosen has the names or
    positions of those that it reads, None for all. The notes tell how a refit differs from the
    model.
    """

    before: Pipeline | None
    estimator: Any
    proposed: bool
    notes: list[str]

    @classmethod
    def of(cls, model: Any, seed: int, keep_probability: bool = False) -> Refit:
        """Return the parts of a fitted model, or of a pipeline, search or vote around it.

        An estimator without a seed gets this one, so that fits differ only by their kernels.
        """
        before, whole = split(model)
        members = members_of(whole)
        notes = []
        first: Any = members[0]
        chosen: Any = clone(first)
        bound = first.bound_kernels_
        sources = first.fitted_.plan.sources
        kernels: list[Binding] = []
        if sources:
            names = column_names(first)
            # A lone source has a sum of kernels, which may be others on a fold.
            again = len(sources) > 1
            notes.append(_on_the_choice(sources, bound))
            for kernel in sources if again else bound:
                columns = None if kernel.columns is None else names[kernel.columns].tolist()
                part = AUTO_KERNELS if kernel.auto else kernel.kernel
                scale = None if kernel.auto else scale_of(kernel)
                kernels.append((kernel.label, part, columns, scale))
            if chosen.learner is None:
                chosen.set_params(learner=first.learner_, feature_map=first.feature_map_)
        else:
            # Never rebuilt from their specs, which may name a file or come from a model file.
            named = [parts_of(kernel) for kernel in kernel_list(first.kernels)]
            kernels = [
                (kernel.label, kernel.kernel, columns, scale)
                for kernel, (_, _, columns, scale) in zip(bound, named, strict=True)
            ]
        chosen.set_params(kernels=kernels)
        if isinstance(chosen, MKLClassifier) and not keep_probability:
            chosen.set_params(probability=False)
        if isinstance(whole, MKLVotingClassifier):
            if any(_parameters(member) != _parameters(first) for member in members):
                notes.append(
                    "each member of the vote was tuned on its own; refits use the parameters of the"
                    " first"
                )
            chosen = MKLVotingClassifier(
                chosen, n_members=len(members), random_state=whole.random_state
            )
        if chosen.random_state is None:
            chosen.set_params(random_state=seed)
        return cls(None if before is None else _resolved(before), chosen, bool(sources), notes)

    def on(self, rows: Any) -> Any:
        """Return the estimator for rows that the steps before it made, unfitted."""
        kernels = _member(self.estimator).kernels
        if self.proposed:
            kernels = [
                (label, kernel, _places(columns, rows), scale)
                for label, kernel, columns, scale in kernels
            ]
        return self._with(kernels)

    def without(self, left_out: str, whole: Any) -> Any:
        """Return the estimator without the kernel of a label, unfitted.

        A kernel that names no columns reads those that no other kernel reserves. Here it keeps
        the columns that it has with the omitted kernel, so that fits differ only by that one.
        ``whole`` is the result of :meth:`on`, fitted on the rows that this one will be fitted on.
        """
        kernels = []
        reads = _columns_by_label(whole)
        for label, kernel, columns, scale in _member(whole).kernels:
            read = reads.get(label) if columns is None else None
            if label != left_out:
                kernels.append((label, kernel, columns if read is None else read.tolist(), scale))
        if len(kernels) == 1 and kernels[0][1] == AUTO_KERNELS:
            # It would be a lone source, which has a sum of kernels.
            label, _, columns, _ = kernels[0]
            kernels = [
                (label, kernel.kernel, columns, scale_of(kernel))
                for kernel in members_of(whole)[0].bound_kernels_
                if kernel.label == label
            ] or kernels
        return self._with(kernels)

    @staticmethod
    def rows_without(left_out: str, whole: Any, rows: Any) -> Any:
        """Return rows without gaps in the numbers that only the omitted kernel reads.

        That kernel may skip gaps, and no other kernel may do so.
        """
        if not isinstance(rows, pd.DataFrame | np.ndarray):
            return rows
        reads = _columns_by_label(whole)
        names = rows.columns.tolist() if isinstance(rows, pd.DataFrame) else None
        # A source that was not chosen on this fold may be chosen without the omitted kernel.
        columns_left: list[Any] = [
            reads[label] if label in reads else resolve_columns(columns, rows.shape[1], names)
            for label, _, columns, _ in _member(whole).kernels
            if label != left_out
        ]
        if any(columns is None for columns in columns_left):
            return rows
        table = pd.DataFrame(rows).copy()
        for place in np.setdiff1d(np.arange(rows.shape[1]), np.concatenate(columns_left)):
            if is_numeric_dtype(column := table.iloc[:, place]):
                table.isetitem(place, column.fillna(0))
        return table if isinstance(rows, pd.DataFrame) else table.to_numpy()

    def _with(self, kernels: list[Binding]) -> Any:
        whole = clone(self.estimator)
        _member(whole).set_params(kernels=kernels)
        return whole


def _on_the_choice(sources: Sequence[BoundKernel], kernels: Sequence[BoundKernel]) -> str:
    """Return a note on whether what was chosen for a model's sources was chosen again."""
    if len(sources) == 1:
        return "the kernels are those of the model and were not chosen again"
    kept = {kernel.label for kernel in kernels}
    chosen = [source.label for source in sources if source.auto]
    note = f"what was chosen for {listed(chosen)} was chosen again in each fold"
    left_out = [label for label in chosen if label not in kept]
    return f"{note}; the model left out {listed(left_out)}" if left_out else note


def _columns_by_label(whole: Any) -> dict[str, Any]:
    """Return the positions of the columns of each kernel of a fitted estimator, None for all."""
    first = members_of(whole)[0]
    return dict(zip(first.kernel_names_, first.kernel_columns_, strict=True))


def members_of(model: Any) -> list[KernelEstimator]:
    """Return the members of a fitted vote, or the estimator itself."""
    return list(model.members_) if isinstance(model, MKLVotingClassifier) else [model]


def _member(whole: Any) -> Any:
    """Return the unfitted member of a vote, or the estimator itself."""
    return whole.estimator if isinstance(whole, MKLVotingClassifier) else whole


def _places(columns: list[Any] | None, rows: Any) -> list[int] | None:
    """Return the positions of columns in these rows; a rare category may lack one on a fold."""
    if columns is None or not isinstance(rows, pd.DataFrame):
        return columns
    return np.flatnonzero(rows.columns.isin(columns)).tolist()


def _parameters(member: KernelEstimator) -> str:
    """Return the parameters that a search may choose, as text that can be compared."""
    return repr(member.get_params(deep=False) | {"random_state": None})


def _resolved(before: Pipeline) -> Pipeline:
    """Return unfitted steps that read every column as the fitted ones do, on any fold."""
    steps: Pipeline = clone(before)
    for (_, new), (_, old) in zip(steps.steps, before.steps, strict=True):
        if isinstance(old, TableEncoder):
            new.set_params(schema=old.schema_)
    return steps
