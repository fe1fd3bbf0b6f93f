"""Ridge regression of several targets at once, with an optional bias, sample weights, any ridge.

Minimises Σ_i s_i (f(x_i) − y_i)² + α‖w‖² over f = ⟨w, φ⟩ + w₀. The weighted mean of the samples is
subtracted, which gives the bias, and each sample is scaled by √s_i. One factorisation of the
products of samples (N, N) or of features (p, p) serves all targets; its eigenpairs serve all
ridges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.least_squares import SPECTRUM_TOLERANCE, Spectrum, gram_rounding, ridge_solver
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.sampling import sampled_places
from mklkit.numerics.threads import each

Array = NDArray[np.floating[Any]]

RIDGES = tuple(10.0 ** (k / 2) for k in range(8, -17, -1))
"""10⁴ … 10⁻⁸, times the mean k(x, x) of the samples about their mean: the grid of chosen ridges."""

BLOCK_ROWS, SAMPLED_ROWS = 2048, 20_000
"""The most samples for leave-one-out errors on features, evenly drawn."""


@attrs.frozen(eq=False)
class WeightedRows:
    """Weights of N samples, and their shares in the subtracted mean: zeros without an intercept.

    ``groups`` are samples that are held out together, None if each is held out alone.
    """

    weights: Array
    shares: Array
    groups: Sequence[NDArray[np.intp]] | None = None

    @classmethod
    def of(
        cls,
        n_rows: int,
        weights: Array | None,
        intercept: bool,
        groups: NDArray[np.intp] | None = None,
    ) -> WeightedRows:
        """Return the weights (N,), by default ones; ``groups`` has a number per sample."""
        counts = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
        shares = counts / counts.sum() if intercept else np.zeros(n_rows)
        if groups is None:
            return cls(counts, shares)
        order, (_, starts) = np.argsort(groups, kind="stable"), np.unique(np.sort(groups), True)
        return cls(counts, shares, np.split(order, starts[1:]))

    @property
    def roots(self) -> Array:
        """√s (N, 1)."""
        return np.sqrt(self.weights)[:, None]

    def centered(self, targets: Array) -> tuple[Array, Array]:
        """Return centred targets (N, T) and their means (T,)."""
        means = self.shares @ targets
        return targets - means, means

    def left_out(self, place: Any, residuals: Array, leverages: Array) -> Array:
        """Return the sums of squared leave-one-out errors (T, A) of some samples, for A ridges.

        The residual (n, T, A) of a sample is divided by what is left of 1 without its leverage (n,
        A): Allen (1974); Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning",
        equation 7.64. A sample is held out with all of its weight: with a part of it, the rest
        would predict the sample itself.
        """
        remaining = np.maximum(1 - leverages, np.finfo(np.float64).eps)
        return np.tensordot(self.weights[place], np.square(residuals / remaining[:, None]), 1)

    def left_out_together(
        self, members: NDArray[np.intp], residuals: Array, factors: Array, kept: Array
    ) -> Array:
        """Return the sums of squared errors (T, A) of samples that are held out together.

        For residuals (n, T, A) and a column k of ``kept`` (q, A) for each ridge.
        """
        return np.column_stack(
            [
                np.square(self.errors_together(members, residuals[:, :, place], factors, k)).sum(0)
                for place, k in enumerate(kept.T)
            ]
        )

    def errors_together(
        self, members: NDArray[np.intp], residuals: Array, factors: Array, kept: Array
    ) -> Array:
        """Return the errors (n, T) of samples that are held out together, times √ of their weights.

        Their residuals (n, T) are (I − H)e for their errors e when held out of the fit, with
        their block H of the hat matrix: F diag(k) Fᵀ from factors F (n, q) and k = ``kept`` (q,),
        and the mean.
        """
        roots = np.sqrt(self.shares[members])
        remaining = (1 + np.finfo(np.float64).eps) * np.eye(len(members)) - np.outer(roots, roots)
        remaining -= (factors * kept) @ factors.T
        scaled = np.sqrt(self.weights[members])[:, None] * residuals
        return np.asarray(np.linalg.solve(remaining, scaled))


class RidgeSystem(ABC):
    """Ridge regressions on the same samples, from the products of samples or of features (n, n).

    The products are centred and weighted; their eigenvalues up to ``floor`` are rounding errors of
    constant parts.
    """

    def __init__(self, products: Array, rows: WeightedRows, floor: float) -> None:
        self.rows = rows
        self._products = products
        self._floor = floor

    @property
    def spread(self) -> float:
        """The mean k(x, x) of the samples about their mean."""
        return max(float(np.trace(self._products)), 0.0) / float(self.rows.weights.sum())

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenpairs of the products."""
        return Spectrum.of(self._products, floor=self._floor)

    def solve(self, targets: Array, alphas: Array) -> tuple[Array, Array]:
        """Return coefficients (N or p, T) and biases (T,) for targets (N, T) and ridges (T,).

        One ridge for all targets takes a Cholesky factor, O(n³/3); several take the eigenpairs.
        """
        centered, means = self.rows.centered(targets)
        solver = None
        alpha = float(alphas[0])
        if "spectrum" not in self.__dict__ and (alphas == alpha).all():
            least = max(SPECTRUM_TOLERANCE * float(np.trace(self._products)), self._floor)
            solver = ridge_solver(self._products.copy(), alpha, least)
        # A negligible ridge, an indefinite kernel, or a ridge per target.
        solver = solver or partial(self.spectrum.solve, self.spectrum.values[:, None] + alphas)
        return self._finished(solver(self._right_side(centered)), means)

    def best_ridges(
        self, targets: Array, ridges: Sequence[float] = RIDGES, shared: bool = False
    ) -> Array:
        """Return the ridge (T,) with the least leave-one-out error; ties go to the largest.

        ``ridges`` are multiples of :attr:`spread`, the largest first. A ``shared`` one is the same
        for all targets, with the least sum of their errors.
        """
        alphas = np.array(ridges) * (self.spread or 1.0)
        errors = self.errors(targets, alphas)
        if shared:
            errors = np.broadcast_to(errors.sum(axis=0), errors.shape)
        return np.asarray(alphas[errors.argmin(axis=1)])

    def errors(self, targets: Array, alphas: Array) -> Array:
        """Return the mean squared leave-one-out errors (T, A), exact without a fit per sample."""
        return self._sums_of_errors(targets, alphas) / self.rows.weights.sum()

    @abstractmethod
    def _right_side(self, centered: Array) -> Array:
        """Return the right side of the system (n, T) for centred targets (N, T)."""

    @abstractmethod
    def _finished(self, solution: Array, means: Array) -> tuple[Array, Array]:
        """Return coefficients and biases for the system's solution (n, T)."""

    @abstractmethod
    def _sums_of_errors(self, targets: Array, alphas: Array) -> Array:
        """Return the sums of squared leave-one-out errors (T, A)."""


