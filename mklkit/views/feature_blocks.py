"""The features of all views, block by block: recomputed in each pass, or kept if they are small.

Two verbs are all that learners and weighting rules need of the samples: a sum over blocks and a map
over blocks. An engine applies them to parts of the samples (:mod:`mklkit.views.engines`).

The samples need not fit into memory. Learners on features read them through the operations of a
``TrainingView``, each of which is a sum or a map over blocks:

- ``normal_matrix()``: ΦᵀΦ (p, p) and column sums, a sum;
- ``project(coefficients)``: Φw (N,), a map;
- ``project_back(targets)``: Φᵀt (p,), a sum;
- ``class_moments(y, row_weights)``: weighted counts, sums and products of features per class, a
  sum;
- ``weighted_products(row_weights, targets)``: ΦᵀWΦ (p, p) and ΦᵀT, of samples with a weight or
  target, a sum;
- ``some_features(members)``: Φ of some samples (n, p).

If a map is ``linear`` in the similarities to its landmarks, products with vectors need only these
similarities. Counts, sums and products of features per class (``numerics/class_moments.py``) are
summed in one pass. They determine, exactly for ΦΦᵀ, the means and standard deviations of its
blocks, alignments, products of kernels and normal matrices (``feature_statistics.py``). Quartiles
come from a seeded sample. With more features than samples (two of many classes that share a map), a
ridge regression is solved in the space of the samples instead, from ΦΦᵀ.

Combiners and learners that need only class moments declare ``from_moments`` in their traits. They
can learn from samples that are not kept: ``partial_fit`` adds up moments
(``estimators/partial_fits.py``), and the views on these moments raise an error for any operation
that reads samples (``GoneNumbers``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import weighted_sums
from mklkit.protocols import Array, Projector, Rows
from mklkit.protocols.component import LARGE_LEARNER
from mklkit.views.cache import Cache, Quantities
from mklkit.views.deciding import RowBlock, Scaling
from mklkit.views.engines import PART_ROWS, Blocks, added, engine_of, on_blocks
from mklkit.views.feature_moments import BackProjection, Projection, feature_moments
from mklkit.views.kernel_rows import SpareScratch
from mklkit.views.memory import CHEAP_COLUMNS, SMALL_BYTES, check_features_fit, memory_limit


class FeatureBlocks:
    """The features of M views, with explicit maps, on the same samples.

    At most a quarter of ``max_memory`` (bytes) is used to keep features, and at most ``most_kept``
    bytes, times the columns of the samples over 32.
    """

    def __init__(
        self,
        projectors: Sequence[Projector],
        rows: Array | Rows,
        max_memory: int | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.projectors = list(projectors)
        self.rows = Rows.of(rows)
        self.n_rows = len(rows)
        self.engine = engine_of(self.rows)
        self.max_memory = max_memory
        self.most_kept = SMALL_BYTES
        self.cache = cache or Cache(max_memory)
        self._spare = SpareScratch()
        self._kept = Quantities(self.cache, self)
        # The choice does not depend on what the cache has dropped meanwhile, so neither do results.
        self._chosen: set[int] = set()
        self.scaling: Scaling | None = None
        self._whole: tuple[FeatureBlocks, NDArray[np.intp] | slice] | None = None
        self._among: tuple[FeatureBlocks, list[int]] | None = None

    @cached_property
    def widths(self) -> list[int]:
        """The number of features of each view, (M,)."""
        every = range(len(self.projectors))
        columns = self._columns_at(np.arange(1), every, every)
        return [features.shape[1] for features in columns]

    def take(self, members: NDArray[np.intp]) -> FeatureBlocks:
        """Return the features of some of the samples, without computing those that are kept."""
        part = FeatureBlocks(self.projectors, self.rows.take(members), self.max_memory, self.cache)
        part._whole = (self, members)
        part.scaling = self.scaling
        part.most_kept = self.most_kept
        return part

    def scaled(self, used: Sequence[int], weights: Array) -> FeatureBlocks:
        """Return the features, scaled if samples miss sources of a weighted sum of some views."""
        scaled = FeatureBlocks(self.projectors, self.rows, self.max_memory, self.cache)
        scaled._whole, scaled.scaling = (self, slice(None)), (self.projectors_of(used), weights)
        scaled.most_kept = self.most_kept
        return scaled

    def only(self, indices: Iterable[int]) -> FeatureBlocks:
        """Return the features of some of the views."""
        places = list(indices)
        projectors = self.projectors_of(places)
        part = FeatureBlocks(projectors, self.rows, self.max_memory, self.cache)
        part._among = self, places
        part.most_kept = self.most_kept
        part.scaling = self.scaling
        return part

    @property
    def is_part(self) -> bool:
        """Whether these are some of the samples that the maps were fitted to."""
        return self._whole is not None

    def features(self, index: int) -> Array:
        """Return a view's features (N, p) in one array, which is kept, if they fit into memory."""
        if not self.engine.local:
            raise DataError(
                "This needs the features of all samples in one array, but they are on Dask's"
                f" workers. Use a learner that reads samples in parts: {LARGE_LEARNER}."
            )
        if self._known(index) is None:
            self._collect([index])
        return self._held(index)

    def remembered(self, index: int) -> Array | None:
        """Return the features that a view's map has stored; None if it stores none."""
        stored = self.projectors[index].map.training_features()
        return None if stored is None else self.features(index)

    def some_features(self, index: int, members: NDArray[np.intp]) -> Array:
        """Return a view's features (n, p) of some samples, fetching samples that are elsewhere."""
        if not self.engine.local:
            here = FeatureBlocks(self.projectors, self.rows[members], cache=self.cache)
            return here.features(index)
        return self.take(members).features(index)

    def keep_small(self, wanted: Sequence[int] | None = None) -> None:
        """Compute features once for all passes if they are small, here if the samples are here."""
        if not self.engine.local:
            return
        indices = range(len(self.projectors)) if wanted is None else wanted
        fresh = [index for index in indices if self._known(index) is None]
        # The time to recompute them grows with the columns of the samples.
        limit = self.most_kept * max(1, self.rows.shape[1] // CHEAP_COLUMNS)
        most = memory_limit(None) if self.max_memory is None else self.max_memory
        limit = limit if most is None else min(limit, most // 4)
        kept = [index for index in range(len(self.projectors)) if self._is_kept(index)]
        if fresh and self._bytes(kept) + self._bytes(fresh) <= limit:
            self._collect(fresh)

    def makes_again(self, used: Sequence[int]) -> bool:
        """Return whether some of these features are recomputed in each pass."""
        if not all(map(self._is_kept, used)):
            self.keep_small(used)
        return not all(map(self._is_kept, used))

    def each(
        self, function: Callable[..., Any], used: Sequence[int], *arrays: Array
    ) -> Iterator[Any]:
        """Yield ``function(blocks, *arrays)`` of each part of the samples, in order.

        ``blocks`` iterates over ``(place, block)``: a slice of the part's arrays, and its samples.
        """
        return self.engine.each(*self._task(function, used, arrays, collect=True))

    def map(self, function: Callable[[Array], Array], index: int) -> Array:
        """Return a function of a view's features (n, p), joined to (N, ...). A map over blocks."""
        self.keep_small([index])
        used = [self.projectors[index]]

        def mapped(blocks: Blocks) -> Array:
            return np.concatenate(
                [function(dict(block.columns_of(used))[0]) for _, block in blocks]
            )

        return np.concatenate(list(self.each(mapped, [index])))

    def project(self, coefficients: Mapping[int, Array]) -> Array:
        """Return Σ_m Φ_m c_m for coefficients (p_m, k) of some views: (N, k). A map over blocks."""
        used = list(coefficients)
        if self._are_kept(used):
            parts = [(self._held(index), coefficients[index]) for index in used]
            first, *others = [
                features @ factors.astype(features.dtype) for features, factors in parts
            ]
            return sum(others, first)
        project = Projection.of(self.projectors_of(used), list(coefficients.values()))

        def projected(blocks: Blocks) -> Array:
            return np.concatenate([project(block) for _, block in blocks])

        return np.concatenate(list(self.engine.each(*self._task(projected, used, []))))

    def project_back(self, wanted: Sequence[int], targets: Array) -> list[Array]:
        """Return Φ_mᵀt for targets (N,) or (N, k) of some views: (p_m, k). A sum over blocks."""
        if self._are_kept(wanted):
            return [self._held(index).T @ targets for index in wanted]
        back = BackProjection(self.projectors_of(wanted))
        return back.finish(self._total(back.of, wanted, targets))

    def weighted_products(
        self, used: Sequence[int], row_weights: Array, targets: Array
    ) -> tuple[Array, Array]:
        """Return ΦᵀWΦ (P, P) and ΦᵀT (P, k) for features of some views side by side, in float64.

        ``row_weights`` (N,) are not negative, ``targets`` are (N, k). Features of samples whose
        weight and target are zero are not computed.
        """
        self.keep_small(used)
        projectors = self.projectors_of(used)

        def of_block(block: RowBlock, weights: Array, wanted: Array) -> list[Array]:
            members = np.flatnonzero((weights != 0) | (wanted != 0).any(axis=1))
            # A block without such samples still gives the shape of the sums.
            members = members if members.size else np.arange(1)
            columns = dict(block.take(members).columns_of(projectors))
            features = np.hstack([columns[index] for index in range(len(used))], dtype=np.float64)
            return list(weighted_sums(features, weights[members], wanted[members]))

        products, sums = self._total(of_block, used, row_weights, targets)
        return products, sums

    def moments(
        self,
        groups: Sequence[Sequence[int]],
        codes: NDArray[np.intp],
        n_classes: int,
        row_weights: Array | None = None,
    ) -> list[ClassMoments]:
        """Return the class moments of each group of views, whose features stand side by side."""
        return feature_moments(self, groups, codes, n_classes, row_weights)

    def projectors_of(self, used: Iterable[int]) -> list[Projector]:
        """Return some views' projectors."""
        return [self.projectors[index] for index in used]

    def states(self, function: Callable[..., Any], *arrays: NDArray[Any]) -> Sequence[Any]:
        """Return a state of each part of the samples, ``function(*arrays)``, for :meth:`sweep`."""
        return self.engine.states(lambda rows, *pieces: function(*pieces), self.rows, arrays)

    def sweep(
        self, function: Callable[..., tuple[Any, list[Array]]], states: Sequence[Any]
    ) -> tuple[Sequence[Any], list[Array]]:
        """Return new states and a sum; ``function(blocks, state)`` returns both of each part."""
        task = partial(on_blocks, function, [], self._spare, self.scaling)
        return self.engine.sweep(task, self.rows, states)

    def _total(
        self, of_block: Callable[..., list[Array]], used: Sequence[int], *arrays: NDArray[Any]
    ) -> list[Array]:
        """Return the sums over all blocks of ``of_block(block, *arrays)``."""

        def summed(blocks: Blocks, *parts: NDArray[Any]) -> list[Array]:
            sums = (of_block(block, *(part[place] for part in parts)) for place, block in blocks)
            return reduce(added, sums)

        return self.total(summed, used, *arrays)

    def total(
        self, of_part: Callable[..., list[Array]], used: Sequence[int], *arrays: NDArray[Any]
    ) -> list[Array]:
        """Return the sums of ``of_part(blocks, *arrays)`` over the parts of the samples."""
        return self.engine.total(*self._task(of_part, used, arrays))

    def _task(
        self,
        function: Callable[..., Any],
        used: Sequence[int],
        arrays: Sequence[NDArray[Any]],
        collect: bool = False,
    ) -> tuple[Callable[..., Any], Rows, list[NDArray[Any]]]:
        """Return a function of a part's samples and arrays, then all samples and their arrays."""
        kept = [index for index in used if self._is_kept(index)]
        maps = [self.projectors[index].map for index in kept]
        task = partial(on_blocks, function, maps, None if collect else self._spare, self.scaling)
        return task, self.rows, [*map(self._held, kept), *arrays]

    def _are_kept(self, wanted: Sequence[int]) -> bool:
        """Return whether one product of arrays in memory suffices without loss of digits."""
        whole = self.rows.dtype == np.float64 or self.n_rows <= PART_ROWS
        return not self.makes_again(wanted) and whole

    def _columns_at(
        self, members: NDArray[np.intp], wanted: Sequence[int], kept: Sequence[int]
    ) -> list[Array]:
        block = self.block_at(members, kept)
        columns = dict(block.columns_of(self.projectors_of(wanted)))
        return [columns[index] for index in range(len(wanted))]

    def block_at(self, members: NDArray[np.intp], kept: Sequence[int]) -> RowBlock:
        """Return some samples as a block, with those features of some views that are kept."""
        used = [index for index in kept if self._is_kept(index)]
        known = [(self.projectors[i].map, self._held(i)[members]) for i in used]
        return RowBlock(self.rows[members], True, known, scaling=self.scaling)

    def _known(self, index: int) -> Array | None:
        """Return features that need not be computed, and keep them."""
        if self._among is not None:
            blocks, places = self._among
            of_all = blocks._known(places[index])
            if of_all is not None:
                return of_all
        if index in self._chosen:
            return self._held(index)
        features = self._without_computing(index)
        if features is not None:
            self._keep([index], [features])
        return features

    def _is_kept(self, index: int) -> bool:
        """Return whether a view's features are those of one array for all passes."""
        if index in self._chosen or self._among is None:
            return index in self._chosen
        blocks, places = self._among
        return blocks._is_kept(places[index])

    def _held(self, index: int) -> Array:
        """Return the features of a view that are kept, computed again if the cache dropped them."""
        if index not in self._chosen and self._among is not None:
            blocks, places = self._among
            return blocks._held(places[index])

        def again() -> Array:
            features = self._without_computing(index)
            return self._computed([index])[0] if features is None else features

        return self._kept.of(index, again)

    def _keep(self, indices: Sequence[int], features: Sequence[Array]) -> None:
        for index, of_view in zip(indices, features, strict=True):
            self._kept.keep(index, of_view)
        self._chosen.update(indices)

    def _without_computing(self, index: int) -> Array | None:
        """Return the features that a map has stored, or those of a part of other blocks."""
        if self._whole is None:
            features = self.projectors[index].map.training_features()
            if features is not None and len(features) != self.n_rows:
                features = None  # These are features of the samples that have the source.
        else:
            whole, members = self._whole
            known = whole._known(index)
            features = None if known is None else known[members]
            if features is not None and self.scaling is not whole.scaling:
                block = RowBlock(self.rows)
                assert self.scaling is not None, "features of a part are scaled as the whole's are"
                features = block.scaled(features, *self.scaling)
        return features

    def _bytes(self, wanted: Sequence[int]) -> int:
        width = sum(self.widths[index] for index in wanted)
        return self.n_rows * width * self.rows.dtype.itemsize

    def _collect(self, wanted: Sequence[int]) -> None:
        """Compute features of some views together, and keep them."""
        self._keep(wanted, self._computed(wanted))

    def _computed(self, wanted: Sequence[int]) -> list[Array]:
        check_features_fit(self.n_rows, self._bytes(wanted), self.max_memory)
        used = self.projectors_of(wanted)
        samples = self._columns_at(np.arange(1), wanted, [])
        stores = [np.empty((self.n_rows, columns.shape[1]), columns.dtype) for columns in samples]

        def fill(blocks: Blocks, *parts: Array) -> None:
            # Values that are not finite are detected in the decisions.
            with np.errstate(over="ignore", invalid="ignore"):
                for place, block in blocks:
                    for index, columns in block.columns_of(used):
                        parts[index][place] = columns

        for _ in self.engine.each(*self._task(fill, [], stores)):
            pass
        return stores
