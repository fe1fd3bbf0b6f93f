"""Cluster gating: kernel weights per soft cluster, and an embedding (Mu and Zhou 2011)."""

from __future__ import annotations

import threading
import warnings
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import attrs
import numpy as np
from attrs.validators import ge, in_, instance_of
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from mklkit.combiners.cluster_gating.stages import Stages
from mklkit.combiners.templates.gating import Composition, GatingCombiner
from mklkit.display.numbers import significant
from mklkit.errors import DataError, MKLKitWarning, SpecError, suggest
from mklkit.numerics.graph_embedding import discriminant_graphs, embedding_size
from mklkit.protocols import Array, CombinerTraits, Views
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register
from mklkit.registry.specs import parse_spec

FILTERS = threading.Lock()
"""Warning filters are global: two threads that change and restore them at once would conflict."""
MIXTURES = {
    "gaussian-mixture": "GaussianMixture",
    "bayesian-gaussian-mixture": "BayesianGaussianMixture",
}
"""Classes of ``sklearn.mixture``."""


@runtime_checkable
class Clusterer(Protocol):
    """A soft clustering, such as scikit-learn's mixtures."""

    def fit(self, X: Array) -> Any: ...
    def predict_proba(self, X: Array) -> Array: ...


def _clusterer(instance: object, attribute: Any, value: Any) -> None:
    if isinstance(value, str):
        name = parse_spec(value).name
        if name not in MIXTURES:
            raise SpecError(
                f"clusterer must be one of {', '.join(MIXTURES)} or an object with fit and"
                f" predict_proba; got {value!r}.{suggest(name, MIXTURES)}"
            )
    elif isinstance(value, type) or not isinstance(value, Clusterer):
        raise SpecError(f"clusterer must be an object with fit and predict_proba; got {value!r}.")


@register
@attrs.frozen(eq=False)
class ClusterGates:
    """Soft clusters Γ and their kernel weights Θ (C, M): the gates of a sample are Γ(x)Θ.

    ``history`` is the trace ratio after each stage, which never decreases.
    """

    clusterer: Any
    weights: Array
    history: tuple[float, ...]

    def memberships(self, rows: Array) -> Array:
        """Return Γ (n, C) of samples (n, d)."""
        return np.asarray(self.clusterer.predict_proba(rows))

    def gates(self, rows: Array) -> Array:
        """Return each sample's weight on each kernel, (n, M)."""
        return self.memberships(rows) @ self.weights


