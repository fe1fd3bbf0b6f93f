"""Statistics of the kernels ΦΦᵀ from per-class moments of features, in one pass over the samples.

For features of p columns every sum over pairs of samples is a function of the classes' counts,
means and covariances: no pass over pairs is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.numerics.sampling import own_stream, pair_products
from mklkit.protocols import (
    Array,
    KernelProducts,
    Mask,
    Quadrant,
    Quadrants,
    missing_patterns,
    sample_scale,
)
from mklkit.views.cache import Quantities
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.statistics import quartiles_of

SAMPLED_ROWS = 20_000
"""The most samples of a class that quartiles come from."""
PATTERN_BYTES = 2**27
"""The most bytes for products per pattern of sources, which allow scaling them afterwards."""
POSITIVE, NEGATIVE = 1, 0
BLOCKS = (POSITIVE, POSITIVE), (POSITIVE, NEGATIVE), (NEGATIVE, NEGATIVE)
"""The classes of rows and columns of each block, in the order of ``Quadrants``."""


class FeatureStatistics:
    """The statistics of M views on features, computed together and kept.

    Means, spreads, alignments and normal matrices cost one pass over the rows, O(NP²) for P
    features of all views together, and are exact. Quartiles are those of a seeded sample of at most
    20,000 samples per class. Where samples miss sources, as ``missing`` (N, M) says, quadrants
    and alignments are of those that have a view's.
    """

    def __init__(self, blocks: FeatureBlocks, missing: Mask = None) -> None:
        self.blocks = blocks
        self._missing = missing
        self._source: tuple[FeatureStatistics, Array] | None = None
        # Moments are kept for the latest classes and weights.
        self._codes: NDArray[np.intp] | None = None
        self._row_weights: Any = None
        self._are_stacked = False
        self._kept = Quantities(blocks.cache, self)

    @cached_property
    def patterns(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
        """The samples' patterns of sources, if they are few enough for separate sums; else None."""
        if self._missing is None:
            return None
        codes, table = missing_patterns(self._missing)
        fits = 16 * len(table) * sum(self.blocks.widths) ** 2 <= PATTERN_BYTES
        return (codes, table) if fits else None

    def scaled(self, used: Sequence[int], weights: Array) -> FeatureStatistics:
        """Return the statistics of a weighted sum, scaled where sources are missing."""
        scaled = FeatureStatistics(self.blocks.scaled(used, weights))
        if self.patterns is not None:
            scaled._source = self, sample_scale(self.patterns[1][:, used], weights)
        return scaled

    def normal_matrix(self, index: int) -> NormalMatrix:
        """Return ΦᵀΦ of one view; for orthogonal features only its diagonal."""
        lengths = self.blocks.projectors[index].map.squared_lengths()
        if lengths is None or self.blocks.is_part:
            return self._moments(index, None).normal_matrix()
        return NormalMatrix(lengths, self.blocks.features(index).sum(axis=0), self.blocks.n_rows)

    def class_moments(
        self, used: Sequence[int], y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return the moments of several views' features side by side.

        By class for labels −1 and +1, in this order; without labels, of all samples as one class.
        """
        if len(used) == 1:
            moments = self._moments(used[0], y, row_weights)
            return moments.together() if y is None else moments
        places = self._places()
        columns = np.concatenate([np.arange(places[m].start, places[m].stop) for m in used])
        moments = self._stacked_moments(y, row_weights)
        moments = moments.together() if y is None else moments
        every = np.array_equal(columns, np.arange(len(moments.origin)))
        return moments if every else moments.part(columns)

    def quadrants(self, index: int, y: Array) -> Quadrants:
        """Return a view's quadrants for labels −1 and +1; quartiles on demand."""
        self._stacked_moments(y)
        has = self._has(index, y)
        moments = self._of_present(index, has, y)
        covariances = [moments.covariance(code) for code in (NEGATIVE, POSITIVE)]
        parts = partial(_sampled_parts, self.blocks, np.where(has, y, np.nan))
        quartiles = cache(partial(_quartiles, parts, index))
        summary = partial(_mean_and_deviation, moments.means, covariances)
        blocks = [
            Quadrant(*summary(*pair), partial(quartiles_of, quartiles, n))
            for n, pair in enumerate(BLOCKS)
        ]
        return Quadrants(*blocks)

    def alignment(
        self, index: int, y: Array, centered: bool, row_weights: Array | None = None
    ) -> float:
        """Return the alignment of one view's ΦΦᵀ with the label kernel."""
        labels, has = np.asarray(y, dtype=np.float64), self._has(index, y)
        weights = None if row_weights is None else row_weights[has]
        if centered:
            labels = labels - np.average(labels[has], weights=weights)
        # A combiner that requests it then uses the weighted sum of all views.
        self._stacked_moments(_labels_in(y), row_weights)
        moments = self._of_present(index, has, _labels_in(y), row_weights)
        sums = self._sums([index], moments, labels, row_weights)
        mean = float(np.average(labels[has], weights=weights))
        products = moment_products(moments, [slice(None)], sums, mean, centered, self._noise)
        return float(products.label_alignments(labels[has], weights)[0])

    def products(self, y: Array | None) -> KernelProducts:
        """Return the centred kernels' inner products, with each other and with labels, if given.

        If samples miss sources, features are centred on those that have theirs, in memory.
        """
        labels = np.zeros(self.blocks.n_rows) if y is None else np.asarray(y, dtype=np.float64)
        if self._missing is not None:
            views = range(self._missing.shape[1])
            parts = [np.array(self.blocks.features(m), np.float64) for m in views]
            for part, missing in zip(parts, self._missing.T, strict=True):
                part[~missing] -= part[~missing].sum(axis=0) / max((~missing).sum(), 1)
            centered, codes = np.hstack(parts), np.zeros(len(labels), np.intp)
            moments = ClassMoments.of(centered, codes, 1, np.zeros(centered.shape[1]), None)
            return moment_products(moments, self._places(), centered.T @ labels, 0, False, 0)
        moments = self._stacked_moments(None if y is None else _labels_in(y))
        sums = self._sums(range(len(self.blocks.projectors)), moments, labels, None)
        return moment_products(moments, self._places(), sums, labels.mean(), True, self._noise)

    def _sums(
        self, views: Sequence[int], moments: ClassMoments, y: Array, row_weights: Array | None
    ) -> Array:
        """Return Φᵀy of some views: for two values from their moments, for numbers in a pass."""
        if _labels_in(y) is not None:
            # Negative samples come first; both classes have one label each.
            values = np.array([y.min(), y.max()])
            return np.asarray(values @ (moments.counts[:, None] * moments.means))
        counted = y if row_weights is None else row_weights * y
        return np.concatenate(self.blocks.project_back(list(views), counted))

    @property
    def _noise(self) -> float:
        return float(4 * np.finfo(self.blocks.rows.dtype).eps)

    def _places(self) -> list[slice]:
        """Return the columns of each view in the features side by side."""
        widths = self.blocks.widths
        stops = np.cumsum(widths).tolist()
        return [slice(stop - width, stop) for stop, width in zip(stops, widths, strict=True)]

    def _moments(
        self, index: int, y: Array | None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return one view's moments, by class if labels are given.

        If features are recomputed in each pass, those of all views are summed in one pass.
        """
        codes = self._known_codes(y, row_weights)
        if self._are_stacked:
            place = self._places()[index]
            stacked = partial(self._stacked_moments, y, row_weights)
            return self._kept.of(("part", index), lambda: stacked().part(place))
        moments: ClassMoments | None = self._kept.known(("of view", index))
        if moments is None:
            every = range(len(self.blocks.projectors))
            views = list(every) if self.blocks.makes_again(every) else [index]
            sums = self.blocks.moments([[view] for view in views], codes, 2, row_weights)
            for view, of_view in zip(views, sums, strict=True):
                self._kept.keep(("of view", view), of_view)
            moments = sums[views.index(index)]
        return moments

    def _stacked_moments(self, y: Array | None, row_weights: Array | None = None) -> ClassMoments:
        """Return the moments of all views' features side by side; they contain those of each."""
        self._known_codes(y, row_weights)
        self._are_stacked = True
        return self._kept.of("stacked", partial(self._sum_stacked, y, row_weights))

    def _sum_stacked(self, y: Array | None, row_weights: Array | None) -> ClassMoments:
        if self._source is None:
            moments = self._moments_of_parts(y, row_weights)
        else:
            source, scales = self._source
            moments = source._moments_of_parts(y, row_weights).stretched(np.tile(scales, 2))
        classes = np.repeat([NEGATIVE, POSITIVE], len(moments.counts) // 2)
        return moments if len(classes) == 2 else moments.merged(classes, 2)

    def _moments_of_parts(self, y: Array | None, row_weights: Array | None) -> ClassMoments:
        """Return the stacked moments of each class's patterns of sources."""
        codes = self._known_codes(y, row_weights)
        every = [range(len(self.blocks.projectors))]
        members, table = self.patterns or (0, [()])

        def sums() -> ClassMoments:
            (moments,) = self.blocks.moments(
                every, codes * len(table) + members, 2 * len(table), row_weights
            )
            return moments

        return self._kept.of("of patterns", sums)

    def _has(self, index: int, y: Array) -> NDArray[np.bool_]:
        """Return which samples (N,) have a view's source; all samples if their labels are equal."""
        if self._missing is not None and self.patterns is not None:
            has = ~self._missing[:, index]
            if len(np.unique(y[has])) > 1:
                return has
        return np.ones(len(y), bool)

    def _of_present(
        self, index: int, has: NDArray[np.bool_], y: Array | None, row_weights: Any = None
    ) -> ClassMoments:
        """Return a view's moments by class, over the samples that have its source."""
        if self.patterns is None or has.all():
            return self._moments(index, y, row_weights)
        absent = self.patterns[1][:, index]
        members = np.flatnonzero(np.tile(~absent, 2))
        parts = self._moments_of_parts(y, row_weights).part(self._places()[index])
        return parts.classes(members).merged(members // len(absent), 2)

    def _known_codes(self, y: Array | None, row_weights: Any) -> NDArray[np.intp]:
        """Return the classes for summing moments; drop those of other labels."""
        if not np.array_equal(row_weights, self._row_weights):
            self._row_weights = row_weights
            self._forget(None)
        if y is None:
            if self._codes is None:
                self._codes = np.zeros(self.blocks.n_rows, dtype=np.intp)
            return self._codes
        codes = (y > 0).astype(np.intp)
        if self._codes is None or not np.array_equal(codes, self._codes):
            self._forget(codes)
        return codes

    def _forget(self, codes: NDArray[np.intp] | None) -> None:
        """Drop the moments of other classes or weights than the next ones."""
        self._codes = codes
        self._are_stacked = False
        self._kept.clear()


def _sampled_parts(blocks: FeatureBlocks, y: Array) -> list[FeatureBlocks]:
    """Return the features of a seeded sample of each class's samples, negative samples first.

    Classes of at most 20,000 samples are taken whole; samples, not pairs, make the error of
    quartiles.
    """
    draw = own_stream(0)
    parts = []
    for of_class in (y <= 0, y > 0):
        members = np.flatnonzero(of_class)
        if len(members) > SAMPLED_ROWS:
            members = np.sort(draw.choice(members, SAMPLED_ROWS, replace=False))
        # In float64, so that they do not depend on how the features are stored.
        rows = blocks.rows[members].astype(np.float64)
        parts.append(FeatureBlocks(blocks.projectors, rows, cache=blocks.cache))
    return parts


def _quartiles(parts: Callable[[], list[FeatureBlocks]], index: int) -> list[list[float]]:
    """Return the quartiles of each block of a view's ΦΦᵀ on drawn samples."""
    # Each view has its own generator, so that their order does not matter.
    draw = own_stream(1)
    features = [part.features(index) for part in parts()]
    products = (pair_products(features[a], features[b], draw) for a, b in BLOCKS)
    return [np.quantile(values, [0.25, 0.75]).tolist() for values in products]


def _mean_and_deviation(
    means: Array, covariances: Sequence[Array], first: int, second: int
) -> tuple[float, float]:
    """Return mean and standard deviation of ΦΦᵀ on the samples of two classes.

    With a = ā + a' and b = b̄ + b', aᵀb − āᵀb̄ = āᵀb' + a'ᵀb̄ + a'ᵀb'. The three are uncorrelated
    over all pairs, so their variances add up, and none of them is lost in a large mean.
    """
    a, b, spread, beside = means[first], means[second], covariances[first], covariances[second]
    variance = a @ beside @ a + b @ spread @ b + np.vdot(spread, beside)
    return float(a @ b), float(np.sqrt(max(variance, 0.0)))


def _labels_in(y: Array) -> Array | None:
    """Return y if it has at most one value above zero and one other; None for numbers."""
    positive = y > 0
    same = all(
        len(labels) == 0 or (labels == labels[0]).all() for labels in (y[positive], y[~positive])
    )
    return y if same else None


def moment_products(
    moments: ClassMoments,
    places: Sequence[slice],
    with_labels: Array,
    mean: float,
    centered: bool,
    noise: float,
) -> KernelProducts:
    """Return ⟨K_k, K_l⟩ = ‖Φ_kᵀΦ_l‖² and yᵀKy = ‖Φᵀy‖², optionally centred first.

    Takes Φᵀy (P,) and the mean of y. Centred kernels whose size is at most ``noise`` per pair of
    samples are zero.
    """
    n_rows = moments.total
    normal = moments.normal_matrix()
    products = moments.together().covariance(0) * n_rows if centered else normal.products
    if centered:
        with_labels = with_labels - mean * normal.sums
    sizes = np.array([normal.diagonal[place].sum() / n_rows for place in places])
    sizes[~(sizes > 0)] = 1
    roots = list(zip(places, np.sqrt(sizes), strict=True))
    aligned_pairs = np.array(
        [[np.sum((products[a, b] / s / t) ** 2) for b, t in roots] for a, s in roots]
    )
    aligned = np.array([np.sum((with_labels[a] / s) ** 2) for a, s in roots])
    if centered:
        # Centring leaves only rounding errors of a constant kernel.
        constant = np.sqrt(np.diag(aligned_pairs)) / n_rows <= noise
        aligned_pairs[constant] = aligned_pairs[:, constant] = aligned[constant] = 0
    return KernelProducts(aligned_pairs, aligned, sizes)
