"""MKLClassifier: multiple kernel learning as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from mklkit.display.numbers import significant
from mklkit.errors import IncompatibleError, SpecError
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.fit import Fitted, fit_problems, plan_and_read, with_kernels
from mklkit.estimators.partial_fits import check_sums_suffice, partial_fit
from mklkit.estimators.plan import Plan, check_new_rows, new_rows
from mklkit.estimators.predicting import PredictsClasses, calibrated, cross_fitted, lazy_on_dask
from mklkit.estimators.problems import (
    class_choice,
    class_problems,
    decision_values,
    joined_parts,
)
from mklkit.estimators.sharing import SharesCache
from mklkit.estimators.training_data import TrainingData, class_weights
from mklkit.protocols import Array
from mklkit.protocols.component import COMBINER, MISSING_STRATEGY, is_whole
from mklkit.registry.given_arrays import writes_explained
from mklkit.views.cache import Cache


class MKLClassifier(PredictsClasses, SharesCache, KernelEstimator):
    """Multiple kernel classifier: kernels, each with a feature map, joined by a combiner.

    Parameters
    ----------
    kernels : str, Kernel, or list of these, optional
        Spec strings (``"rbf(sigma='mean')"``, ``"fou:rbf[standard]@fou_*"``), kernel objects, or,
        within a list or tuple, ``(label, kernel, columns, scale)`` with columns a glob, a list of
        names or positions, or a slice, and what is done to them as in ``scale``; the last two may
        be omitted. A kernel may also be a matrix of all rows (T, T), with row numbers as X (N, 1),
        or a function f(A, B) of rows, as in ``SVC``. ``"auto"``, or ``"text:auto@text_*"`` for one
        source: kernel and scale are chosen by leave-one-out errors of the training samples;
        ``choices_`` says what was taken and why. Default: ``"auto"`` for numbers; for a lone source
        beside a combiner, feature map or learner of yours, ``cosine(linear)``,
        ``rbf(sigma='mean')`` and ``cosine(polynomial)``, all with k(x, x) = 1. X has several
        sources if it is a mapping of them, or the names of its columns tell them.
    feature_map : str or FeatureMap, optional
        ``"implicit"``, ``"empirical(subset=0.1)"`` ...; by default the combiner's.
    combiner : str or Combiner, default="uniform"
        ``"dimkl3"``, ``"best-single"`` ...
    learner : str or Learner, optional
        ``"svm(C=10)"``, ``"mhks"`` ...; by default the combiner's.
    multiclass : {"auto", "ovo", "ovr", "native"}, default="auto"
        For more than two classes: one-vs-one, one-vs-rest, or one problem where combiner and
        learner can (``uniform`` or ``cluster-gating`` with ``ridge`` or ``kda``). ``"auto"`` is
        ``"native"`` if they can and the learner learns one-hot targets (``ridge``), else
        ``"ovo"``. Each problem has its own maps and weights.
    bandwidths : {"per-problem", "all-rows"}, default="per-problem"
        The samples to which a kernel with a rule such as ``sigma='mean'`` is fitted: those of each
        binary problem, or once all training samples. It matters only for one-vs-one, and not with
        maps that all problems share. By default a pair of classes gives the same result as on its
        own, as in scikit-learn's ``OneVsOneClassifier`` and papers on two classes.
    class_weight : None, "balanced", or dict of class label to number, default=None
        The weight of each class: ``"balanced"`` is N/(C·n_c) for a class of n_c samples, so that
        rare classes count as much as frequent ones; classes missing from a dict have weight 1.
        Computed on all training samples, and multiplied by ``sample_weight``.
    probability : bool, default=False
        Whether there is ``predict_proba``. :meth:`fit` then fits five more models, each on four
        fifths of the samples (fewer models if a class has fewer samples), and scikit-learn fits a
        sigmoid per class to the decision values of the held-out samples, as in
        ``CalibratedClassifierCV(method="sigmoid", ensemble=False)``. Weights, decision values and
        predictions do not change. The sigmoids weigh samples by ``sample_weight`` alone, so that
        probabilities reflect the true class frequencies, whatever ``class_weight``.
    max_memory : int or str, optional
        The memory for features of landmark maps and sums over them, in bytes or as ``"4GB"``; by
        default half of the free memory. Features that do not fit are recomputed, block by block,
        in each pass over the samples.
    random_state : int, RandomState or None, default=None
        The seed of everything random: subset maps, cross-validation inside a combiner.
    n_jobs : int or None, default=None
        Threads over binary problems; the result depends on it only by rounding.
    missing : str or Missing, default="present"
        How to treat samples with a missing source, with NaN in all columns that a kernel reads:
        ``"present"`` compares samples by the sources that both have, ``"present-centered"`` does so
        on centred kernels, ``"impute"`` fills in medians, ``"drop"`` learns from complete samples
        only. Single gaps within a source are filled with the median of the training samples.
    scale : str, optional
        What is done to the columns of kernels on numbers that do not say: ``"standard"`` (mean 0,
        standard deviation 1), ``"minmax"`` (to [-1, 1]), ``"none"``, ``"unit"`` (samples of length
        1), or for amounts ``"roots"``, ``"tf-idf"`` or ``"log-tf-idf"``. By default nothing;
        :func:`mklkit.build_pipeline` sets ``"standard"``. All samples count equally for it.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The class labels, in order.
    class_weight_ : ndarray of shape (C,)
        The weight of each class; ones by default.
    class_prior_ : ndarray of shape (C,)
        The frequencies of the classes, the probabilities of samples that have no source.
    weights_ : ndarray of shape (n_problems, M)
        Kernel weights, one row per binary problem (and per cluster in cluster gating).
    kernel_names_ : list of str
        M names.
    kernel_columns_ : list of (ndarray of int or None)
        The positions of the columns that each kernel uses; None for all.
    problems_ : list of (negative, positive)
        The class labels of each binary problem; ``"(rest)"`` stands for all others.
    kernels_, feature_map_, combiner_, learner_ : components
        The components used.
    choices_ : list of str
        The choices made where nothing was given, one sentence each.
    decisions_ : list of Decision
        One per binary problem.
    calibration_ : object or None
        scikit-learn's sigmoids if ``probability=True``.
    pattern_calibrations_ : dict of str to object
        Those of samples that lack the same sources, at least 50 samples with 5 of each class.
    partial_sums_ : PartialSums
        The sums over all samples of :meth:`partial_fit`.
    n_samples_fit_ : int
        The number of training samples, without those of weight 0.
    n_groups_fit_ : int or None
        The number of their groups; None if ``fit`` got no groups.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MKLSearchCV : Parameters chosen by cross-validation.
    preset_pipeline : A complete system by name, with encoding and scaling.
    explain : Which kernels and columns a model needs.
    compare : Methods on the same splits, with tests of their differences.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), MKLClassifier(combiner="dimkl3"))
    >>> bool(model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9)
    True
    >>> model[-1].kernel_names_
    ['cosine_linear', 'rbf', 'cosine_polynomial']
    """

    chooses_kernels: ClassVar[bool] = True

    def __init__(
        self,
        kernels: Any = None,
        *,
        feature_map: Any = None,
        combiner: Any = COMBINER,
        learner: Any = None,
        multiclass: str = "auto",
        bandwidths: str = "per-problem",
        class_weight: Any = None,
        probability: bool = False,
        max_memory: int | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        missing: Any = MISSING_STRATEGY,
        scale: Any = None,
    ) -> None:
        self.kernels = kernels
        self.feature_map = feature_map
        self.combiner = combiner
        self.learner = learner
        self.multiclass = multiclass
        self.bandwidths = bandwidths
        self.class_weight = class_weight
        self.probability = probability
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.missing = missing
        self.scale = scale

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from samples and their class labels.

        Parameters
        ----------
        X : array-like, DataFrame, mapping, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples; a mapping has those of each source by name, as for
            :func:`mklkit.join_sources`, or in a sparse matrix. A :class:`mklkit.StoredRows` or
            ``numpy.memmap`` is read in parts; the rows of a Dask array or DataFrame stay on Dask's
            workers.
        y : array-like of shape (N,)
            Their class labels; for samples of Dask, a Dask array or Series.
        sample_weight : array-like of shape (N,), optional
            How much each sample counts: a sample of weight 2 counts as the same sample twice, and
            one of weight 0 is omitted. Random maps and scalings weight all others equally.
        groups : array-like of shape (N,), optional
            The group of each sample, such as its patient: whatever is chosen on held-out samples
            (C, α, the best kernel, probabilities …) is chosen on samples of other groups.

        Returns
        -------
        MKLClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            For data that scikit-learn does not accept (infinity, text, one sample) and for one
            class only.
        MKLKitError
            A ``ValueError`` too: unknown names, components that do not fit together or can't weight
            samples, columns or classes that do not exist, weights that are negative or not finite.
        """
        return self.fit_sharing(None, X, y, sample_weight, groups)

    def fit_sharing(
        self,
        cache: Cache | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn as :meth:`fit` does, sharing views with other fits on the same samples.

        Parameters
        ----------
        cache : Cache or None
            The cache of Gram matrices, features and statistics; None for a cache of its own.
        X, y, sample_weight, groups : array-like
            As for :meth:`fit`.

        Returns
        -------
        MKLClassifier
            The fitted estimator itself.

        Raises
        ------
        SpecError
            If ``probability`` is not a boolean; and the errors of :meth:`fit`.
        """
        if not isinstance(self.probability, bool | np.bool_):
            raise SpecError(f"probability must be True or False; got {self.probability!r:.80}.")
        plan, data = plan_and_read(self, self.kind, X, y, sample_weight, groups)
        fitted = self._learn(plan, data, self.random_state, cache)
        notes = []
        counts = np.bincount(data.values, data.row_weights, len(self.classes_))
        self.class_prior_: Array = counts / counts.sum()
        self.class_weight_: Array = np.ones(len(self.classes_))
        if self.class_weight is not None:
            self.class_weight_ = self._class_weights(data)
            pairs = zip(self.classes_.tolist(), self.class_weight_, strict=True)
            weights = ", ".join(f"{label} {significant(weight, 3)}" for label, weight in pairs)
            notes.append(f"weights of classes: {weights}")
        calibration = None
        self.pattern_calibrations_ = dict[str, Any]()
        if self.probability:
            calibration, self.pattern_calibrations_, note = self._calibrated(plan, data)
            notes.append(note)
        self.__dict__.pop("partial_sums_", None)
        return self._keep(fitted, calibration, notes)

    def _class_weights(self, data: TrainingData) -> Array:
        return class_weights(self.class_weight, self.classes_, data.values, data.row_weights)

    def _learn(
        self,
        plan: Plan,
        data: TrainingData,
        random_state: Any,
        cache: Cache | None = None,
    ) -> Fitted:
        """Return the fit on checked samples and class numbers, without probabilities."""
        if self.class_weight is not None:
            data = data.with_class_weights(self._class_weights(data))
        n_classes = len(self.classes_)
        with writes_explained(plan.components):
            # Along with a learner, on which the problems depend.
            plan = with_kernels(plan, data, cache)
        problems = class_problems(n_classes, self.multiclass, plan.combiner, plan.learner)
        return fit_problems(plan, data, problems, random_state, cache)

    def _calibrated(self, plan: Plan, data: TrainingData) -> tuple[Any, dict[str, Any], str]:
        """Return the sigmoids that turn decision values into probabilities, from fits on folds."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        random_state = self.random_state if is_whole(self.random_state) else seed

        def decide(training: NDArray[np.intp], held_out: NDArray[np.intp]) -> Array:
            fitted = self._learn(plan, data.take(training), random_state)
            return decision_values(fitted, data.rows.take(held_out), len(self.classes_))

        missing = data.rows.missing_of(plan.kernels)
        return cross_fitted(data.values, seed, decide, data.row_weights, data.groups, missing)

    def _keep(self, fitted: Fitted, calibration: Any = None, notes: Sequence[str] = ()) -> Self:
        names = tuple(problem.names(self.classes_) for problem in fitted.problems)
        n_classes = len(self.classes_)
        if self.multiclass == "auto" and n_classes > 2:
            choice = class_choice(n_classes, fitted.plan.combiner, fitted.plan.learner)
            notes = (choice, *notes)
        self.fitted_ = attrs.evolve(fitted, names=names, notes=(*fitted.notes, *notes))
        self.calibration_ = calibration
        return self

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """``partial_fit(X, y, classes=None)``: learn from more samples; none is kept.

        Exact: weights and decisions are those of all samples seen so far, on the landmarks and
        bandwidths of the first call's samples. Works on landmark maps that problems share, with
        combiners and learners whose traits state ``from_moments``; others lack the attribute, as
        scikit-learn expects, and the error names those that work. The first call needs
        ``classes``, all class labels that occur; the model can predict once every class has
        been seen. :meth:`fit` starts again. Samples have no weights here.

        Notes
        -----
        O(NP²) for P features of all kernels and O(CP²) memory; then one fit from these sums, O(P³).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = MKLClassifier("rbf", feature_map="empirical(subset=20)", learner="kda")
        >>> for part in range(5):
        ...     model = model.partial_fit(X[part::5], y[part::5], classes=[0, 1, 2])
        >>> bool(model.score(X, y) > 0.9)
        True
        """
        check_sums_suffice(self)
        return partial(partial_fit, self)

    @lazy_on_dask
    def decision_function(self, X: Any, split: bool = False) -> Array:
        """Return decision values.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.
        split : bool, default=False
            Whether to return the part of each kernel, in the order of ``kernel_names_``, and last
            the constant. The parts sum to the values over axis 1.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            Of two classes, (n,): above 0 for ``classes_[1]``; otherwise one column per class. With
            ``split``, (n, M + 1) or (n, M + 1, C). For samples of Dask, a lazy Dask array.

        Raises
        ------
        DataError
            If a value is not finite, as may happen with features of 1e300.
        IncompatibleError
            If values to be split are not a sum over kernels: ``multiclass="ovo"`` with several
            classes, gates per sample, rules that do not add, ``kda``.
        """
        if split:
            return joined_parts(self.fitted_, check_new_rows(self, X), len(self.classes_))
        return decision_values(self.fitted_, check_new_rows(self, X), len(self.classes_))

    def score(self, X: Any, y: Any, sample_weight: Any = None, split: bool = False) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            Samples.
        y : array-like of shape (n,)
            Their class labels.
        sample_weight : array-like of shape (n,), optional
            How much each sample counts; by default all count equally.
        split : bool, default=False
            Not available: an accuracy is not a sum over kernels.

        Returns
        -------
        float
            The share of correct predictions.

        Raises
        ------
        IncompatibleError
            If ``split`` is True.
        """
        if split:
            raise IncompatibleError(
                "An accuracy is not a sum over kernels: decision_function(X, split=True) splits the"
                " values of samples, and mklkit.explain measures what is lost without each kernel."
            )
        return float(super().score(X, y, sample_weight))

    def _probabilities(self, X: Any) -> Array:
        if self.calibration_ is None:
            raise NotFittedError("It was fitted without probabilities: fit with probability=True.")
        rows, none = new_rows(self, X)
        values = decision_values(self.fitted_, rows, len(self.classes_))
        missing = rows.missing_of(self.fitted_.plan.kernels)
        probabilities = calibrated(self.calibration_, self.pattern_calibrations_, values, missing)
        if none is not None:
            probabilities[none] = self.class_prior_
        return probabilities