class GramRidge(RidgeSystem):
    """Ridge regression from a Gram matrix (N, N): coefficients are those of the training rows."""

    def __init__(self, gram: Array, rows: WeightedRows) -> None:
        self._means = rows.shares @ np.asarray(gram, np.float64)
        centered = gram - self._means
        centered -= (centered @ rows.shares)[:, None]
        centered *= rows.roots
        centered *= rows.roots.T
        super().__init__(centered, rows, gram_rounding(gram, rows.weights))

    def _right_side(self, centered: Array) -> Array:
        return self.rows.roots * centered

    def _finished(self, solution: Array, means: Array) -> tuple[Array, Array]:
        weights = self.rows.roots * solution
        weights -= self.rows.shares[:, None] * weights.sum(axis=0)
        return weights, means - self._means @ weights

    def _sums_of_errors(self, targets: Array, alphas: Array) -> Array:
        squares = squared_errors(self.spectrum, self.rows, targets, alphas)
        return np.column_stack([of_ridge.sum(axis=0) for of_ridge in squares])


def squared_errors(
    spectrum: Spectrum, rows: WeightedRows, targets: Array, alphas: Array
) -> Iterator[Array]:
    """Yield the squared leave-one-out errors (N, T) for each ridge, times the samples' weights.

    ``spectrum`` are the eigenpairs of the centred, weighted products of samples. O(N²(T + 1)) for
    each ridge, and O(n³) for each group of n samples that are held out together.
    """
    centered, _ = rows.centered(targets)
    roots = rows.roots
    turned = spectrum.vectors.T @ (roots * centered)
    vectors_squared = spectrum.vectors**2 if rows.groups is None else None
    for alpha in alphas:
        kept = spectrum.values / (spectrum.values + alpha)
        residuals = centered - spectrum.vectors @ (kept[:, None] * turned) / roots
        if vectors_squared is not None:
            leverages = rows.shares + vectors_squared @ kept
            remaining = np.maximum(1 - leverages, np.finfo(np.float64).eps)
            yield rows.weights[:, None] * np.square(residuals / remaining[:, None])
            continue
        errors = np.empty_like(residuals)
        for members in rows.groups or ():
            errors[members] = rows.errors_together(
                members, residuals[members], spectrum.vectors[members], kept
            )
        yield np.square(errors)