@register
@attrs.frozen
class ClusterGating(GatingCombiner):
    """Non-uniform MKL: each soft cluster of the data has its own kernel weights.

    The composite kernel is Σ_p (η_p(x) + η_p(z)) k_p(x, z), or with products of the gates, for
    η_p(x) = Γ(x)Θ_p, with the p-th column of Θ. Θ and an embedding are learned alternately, each
    raising the trace ratio (Mu and Zhou 2011 [1]_).

    The sum form is linear in Θ but in general not positive semi-definite; as in the paper it is
    used unchanged, which ``kda`` supports. For ``svm`` and ``kmhks`` a warning is given when a
    composite is indefinite; the product form never is.

    Parameters
    ----------
    n_clusters : int, default=4
        The number C of clusters; 1 gives uniform MKL with learned weights. Limited to the number of
        samples, with a warning.
    composition : {"sum", "product"}, default="sum"
        How the gates of two samples are combined.
    alpha : float, default=1e-3
        The Tikhonov regularisation of the embedding, γ in the paper.
    smoothness : float, default=0.0
        The penalty γ_θ on weights that differ between clusters.
    clusterer : str or object, default="gaussian-mixture"
        ``"gaussian-mixture"`` or ``"bayesian-gaussian-mixture"``, optionally with scikit-learn's
        parameters, or any object with ``fit`` and ``predict_proba``.
    pairs : {"gradient", "random"}, default="gradient"
        Which weights exchange in a step of stage two; the paper uses random pairs.
    steps : {"accelerated", "plain"}, default="accelerated"
        Accelerated: an alternation continues in the direction of stage two while the ratio rises,
        and stage two adds Newton steps to exchanges by gradient. Plain: only exchanges, as in the
        paper's Algorithms 1 and 2; needs many more alternations.
    max_iter : int, default=50
        The maximum number of alternations of the two stages.
    tol : float, default=1e-4
        Stop when an alternation raises the ratio by at most this fraction of itself; with 0 there
        are always ``max_iter`` alternations.
    max_rounds : int, default=100
        T_max of Algorithm 1, for plain steps: the maximum number of rounds per alternation. A round
        ends with the first exchange that gains nothing.

    See Also
    --------
    Uniform : The same weights for all samples.

    Notes
    -----
    Cost: O(CM·N²K) per alternation for C clusters and K components, and O(N³) for the embedding.

    An alternation costs O(CM·N²K) for K components, tile by tile, and an embedding of one composite
    Gram matrix, O(N³). Peak memory is five N × N matrices, whatever M, and the kernels' tiles where
    these take at most 128 MiB.

    References
    ----------
    .. [1] Y. Mu and B. Zhou, "Non-uniform multiple kernel learning with cluster-based gating
       functions", Neurocomputing 74 (2011), 1095–1101.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> gating = ClusterGating(n_clusters=2)
    >>> model = MKLClassifier(["linear", "rbf"], combiner=gating, random_state=0).fit(X, y)
    >>> model.gate_weights(X).shape
    (150, 2)
    """

    name: ClassVar[str] = "cluster-gating"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learner="kda",
        learns=("two classes", "several classes"),
        row_weights="learner",
        search_space={"n_clusters": (1, 2, 4, 8)},
    )

    n_clusters: int = attrs.field(default=4, converter=as_int, validator=[instance_of(int), ge(1)])
    composition: Composition = attrs.field(default="sum", validator=in_(("sum", "product")))
    alpha: float = attrs.field(default=1e-3, converter=float, validator=[ge(0), finite_number])
    smoothness: float = attrs.field(default=0.0, converter=float, validator=[ge(0), finite_number])
    clusterer: Any = attrs.field(default="gaussian-mixture", validator=_clusterer)
    pairs: Literal["gradient", "random"] = attrs.field(
        default="gradient", validator=in_(("gradient", "random"))
    )
    steps: Literal["accelerated", "plain"] = attrs.field(
        default="accelerated", validator=in_(("accelerated", "plain"))
    )
    max_iter: int = attrs.field(default=50, converter=as_int, validator=[instance_of(int), ge(1)])
    tol: float = attrs.field(default=1e-4, converter=float, validator=[ge(0), finite_number])
    max_rounds: int = attrs.field(
        default=100, converter=as_int, validator=[instance_of(int), ge(1)]
    )

    def fit_gates(
        self, views: Views, y: Array, random_state: np.random.RandomState
    ) -> ClusterGates:
        """Return the gates: soft clusters and their kernel weights."""
        rows = np.asarray(views.rows)
        with np.errstate(over="ignore", invalid="ignore"):
            spread, squares = float(rows.var()), float(np.square(rows).sum())
        if not (np.isfinite(spread) and np.isfinite(squares)):
            raise DataError(
                f"cluster-gating can't separate clusters: squares of values up to"
                f" {significant(np.abs(rows).max(), 2)} overflow {rows.dtype}. Scale the data."
            )
        n_clusters = min(self.n_clusters, len(rows))
        if isinstance(self.clusterer, str) and n_clusters < self.n_clusters:
            warnings.warn(
                f"cluster-gating uses {n_clusters} clusters, as there are {len(rows)} samples.",
                MKLKitWarning,
                stacklevel=4,
            )
        from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

        mixture = self._mixture(n_clusters, rows, spread, random_state)
        try:
            with threadpool_limits(1):  # k-means on a few thousand samples is faster in one thread
                ours = isinstance(mixture, (GaussianMixture, BayesianGaussianMixture))
                # Warnings of a user's object pass through.
                fitted = _fitted(mixture, rows) if ours else mixture.fit(rows)
        except ValueError as error:
            raise SpecError(f"The clusterer {self.clusterer!r} can't be fitted: {error}") from None
        memberships = np.asarray(fitted.predict_proba(rows), dtype=np.float64)
        stages = Stages(self, views, memberships, discriminant_graphs(y), random_state)
        theta, history = stages.alternate(embedding_size(None, y))
        return ClusterGates(fitted, theta, history)

    def _mixture(
        self, n_clusters: int, rows: Array, spread: float, random_state: np.random.RandomState
    ) -> Any:
        if not isinstance(self.clusterer, str):
            return clone(self.clusterer)
        from sklearn import mixture  # takes as long to import as all other combiners together

        spec = parse_spec(self.clusterer)
        # A full covariance needs several samples for each of its d(d + 1)/2 entries.
        enough = len(rows) >= 5 * n_clusters * rows.shape[1]
        settings = {
            "n_components": n_clusters,
            "covariance_type": "full" if enough else "diag",
            "reg_covar": 1e-6 * max(spread, 1e-12),
            "random_state": random_state.randint(2**31 - 1),
            **spec.kwargs,
        }
        try:
            return getattr(mixture, MIXTURES[spec.name])(**settings)
        except TypeError as error:
            raise SpecError(f"{self.clusterer!r} can't be built: {error}") from None


def _fitted(mixture: Any, rows: Array) -> Any:
    """Return a fitted mixture, with our advice in place of scikit-learn's warnings."""
    with FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = mixture.fit(rows)
    n_clusters = mixture.n_components
    if not fitted.converged_ or len(np.unique(rows, axis=0)) < n_clusters:
        warnings.warn(
            f"cluster-gating stopped before its {n_clusters} clusters converged, or samples form"
            " fewer: the result so far is used. Scaled data or a smaller n_clusters may help.",
            MKLKitWarning,
            stacklevel=5,
        )
    return fitted
