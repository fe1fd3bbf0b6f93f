"""Refitting a model in the way it was fitted, or without some of its kernels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from mklkit.explanation.searching import OPTIMISTIC, Choice, inside, without_parameters
from mklkit.registry.columns import AUTO_KERNELS, Parts, kernel_list, parts_of, resolve_columns
from mklkit.registry.matrices import as_kernel
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.scaling import scale_of

Binding = tuple[str, Any, Any, str | None]
"""A label, a kernel, its columns, and what is done to these."""


@attrs.frozen(eq=False)
class Refit:
    """The unfitted parts of a model, which is learned again on each fold.

    The estimator is inside the searches of the model, which are repeated, or has the parameters
    that they chose. It has the sources of the model, and the kernel of each is chosen again on
    every fold if it was chosen. Their columns are as the user gave them; one that was chosen has
    the names or positions of those that it reads, None for all. The notes tell how a refit differs
    from the model.
    """

    before: Pipeline | None
    estimator: Any
    proposed: bool
    notes: list[str]

    @classmethod
    def of(
        cls,
        model: Any,
        seed: int,
        keep_probability: bool = False,
        as_fitted: bool = False,
        grouped: bool = False,
    ) -> Refit:
        """Return the parts of a fitted model, or of a pipeline, search or vote around it.

        An estimator without a seed gets this one, so that fits differ only by their kernels.
        ``as_fitted`` keeps what the model chose; ``grouped`` fits keep groups of samples together.
        """
        before, whole = split(model)
        choice, first = Choice.of(model, grouped), members_of(whole)[0]
        sources = first.fitted_.plan.sources
        # A lone source has a sum of kernels, which may be others on a fold.
        again = not as_fitted and len(sources) > 1
        searches = choice.repeats and not as_fitted
        estimator = choice.estimator if searches else _as_chosen(whole)
        inner = inside(estimator)
        if sources and not again and inner.learner is None:
            inner.set_params(learner=first.learner_, feature_map=first.feature_map_)
        inner.set_params(kernels=_bindings(first, again, inner if searches else None))
        if isinstance(inner, MKLClassifier) and not keep_probability:
            inner.set_params(probability=False)
        for part in (estimator, inner):
            if part.get_params(deep=False).get("random_state", seed) is None:
                part.set_params(random_state=seed)
        notes = [choice.note(not searches)] if choice.searches else []
        if sources:
            notes.append(_on_the_choice(sources, first.bound_kernels_, again))
        if not searches:
            notes += _on_members(whole)
        return cls(None if before is None else _resolved(before), estimator, bool(sources), notes)

    @property
    def labels(self) -> list[str]:
        """The labels of all sources, also of those that the model dropped."""
        return [label for label, *_ in inside(self.estimator).kernels]

    @property
    def cautions(self) -> list[str]:
        """The notes by which scores are optimistic."""
        return [note for note in self.notes if note.endswith(OPTIMISTIC)]

    @property
    def remarks(self) -> list[str]:
        """The other notes."""
        return [note for note in self.notes if note not in self.cautions]

    def on(self, rows: Any) -> Any:
        """Return the estimator for samples that the steps before it made, unfitted."""
        kernels = inside(self.estimator).kernels
        if self.proposed:
            kernels = [
                (label, kernel, _places(columns, rows), scale)
                for label, kernel, columns, scale in kernels
            ]
        return self._with(kernels)

    def without(self, left_out: Collection[str], whole: Any) -> Any:
        """Return the estimator without the kernels of some labels, unfitted.

        A kernel that names no columns reads those that no other kernel reserves. Here it keeps
        the columns that it has with the omitted kernels, so that fits differ only by these.
        ``whole`` is the result of :meth:`on`, fitted on the samples that this one will be fitted
        on.
        """
        kernels = []
        reads = _columns_by_label(whole)
        for label, kernel, columns, scale in inside(whole).kernels:
            read = reads.get(label) if columns is None else None
            if label not in left_out:
                kernels.append((label, kernel, columns if read is None else read.tolist(), scale))
        without = self._with(kernels)
        without_parameters(without, left_out)
        if len(kernels) == 1 and kernels[0][1] == AUTO_KERNELS:
            _take_choice(inside(without), whole)
        return without

    @staticmethod
    def rows_without(left_out: Collection[str], whole: Any, rows: Any) -> Any:
        """Return samples without gaps in the numbers that only the omitted kernels read.

        These kernels may skip gaps, and no other kernel may do so.
        """
        if not isinstance(rows, pd.DataFrame | np.ndarray):
            return rows
        reads = _columns_by_label(whole)
        names = rows.columns.tolist() if isinstance(rows, pd.DataFrame) else None
        # A source that was not chosen on this fold may be chosen without the omitted kernel.
        columns_left: list[Any] = [
            reads[label] if label in reads else resolve_columns(columns, rows.shape[1], names)
            for label, _, columns, _ in inside(whole).kernels
            if label not in left_out
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
        inside(whole).set_params(kernels=kernels)
        return whole


def _as_chosen(whole: Any) -> Any:
    """Return a fitted estimator or vote unfitted, with the parameters that a search chose."""
    first = clone(members_of(whole)[0])
    if not isinstance(whole, MKLVotingClassifier):
        return first
    size, seed = len(whole.members_), whole.random_state
    return MKLVotingClassifier(first, n_members=size, random_state=seed)


def _on_members(whole: Any) -> list[str]:
    """Return a note if the members of a fitted vote have other parameters than the first."""
    first, *others = map(_parameters, members_of(whole))
    if all(parameters == first for parameters in others):
        return []
    return ["each member of the vote was tuned on its own; refits use the parameters of the first"]


def _bindings(first: KernelEstimator, again: bool, searched: Any) -> list[Binding]:
    """Return the kernels of a fitted estimator; sources are to be chosen ``again``.

    Of kernels in a search that is repeated, the parameters are those of the estimator that is
    ``searched``, from which the search begins.
    """
    bound, sources = first.bound_kernels_, first.fitted_.plan.sources
    named = [parts_of(kernel) for kernel in kernel_list(first.kernels)]
    begun = named if searched is None else [*map(parts_of, kernel_list(searched.kernels))]

    def begin(kernel: BoundKernel, part: Parts | None) -> Any:
        # A matrix is never read again: its spec may name a file or come from a model file.
        if searched is None or part is None or kernel.reads == "row ids":
            return kernel.kernel
        return as_kernel(part[1])

    if not sources:
        return [
            (kernel.label, begin(kernel, part), columns, scale)
            for kernel, part, (_, _, columns, scale) in zip(bound, begun, named, strict=True)
        ]
    names, kernels = column_names(first), []
    by_label = {part[0]: part for part in begun if part[1] != AUTO_KERNELS}
    for kernel in sources if again else bound:
        columns = None if kernel.columns is None else names[kernel.columns].tolist()
        auto = again and kernel.auto
        part = AUTO_KERNELS if auto else begin(kernel, by_label.get(kernel.label))
        kernels.append((kernel.label, part, columns, None if auto else scale_of(kernel)))
    return kernels


def _take_choice(alone: Any, whole: Any) -> None:
    """Give the only source that is left the kernel and learner that were chosen with others.

    A lone source would have a sum of kernels.
    """
    (label, _, columns, _), first = alone.kernels[0], members_of(whole)[0]
    chosen = [kernel for kernel in first.bound_kernels_ if kernel.label == label]
    if chosen:
        kernels = [(label, chosen[0].kernel, columns, scale_of(chosen[0]))]
        alone.set_params(kernels=kernels)
        if alone.learner is None:
            alone.set_params(learner=first.learner_, feature_map=first.feature_map_)


def _on_the_choice(
    sources: Sequence[BoundKernel], kernels: Sequence[BoundKernel], again: bool
) -> str:
    """Return a note on whether what was chosen for a model's sources was chosen again."""
    if not again:
        return f"the kernels are those of the model and were not chosen again: {OPTIMISTIC}"
    kept = {kernel.label for kernel in kernels}
    chosen = [source.label for source in sources if source.auto]
    note = f"what was chosen for {listed(chosen)} was chosen again in each fold"
    left_out = [label for label in chosen if label not in kept]
    return f"{note}; the model dropped {listed(left_out)}" if left_out else note


def _columns_by_label(whole: Any) -> dict[str, Any]:
    """Return the positions of the columns of each kernel of a fitted estimator, None for all."""
    first = members_of(whole)[0]
    return dict(zip(first.kernel_names_, first.kernel_columns_, strict=True))


def kernels_of(refit: Refit, model: Any) -> list[BoundKernel]:
    """Return the kernels of a fitted model, in the order of the labels of its refits.

    A source that the model dropped, and that a refit may choose, has the kernel that it is read
    with.
    """
    first = members_of(model)[0]
    by_label = {kernel.label: kernel for kernel in first.fitted_.plan.sources}
    by_label |= {kernel.label: kernel for kernel in first.bound_kernels_}
    return [by_label[label] for label in refit.labels]


def members_of(model: Any) -> list[KernelEstimator]:
    """Return the members of a fitted vote, or the estimator itself, also in a search."""
    whole = split(model)[1]
    return list(whole.members_) if isinstance(whole, MKLVotingClassifier) else [whole]


def _places(columns: list[Any] | None, rows: Any) -> list[int] | None:
    """Return the positions of columns in these samples; a rare category may lack one on a fold."""
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
