"""The empirical kernel map: coordinates in the span of the training samples, or of a subset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, in_, instance_of, lt, optional

from mklkit.errors import quoted
from mklkit.feature_maps.landmarks import STRATEGIES
from mklkit.numerics.least_squares import SPECTRUM_TOLERANCE, Spectrum
from mklkit.protocols import Array, FeatureMap, FeatureMapTraits, FittedKernel, FittedMap
from mklkit.protocols.component import as_int, is_whole
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.memory import check_gram_fits


def _subset(instance: object, attribute: Any, value: Any) -> None:
    count = is_whole(value) and value >= 1
    share = isinstance(value, float | np.floating) and 0 < value <= 1
    if not (value is None or count or share):
        raise ValueError(
            f"subset must be a count (1, 2, ...) or a fraction above 0 and up to 1.0,"
            f" got {quoted(value)}"
        )


@register
@attrs.frozen
class Empirical(FeatureMap):
    """Features by the empirical kernel map (EKM), or on a subset of the samples (nystroem).

    Φ(x) = Λ^{-1/2} Qᵀ k(S, x), where QΛQᵀ is the eigendecomposition of the Gram matrix of the
    landmark rows S. With every training row a landmark, ΦΦᵀ is the Gram matrix; with fewer
    landmarks it is its Nyström approximation, as in scikit-learn's ``Nystroem``.

    Parameters
    ----------
    subset : int or float, optional
        The number of landmarks, or their share of the training samples, the same for all kernels;
        all samples by default. A count above N means all.
    rank : int, optional
        Keep at most this many features, those of the largest eigenvalues.
    tol : float, default=1e-12
        Eigenvalues up to ``tol`` times the largest are omitted, and those within rounding error:
        in single precision up to √p · 1.2e-7 times the largest.
    landmarks : str, default='uniform'
        How landmarks are chosen, from the estimator's seed: ``'uniform'``, samples drawn at random;
        ``'kmeans'``, the centres of clusters of the samples, often more accurate at the same
        number; ``'leverage'``, samples drawn by approximate ridge leverage scores of the mean of
        the kernels, which prefer samples that are unlike others.
    most : int, optional
        The most landmarks if ``subset`` is a share, since their cost grows with p³.

    See Also
    --------
    Fourier : Features without landmarks, for Gaussian kernels.
    Implicit : Gram matrices instead of features.

    Notes
    -----
    Cost: O(p²d + p³) for p landmarks; a new sample costs O(pd + pr). The map is that of equations 5
    to 7 of Wang, Chen and Sun 2008 [1]_, on random subsets that of Wang et al. 2013 [2]_; k-means
    landmarks are those of [3]_, leverage scores those of equation 3 of [4]_, in O(Np²).

    References
    ----------
    .. [1] Z. Wang, S. Chen and T. Sun, "MultiK-MHKS: a novel multiple kernel learning algorithm",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 30 (2008), 348–353.
    .. [2] Z. Wang, W. Jie, S. Chen and D. Gao, "Random projection ensemble learning with multiple
       empirical kernels", Knowledge-Based Systems 37 (2013), 388–393.
    .. [3] K. Zhang, I. W. Tsang and J. T. Kwok, "Improved Nyström low-rank approximation and error
       analysis", International Conference on Machine Learning (2008).
    .. [4] A. Rudi, D. Calandriello, L. Carratino and L. Rosasco, "On fast leverage score sampling
       and optimal learning", Advances in Neural Information Processing Systems 31 (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.kernels.distances import RBF
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = RBF(sigma=1.0).fit(rows)
    >>> features = Empirical().fit(kernel, rows, np.random.RandomState(0)).transform(rows)
    >>> bool(np.allclose(features @ features.T, kernel(rows, rows)))
    True
    """

    name: ClassVar[str] = "empirical"
    searched_as: ClassVar[dict[str, str]] = dict.fromkeys(
        ("nystroem", "nystrom"), "empirical(subset=0.1)"
    )

    subset: float | None = attrs.field(default=None, validator=_subset)
    rank: int | None = attrs.field(
        default=None, converter=as_int, validator=optional([instance_of(int), ge(1)])
    )
    tol: float = attrs.field(default=1e-12, converter=float, validator=[ge(0), lt(1)])
    landmarks: str = attrs.field(default="uniform", validator=in_(tuple(STRATEGIES)))
    most: int | None = attrs.field(
        default=None, converter=as_int, validator=optional([instance_of(int), ge(1)])
    )

    def __attrs_post_init__(self) -> None:
        if self.subset is None and self.landmarks != "uniform":
            raise ValueError(
                f"landmarks={self.landmarks!r} chooses some of the samples, but without subset"
                " every sample is a landmark: give their number too, as in"
                f" empirical(subset=256, landmarks={self.landmarks!r})"
            )

    @property
    def traits(self) -> FeatureMapTraits:
        """Explicit features; all binary problems of a classifier share a subset."""
        return FeatureMapTraits(
            explicit=True,
            instead="implicit",
            shared=self.subset is not None,
            reproduces=self.subset is None and self.rank is None and self.tol <= SPECTRUM_TOLERANCE,
            needs_mean_rows=self.landmarks == "kmeans",
            sparse=self.landmarks != "kmeans",
        )

    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedEmpirical:
        """Return the map fitted on the training samples (N, d)."""
        return next(self.fit_all([kernel], [rows], random_state))

    def fit_all(
        self,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        random_state: np.random.RandomState,
    ) -> Iterator[FittedEmpirical]:
        """Yield each kernel's map, all on the same landmarks."""
        n_rows = rows[0].shape[0]
        n_landmarks = self._n_landmarks(n_rows)
        bank = KernelRows.of(kernels, rows)
        full = n_landmarks == n_rows
        check_gram_fits(n_landmarks, rows[0].dtype.itemsize, "samples" if full else "landmarks")
        # A slice reads the samples of a source.
        chosen = (
            bank.take(slice(0, n_rows))
            if full
            else STRATEGIES[self.landmarks](bank, n_landmarks, random_state)
        )
        for kernel, landmarks in zip(kernels, chosen.rows, strict=True):
            yield self._on(kernel, landmarks, full)

    def _on(self, kernel: FittedKernel, landmarks: Array, full: bool) -> FittedEmpirical:
        gram = kernel(landmarks, landmarks)
        spectrum = Spectrum.of(gram.astype(np.float64), self.tol)
        values, vectors = spectrum.values[: self.rank], spectrum.vectors[:, : self.rank]
        if len(values) == 0:
            # A zero Gram matrix maps every row to one constant feature, zero.
            values, vectors = np.zeros(1), np.zeros((landmarks.shape[0], 1))
        scale = np.divide(1, np.sqrt(values), where=values > 0, out=np.zeros_like(values))
        weights = (vectors * scale).astype(gram.dtype)
        return FittedEmpirical(kernel, landmarks, weights, values.astype(gram.dtype), full)

    def _n_landmarks(self, n_rows: int) -> int:
        if self.subset is None:
            return n_rows
        if isinstance(self.subset, (int, np.integer)):
            return min(int(self.subset), n_rows)
        wanted = max(1, round(float(self.subset) * n_rows))
        return wanted if self.most is None else min(wanted, self.most)


