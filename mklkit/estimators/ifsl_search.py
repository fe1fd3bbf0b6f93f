"""IFSLClassifierCV: coupled learners with ridge and λ chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import ClassifierMixin
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklkit.combiners.ifsl.combiner import IFSL
from mklkit.combiners.ifsl.grid import fit_grid
from mklkit.errors import DataError, IncompatibleError, SpecError, plain_message
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fitting import solver_errors_explained
from mklkit.estimators.folds import Rows, plan_folds, single_rows_note
from mklkit.estimators.multiclass import BinaryProblem, ScoreJoiner, decompose
from mklkit.estimators.nested_parameters import NestedParameters
from mklkit.estimators.training import (
    ProblemViews,
    bind_to_columns,
    check_training_data,
    choose_strategy,
    in_threads,
)
from mklkit.protocols import Array
from mklkit.protocols.component import is_whole
from mklkit.registry.composing import choose_components

__all__ = ["PAPER_GRID", "IFSLClassifierCV"]

PAPER_GRID = tuple(2.0**k for k in range(-4, 5))
"""2⁻⁴ … 2⁴, for c and for λ (paper 000, section 3)."""


class IFSLClassifierCV(ClassifierMixin, NestedParameters):
    """Coupled learners (MultiK-MHKS, MultiV-KMHKS) with c and λ chosen by cross-validation.

    The grid costs little more than one fit a fold: views are decomposed once and all points
    iterate together (see :func:`mklkit.combiners.ifsl.grid.fit_grid`).

    Parameters
    ----------
    kernels, feature_map, learner, multiclass, random_state : as for MKLClassifier
        Learner ``"mhks"`` (on features) or ``"kmhks"`` (on Gram matrices), or one that offers
        ``grid_problem``; its ``c`` is what is searched.
    combiner : str or IFSL, default="ifsl"
        Its ``lam`` is what is searched; weights and rule are kept.
    ridges : sequence of float, default=2**-4 ... 2**4
        Values of c.
    lams : sequence of float, default=2**-4 ... 2**4
        Values of λ.
    cv : int or scikit-learn splitter, default=5
        An int means stratified folds, shuffled from ``random_state``; fewer where a class has
        fewer rows. The row of a class that has no other is always trained on and never scored.
    progress : callable, optional
        Called as ``progress(done, total)`` after each binary problem of each fold.
    n_jobs : int or None, default=None
        Threads over folds and binary problems; the result does not depend on it.

    Attributes
    ----------
    best_estimator_ : MKLClassifier
        Fitted on all rows with the best pair; predictions, ``weights_`` and its other attributes
        are reachable here too.
    best_params_ : dict
        ``{"learner__c": …, "combiner__lam": …}``.
    best_score_, best_index_ : float, int
        Mean accuracy over the folds; among equals the largest λ, then the largest c.
    cv_results_ : dict of ndarray
        As scikit-learn's searches have it: ``params``, ``param_learner__c``,
        ``param_combiner__lam``, ``split0_test_score`` …, ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``; and ``mean_n_iter``.
    n_splits_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = IFSLClassifierCV(lams=(0.25, 1.0, 4.0), random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"])
    27
    >>> bool(search.best_score_ > 0.95)
    True
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        feature_map: Any = None,
        combiner: Any = "ifsl",
        learner: Any = None,
        ridges: Any = PAPER_GRID,
        lams: Any = PAPER_GRID,
        cv: Any = 5,
        multiclass: str = "ovo",
        random_state: Any = None,
        progress: Callable[[int, int], None] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.feature_map = feature_map
        self.combiner = combiner
        self.learner = learner
        self.ridges = ridges
        self.lams = lams
        self.cv = cv
        self.multiclass = multiclass
        self.random_state = random_state
        self.progress = progress
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Choose c and λ by cross-validation on rows (N, d) and labels (N,), then fit on all."""
        grid = self._grid()
        if self.progress is not None and not callable(self.progress):
            raise SpecError(f"progress must be None or a function; got {self.progress!r:.80}.")
        choice = choose_components(self.combiner, self.feature_map, self.learner)
        if not isinstance(choice.combiner, IFSL) or not hasattr(choice.learner, "grid_problem"):
            raise IncompatibleError(
                "IFSLClassifierCV searches c and lam of combiner 'ifsl' with learner 'mhks' or"
                f" 'kmhks'; got {choice.combiner.name!r} with {choice.learner.name!r}."
                " Use scikit-learn's GridSearchCV over MKLClassifier for others."
            )
        given_X, given_y = X, y
        X, codes = check_training_data(self, X, y, self.multiclass)
        splits, notes = self._splits(X, codes)
        self.n_splits_ = len(splits)
        self.cv_results_ = self._search(X, codes, splits, choice, grid)
        self.best_index_ = _best(self.cv_results_["mean_test_score"], grid)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        best_c, best_lam = grid[self.best_index_]
        self.best_estimator_ = MKLClassifier(
            kernels=self.kernels,
            feature_map=choice.feature_map,
            combiner=attrs.evolve(choice.combiner, lam=best_lam),
            learner=attrs.evolve(choice.learner, c=best_c),
            multiclass=self.multiclass,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(given_X, given_y)
        self.choices_ = [
            *choice.notes,
            *notes,
            f"c {best_c:g} and lam {best_lam:g}: best of {len(grid)} pairs by"
            f" {self.n_splits_}-fold cross-validation, {100 * self.best_score_:.1f} %",
        ]
        return self

    def _grid(self) -> list[tuple[float, float]]:
        return list(product(_numbers("ridges", self.ridges), _numbers("lams", self.lams)))

    def _splits(
        self, X: Array, codes: NDArray[np.intp]
    ) -> tuple[list[tuple[Rows, Rows]], list[str]]:
        """Return the rows to train on and to score of each fold, and what is to be said of them."""
        if is_whole(self.cv) and self.cv >= 2:
            plan = plan_folds(codes, int(self.cv))
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            return list(plan.splits(codes, seed)), plan.notes
        rows = np.arange(len(codes))
        try:
            found = check_cv(self.cv, codes, classifier=True).split(X, codes)
            given = [(rows[training], rows[scored]) for training, scored in found]
        except (TypeError, ValueError, IndexError) as error:
            raise _no_folds(self.cv, plain_message(error)) from error
        if not given:
            raise _no_folds(self.cv, "it makes no fold")
        splits = []
        moved: set[int] = set()
        for fold, (training, scored) in enumerate(given):
            absent = np.setdiff1d(codes, codes[training])
            if (np.bincount(codes)[absent] > 1).any():
                raise DataError(
                    f"The training rows of fold {fold} have none of class"
                    f" {self.classes_.tolist()[absent[0]]!r}; use stratified folds."
                )
            moved.update(absent.tolist())
            single = np.isin(codes[scored], absent)
            splits.append((np.concatenate([training, scored[single]]), scored[~single]))
        return splits, [single_rows_note(len(moved))] if moved else []

    def _search(
        self, X: Array, codes: NDArray[np.intp], splits: Any, choice: Any, grid: Any
    ) -> dict[str, Any]:
        ridges, lams = (np.array(values) for values in zip(*grid, strict=True))
        bound = bind_to_columns(self.kernels, self)
        strategy = choose_strategy(self.multiclass, choice.combiner, choice.learner)
        problems = decompose(len(self.classes_), strategy)
        n_points, n_classes = len(grid), len(self.classes_)
        joiners = [ScoreJoiner((len(test), n_points), n_classes) for _, test in splits]
        seeds = check_random_state(self.random_state).randint(
            2**31 - 1, size=(len(splits), len(problems) + 1)
        )
        iterations = np.zeros(n_points)

        def run(views_of: ProblemViews, problem: BinaryProblem, seed: int, test: Any) -> Any:
            random_state = np.random.RandomState(seed)
            views, labels = views_of.of(problem, random_state)
            with solver_errors_explained(choice.combiner, choice.learner, views):
                decision = fit_grid(
                    views, labels, choice.combiner, choice.learner, ridges, lams, random_state
                )
                return decision.decide(X[test]), decision.n_iter

        done = 0
        for fold, (training, test) in enumerate(splits):
            views_of = ProblemViews(
                bound, choice.feature_map, X[training], codes[training], seeds[fold, -1]
            )
            tasks = [
                partial(run, views_of, problem, seed, test)
                for problem, seed in zip(problems, seeds[fold], strict=False)
            ]
            results = in_threads(tasks, self.n_jobs, len(training))
            for problem, (values, n_iter) in zip(problems, results, strict=True):
                joiners[fold].add(problem, values)
                iterations += n_iter
                done += 1
                if self.progress is not None:
                    self.progress(done, len(splits) * len(problems))
        scores = np.array(
            [_accuracy(j, codes[test]) for j, (_, test) in zip(joiners, splits, strict=True)]
        )
        return _results(grid, scores, iterations / done)

    def decision_function(self, X: Any) -> Array:
        """Return the best estimator's decision values."""
        return self._fitted().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best estimator's class labels."""
        return self._fitted().predict(X)

    def weights_frame(self) -> pd.DataFrame:
        """Return the best estimator's kernel weights."""
        return self._fitted().weights_frame()

    def _fitted(self) -> MKLClassifier:
        check_is_fitted(self)
        return self.best_estimator_

    @property
    def weights_(self) -> Array:
        """The best estimator's kernel weights."""
        return self._fitted().weights_

    @property
    def kernel_names_(self) -> list[str]:
        """The best estimator's kernel names."""
        return self._fitted().kernel_names_


def _numbers(name: str, values: Any) -> list[float]:
    """Return the values of one side of the grid."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.ndim != 1 or not len(numbers) or not ((numbers >= 0) & (numbers < np.inf)).all():
        raise SpecError(f"{name} must be finite numbers, 0 or above; got {values!r}.")
    return [float(number) for number in numbers]


def _no_folds(cv: Any, reason: str) -> SpecError:
    wanted = "a number of folds from 2, a splitter, or a list of (training rows, test rows)"
    return SpecError(f"cv must be {wanted}; got {cv!r:.80}: {reason:.200}.")


def _accuracy(joiner: ScoreJoiner, codes: NDArray[np.intp]) -> Array:
    """Return each grid point's share of right predictions; scores not finite are wrong ones."""
    scores = joiner.scores()
    right = (scores.argmax(axis=0) == codes[:, None]) & np.isfinite(scores).all(axis=0)
    return right.mean(axis=0)


def _best(means: Array, grid: list[tuple[float, float]]) -> int:
    """Return the best point; of equals the one with most agreement, then most ridge."""
    return max(range(len(grid)), key=lambda i: (means[i].round(12), grid[i][1], grid[i][0]))


def _results(grid: list[tuple[float, float]], scores: Array, n_iter: Array) -> dict[str, Any]:
    means = scores.mean(axis=0)
    return {
        "params": [{"learner__c": c, "combiner__lam": lam} for c, lam in grid],
        "param_learner__c": np.array([c for c, _ in grid]),
        "param_combiner__lam": np.array([lam for _, lam in grid]),
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rankdata(-means.round(12), method="min").astype(int),
        "mean_n_iter": n_iter,
    }
