"""Learners: one decision function from one view, alone or coupled with those of other views.

A coupled learner has a subproblem per view. ``N`` training samples, ``G`` columns: variants of one
learner that are fitted side by side on the same view, one per grid point of a search and a single
one in an ordinary fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.component import FLAG, Component, Facts, own_fields
from mklkit.protocols.kernel import FeatureMapTraits
from mklkit.protocols.rows import Array
from mklkit.protocols.target import Target
from mklkit.protocols.target_kind import LEARNS, SEVERAL_CLASSES
from mklkit.protocols.views import TrainingView

__all__ = [
    "ColumnSelector",
    "CouplingTraits",
    "FittedLearner",
    "Learner",
    "LearnerTraits",
    "Solver",
    "Stopping",
    "Subproblem",
]


@attrs.frozen(kw_only=True)
class LearnerTraits(Facts):
    """The traits of a learner: the columns that it can learn from, and what it can learn.

    Parameters
    ----------
    search_space : mapping of str to tuple, default={}
        Parameters worth tuning, each with the values to try from the simplest model to the most
        complex. If scores are tied, a search takes the first; a short search tries the values in
        the middle.
    on_features, on_gram : bool, default=False
        The kinds of view that it can learn from: features of an explicit map, or a Gram matrix; at
        least one must be True.
    learns : tuple of str, default=("two classes",)
        The kinds of targets that it learns: ``"two classes"``, ``"several classes"`` in one fit,
        ``"numbers"``, ``"none"`` (from samples without labels), or a kind of a package's task.
    takes_row_weights : bool, default=False
        Whether samples may have weights: a sample of weight 2 counts as much as the same sample
        twice.
    several_targets : bool, default=False
        Whether it learns several numeric targets in one fit.
    free_bias : bool, default=True
        Whether its function has a free constant, so that numeric targets may be centred.
    takes_indefinite : bool, default=False
        Whether it also accepts kernels that are not positive semi-definite.
    from_moments : bool, default=False
        Whether, on features, it needs only counts, sums and products per class, so that it can
        learn without keeping the samples (``partial_fit``).
    one_hot_classes : bool, default=False
        Whether it learns several classes as one-hot targets of one system, such as a factorisation
        that all classes share. Then ``multiclass="auto"`` learns all classes in one fit, if the
        combiner learns several classes too; with other learners it is one-vs-one.

    Raises
    ------
    TypeError
        If a value is not of the type above.
    ValueError
        If neither ``on_features`` nor ``on_gram`` is True, a task is unknown, or
        ``one_hot_classes`` is True and ``learns`` lacks ``"several classes"``.

    See Also
    --------
    Learner : The base of the components that have them.

    Examples
    --------
    >>> traits = LearnerTraits(on_gram=True, learns=("two classes", "numbers"))
    >>> traits.on_features, traits.learns
    (False, ('two classes', 'numbers'))
    """

    on_features: bool = attrs.field(default=False, validator=FLAG)
    on_gram: bool = attrs.field(default=False, validator=FLAG)
    learns: tuple[str, ...] = attrs.field(default=("two classes",), validator=LEARNS)
    takes_row_weights: bool = attrs.field(default=False, validator=FLAG)
    several_targets: bool = attrs.field(default=False, validator=FLAG)
    free_bias: bool = attrs.field(default=True, validator=FLAG)
    takes_indefinite: bool = attrs.field(default=False, validator=FLAG)
    from_moments: bool = attrs.field(default=False, validator=FLAG)
    one_hot_classes: bool = attrs.field(default=False, validator=FLAG)

    def __attrs_post_init__(self) -> None:
        if not (self.on_features or self.on_gram):
            raise ValueError("on_features or on_gram must be True: a learner needs one of them")
        if self.one_hot_classes and not SEVERAL_CLASSES.is_in(self.learns):
            raise ValueError(
                f"one_hot_classes=True needs {SEVERAL_CLASSES.name!r} in learns; got {self.learns}"
            )

    def learns_from(self, feature_map: FeatureMapTraits) -> bool:
        """Return whether the learner can use the columns of a feature map.

        Parameters
        ----------
        feature_map : FeatureMapTraits
            The traits of the map.

        Returns
        -------
        bool
            The trait ``on_features`` for an explicit map, else ``on_gram``.
        """
        return self.on_features if feature_map.explicit else self.on_gram


class FittedLearner(ABC):
    """A decision function on a view's columns.

    A subclass implements :meth:`decide`. The properties have defaults; a function that is linear in
    the columns should state its ``coefficients`` and ``bias``, with which mklkit computes the same
    values faster and splits them by kernel. :class:`mklkit.plugin.LinearDecision` does so.

    Attributes
    ----------
    coefficients : ndarray of shape (p,) or (N,), or None
        The weight of each column; None, the default, if the function is not linear in the columns.
    bias : float
        The constant of a linear function; by default 0.
    chosen : mapping of str to object
        The fitted values of the learner's parameters; by default its fields of the same names.
    support : ndarray of int, or None
        The columns that it needs; None, the default, if it needs all.

    See Also
    --------
    Learner : What is fitted.
    LinearDecision : A linear function.

    Examples
    --------
    >>> class Majority(FittedLearner):
    ...     def decide(self, columns):
    ...         return np.sign(columns).sum(axis=1)
    >>> Majority().decide(np.array([[0.2, 3.0, -1.0]])).tolist()
    [1.0]
    """

    __slots__ = ()

    @abstractmethod
    def decide(self, columns: Array) -> Array:
        """Return the decision values of samples.

        Parameters
        ----------
        columns : ndarray of shape (n, p) or (n, N)
            Features, or similarities to the N training samples.

        Returns
        -------
        ndarray of shape (n,), (n, C) or (n, T)
            Above 0 for the positive class; of a fit to C classes, one column per class; for numeric
            targets, the predictions, with T columns for T targets.
        """

    @property
    def coefficients(self) -> Array | None:
        """The weight of each column, (p,) or (N,), if the function is linear in the columns."""
        return None

    @property
    def bias(self) -> float:
        """The constant term of a linear function."""
        return 0.0

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The fitted values of the learner's parameters: its fields of the same names."""
        return own_fields(self)

    @property
    def support(self) -> NDArray[np.intp] | None:
        """The indices of the columns that it needs, if it does not need all."""
        return None

    def restricted(self, support: NDArray[np.intp]) -> Self:
        """Return the same function restricted to some columns, if it has a ``support``.

        Parameters
        ----------
        support : ndarray of int of shape (s,)
            The columns that remain, as ``support`` states them.

        Returns
        -------
        FittedLearner
            The function of these s columns.

        Raises
        ------
        NotImplementedError
            By default.
        """
        raise NotImplementedError


