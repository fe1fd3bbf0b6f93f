"""The gating template: kernel weights that depend on the sample."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.combiners.templates.weighted_grid import fit_each
from mklkit.display.numbers import significant
from mklkit.errors import IncompatibleError, MKLKitWarning
from mklkit.numerics.compiling import compiled
from mklkit.numerics.gram_tiles import mirror_tile
from mklkit.protocols import (
    Array,
    ColumnBlocks,
    Combiner,
    CombinerTraits,
    Learner,
    LearnerTraits,
    Projector,
    Rows,
    Target,
    Views,
    array_of,
    learner_parameters,
    learner_variants,
    result_of,
    traits_of,
)
from mklkit.protocols.component import parameter_names
from mklkit.protocols.results import TRIAL_ROWS
from mklkit.registry.hookspecs import register
from mklkit.views.deciding import BlockDecision, RowBlock
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.sides import GramSide
from mklkit.views.tiles import Tiles, symmetric_tiles

Composition = Literal["sum", "product"]


@runtime_checkable
class Gates(Protocol):
    """Fitted gates."""

    def gates(self, rows: Array) -> Array:
        """Return each sample's weight on each kernel, (n, M), for samples (n, d)."""
        ...


@runtime_checkable
class WeightedGates(Gates, Protocol):
    """Fitted gates that have weights (M,) or (C, M) to report, for example per cluster."""

    weights: Array


@register
@attrs.frozen(eq=False)
class GatedDecision(BlockDecision):
    """One learner on the composite Σ_m (η_m(x) + η_m(z)) k_m(x, z), or η_m(x)η_m(z) k_m(x, z).

    The weights are the gates' own if they have any, such as (C, M) per cluster, else the means
    over the training samples. The gates η use some columns of the samples, None for all.
    """

    weights: Array
    gates: Any
    training_gates: Array
    projectors: list[Projector]
    learner: Any
    composition: Composition
    columns: NDArray[np.intp] | None = None

    @property
    def learners(self) -> list[Any]:
        """The one learner."""
        return [self.learner]

    def gate_weights(self, rows: Any) -> Array:
        """Return each sample's weight on each kernel, (n, M)."""
        return np.asarray(self.gates.gates(numbers_of(rows, self.columns)))

    def with_projectors(self, projectors: Sequence[Projector]) -> Self:
        """Return the decision with other projectors of the same columns."""
        return attrs.evolve(self, projectors=list(projectors))

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n,) of one block of samples."""
        return np.asarray(self.learner.decide(self.composite(block)))

    def composite(self, block: RowBlock) -> Array:
        """Return the composite kernel's similarities (n, N) to the training samples."""
        gates = self.gate_weights(block.rows)
        total = np.zeros((len(block), len(self.training_gates)))
        joined = np.multiply if self.composition == "product" else np.add
        for index, values in block.columns_of(self.projectors):
            total += values * joined.outer(gates[:, index], self.training_gates[:, index])
        return total


