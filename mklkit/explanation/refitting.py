"""A model to fit again: with the parameters that it has, and without one of its kernels."""

from __future__ import annotations

from typing import Any

import attrs
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import IncompatibleError, type_name
from mklkit.estimators.anatomy import KernelModel, split
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.preprocessing import TableEncoder
from mklkit.registry.composing import bind_kernels

__all__ = ["Refit", "members_of"]


@attrs.frozen(eq=False)
class Refit:
    """The unfitted parts of a model, with the parameters that its search chose.

    Attributes
    ----------
    before : Pipeline or None
        The steps before the classifier.
    classifier : MKLClassifier or MKLVotingClassifier
    notes : list of str
        In which way a refit differs from the model.
    """

    before: Pipeline | None
    classifier: Any
    notes: list[str]

    @classmethod
    def of(cls, model: Any, seed: int) -> Refit:
        """Return the parts of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted classifier with kernels, or a pipeline, search or vote around it.
        seed : int
            The seed of a classifier that has none, so that fits differ by their kernels and not
            by their draws.

        Raises
        ------
        IncompatibleError
            If the model has no kernels.
        sklearn.exceptions.NotFittedError
            If it is not fitted.
        """
        if isinstance(model, BaseEstimator):
            check_is_fitted(model)
        before, classifier = split(model)
        if not isinstance(classifier, KernelModel):
            raise IncompatibleError(
                f"{type_name(classifier)} has no kernels to explain; a fitted MKLClassifier,"
                " MKLVotingClassifier or RPEMEKLClassifier is expected, or a pipeline or search"
                " around one. For other estimators there is"
                " sklearn.inspection.permutation_importance."
            )
        notes = []
        members = members_of(classifier)
        chosen: Any = clone(members[0])
        if isinstance(classifier, MKLVotingClassifier):
            if any(_parameters(one) != _parameters(members[0]) for one in members):
                notes.append(
                    "each member of the vote was tuned on its own; refits use the parameters of the"
                    " first"
                )
            chosen = MKLVotingClassifier(
                chosen, n_members=len(members), random_state=classifier.random_state
            )
        if chosen.random_state is None:
            chosen.set_params(random_state=seed)
        return cls(None if before is None else _settled(before), chosen, notes)

    def without(self, kernel: int) -> Any:
        """Return the classifier without one of its kernels, unfitted."""
        smaller = clone(self.classifier)
        member = smaller.estimator if isinstance(smaller, MKLVotingClassifier) else smaller
        bound = bind_kernels(member.kernels)
        kept = [
            (one.label, one.kernel, one.columns) for one in bound[:kernel] + bound[kernel + 1 :]
        ]
        member.set_params(kernels=kept)
        return smaller


def members_of(classifier: Any) -> list[MKLClassifier]:
    """Return the members of a fitted vote, or the classifier itself."""
    if isinstance(classifier, MKLVotingClassifier):
        return list(classifier.members_)
    assert isinstance(classifier, MKLClassifier)
    return [classifier]


def _parameters(member: MKLClassifier) -> dict[str, str]:
    """Return the parameters that a search may choose, as text that can be compared."""
    given = member.get_params(deep=False)
    return {name: repr(value) for name, value in given.items() if name != "random_state"}


def _settled(before: Pipeline) -> Pipeline:
    """Return unfitted steps that read every column as the fitted ones do, whatever the fold."""
    steps: Pipeline = clone(before)
    for (_, new), (_, old) in zip(steps.steps, before.steps, strict=True):
        if isinstance(old, TableEncoder):
            new.set_params(identifiers=old.identifiers_, readings=old.readings_)
    return steps