ColumnSelector = NDArray[np.intp] | slice
"""The selected columns of a subproblem; ``slice(None)`` is all of them."""


@attrs.frozen
class Stopping:
    """The criterion that ends the iteration of a coupled fit.

    Parameters
    ----------
    tol : float, default=1e-3
        The change ξ of the objective at which the iteration ends.
    relative : bool, default=False
        Whether the change is divided by the objective, as in Wang and Chen 2009, or not, as in
        Wang, Chen and Sun 2008.
    max_iter : int, default=1000
        The most iterations.

    Examples
    --------
    >>> Stopping(tol=0.1).reached(np.array([1.0, 1.0]), np.array([0.95, 0.5])).tolist()
    [True, False]
    """

    tol: float = 1e-3
    relative: bool = False
    max_iter: int = 1000

    def reached(self, previous: Array, current: Array) -> NDArray[np.bool_]:
        """Return where the objective has changed by no more than the tolerance.

        A NaN counts as reached, because it will not change any more.

        Parameters
        ----------
        previous : ndarray of shape (G,)
            The objectives before an iteration.
        current : ndarray of shape (G,)
            The objectives after it.

        Returns
        -------
        ndarray of bool of shape (G,)
            Which columns have converged.
        """
        scale = np.abs(previous) if self.relative else 1.0
        return np.asarray(~(np.abs(current - previous) > self.tol * scale))


