"""The four protocols that carry the library, and the small contracts between them.

A third party implements these without importing anything but ``mklkit``; the templates in
``kernels.base``, ``combiners.base`` and their like do most of the work.

Shapes: ``n`` rows asked, ``N`` training rows, ``M`` kernels (views), ``p`` columns of a map.
Labels ``y`` are −1 and +1 (paper symbol φ) as float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mklkit.numerics.least_squares import NormalMatrix, Spectrum
    from mklkit.views.view import ViewSet

__all__ = [
    "Array",
    "BaseLearner",
    "Combiner",
    "Decision",
    "FeatureMap",
    "FittedKernel",
    "FittedLearner",
    "FittedMap",
    "Kernel",
    "Learner",
    "ScalarKernel",
    "TrainingSide",
]

Array = NDArray[np.floating[Any]]


@runtime_checkable
class FittedKernel(Protocol):
    """A kernel whose parameters are numbers."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        ...

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        ...

    # Optional: ``reads_row_ids = True`` where rows are no features but ids to look up.


@runtime_checkable
class ScalarKernel(FittedKernel, Protocol):
    """A fitted kernel that is a scalar function of a base quantity, and says so.

    Kernels that name the same ``base`` on the same rows share its computation.
    """

    base: ClassVar[str]
    """A key of ``numerics.pairwise.BASES``: inner product, squared or Manhattan distance."""

    monotone: ClassVar[int]
    """+1 where the kernel grows with the base, −1 where it falls, 0 where it does neither."""

    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values at the base's values, written into ``out``."""
        ...


class Kernel(Protocol):
    """Similarity of two rows."""

    name: ClassVar[str]

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with its data-dependent parameters read off the training rows."""
        ...

    # Optional: ``definite = False`` where the kernel is not positive semi-definite for all rows.


class FittedMap(Protocol):
    """A feature map on its training rows."""

    explicit: bool
    """Whether ``transform`` gives features; else its columns are similarities to training rows."""

    def transform(self, rows: Array) -> Array:
        """Return the columns of new rows: (n, p) features or (n, N) similarities."""
        ...

    # Optional, where the map evaluates its kernel against landmark rows: ``kernel``,
    # ``landmarks`` and ``from_similarities(values)``, by which several maps share base
    # quantities; ``with_landmarks(rows)`` (implicit maps), by which only support vectors stay;
    # ``training_features()``, where the training rows' features need no evaluation.


class FeatureMap(Protocol):
    """How a kernel becomes columns."""

    name: ClassVar[str]
    explicit: ClassVar[bool]

    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedMap:
        """Return the map fitted on the training rows (N, d)."""
        ...

    # Optional: ``fit_all(kernels, rows, random_state)``, an iterator over the maps of all kernels
    # in their order, for maps that draw something once for all of them.
    # Optional: ``for_kernels = ("rbf",)``, the names of the kernels that the map can be fitted to,
    # where that is not every one; others are refused with these names.


class TrainingSide(Protocol):
    """What a learner sees of a view: its training rows, through few doors.

    Learners on features use the three block operations (each a sum or a map over row blocks,
    so that rows may one day live outside memory); learners on similarities use the Gram matrix.
    """

    explicit: bool
    n_rows: int

    def gram(self) -> Array:
        """Return the Gram matrix (N, N) of the training rows."""
        ...

    def features(self) -> Array:
        """Return the features (N, p) of the training rows."""
        ...

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` (p, p) with the features' column sums (p,)."""
        ...

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``: (N,), or (N, k) for k columns."""
        ...

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``: (p,), or (p, k) for k columns."""
        ...

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal or Gram matrix, computed once."""
        ...


class FittedLearner(Protocol):
    """A decision function on a view's columns."""

    def decide(self, columns: Array) -> Array:
        """Return the decision values (n,) for features (n, p) or similarities (n, N)."""
        ...


class Learner(Protocol):
    """Learns one decision function from one view.

    ``on_features`` and ``on_gram`` say which kinds of view it can learn from.
    """

    name: ClassVar[str]
    on_features: ClassVar[bool]
    on_gram: ClassVar[bool]

    def fit(self, side: TrainingSide, y: Array) -> FittedLearner:
        """Return the decision function learned from labels −1 and +1."""
        ...


BaseLearner = Learner


class Decision(Protocol):
    """What a combiner leaves behind: one decision function over all views."""

    weights: Array
    """(M,) the weight of each kernel in the decision, on the simplex or as the combiner says."""

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n,) of new rows (n, d)."""
        ...

    # ``deciding.BlockDecision`` is the template whose decisions share what maps make of rows.


class Combiner(Protocol):
    """Joins the views and the learner into one decision.

    ``feature_map`` and ``learner`` are the spec strings used where the user gives none.
    """

    name: ClassVar[str]
    feature_map: ClassVar[str]
    learner: ClassVar[str]

    def fit(
        self,
        views: ViewSet,
        y: Array,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> Decision:
        """Return the decision learned from labels −1 and +1."""
        ...

    # Optional: ``for_learners = ("svm",)``, the names of the learners that it works with, where
    # that is not every one; others are refused with these names.
    # ``weight_range = (low, high)`` where weights are not on the simplex;
    # ``n_kernels = 2`` where that many kernels are taken, neither more nor less;
    # ``row_order_matters = True`` where the order of the training rows changes the decision.
    # Any component: ``searched_as = {"word": "spec"}``, what to suggest to who asks for the word.
