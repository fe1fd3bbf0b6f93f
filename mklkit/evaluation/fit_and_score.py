"""One fit on training samples, with its predictions for test samples: what all commands do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from mklkit.datasets.covariates import quiet_removal
from mklkit.estimators.sharing import fit_on
from mklkit.numerics.sparse import take_rows
from mklkit.protocols import Array, Task
from mklkit.protocols.splits.split import Indices, Split
from mklkit.views.cache import Cache


@attrs.frozen(eq=False)
class Samples:
    """What an estimator learns from and is scored on.

    Parameters
    ----------
    features : DataFrame or ndarray of shape (N, d)
        The samples.
    targets : ndarray of shape (N,) or (N, n_targets)
        What is learned.
    params : mapping of str to ndarray of shape (N, ...)
        More arguments of ``fit`` with a value per sample, such as weights.
    groups : ndarray of shape (N,), optional
        The group of each sample, which the estimator's own splits keep together.

    See Also
    --------
    fit_and_score : Takes them.

    Examples
    --------
    >>> import numpy as np
    >>> samples = Samples(np.zeros((3, 2)), np.array([0, 1, 1]))
    >>> samples.features.shape, samples.params, samples.groups is None
    ((3, 2), {}, True)
    """

    features: Any
    targets: NDArray[Any]
    params: Mapping[str, Any] = attrs.field(factory=dict)
    groups: NDArray[Any] | None = None

    def rows(self, places: Any) -> Any:
        """Return the features of some samples.

        Parameters
        ----------
        places : ndarray of int or slice
            The positions of the samples.

        Returns
        -------
        DataFrame or ndarray
            As the features are.
        """
        features = self.features
        return (
            take_rows(features, places) if isinstance(features, pd.DataFrame) else features[places]
        )

    def take(self, places: Any) -> Samples:
        """Return some of the samples.

        Parameters
        ----------
        places : ndarray of int or slice
            The positions of the samples.

        Returns
        -------
        Samples
            With their own weights and groups.
        """
        params = {name: np.asarray(values)[places] for name, values in self.params.items()}
        groups = None if self.groups is None else self.groups[places]
        return Samples(self.rows(places), self.targets[places], params, groups)


@attrs.frozen(eq=False)
class Fit:
    """A model fitted on training samples, and its predictions for test samples.

    Attributes
    ----------
    model : estimator
    predictions : ndarray of shape (n_test,) or (n_test, n_targets), optional
        None if there are no test samples.
    seconds, predict_seconds : float
        The times of the fit and of the predictions.
    """

    model: Any
    predictions: NDArray[Any] | None
    seconds: float
    predict_seconds: float


@attrs.frozen(eq=False)
class Scores:
    """A fitted model of a split, and its scores.

    Parameters
    ----------
    model : estimator
        The fitted model.
    split : Split
        The samples trained on and scored.
    predictions : ndarray of shape (n_test,) or (n_test, n_targets), optional
        Those of the test samples; None if there are none.
    parts : dict of str to (dict or None)
        The scores of the task, as :meth:`Task.score` returns them, of ``test``, and of ``train``
        and other parts if these are asked for; None if a part has no samples.
    seconds : float
        The time of the fit, the predictions and the scores.
    fit_seconds : float
        The time of the fit.

    See Also
    --------
    fit_and_score : Returns them.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.evaluation import Split
    >>> split = Split(np.array([0, 1]), np.array([2]))
    >>> scores = Scores(None, split, None, {"test": {"accuracy": 1.0}}, 0.1, 0.1)
    >>> scores.parts["test"]["accuracy"]
    1.0
    """

    model: Any
    split: Split
    predictions: NDArray[Any] | None
    parts: dict[str, dict[str, Any] | None]
    seconds: float
    fit_seconds: float

    @property
    def test(self) -> dict[str, Any]:
        """The scores of the test samples."""
        return self.parts["test"] or {}


def fitted_on(model: Any, samples: Samples, cache: Cache | None = None) -> Any:
    """Fit a model on samples, without dividing groups in its own splits, and return it.

    A model that shares views takes them from the cache.
    """
    with quiet_removal():
        return fit_on(
            model, samples.features, samples.targets, samples.params, samples.groups, cache
        )


WrapFit = Callable[[Any], AbstractContextManager[Any]]
"""Returns a context for the fit of a model, such as one that shows its progress."""


def fit_and_predict(
    estimator: Any,
    training: Samples,
    rows: Any = None,
    cache: Cache | None = None,
    wrap_fit: WrapFit = nullcontext,
) -> Fit:
    """Fit a copy of an estimator on training samples, and predict the targets of test samples.

    A model that shares views takes them from the cache.
    """
    start = perf_counter()
    model = clone(estimator)
    with wrap_fit(model):
        fitted_on(model, training, cache)
    fitted = perf_counter()
    predictions = None
    if rows is not None and len(rows):
        predictions = np.asarray(model.predict(rows))
    return Fit(model, predictions, fitted - start, perf_counter() - fitted)


def fit_and_score(
    estimator: Any,
    samples: Samples,
    split: Split,
    task: Task,
    *,
    variance: Array | None = None,
    parts: Mapping[str, Indices] | None = None,
    wrap_fit: WrapFit = nullcontext,
) -> Scores:
    """Fit a copy of an estimator on the training samples of a split, and score it.

    Parameters
    ----------
    estimator : estimator or pipeline
    samples : Samples
    split : Split
    task : Task
    variance : ndarray of shape (n_targets,), optional
        What R² of one of several splits divides by, as of
        :class:`mklkit.evaluation.pooled_r2.HeldOut`.
    parts : mapping of str to ndarray of int, optional
        Further samples to score, such as those of training, by name.
    wrap_fit : callable, optional
        Returns a context for the fit of a model, such as one that shows its progress.

    Returns
    -------
    Scores

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from mklkit.evaluation import make_splits
    >>> from mklkit.tasks import Classification
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> split = make_splits(y, 5)[0]
    >>> scores = fit_and_score(MKLClassifier(), Samples(X, y), split, Classification())
    >>> scores.test["rows"], scores.test["accuracy"] > 0.9
    (30, True)
    """
    start = perf_counter()
    training = samples.take(split.train)
    fit = fit_and_predict(estimator, training, samples.rows(split.test), wrap_fit=wrap_fit)
    of_all: dict[str, Any] = {} if variance is None else {"variance": variance}
    scores: dict[str, dict[str, Any] | None] = {}
    for name, rows in {"test": split.test, **(parts or {})}.items():
        scores[name] = None
        if len(rows):
            answers = np.asarray(fit.predictions)
            if name != "test":
                answers = np.asarray(fit.model.predict(samples.rows(rows)))
            scores[name] = task.score(samples.targets[rows], answers, training.targets, **of_all)
    elapsed = perf_counter() - start
    return Scores(fit.model, split, fit.predictions, scores, elapsed, fit.seconds)
