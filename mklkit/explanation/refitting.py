"""A model to fit again: with the parameters and kernels that it has, or without one of them."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mklkit.datasets.encoder import TableEncoder
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.introspection import column_names, split
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.registry.columns import are_proposed, kernel_list, parts_of

__all__ = ["Refit", "members_of"]

Binding = tuple[str, Any, Any]
"""A label, a kernel, and its columns."""


@attrs.frozen(eq=False)
class Refit:
    """The unfitted parts of a model, with the parameters that its search chose.

    Attributes
    ----------
    before : Pipeline or None
        The steps before the estimator with kernels.
    estimator : MKLClassifier, MKLRegressor or MKLVotingClassifier
    kernels : list of (label, kernel, columns)
        Those of the model, also where ``kernels="auto"`` would propose others on a fold. The
        columns are as the user gave them; of a proposed kernel the names of those that it reads, or
        their positions, None for all.
    proposed : bool
        Whether the model proposed them.
    notes : list of str
        In which way a refit differs from the model.
    """

    before: Pipeline | None
    estimator: Any
    kernels: list[Binding]
    proposed: bool
    notes: list[str]

    @classmethod
    def of(cls, model: Any, seed: int) -> Refit:
        """Return the parts of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted model of classes or numbers with kernels, or a pipeline, search or vote around
            it.
        seed : int
            The seed of an estimator that has none, so that fits differ by their kernels and not
            by their draws.
        """
        before, whole = split(model)
        notes = []
        members = members_of(whole)
        chosen: Any = clone(members[0])
        proposed = are_proposed(chosen.kernels)
        if proposed:
            notes.append("the kernels that the model has; the bank was not proposed again")
        # Never built anew from their specs: one may name a file, and come from a model file.
        chosen.kernels = kernels = _bindings(members[0], proposed)
        if isinstance(chosen, MKLClassifier):
            # Only predictions are compared.
            chosen.set_params(probability=False)
        if isinstance(whole, MKLVotingClassifier):
            if any(_parameters(member) != _parameters(members[0]) for member in members):
                notes.append(
                    "each member of the vote was tuned on its own; refits use the parameters of the"
                    " first"
                )
            chosen = MKLVotingClassifier(
                chosen, n_members=len(members), random_state=whole.random_state
            )
        if chosen.random_state is None:
            chosen.set_params(random_state=seed)
        steps = None if before is None else _settled(before)
        return cls(steps, chosen, kernels, proposed, notes)

    def on(self, rows: Any) -> Any:
        """Return the estimator for rows that the steps before it made, unfitted.

        Parameters
        ----------
        rows : DataFrame or array-like of shape (n, d)
            The rows that it is to be fitted on.
        """
        kernels = self.kernels
        if self.proposed:
            kernels = [
                (label, kernel, _places(columns, rows)) for label, kernel, columns in kernels
            ]
        return self._with(kernels)

    def without(self, left_out: int, whole: Any) -> Any:
        """Return the estimator without a kernel, unfitted.

        A kernel that names no columns reads those that no other kernel has to itself. Here it
        keeps those that it has beside the one that is left out, so that fits differ by that alone.

        Parameters
        ----------
        left_out : int
            The place of the kernel.
        whole : estimator
            What :meth:`on` returned, fitted on the rows that this one is to be fitted on.
        """
        settled = members_of(whole)[0].kernel_columns_
        kernels = [
            (label, kernel, read.tolist() if columns is None and read is not None else columns)
            for (label, kernel, columns), read in zip(
                kernel_list(_member(whole).kernels), settled, strict=True
            )
        ]
        return self._with(kernels[:left_out] + kernels[left_out + 1 :])

    @staticmethod
    def rows_without(left_out: int, whole: Any, rows: Any) -> Any:
        """Return rows with no gaps among the numbers that only the kernel left out reads.

        It may leave gaps out, and without it nothing is known to do so.
        """
        columns_left = list(members_of(whole)[0].kernel_columns_)
        del columns_left[left_out]
        if any(columns is None for columns in columns_left):
            return rows
        unread = np.setdiff1d(np.arange(rows.shape[1]), np.concatenate(columns_left))
        if isinstance(rows, pd.DataFrame):
            rows = rows.copy()
            for place in unread:
                column = rows.iloc[:, place]
                if is_numeric_dtype(column) and column.hasnans:
                    rows.isetitem(place, column.fillna(0))
        elif isinstance(rows, np.ndarray) and rows.dtype.kind == "f":
            rows = rows.copy()
            rows[:, unread] = np.nan_to_num(rows[:, unread], posinf=np.inf, neginf=-np.inf)
        return rows

    def _with(self, kernels: list[Binding]) -> Any:
        whole = clone(self.estimator)
        _member(whole).set_params(kernels=kernels)
        return whole


def members_of(model: Any) -> list[KernelEstimator]:
    """Return the members of a fitted vote, or the estimator itself."""
    if isinstance(model, MKLVotingClassifier):
        return list(model.members_)
    assert isinstance(model, KernelEstimator)
    return [model]


def _member(whole: Any) -> Any:
    """Return the unfitted member of a vote, or the estimator itself."""
    return whole.estimator if isinstance(whole, MKLVotingClassifier) else whole


def _bindings(member: KernelEstimator, proposed: bool) -> list[Binding]:
    """Return the kernels with the columns as the user gave them, of proposed ones those read."""
    names = column_names(member)
    if proposed:
        columns: list[Any] = [
            None if read is None else names[read].tolist() for read in member.kernel_columns_
        ]
    else:
        columns = [parts_of(kernel)[2] for kernel in kernel_list(member.kernels)]
    return list(zip(member.kernel_names_, member.kernels_, columns, strict=True))


def _places(columns: list[Any] | None, rows: Any) -> list[int] | None:
    """Return where columns are in these rows; on a fold a rare category may have no column."""
    if columns is None or not isinstance(rows, pd.DataFrame):
        return columns
    return np.flatnonzero(rows.columns.isin(columns)).tolist()


def _parameters(member: KernelEstimator) -> dict[str, str]:
    """Return the parameters that a search may choose, as text that can be compared."""
    params = member.get_params(deep=False)
    return {name: repr(value) for name, value in params.items() if name != "random_state"}


def _settled(before: Pipeline) -> Pipeline:
    """Return unfitted steps that read every column as the fitted ones do, whatever the fold."""
    steps: Pipeline = clone(before)
    for (_, new), (_, old) in zip(steps.steps, before.steps, strict=True):
        if isinstance(old, TableEncoder):
            new.set_params(identifiers=old.identifiers_, readings=old.readings_)
    return steps