@attrs.frozen(eq=False)
class GatedGrid(BlockDecision):
    """Decisions with the same gates and different learners, side by side."""

    decisions: list[GatedDecision]
    n_iter: None = None

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n, G), or (n, C, G), of one block of samples."""
        composite = self.decisions[0].composite(block)
        values = [decision.learner.decide(composite) for decision in self.decisions]
        return np.stack(values, axis=-1)


@attrs.frozen
class GatingCombiner(Combiner):
    """Template: gates η (n, M), the weight of each kernel for each sample.

    A subclass implements :meth:`fit_gates`. The composite kernel, η_m(x) η_m(z) k_m(x, z) summed
    over m, is passed to the learner as one Gram matrix. Gates are functions of features: they do
    not get columns of sample ids, text and categories that a kernel reads, or columns that may have
    missing values.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        By default with ``row_weights="learner"``.
    composition : {"product", "sum"}
        How the gates of two samples are combined: η_m(x) η_m(z), the default, which keeps the
        composite positive semi-definite, or η_m(x) + η_m(z).

    See Also
    --------
    Combiner : The base.

    References
    ----------
    .. [1] Y. Mu and B. Zhou, "Non-uniform multiple kernel learning with cluster-based gating
       functions", Neurocomputing 74 (2011), 1095–1101.

    Examples
    --------
    One kernel where the first column is negative, the other elsewhere:

    >>> from mklkit import MKLClassifier
    >>> class BySign:
    ...     def gates(self, rows):
    ...         negative = rows[:, :1] < 0
    ...         return np.hstack([negative, ~negative]).astype(float)
    >>> @attrs.frozen
    ... class SignGating(GatingCombiner):
    ...     name = "sign-gating"
    ...     def fit_gates(self, views, y, random_state):
    ...         return BySign()
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 1, 0, 1]
    >>> model = MKLClassifier(["a:linear", "b:linear"], combiner=SignGating(), learner="svm(C=9)")
    >>> model.fit(X, y).gate_weights([[-3.0], [3.0]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    traits: ClassVar[CombinerTraits] = CombinerTraits(row_weights="learner")

    @property
    def composition(self) -> Composition:
        """How the gates of two samples are combined; the product keeps the composite definite."""
        return "product"

    @abstractmethod
    def fit_gates(self, views: Views, y: Array, random_state: np.random.RandomState) -> Gates:
        """Return the gates learned from the training samples.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples; ``views.rows`` is an array of numbers (N, d).
        y : ndarray of shape (N,)
            Labels −1 and +1.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        object
            With ``gates(rows)``, which returns each sample's weights (n, M) for samples (n, d). If
            it has ``weights``, (M,) or (C, M), such as those of each cluster, they are reported in
            place of the mean gates.
        """

    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> GatedDecision:
        """Return the decision of the learner on the composite kernel.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn.
        learner : Learner
            A learner on Gram matrices.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        GatedDecision
            The decision, with ``gate_weights(rows)``, (n, M).

        Raises
        ------
        IncompatibleError
            If the feature map is explicit.
        ComponentError
            If :meth:`fit_gates` returned something else.

        Warns
        -----
        MKLKitWarning
            If a sum composite is not positive semi-definite and the learner does not support that.
        """
        (decision,) = self._fit_each(views, target, [learner], random_state)
        return decision

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return the learner's parameters: its variants share the gates and the composite."""
        return learner_parameters(parameter_names(learner))

    def fit_grid(
        self,
        views: Views,
        target: Target,
        learner: Learner,
        points: Sequence[Mapping[str, Any]],
        random_state: np.random.RandomState,
    ) -> GatedGrid:
        """Return the decisions of the points' learners on one composite kernel."""
        learners = learner_variants(learner, points)
        return GatedGrid(self._fit_each(views, target, learners, random_state))

    def _fit_each(
        self,
        views: Views,
        target: Target,
        learners: Sequence[Learner],
        random_state: np.random.RandomState,
    ) -> list[GatedDecision]:
        """Return the decision of each learner on the composite kernel."""
        if views.explicit:
            raise IncompatibleError(
                f"{self.name} weighs kernels sample by sample and needs feature_map='implicit'."
            )
        columns = feature_columns(views, self.name)
        rows = numbers_of(views.rows, columns)
        shown = copy(views)
        shown.rows = rows
        fitted_gates = self.fit_gates(shown, target.values, random_state)
        gates = result_of(self, "fit_gates", fitted_gates, Gates, "an object with 'gates'")
        some = rows[:TRIAL_ROWS]
        array_of(self, "gates", gates.gates(some), (len(some), len(views)))
        values = array_of(self, "gates", gates.gates(rows), (len(rows), len(views)))
        values = values.astype(np.float64)
        gram = composite_gram(views, values, self.composition)
        takes_indefinite = traits_of(learners[0], LearnerTraits).takes_indefinite
        if self.composition == "sum" and not takes_indefinite:
            self._warn_if_indefinite(gram, learners[0])
        projectors = [view.projector for view in views]
        weights = values.mean(axis=0)
        if isinstance(gates, WeightedGates):
            weights = np.asarray(gates.weights)
        return [
            GatedDecision(weights, gates, values, projectors, fitted, self.composition, columns)
            for fitted in fit_each(learners, GramSide(gram), target)
        ]

    def _warn_if_indefinite(self, gram: Array, learner: Learner) -> None:
        values = np.linalg.eigvalsh(gram)
        if values[0] < -1e-8 * values[-1]:
            warnings.warn(
                f"The sum composite of {self.name} is not positive semi-definite (eigenvalues from"
                f" {significant(values[0], 3)} to {significant(values[-1], 3)}), which"
                f" {learner.name} does not support; use"
                " composition='product', or a learner that takes such kernels.",
                MKLKitWarning,
                stacklevel=3,
            )


def composite_gram(
    views: Views, gates: Array, composition: Composition, tiles: Tiles | None = None
) -> Array:
    """Return the composite Gram matrix (N, N), from the views' tiles if the caller has them."""
    gram = np.zeros((len(gates), len(gates)))
    gates = np.ascontiguousarray(gates.T)
    product = composition == "product"
    every = symmetric_tiles(KernelRows.of_views(views)) if tiles is None else tiles
    for block, columns, values in every:
        for index, tile in values:
            of_kernel = gates[index]
            _add_gated(tile, of_kernel[block], of_kernel[columns], product, gram[block, columns])
    mirror_tile(gram, 0, len(gram), 0, len(gram))
    return gram


@compiled()
def _add_gated(
    tile: Array, row_gates: Array, others: Array, product: bool, out: Array
) -> None:  # pragma: no cover - compiled
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            factor = row_gates[i] * others[j] if product else row_gates[i] + others[j]
            out[i, j] += tile[i, j] * factor


def numbers_of(rows: Array | Rows, columns: NDArray[np.intp] | None) -> Array:
    """Return some columns of numbers (n, k), with medians in gaps; None stands for all of them."""
    filled = Rows.of(rows).filled()
    # Gates take an array, and of sparse sources too.
    blocks = isinstance(filled.numbers, ColumnBlocks)
    numbers: Array = np.asarray(filled) if blocks else filled.numbers
    return numbers if columns is None else numbers[:, columns]


def feature_columns(views: Views, name: str) -> NDArray[np.intp] | None:
    """Return the columns of numbers of a combiner's views, None if all are.

    Columns in which a kernel reads sample ids, text or categories, and those that may have gaps,
    are omitted.
    """
    everything = np.arange(views.rows.shape[1])
    projectors = [view.projector for view in views]
    others = [
        everything if projector.columns is None else projector.columns
        for projector in projectors
        if projector.reads not in ("numbers", "amounts") or projector.allows_gaps
    ]
    if not others:
        return None
    features = np.setdiff1d(everything, np.concatenate(others))
    if not features.size:
        raise IncompatibleError(
            f"{name} computes weights from a sample's features, but they contain only columns of"
            " ids, text, categories or gaps: add columns of numbers, and bind other kernels to"
            " their own columns."
        )
    return features