Solver = Literal["smooth", "printed"]
"""How an objective with margins is minimised."""


@attrs.frozen
class CouplingTraits:
    """The traits of a learner in coupled fits: its margins, when iterations end, and its variants.

    Parameters
    ----------
    rho : float, default=0.0
        The step ρ by which the margins grow towards the outputs; 0 keeps them fixed.
    b0 : float, default=0.0
        The initial margin b₀ beyond 1.
    stopping : Stopping, default=Stopping()
        The criterion that ends the iteration.
    solver : {"smooth", "printed"}, optional
        Whether the objective is minimised over the coefficients alone, or by the iteration over
        coefficients and margins that papers print. By default the first, if subproblems have
        ``ridges`` and there are more than 10,000 samples; otherwise the second, and the first for
        what has not converged after 30 passes.
    variants : tuple of str, default=()
        The parameters in which variants may differ; empty if there is only one column.
    on_kernels : bool, default=False
        Whether subproblems of features give the same functions on the Gram matrix of these.

    See Also
    --------
    mklkit.plugin.Learner.subproblem : The method of learners that can be coupled.

    Examples
    --------
    >>> CouplingTraits(variants=("alpha",)).stopping.max_iter
    1000
    """

    rho: float = 0.0
    b0: float = 0.0
    stopping: Stopping = Stopping()
    solver: Solver | None = None
    variants: tuple[str, ...] = ()
    on_kernels: bool = False


