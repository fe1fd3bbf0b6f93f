"""Ensembles of multiple kernel classifiers on random-subset maps, by vote (paper 004)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mklkit.errors import SpecError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.ifsl_search import PAPER_GRID, IFSLClassifierCV
from mklkit.estimators.nested_parameters import NestedParameters
from mklkit.estimators.training import check_training_data
from mklkit.feature_maps.empirical import Empirical
from mklkit.presets.ifsl import RPEMEKL_KERNELS
from mklkit.protocols.component import is_whole

__all__ = ["SUBSET_CHOICES", "MKLVotingClassifier", "RPEMEKLClassifier"]

SUBSET_CHOICES = (0.1, 0.2, 0.3, 0.4, 0.5)
"""p as a share of the training rows (paper 004, section 3.1)."""
SAME_IN_ALL_MEMBERS = (
    "kernel_names_",
    "kernel_columns_",
    "problems_",
    "kernels_",
    "combiner_",
    "feature_map_",
    "learner_",
)


class MKLVotingClassifier(ClassifierMixin, BaseEstimator):
    """Members of one kind, each with its own seed and so its own random maps, that vote.

    Parameters
    ----------
    estimator : MKLClassifier or IFSLClassifierCV, optional
        What each member is; every member sees all rows.
    n_members : int, default=3
        H.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    members_ : list of MKLClassifier
    classes_, weights_, kernel_names_, kernel_columns_, problems_, kernels_, combiner_,
    feature_map_, learner_
        As the members have them; ``weights_`` is their mean.
    choices_ : list of str

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

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the members on rows (N, d) and class labels (N,)."""
        return self._vote(MKLClassifier() if self.estimator is None else self.estimator, X, y)

    def _vote(self, member: Any, X: Any, y: Any) -> Self:
        if not is_whole(self.n_members) or self.n_members < 1:
            raise SpecError(
                f"n_members must be a whole number above 0, got {self.n_members!r:.80}."
            )
        if not isinstance(member, (MKLClassifier, IFSLClassifierCV)):
            raise SpecError(
                "Members are MKLClassifier or IFSLClassifierCV; got"
                f" {type(member).__name__}. scikit-learn's VotingClassifier takes others."
            )
        check_training_data(self, X, y, member.multiclass)
        # scikit-learn's ensembles hand their members class numbers and nameless columns; these
        # members show class labels in their results and may bind kernels to columns by name.
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_members)
        fitted = [clone(member).set_params(random_state=seed).fit(X, y) for seed in seeds.tolist()]
        self.members_ = [getattr(one, "best_estimator_", one) for one in fitted]
        first = self.members_[0]
        for name in SAME_IN_ALL_MEMBERS:
            setattr(self, name, getattr(first, name))
        self.weights_ = np.mean([one.weights_ for one in self.members_], axis=0)
        self.choices_ = [
            *first.choices_,
            f"vote of {self.n_members} members, each on its own random maps",
        ]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class label that most members give; ties fall to the first class in order."""
        check_is_fitted(self)
        validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        given = np.stack([one.predict(X) for one in self.members_])
        votes = np.stack([(given == label).sum(axis=0) for label in self.classes_])
        return np.asarray(self.classes_[votes.argmax(axis=0)])

    def weights_frame(self) -> pd.DataFrame:
        """Return the members' mean kernel weights as a tidy table."""
        check_is_fitted(self)
        frame = self.members_[0].weights_frame()
        return frame.assign(weight=np.asarray(self.weights_).ravel())


class RPEMEKLClassifier(NestedParameters, MKLVotingClassifier):
    """Random-projection ensemble of coupled learners on empirical maps of random landmarks.

    Parameters
    ----------
    kernels : as for MKLClassifier, optional
        Default: the normalised linear kernel, rbf of mean width and of a tenth of it.
    subset : int, float or sequence of these, default=0.1
        Landmarks of a member's map: a count, a share of the training rows, or choices, of which
        cross-validation takes the best (``"auto"``: 0.1, 0.2 … 0.5).
    n_members : int, default=3
        H, members that vote.
    c, lam : float, default=1.0
        Ridge of the learners, and how dear disagreement is.
    tune : bool, default=False
        Whether c and λ (and the subset, where choices are given) are chosen by cross-validation on
        the training rows, on the papers' grid 2⁻⁴ … 2⁴.
    cv : int, default=5
        Folds for that.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One map serves all binary problems of a member.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads over binary problems.

    Attributes
    ----------
    best_params_ : dict
        subset, c and lam as used.
    others : as for MKLVotingClassifier

    Notes
    -----
    O(N·p·d + N·p²) a member and kernel for p landmarks, and O(p³) a binary problem. Source: paper
    004, Table 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(RPEMEKLClassifier(subset=0.2, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        subset: Any = 0.1,
        n_members: int = 3,
        c: float = 1.0,
        lam: float = 1.0,
        tune: bool = False,
        cv: int = 5,
        multiclass: str = "ovo",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.subset = subset
        self.n_members = n_members
        self.c = c
        self.lam = lam
        self.tune = tune
        self.cv = cv
        self.multiclass = multiclass
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the members on rows (N, d) and class labels (N,)."""
        self.best_params_ = self._choose(X, y)
        self._vote(self._member(**self.best_params_), X, y)
        used = ", ".join(f"{key} {value}" for key, value in self.best_params_.items())
        self.choices_.append(f"members use {used}")
        return self

    def _choose(self, X: Any, y: Any) -> dict[str, Any]:
        choices = self._subset_choices()
        if not self.tune and len(choices) == 1:
            return {"subset": choices[0], "c": self.c, "lam": self.lam}
        grid = PAPER_GRID if self.tune else None
        best: tuple[float, dict[str, Any]] | None = None
        for subset in choices:
            search = IFSLClassifierCV(
                kernels=self._kernels(),
                feature_map=Empirical().with_params(subset=subset),
                ridges=grid or (self.c,),
                lams=grid or (self.lam,),
                cv=self.cv,
                multiclass=self.multiclass,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            ).fit(X, y)
            if best is None or search.best_score_ > best[0]:
                found = search.best_params_
                params = {"c": found["learner__c"], "lam": found["combiner__lam"]}
                best = search.best_score_, {"subset": subset, **params}
        assert best is not None
        return best[1]

    def _subset_choices(self) -> list[Any]:
        if isinstance(self.subset, str) and self.subset == "auto":
            return list(SUBSET_CHOICES)
        if np.ndim(self.subset) == 1:
            if not len(self.subset):
                raise SpecError("subset has no choices: give a count, a share, or several of them.")
            return list(self.subset)
        return [self.subset]

    def _kernels(self) -> Any:
        return list(RPEMEKL_KERNELS) if self.kernels is None else self.kernels

    def _member(self, subset: Any, c: float, lam: float) -> MKLClassifier:
        return MKLClassifier(
            kernels=self._kernels(),
            feature_map=Empirical().with_params(subset=subset),
            combiner=f"ifsl(lam={lam!r})",
            learner=f"mhks(c={c!r})",
            multiclass=self.multiclass,
            n_jobs=self.n_jobs,
        )