@register
@attrs.frozen(eq=False)
class FittedEmpirical(FittedMap):
    """The map with its landmarks S (p, d), its weights QΛ^{-1/2} (p, r) and Λ (r,)."""

    explicit: ClassVar[bool] = True
    from_landmarks: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    kernel: FittedKernel
    landmarks: Array
    weights: Array
    eigenvalues: Array
    full: bool
    """Whether the landmarks are all training samples, in their order."""

    def transform(self, rows: Array) -> Array:
        """Return the features (n, r) of samples (n, d)."""
        return self.from_similarities(self.kernel(rows, self.landmarks))

    def from_similarities(self, values: Array) -> Array:
        """Return the features, given the similarities (n, p) to the landmarks."""
        return values @ self.weights

    def on_similarities(self, coefficients: Array) -> Array:
        """Return the coefficients (p,) or (p, k) on similarities that equal these on features."""
        return self.weights @ coefficients

    def from_sums(self, sums: Array) -> Array:
        """Return sums over features (r,) or (r, k), given sums over similarities (p,) or (p, k)."""
        return self.weights.T @ sums

    def training_features(self) -> Array | None:
        """Return the features of the training samples, QΛ^{1/2}, if all samples are landmarks."""
        return self.weights * self.eigenvalues if self.full else None

    def squared_lengths(self) -> Array | None:
        """Return the diagonal Λ of ``features.T @ features`` if all samples are landmarks."""
        return self.eigenvalues if self.full else None
