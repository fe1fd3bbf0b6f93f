"""RPEMEKLClassifier: the preset ``rpemekl`` with its subset, ridge and λ searched."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

import attrs
import numpy as np

from mklkit.errors import SpecError
from mklkit.estimators.base import NestedParameters
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.declaring import sources_of
from mklkit.estimators.from_preset import preset_classifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.protocols import Source
from mklkit.protocols.component import MISSING_STRATEGY
from mklkit.views.cache import Cache

SUBSET_CHOICES = (0.1, 0.2, 0.3, 0.4, 0.5)
"""p as a fraction of the training samples (Wang et al. 2013, section 3.1)."""
NESTED = {"subset": "feature_map__subset", "alpha": "learner__alpha", "lam": "combiner__lam"}


class RPEMEKLClassifier(NestedParameters, MKLVotingClassifier):
    """Random-projection ensemble of coupled learners on empirical maps of random landmarks.

    Parameters
    ----------
    kernels : as for MKLClassifier, optional
        Default: the normalised linear kernel, rbf with the mean distance and a tenth of it as σ.
    subset : int, float or sequence of these, default=0.1
        Landmarks of a member's map: a count, a fraction of the training samples, or several of
        these for cross-validation to choose from (``"auto"``: 0.1, 0.2 … 0.5).
    n_members : int, default=3
        H, the number of members that vote.
    alpha, lam : float, default=1.0
        Ridge of the learners (the paper's c), and λ, the penalty on disagreement.
    tune : bool, default=False
        Whether α and λ (and the subset, if there are choices) are chosen by cross-validation on
        the training samples, on the papers' grid 2⁻⁴ … 2⁴.
    cv : int, default=5
        The number of folds for that.
    multiclass : {"auto", "ovo", "ovr"}, default="auto"
        One map serves all binary problems of a member.
    class_weight : None, "balanced", or dict of class label to number, default=None
        The weight of each class, as for MKLClassifier.
    probability : bool, default=False
        Whether there is ``predict_proba``, the mean of the members' probabilities.
    max_memory : int or str, optional
        The memory of a member's features and sums over them, as for MKLClassifier.
    random_state : int, RandomState or None, default=None
        The seed of the members' seeds, and of the folds.
    n_jobs : int or None, default=None
        Threads over binary problems.

    Attributes
    ----------
    best_params_ : dict
        The values of subset, alpha and lam that were used.
    best_score_ : float
        The cross-validated accuracy of one member with these; NaN without a search.
    refit_time_ : float
        Seconds to fit the members, without the search.
    others
        As in :class:`mklkit.MKLVotingClassifier`.

    See Also
    --------
    MKLVotingClassifier : The vote alone.

    Notes
    -----
    O(N·p·d + N·p²) per member and kernel for p landmarks, and O(p³) per binary problem. The
    algorithm is that of Table 1 of Wang et al. 2013 [1]_.

    References
    ----------
    .. [1] Z. Wang, W. Jie, S. Chen and D. Gao, "Random projection ensemble learning with multiple
       empirical kernels", Knowledge-Based Systems 37 (2013), 388–393.

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
        alpha: float = 1.0,
        lam: float = 1.0,
        tune: bool = False,
        cv: int = 5,
        multiclass: str = "auto",
        class_weight: Any = None,
        probability: bool = False,
        max_memory: int | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.subset = subset
        self.n_members = n_members
        self.alpha = alpha
        self.lam = lam
        self.tune = tune
        self.cv = cv
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.probability = probability
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def declared_sources(self) -> list[Source]:
        """Return the columns that the kernels read, before ``fit``.

        Returns
        -------
        list of Source
            One for each kernel; none if the kernels can't be made, which ``fit`` reports.
        """
        return sources_of(self.kernels, MISSING_STRATEGY)

    def fit_sharing(
        self,
        cache: Cache | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Search if requested and fit the members, sharing views with fits on the same samples.

        Parameters
        ----------
        cache : Cache or None
            The cache of Gram matrices, features and statistics; None for a cache of its own.
        X, y, sample_weight, groups : array-like
            As for :meth:`mklkit.MKLClassifier.fit`.

        Returns
        -------
        RPEMEKLClassifier
            The fitted estimator itself.
        """
        self.best_params_, self.best_score_ = self._choose(cache, X, y, sample_weight, groups)
        start = perf_counter()
        member = self._member(**self.best_params_).set_params(probability=self.probability)
        self._vote(cache, member, X, y, sample_weight, groups)
        self.refit_time_ = perf_counter() - start
        used = ", ".join(f"{key} {value}" for key, value in self.best_params_.items())
        self.fitted_ = attrs.evolve(
            self.fitted_, notes=(*self.fitted_.notes, f"members use {used}")
        )
        return self

    @property
    def chooses(self) -> bool:
        """Whether ``fit`` chooses parameters by cross-validation."""
        return self.tune or len(self._subset_choices()) > 1

    def _choose(self, cache: Cache | None, *data: Any) -> tuple[dict[str, Any], float]:
        subsets = self._subset_choices()
        params = {"subset": subsets[0], "alpha": self.alpha, "lam": self.lam}
        if not self.chooses:
            return params, float("nan")
        search = MKLSearchCV(self._member(**params), cv=self.cv, random_state=self.random_state)
        grid = {NESTED[name]: [value] for name, value in params.items()}
        space = search.search_space() if self.tune else {}
        tuned = {name: space[name] for name in NESTED.values() if name in space}
        search.set_params(param_grid={**grid, **tuned, NESTED["subset"]: subsets})
        search.fit_sharing(cache, *data)
        chosen = {name: search.best_params_[nested] for name, nested in NESTED.items()}
        return chosen, search.best_score_

    def _subset_choices(self) -> list[Any]:
        if isinstance(self.subset, str) and self.subset == "auto":
            return list(SUBSET_CHOICES)
        if np.ndim(self.subset) == 1:
            if not len(self.subset):
                raise SpecError("subset has no choices: give a count, a share, or several of them.")
            return list(self.subset)
        return [self.subset]

    def _kernels(self) -> Any:
        return self._preset_member().kernels

    def _planned_member(self) -> MKLClassifier:
        subset = self._subset_choices()[0]
        return self._member(subset=subset, alpha=self.alpha, lam=self.lam)

    def _preset_member(self) -> MKLClassifier:
        """Return a member as in the preset, with the kernels and settings given here."""
        voting: Any = preset_classifier(
            "rpemekl",
            kernels=self.kernels,
            multiclass=self.multiclass,
            class_weight=self.class_weight,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )
        member: MKLClassifier = voting.estimator
        return member

    def _member(self, **params: Any) -> MKLClassifier:
        nested = {NESTED[name]: value for name, value in params.items()}
        # A requested share is not limited.
        return self._preset_member().set_params(**nested, feature_map__most=None)
