"""Voting ensembles of multiple kernel classifiers on random-subset maps."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from mklkit.errors import SpecError, counted
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.declaring import declared_sources
from mklkit.estimators.predicting import PredictsClasses, class_numbers, lazy_on_dask
from mklkit.estimators.search import MKLSearchCV
from mklkit.estimators.sharing import SharesCache
from mklkit.estimators.showing import KernelSummary
from mklkit.protocols import Array, Source
from mklkit.protocols.component import is_whole
from mklkit.views.cache import Cache

MOST_MEMBERS = 10_000
"""Each member is a fitted model in memory: a larger number is a mistake."""


class MKLVotingClassifier(PredictsClasses, SharesCache, FittedKernels):
    """A vote of members of one kind, each with its own seed and thus its own random maps.

    Parameters
    ----------
    estimator : MKLClassifier or MKLSearchCV, optional
        The model of each member; every member is trained on all samples. With ``probability=True``
        the vote has ``predict_proba``, the mean of the members' probabilities.
    n_members : int, default=3
        H, the number of members.
    random_state : int, RandomState or None, default=None
        The seed of the members' seeds.

    Attributes
    ----------
    members_ : list of MKLClassifier
        The fitted members.
    classes_, weights_, kernel_names_, kernel_columns_, problems_, kernels_, combiner_,
    feature_map_, learner_, n_samples_fit_
        As in the members; ``weights_`` is their mean.
    choices_ : list of str
        The choices made where nothing was given, one sentence each.

    See Also
    --------
    RPEMEKLClassifier : Such an ensemble of coupled learners.
    preset_classifier : The classifiers of presets, some of which vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> member = MKLClassifier("rbf", feature_map="empirical(subset=10)", learner="mhks")
    >>> bool(MKLVotingClassifier(member, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self, estimator: Any = None, *, n_members: int = 3, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.random_state = random_state

    def declared_sources(self) -> list[Source]:
        """Return the columns that the kernels of the estimator read, before ``fit``.

        Returns
        -------
        list of Source
            One for each kernel; none if the kernels can't be made, which ``fit`` reports.
        """
        return declared_sources(self.estimator)

    def fit_sharing(
        self,
        cache: Cache | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit the members, sharing views with other fits on the same samples.

        Parameters
        ----------
        cache : Cache or None
            The cache of Gram matrices, features and statistics; None for a cache of its own.
        X, y, sample_weight, groups : array-like
            As for :meth:`mklkit.MKLClassifier.fit`.

        Returns
        -------
        MKLVotingClassifier
            The fitted estimator itself.
        """
        return self._vote(cache, self._planned_member(), X, y, sample_weight, groups)

    def _check(self, member: Any) -> None:
        """Raise a ``SpecError`` if the parameters are invalid."""
        if not is_whole(self.n_members) or not 1 <= self.n_members <= MOST_MEMBERS:
            raise SpecError(
                f"n_members must be a whole number from 1 to {MOST_MEMBERS}, got"
                f" {self.n_members!r:.80}."
            )
        if not isinstance(member, (MKLClassifier, MKLSearchCV)):
            raise SpecError(
                "Members are MKLClassifier or MKLSearchCV; got"
                f" {type(member).__name__}. Use scikit-learn's VotingClassifier for others."
            )

    def _vote(self, cache: Cache | None, member: Any, *data: Any) -> Self:
        self._check(member)
        # scikit-learn's ensembles pass class numbers and arrays without column names to their
        # members; these report class labels and may bind kernels to columns by name.
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_members)
        fitted = [
            clone(member).set_params(random_state=seed).fit_sharing(cache, *data)
            for seed in seeds.tolist()
        ]
        self.members_ = [m.best_estimator_ if isinstance(m, MKLSearchCV) else m for m in fitted]
        first = self.members_[0]
        for name in ("classes_", "n_features_in_", "feature_names_in_", "class_weight_"):
            if name in vars(first):
                setattr(self, name, vars(first)[name])
        note = f"vote of {self.n_members} members, each on its own random maps"
        self.fitted_ = attrs.evolve(first.fitted_, notes=(*first.fitted_.notes, note))
        return self

    @property
    def weights_(self) -> Array:
        """The members' mean kernel weights."""
        return np.asarray(np.mean([member.weights_ for member in self.members_], axis=0))

    @lazy_on_dask
    def decision_function(self, X: Any) -> Array:
        """Return decision values.

        A class scores the number of members that vote for it, plus f/√(1 + f²)/3 for their mean
        decision value f, which ranks samples of equal votes and never outweighs a vote. If votes
        are tied, the first of the tied classes has the largest value.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            Of two classes, (n,): the score of ``classes_[1]`` minus that of ``classes_[0]``;
            otherwise the score of each class. For samples of Dask, a lazy Dask array.
        """
        n_classes = len(self.classes_)
        values = [member.decision_function(X) for member in self.members_]
        chosen = np.eye(n_classes)
        votes = sum((chosen[class_numbers(v)] for v in values), np.zeros((1, n_classes)))
        mean = np.mean(values, axis=0)
        scores = np.column_stack([-mean, mean]) if n_classes == 2 else mean
        scores = votes + scores / np.hypot(1.0, scores) / 3  # f/√(1 + f²), between −1 and 1
        scores[np.arange(len(scores)), votes.argmax(axis=1)] = scores.max(axis=1)
        return scores[:, 1] - scores[:, 0] if n_classes == 2 else scores

    def _kernel_summary(self) -> KernelSummary:
        summary = super()._kernel_summary()
        if not self.__sklearn_is_fitted__():
            return summary
        return summary.and_fact("vote", f"{counted(len(self.members_), 'member')}, mean weights")

    def _planned_summary(self) -> KernelSummary:
        member = self._planned_member()
        self._check(member)
        summary: KernelSummary = member._planned_summary()
        return summary.and_fact("vote", counted(self.n_members, "member"))

    def _planned_member(self) -> Any:
        """Return an estimator like the members that ``fit`` would create."""
        return MKLClassifier() if self.estimator is None else self.estimator

    def _probabilities(self, X: Any) -> Array:
        return np.mean([member._probabilities(X) for member in self.members_], axis=0)