def one_hot(numbers: NDArray[Any]) -> Array:
    """Return 1 for the class of each sample and 0 for others, (N, C), of class numbers (N,)."""
    return np.asarray(numbers[:, None] == np.arange(numbers.max() + 1), np.float64)


@attrs.frozen(eq=False)
class LeftOut:
    """Leave-one-out errors at the ridge with the least sum of them.

    ``errors`` (N,) are squared, summed over all targets and times the samples' weights; ``alpha``
    is the ridge.
    """

    errors: Array
    alpha: float


def left_out(
    spectrum: Spectrum, rows: WeightedRows, targets: Array, alphas: Sequence[float]
) -> LeftOut:
    """Return the leave-one-out errors of all targets (N, T) with one ridge for all of them."""
    pairs = zip(squared_errors(spectrum, rows, targets, np.asarray(alphas)), alphas, strict=True)
    results = [LeftOut(squares.sum(axis=1), float(alpha)) for squares, alpha in pairs]
    return min(results, key=lambda result: float(result.errors.sum()))


def spectrum_of_features(features: Array, rows: WeightedRows) -> Spectrum:
    """Return the eigenpairs of the centred, weighted products ΦΦᵀ of samples with features (N, p).

    From those of ΦᵀΦ, in O(Np² + p³): for p < N.
    """
    centered = rows.roots * (features - rows.shares @ features)
    of_columns = Spectrum.of(centered.T @ centered)
    return Spectrum(of_columns.values, centered @ of_columns.vectors / np.sqrt(of_columns.values))


class FeatureRidge(RidgeSystem):
    """Ridge regression on features (N, p), from their products and passes over blocks of samples.

    ``products`` are Σ s_i (φ_i − μ)(φ_i − μ)ᵀ about the ``center`` μ, the features' weighted mean,
    or zeros without an intercept; ``project_back`` returns Φᵀt (p, T) of targets (N, T), and
    ``features`` the features (n, p) of the samples of an index array.
    """

    def __init__(
        self,
        products: Array,
        center: Array,
        rows: WeightedRows,
        floor: float,
        project_back: Callable[[Array], Array],
        features: Callable[[NDArray[np.intp]], Array],
    ) -> None:
        super().__init__(products, rows, floor)
        self._center = center
        self._project_back = project_back
        self._features = features

    def _right_side(self, centered: Array) -> Array:
        return np.asarray(self._project_back(self.rows.weights[:, None] * centered), np.float64)

    def _finished(self, solution: Array, means: Array) -> tuple[Array, Array]:
        return solution, means - self._center @ solution

    def _sums_of_errors(self, targets: Array, alphas: Array) -> Array:
        centered, _ = self.rows.centered(targets)
        turned = self.spectrum.vectors.T @ self._right_side(centered)
        inverse = 1 / (self.spectrum.values[:, None] + alphas)
        solutions = inverse[:, None] * turned[:, :, None]
        members = np.arange(len(targets))[sampled_places(len(targets), SAMPLED_ROWS)]

        def of_rows(places: NDArray[np.intp], together: bool) -> Array:
            rows = self._features(places)
            rows = (rows - self._center.astype(rows.dtype)) @ self.spectrum.vectors.astype(
                rows.dtype
            )
            residuals = centered[places, :, None] - np.tensordot(rows, solutions, 1)
            if together:
                scaled = np.sqrt(self.rows.weights[places, None]) * rows
                return self.rows.left_out_together(places, residuals, scaled, inverse)
            squares = self.rows.weights[places, None] * rows**2
            leverages = self.rows.shares[places, None] + squares @ inverse
            return self.rows.left_out(places, residuals, leverages)

        if self.rows.groups is not None:
            parts = list(each(lambda places: of_rows(places, True), self.rows.groups))
            return np.sum(parts, axis=0)
        blocks = row_blocks(len(members), BLOCK_ROWS)
        total = sum(each(lambda block: of_rows(members[block], False), blocks))
        return total * (self.rows.weights.sum() / self.rows.weights[members].sum())