class Subproblem(ABC):
    """One view's share of a coupled fit: regularised least squares with several targets.

    It is set up once, with a factorisation or an eigendecomposition of the view, and solved many
    times. Coefficients are opaque to the caller: the other methods accept whatever :meth:`solve`
    returns. A subclass implements :meth:`solve`, :meth:`outputs`, :meth:`penalty` and
    :meth:`finish`. The targets have G columns, one per variant of the learner: one per point of a
    grid in a search, and a single one in an ordinary fit.

    Attributes
    ----------
    n_coefficients : int or None
        The number of coefficients per column, including the bias; None, the default, if
        :meth:`filled` is not implemented.
    members : ndarray of int of shape (n,), or None
        The samples that have the view's source; None, the default, if all do. The others have
        outputs of 0.
    block_columns : object or None
        Features that are read block by block; None, the default, if they are one array in memory.
        Otherwise targets, outputs and margins need not be in one place, and :meth:`solve_projected`
        and :meth:`function` replace :meth:`solve` and :meth:`outputs`.
    ridges : ndarray of shape (G,), or None
        The ridge α of each column, if functions are linear in features, f = Φw + w₀ with the
        penalty α‖w‖²; None, the default, otherwise. Coefficients are then a
        :class:`~mklkit.plugin.LinearDecision` of weights (p, G) and biases (G,), and a combiner can
        minimise over them with :meth:`products`, :meth:`solve_projected` and :meth:`function`.
    row_ridges : ndarray of shape (G,), or None
        The ridge α of each column, if functions are combinations of similarities, f = Kv + w₀ with
        the penalty αvᵀKv and Σv = 0; None, the default, otherwise. A combiner can then minimise
        over them with :meth:`solve`, :meth:`row_function` and :meth:`finish_rows`.

    See Also
    --------
    Learner.subproblem : The method that returns it.
    CouplingCombiner : The combiners that solve it.

    References
    ----------
    .. [1] Z. Wang, S. Chen and T. Sun, "MultiK-MHKS: a novel multiple kernel learning algorithm",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 30 (2008), 348–353.

    Examples
    --------
    A ridge regression without a constant on features Φ: the coefficients w minimise s·‖Φw − t/s‖² +
    α‖w‖².

    >>> import attrs
    >>> from mklkit.learners.linear_decision import LinearDecision
    >>> @attrs.frozen(eq=False)
    ... class RidgeProblem(Subproblem):
    ...     features: np.ndarray
    ...     alpha: float
    ...     def solve(self, targets, data_weights, columns=slice(None)):
    ...         gram, projected = self.features.T @ self.features, self.features.T @ targets
    ...         ridge = self.alpha * np.eye(len(gram))
    ...         pairs = zip(data_weights, projected.T)
    ...         return np.column_stack([np.linalg.solve(s * gram + ridge, b) for s, b in pairs])
    ...     def outputs(self, coefficients):
    ...         return self.features @ coefficients
    ...     def penalty(self, coefficients, columns=slice(None)):
    ...         return self.alpha * (coefficients**2).sum(axis=0)
    ...     def finish(self, coefficients, column=0):
    ...         return LinearDecision(coefficients[:, column], 0.0)
    >>> problem = RidgeProblem(np.array([[1.0], [1.0]]), alpha=2.0)
    >>> coefficients = problem.solve(np.array([[3.0], [1.0]]), np.ones(1))
    >>> coefficients.tolist(), problem.penalty(coefficients).tolist()
    ([[1.0]], [2.0])
    """

    __slots__ = ()

    @property
    def n_coefficients(self) -> int | None:
        """The number of coefficients per column, including the bias, if ``filled`` sets them."""
        return None

    @property
    def ridges(self) -> Array | None:
        """The ridges (G,) of functions that are linear in features; None if they are not."""
        return None

    @property
    def row_ridges(self) -> Array | None:
        """The ridges (G,) of combinations of similarities; None if functions are others."""
        return None

    @property
    def centered_gram(self) -> Array | None:
        """The centred Gram matrix (N, N) of a problem with ``row_ridges``, if it is at hand."""
        return None

    @property
    def members(self) -> NDArray[np.intp] | None:
        """The samples (n,) that have the view's source, None for all; others have outputs of 0."""
        return None

    @abstractmethod
    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> Any:
        """Return the coefficients that minimise ``s·‖f − t/s‖² + penalty``, column by column.

        An uncoupled learner has s = 1; the coupling loss adds a second square in the same f.

        Parameters
        ----------
        targets : ndarray of shape (N, G)
            The targets t.
        data_weights : ndarray of shape (G,)
            The weight s of the square in each column. Squares are also weighted by the sample
            weights.
        columns : slice or ndarray of int, default=slice(None)
            The variants that these G columns belong to.

        Returns
        -------
        object
            The coefficients, which the other methods take. f are their decision values on the
            training samples.
        """

    @abstractmethod
    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values on the training samples.

        Parameters
        ----------
        coefficients : object
            As :meth:`solve` returns them.

        Returns
        -------
        ndarray of shape (N, G)
            The values f.
        """

    @abstractmethod
    def penalty(self, coefficients: Any, columns: ColumnSelector = slice(None)) -> Array:
        """Return the regularisation terms, including their constants.

        Parameters
        ----------
        coefficients : object
            As :meth:`solve` returns them.
        columns : slice or ndarray of int, default=slice(None)
            The variants that these G columns belong to.

        Returns
        -------
        ndarray of shape (G,)
            The terms, such as α‖w‖².
        """

    @abstractmethod
    def finish(self, coefficients: Any, column: int = 0) -> FittedLearner:
        """Return the decision function of one column of coefficients.

        Parameters
        ----------
        coefficients : object
            As :meth:`solve` returns them.
        column : int, default=0
            The position of the column.

        Returns
        -------
        FittedLearner
            The function on the view's columns.
        """

    def prepare(self, data_weights: Array) -> None:
        """Compute what solves with these data weights share, such as a factor; nothing by default.

        Views are prepared in several threads at once.

        Parameters
        ----------
        data_weights : ndarray of shape (G,)
            The weight s of the square in each column.
        """
        return

    def filled(self, values: Array) -> Any:
        """Return coefficients with the same values in every column, where an iteration may start.

        Parameters
        ----------
        values : ndarray of shape (n_coefficients,)
            The coefficients of one column, the bias last.

        Returns
        -------
        object
            Coefficients as :meth:`solve` returns them.

        Raises
        ------
        NotImplementedError
            By default.
        """
        raise NotImplementedError

    @property
    def block_columns(self) -> Any:
        """Features that are read block by block; None if they are one array in memory.

        Targets, outputs and margins then need not be in one place, and the two methods below
        replace ``solve`` and ``outputs``.
        """
        return None

    def products(self, values: Array) -> tuple[Array, Array]:
        """Return the products of features with values of the training samples.

        Parameters
        ----------
        values : ndarray of shape (N, G)
            A value of each sample, with its weight.

        Returns
        -------
        projected : ndarray of shape (p, G)
            Φᵀ times the values.
        sums : ndarray of shape (G,)
            The sums of the values.

        Raises
        ------
        NotImplementedError
            By default; a subproblem with ``ridges`` implements it.
        """
        raise NotImplementedError

    def solve_projected(
        self,
        projected: Array,
        means: Array,
        data_weights: Array,
        columns: ColumnSelector = slice(None),
    ) -> Any:
        """Return the coefficients for targets that are known by their products with features.

        Both products are weighted if samples have weights.

        Parameters
        ----------
        projected : ndarray of shape (p, G)
            Φᵀt.
        means : ndarray of shape (G,)
            The means of t.
        data_weights : ndarray of shape (G,)
            The weight s of the square in each column.
        columns : slice or ndarray of int, default=slice(None)
            The variants that these G columns belong to.

        Returns
        -------
        object
            The coefficients.

        Raises
        ------
        NotImplementedError
            By default; a subproblem with ``block_columns`` or ``ridges`` implements it.
        """
        raise NotImplementedError

    def function(self, coefficients: Any) -> tuple[Array, Array]:
        """Return the linear function of coefficients.

        Parameters
        ----------
        coefficients : object
            As :meth:`solve_projected` returns them.

        Returns
        -------
        weights : ndarray of shape (p, G)
            The weights of the features.
        biases : ndarray of shape (G,)
            The constants.

        Raises
        ------
        NotImplementedError
            By default; a subproblem with ``block_columns`` or ``ridges`` implements it.
        """
        raise NotImplementedError

    def row_function(self, coefficients: Any) -> tuple[Array, Array, Array]:
        """Return the functions of coefficients as combinations of similarities.

        Parameters
        ----------
        coefficients : object
            As :meth:`solve` returns them.

        Returns
        -------
        weights : ndarray of shape (n, G)
            The weights v of the n samples that have the view's source.
        outputs : ndarray of shape (n, G)
            The decision values of these samples.
        biases : ndarray of shape (G,)
            The constants.

        Raises
        ------
        NotImplementedError
            By default; a subproblem with ``row_ridges`` implements it.
        """
        raise NotImplementedError

    def finish_rows(self, weights: Array, bias: float) -> FittedLearner:
        """Return the decision function of a combination of similarities.

        Parameters
        ----------
        weights : ndarray of shape (n,)
            The weights v.
        bias : float
            The constant.

        Returns
        -------
        FittedLearner
            The function on the view's columns.

        Raises
        ------
        NotImplementedError
            By default; a subproblem with ``row_ridges`` implements it.
        """
        raise NotImplementedError


class Learner(Component, ABC):
    """An algorithm that learns one decision function from a view or a weighted sum of kernels.

    A subclass is an ``@attrs.frozen`` class with a ``name`` and ``traits``. It implements
    :meth:`fit`, which returns a separate :class:`FittedLearner`. To be coupled, it also has
    ``coupling`` and :meth:`subproblem`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : LearnerTraits
        Required: what it can learn from, and what it learns.
    coupling : CouplingTraits or None
        Its properties in coupled fits; None, the default, if it can't be one of several learners in
        one fit.
    C : float, str or None
        The cost of errors, a number or the name of a rule, if it has this parameter. C on the
        kernel s·K gives the same decision function as s·C on the kernel K.
    fixed_C : float or None
        The cost of errors if it is a number.

    See Also
    --------
    FittedLearner : What :meth:`fit` returns.
    LinearDecision : A linear decision function to return.
    LearnerTraits : The traits and their defaults.
    Subproblem : A view's share of a coupled fit.

    Examples
    --------
    The mean target of the training samples, weighted by their similarity:

    >>> from mklkit.learners.linear_decision import LinearDecision
    >>> from mklkit.views.sides import GramSide
    >>> @attrs.frozen
    ... class MeanTarget(Learner):
    ...     name = "mean-target"
    ...     traits = LearnerTraits(on_gram=True)
    ...     def fit(self, side, target):
    ...         return LinearDecision(target.values / len(target), 0.0)
    >>> side = GramSide(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> fitted = MeanTarget().fit(side, Target.two_classes(np.array([1.0, -1.0])))
    >>> fitted.decide(side.gram()).tolist()
    [1.0, -1.0]
    """

    __slots__ = ()

    @property
    def coupling(self) -> CouplingTraits | None:
        """Its properties in coupled fits, if it can be one of several learners in one fit."""
        return None

    @property
    def C(self) -> float | str | None:
        """The cost of errors, a number or the name of a rule, if it has this parameter.

        C on the kernel s·K gives the same decision function as s·C on the kernel K.
        """
        return None

    @property
    def fixed_C(self) -> float | None:
        """The cost of errors if it is a number."""
        return None if self.C is None or isinstance(self.C, str) else float(self.C)

    @abstractmethod
    def fit(self, side: TrainingView, target: Target) -> FittedLearner:
        """Return the decision function learned from the training samples and their target.

        Parameters
        ----------
        side : TrainingView
            Features or a Gram matrix of the training samples.
        target : Target
            What to learn, with the sample weights if ``traits.takes_row_weights``.

        Returns
        -------
        FittedLearner
            The decision function on the view's columns.
        """

    def fit_targets(self, side: TrainingView, target: Target) -> Sequence[FittedLearner]:
        """Return a decision function for each of several numeric targets.

        Override it if several targets can share work. By default :meth:`fit` is called for each.

        Parameters
        ----------
        side : TrainingView
            Features or a Gram matrix of the training samples.
        target : Target
            Numeric targets, with values of shape (N, T).

        Returns
        -------
        sequence of FittedLearner
            T functions.
        """
        columns = np.transpose(target.values)
        return [self.fit(side, attrs.evolve(target, values=values)) for values in columns]

    def resolved(self, side: TrainingView, target: Target) -> Self:
        """Return the learner with numbers in place of the choices that it makes itself.

        Such choices are made by fits on parts of the samples. Folds of a search or of a learned
        late fusion then use one choice, such as one C. By default nothing is chosen.

        Parameters
        ----------
        side : TrainingView
            Features or a Gram matrix of the training samples.
        target : Target
            What to learn.

        Returns
        -------
        Learner
            A copy with other parameters, or the learner itself.
        """
        return self

    def subproblem(self, side: TrainingView, target: Target, variants: Sequence[Any]) -> Subproblem:
        """Return the view's subproblem in a coupled fit, one column per variant of this learner.

        Parameters
        ----------
        side : TrainingView
            Features or a Gram matrix of the training samples.
        target : Target
            The sample weights, if the learner can use them. Its values are not used, because
            they come with each ``solve``.
        variants : sequence of Learner
            Copies of the learner that differ only in the parameters in ``coupling.variants``; in an
            ordinary fit only the learner itself.

        Returns
        -------
        Subproblem
            The subproblem with ``len(variants)`` columns.

        Raises
        ------
        NotImplementedError
            By default; learners with ``coupling`` implement it.
        """
        raise NotImplementedError
