"""Learners: one decision function from one view, alone or coupled with those of other views.

A coupled learner has a subproblem per view. ``N`` training rows, ``G`` columns: variants of one
learner that are fitted side by side on the same view, one per grid point of a search and a single
one in an ordinary fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.component import FLAG, Component, Facts, own_fields
from mklkit.protocols.kernel import FeatureMapTraits
from mklkit.protocols.rows import Array
from mklkit.protocols.target import TASKS, Target, Task
from mklkit.protocols.views import TrainingView

__all__ = [
    "ColumnSelector",
    "CouplingTraits",
    "FittedLearner",
    "Learner",
    "LearnerTraits",
    "Stopping",
    "Subproblem",
]


@attrs.frozen(kw_only=True)
class LearnerTraits(Facts):
    """The properties of a learner.

    Attributes
    ----------
    on_features, on_gram : bool, default=False
        The kinds of view that it can learn from; at least one must be True.
    tasks : tuple of str, default=("two classes",)
        What it learns: ``"two classes"``, ``"several classes"`` in one fit, ``"numbers"``, or
        ``"none"`` from rows without labels.
    takes_row_weights : bool, default=False
        Whether rows may have weights: a row of weight 2 counts as much as the same row twice.
    several_targets : bool, default=False
        Whether it learns several columns of numbers in one fit.
    free_bias : bool, default=True
        Whether its function has a free constant, so that numbers may be centred.
    takes_indefinite : bool, default=False
        Whether it also accepts kernels that are not positive semi-definite.
    from_moments : bool, default=False
        Whether, on features, it needs only counts, sums and products per class, so that it can
        learn without keeping the rows (``partial_fit``).
    """

    on_features: bool = attrs.field(default=False, validator=FLAG)
    on_gram: bool = attrs.field(default=False, validator=FLAG)
    tasks: tuple[Task, ...] = attrs.field(default=("two classes",), validator=TASKS)
    takes_row_weights: bool = attrs.field(default=False, validator=FLAG)
    several_targets: bool = attrs.field(default=False, validator=FLAG)
    free_bias: bool = attrs.field(default=True, validator=FLAG)
    takes_indefinite: bool = attrs.field(default=False, validator=FLAG)
    from_moments: bool = attrs.field(default=False, validator=FLAG)

    def __attrs_post_init__(self) -> None:
        if not (self.on_features or self.on_gram):
            raise ValueError("on_features or on_gram must be True: a learner needs one of them")

    def learns_from(self, feature_map: FeatureMapTraits) -> bool:
        """Return whether the learner can use the columns of a feature map."""
        return self.on_features if feature_map.explicit else self.on_gram


class FittedLearner(ABC):
    """A decision function on a view's columns."""

    __slots__ = ()

    @abstractmethod
    def decide(self, columns: Array) -> Array:
        """Return the decision values (n,) for features (n, p) or similarities (n, N)."""

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
        """Return the same function restricted to these columns, if it has a ``support``."""
        raise NotImplementedError


ColumnSelector = NDArray[np.intp] | slice
"""The selected columns of a subproblem; ``slice(None)`` is all of them."""


@attrs.frozen
class Stopping:
    """The criterion that ends the iteration."""

    tol: float = 1e-3
    """Paper symbol ξ."""
    relative: bool = False
    """Whether the change of the objective is divided by the objective (002) or not (000)."""
    max_iter: int = 1000

    def reached(self, previous: Array, current: Array) -> NDArray[np.bool_]:
        """Return where the objective has changed by no more than the tolerance.

        A NaN counts as reached, since it will not change any more.
        """
        scale = np.abs(previous) if self.relative else 1.0
        return np.asarray(~(np.abs(current - previous) > self.tol * scale))


@attrs.frozen
class CouplingTraits:
    """The properties of a learner in coupled fits."""

    rho: float = 0.0
    """ρ, the step by which the margins grow towards the outputs; 0 keeps them fixed."""
    b0: float = 0.0
    """b₀, the initial margin beyond 1."""
    stopping: Stopping = Stopping()
    variants: tuple[str, ...] = ()
    """The parameters in which variants may differ; empty if there is only one column."""
    on_kernels: bool = False
    """Whether subproblems of features give the same functions on the Gram matrix of these."""


class Subproblem(ABC):
    """One view's share of a coupled fit: regularised least squares with many targets side by side.

    Coefficients are opaque to the caller: whatever ``solve`` returns, the other methods accept.
    The subproblem is set up once (a factorisation or eigendecomposition of the view) and solved
    many times.
    """

    __slots__ = ()

    @property
    def n_coefficients(self) -> int | None:
        """The number of coefficients per column, including the bias, if ``filled`` sets them."""
        return None

    @property
    def members(self) -> NDArray[np.intp] | None:
        """The rows (n,) that have the view's source; None if all do. Others have outputs of 0."""
        return None

    @abstractmethod
    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> Any:
        """Return the coefficients that minimise ``s·‖f − t/s‖² + penalty``, column by column.

        Targets t are (N, G), data weights s are (G,), and ``f`` are the decision values on the
        training rows; squares are weighted by the rows' weights. An uncoupled learner has s = 1;
        the coupling loss adds a second square in the same ``f``. ``columns`` selects the variants
        that these G columns belong to.
        """

    @abstractmethod
    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values (N, G) on the training rows."""

    @abstractmethod
    def penalty(self, coefficients: Any, columns: ColumnSelector = slice(None)) -> Array:
        """Return the regularisation terms (G,), including their constants."""

    @abstractmethod
    def finish(self, coefficients: Any, column: int = 0) -> FittedLearner:
        """Return the decision function of one column of these coefficients."""

    def filled(self, values: Array) -> Any:
        """Return coefficients with these values in every column, where an iteration may start."""
        raise NotImplementedError

    @property
    def block_columns(self) -> Any:
        """Features that are read block by block; None if they are one array in memory.

        Targets, outputs and margins then need not be in one place, and the two methods below
        replace ``solve`` and ``outputs``.
        """
        return None

    def solve_projected(
        self,
        projected: Array,
        means: Array,
        data_weights: Array,
        columns: ColumnSelector = slice(None),
    ) -> Any:
        """Return the coefficients, as ``solve`` does, for Φᵀt (p, G) and the means of t (G,).

        Both are weighted if rows have weights.
        """
        raise NotImplementedError

    def function(self, coefficients: Any) -> tuple[Array, Array]:
        """Return the weights (p, G) and biases (G,) of coefficients."""
        raise NotImplementedError


class Learner(Component, ABC):
    """Learns one decision function from one view; has ``traits``, of :class:`LearnerTraits`."""

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
        """Return the decision function learned from the training rows and their target."""

    def fit_targets(self, side: TrainingView, target: Target) -> Sequence[FittedLearner]:
        """Return a function for each column of numbers (N, T)."""
        columns = np.transpose(target.values)
        return [self.fit(side, attrs.evolve(target, values=values)) for values in columns]

    def resolved(self, side: TrainingView, target: Target) -> Self:
        """Return the learner with numbers in place of choices by fits on parts of the rows."""
        return self

    def subproblem(self, side: TrainingView, target: Target, variants: Sequence[Any]) -> Subproblem:
        """Return the view's subproblem with one column per variant of this learner.

        It uses only the target's row weights, if it can; values come with each ``solve``.

        Variants are copies of the learner that differ only in ``coupling.variants``;
        an ordinary fit has one variant, the learner itself.
        """
        raise NotImplementedError
