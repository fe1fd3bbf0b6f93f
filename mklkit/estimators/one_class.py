"""MKLOneClass: which samples are unlike the training samples, from several kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mklkit.combiners.templates.weighting import WeightedDecision
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.fit import fit_problems, plan_and_read
from mklkit.estimators.plan import check_new_rows
from mklkit.estimators.predicting import finite_values, lazy_on_dask, of_each_row
from mklkit.estimators.problems import Problem, decision_parts
from mklkit.protocols import NO_TARGET, Array, TargetKind
from mklkit.views.rows import is_dask


class MKLOneClass(OutlierMixin, KernelEstimator):
    """Multiple kernel outlier and novelty detection, without labels.

    Parameters
    ----------
    kernels : str, Kernel, or list of these, optional
        As for :class:`mklkit.MKLClassifier`, but not ``"auto"``, which needs labels.
    feature_map : str or FeatureMap, optional
        ``"implicit"``, ``"empirical(subset=0.1)"`` ...; by default the combiner's.
    combiner : str or Combiner, default="uniform"
        One that learns without labels: ``"uniform"``, or ``"consensus"`` of the package
        mklkit-optimize. By default all kernels have equal weights: a sample may be odd in a single
        source, and a consensus gives the least weight to the source that differs from the others.
    learner : str or Learner, optional
        ``"one-class-svm(nu=0.1)"`` ...; by default ``"one-class-svm"``.
    max_memory : int or str, optional
        As for :class:`mklkit.MKLClassifier`.
    random_state : int, RandomState or None, default=None
        The seed of everything random: subset maps.
    n_jobs : int or None, default=None
        As for :class:`mklkit.MKLClassifier`; it has no effect, since there is one problem.
    missing : str or Missing, default="present"
        As for :class:`mklkit.MKLClassifier`.
    scale : str, optional
        As for :class:`mklkit.MKLClassifier`.

    Attributes
    ----------
    offset_ : float
        The threshold of :meth:`score_samples`: samples below it are outliers.
    weights_ : ndarray of shape (1, M)
        The kernel weights.
    kernel_names_, kernel_columns_, kernels_, feature_map_, combiner_, learner_, choices_
        As in :class:`mklkit.MKLClassifier`.
    problems_ : list of str
        ``["all samples"]``.
    decisions_ : list of one Decision
        The decision on all samples.
    n_samples_fit_ : int
        The number of training samples, without those of weight 0.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MKLClassifier : The estimator for labels.
    MKLTransformer : The weighted sum of kernels for other estimators.

    Notes
    -----
    With uniform weights the values are those of scikit-learn's ``OneClassSVM`` on the mean of the
    Gram matrices.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.RandomState(0).randn(60, 4)
    >>> kernels = ["first:rbf@0:2", "second:rbf@2:4"]
    >>> model = MKLOneClass(kernels, learner="one-class-svm(nu=0.1)").fit(rows)
    >>> model.predict([[0, 0, 0, 0], [9, 9, 0, 0]])
    array([ 1, -1])
    """

    kind: ClassVar[TargetKind] = NO_TARGET

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from samples without labels.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples, as for :meth:`mklkit.MKLClassifier.fit`.
        y : object, optional
            Ignored; scikit-learn's pipelines pass it.
        sample_weight : array-like of shape (N,), optional
            How much each sample counts: a sample of weight 2 as much as the same sample twice.

        Returns
        -------
        MKLOneClass
            The fitted estimator itself.

        Raises
        ------
        ValueError
            For data that scikit-learn does not accept (infinity, text, one sample).
        MKLKitError
            A ``ValueError`` too: components that need labels or do not fit together.
        """
        plan, data = plan_and_read(self, self.kind, X, None, sample_weight)
        self.fitted_ = fit_problems(plan, data, [Problem(self.kind.name)], self.random_state)
        decision = self.decisions_[0]
        # Other learners subtract no constant from their scores.
        self.offset_ = 0.0
        if isinstance(decision, WeightedDecision):
            self.offset_ = -float(decision.learner.bias)
        return self

    def score_samples(self, X: Any) -> Array:
        """Return how similar each sample is to the training samples, without a threshold.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n,)
            The scores: larger for samples that are more like the training samples. For samples of
            Dask, a lazy Dask array.

        Raises
        ------
        DataError
            If a value is not finite, as may happen with features of 1e300.
        """
        return self.decision_function(X) + self.offset_

    _n_values: ClassVar[None] = None

    @lazy_on_dask
    def decision_function(self, X: Any, split: bool = False) -> Array:
        """Return :meth:`score_samples` minus ``offset_``: below 0 for outliers.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.
        split : bool, default=False
            Whether to return the part of each kernel, in the order of ``kernel_names_``, and last
            the constant. The parts sum to the values over axis 1.

        Returns
        -------
        ndarray of shape (n,)
            The values; with ``split``, (n, M + 1). For samples of Dask, a lazy Dask array.

        Raises
        ------
        DataError
            If a value is not finite, as may happen with features of 1e300.
        """
        rows = check_new_rows(self, X)
        if split:
            return decision_parts(self.fitted_, rows)[:, :, 0]
        return finite_values(self.fitted_, rows)[:, 0]

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return which samples are outliers.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of int of shape (n,)
            1 for samples like the training samples, −1 for outliers. For samples of Dask, a Dask
            array.
        """
        check_is_fitted(self)
        if is_dask(X):
            labels: NDArray[np.intp] = of_each_row(self, type(self).predict, X, np.intp)
            return labels
        return np.where(self.decision_function(X) >= 0, 1, -1)
