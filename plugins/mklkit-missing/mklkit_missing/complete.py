"""Kernel completion: a missing source of a sample is predicted from those that it has."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import scipy.linalg
import scipy.optimize
from attrs.validators import ge, gt, instance_of
from numpy.typing import NDArray

from mklkit import IncompatibleError
from mklkit.plugin import (
    Array,
    BlockDecision,
    Combiner,
    FittedKernel,
    Learner,
    Missing,
    RowBlock,
    Target,
    as_int,
    finite_number,
    register,
)
from mklkit_missing.wrapping import Around, has_sources

LEAST = 0.1
"""The least similarity of two sources, as a part of the mean."""


@register
@attrs.frozen
class Complete(Missing):
    """Complete each kernel: a sample's image in a missing source is predicted from the others.

    φ̂_m(x) = Σ_j β_j(x) φ_m(x_j) over the samples S that have source m, with β(x) = (C_SS + λI)⁻¹
    C_Sx: kernel ridge regression of φ_m on C = Σ_l s_ml K_l, a sum of the other kernels that x has.
    The similarities s_ml ≥ 0 of the sources minimise ‖K_m − Σ_l s_ml K_l‖² over the samples that
    have all sources, and are at least a tenth of the mean of s_m; they are equal with fewer such
    samples than sources. In each turn, kernels are completed from the completions of the turn
    before.

    Parameters
    ----------
    ridge : float, default=0.1
        λ, as a share of the mean of the diagonal of C.
    n_iter : int, default=3
        How often each kernel is completed.

    Notes
    -----
    Cost: O(N³) per source and turn; for implicit maps, but not kernels on text. Completed kernels
    are positive semi-definite, as inner products of images. A new sample needs the similarities to
    all training samples. Source: Bhadra, Kaski and Rousu, Multi-view kernel completion, Machine
    Learning 106 (2017), where completed kernels are A K A', with A the identity for samples that
    have the source, and each is close to a non-negative sum of the others. Unlike there, A and s
    are not searched together by gradients, with a sparse A: ridge regression also gives A for new
    samples.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X = np.sqrt(np.arange(24.0).reshape(12, 2))
    >>> X[:3, 1] = np.nan
    >>> kernels = ["first:rbf@0:1", "second:rbf@1:2"]
    >>> model = MKLClassifier(kernels, missing="complete").fit(X, [0] * 6 + [1] * 6)
    >>> model.predict(X[[0, 11]]).tolist()
    [0, 1]
    """

    name: ClassVar[str] = "complete"
    searched_as: ClassVar[dict[str, str]] = {"completion": "complete", "mkc": "complete"}

    ridge: float = attrs.field(default=0.1, converter=float, validator=[gt(0), finite_number])
    n_iter: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(2)])

    def wrap(self, combiner: Combiner) -> Combiner:
        """Return a combiner that completes the kernels for another one."""
        return _CompletingCombiner(combiner, self.ridge, self.n_iter)


@register
@attrs.frozen(eq=False)
class Completion:
    """The information of training samples on missing sources.

    ``shares`` are the similarities s_ml of the sources (M, M), 0 on the diagonal. ``similar`` are
    the completed kernels of the training samples (N, N), ``roots`` the coefficients β of those with
    a missing source (N, N), rows of zeros for others, ``before`` those of the turn before, and
    ``inverses`` (C_SS + λI)⁻¹ of each source, on the samples ``members`` that have it.
    """

    shares: Array
    similar: list[Array]
    roots: list[Array]
    before: list[Array]
    members: list[NDArray[np.intp]]
    inverses: list[Array]

    @classmethod
    def of(
        cls, grams: list[Array], has: NDArray[np.bool_], ridge: float, n_iter: int
    ) -> Completion:
        """Return the completion of kernels (N, N), which are zero where the source is missing."""
        n_rows, n_sources = has.shape
        similar = grams
        shares = _similarities(grams, has)
        members = [np.flatnonzero(column) for column in has.T]
        known = has
        roots = [np.zeros((n_rows, n_rows)) for _ in grams]
        for _ in range(n_iter):
            # All by the kernels of the turn before, as new samples are, so that these have the same
            # β.
            before = roots
            earlier = similar
            roots = []
            similar = []
            inverses = []
            for m in range(n_sources):
                rows = members[m]
                lack = np.flatnonzero(~has[:, m])
                among = _mean(earlier, shares[m], known, known, rows, rows)
                among[np.diag_indices_from(among)] += ridge * max(
                    np.trace(among) / max(len(rows), 1), 1e-12
                )
                inverses.append(scipy.linalg.inv(among))
                beside = _mean(earlier, shares[m], has, known, lack, rows)
                root = np.zeros((n_rows, n_rows))
                root[np.ix_(lack, rows)] = beside @ inverses[m]
                whole = root + np.diag(has[:, m].astype(float))
                roots.append(root)
                similar.append(whole @ grams[m] @ whole.T)
            known = np.ones_like(has)
        return cls(shares, similar, roots, before, members, inverses)

    def coefficients(self, similar: list[Array], has: NDArray[np.bool_]) -> list[Array]:
        """Return the β (n, N) of new samples, given similarities to training samples (n, N)."""
        n_rows = len(self.roots[0])
        completed = []
        for m, values in enumerate(similar):
            # Similarities to training samples without this source, by their completions.
            whole = self.before[m].copy()
            whole[self.members[m], self.members[m]] = 1.0
            completed.append(values @ whole.T)
        every = np.ones((n_rows, len(similar)), bool)
        roots = []
        for m in range(len(similar)):
            lack = np.flatnonzero(~has[:, m])
            rows = self.members[m]
            root = np.zeros((len(has), n_rows))
            beside = _mean(completed, self.shares[m], has, every, lack, rows)
            root[np.ix_(lack, rows)] = beside @ self.inverses[m]
            roots.append(root)
        return roots


def _similarities(grams: list[Array], has: NDArray[np.bool_]) -> Array:
    """Return s (M, M), each row the least squares of a kernel by others, its sum 1."""
    n_sources = len(grams)
    shares = np.ones((n_sources, n_sources)) - np.eye(n_sources)
    whole = np.flatnonzero(has.all(axis=1))
    if len(whole) >= n_sources > 1:
        pairs = np.triu_indices(len(whole), 1)
        columns = np.column_stack([gram[np.ix_(whole, whole)][pairs] for gram in grams])
        for m in range(n_sources):
            others = np.arange(n_sources) != m
            fit, _ = scipy.optimize.nnls(columns[:, others], columns[:, m])
            # A sample that has nothing but an unlike source is predicted from that one all the
            # same.
            shares[m, others] = np.maximum(fit, LEAST * fit.mean()) if fit.any() else 1.0
    return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)


def _mean(
    kernels: list[Array],
    shares: Array,
    has: NDArray[np.bool_],
    known: NDArray[np.bool_],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> Array:
    """Return Σ_l s_l a_l(x) a_l(z) k_l(x, z) / √(t(x) t(z)), t(x) = Σ_l s_l a_l(x)."""
    total = np.zeros((len(rows), len(columns)))
    for source in np.flatnonzero(shares):
        values = shares[source] * kernels[source][np.ix_(rows, columns)]
        total += values * np.outer(has[rows, source], known[columns, source])
    sums = [each @ shares for each in (has[rows], known[columns])]
    return total / np.outer(*[np.sqrt(np.where(each > 0, each, 1.0)) for each in sums])


@register
@attrs.frozen(eq=False)
class CompletedKernel(FittedKernel):
    """One completed kernel, on rows of (own columns, whether they are missing, β)."""

    kernel: FittedKernel
    training: Array
    start: int
    width: int
    n_sources: int
    place: int
    n_columns: int

    def _images(self, rows: Array) -> tuple[Array, Array, Array]:
        n_training = len(self.training)
        columns = rows[:, self.start : self.start + self.width]
        missing = rows[:, self.n_columns + self.place] > 0
        first = self.n_columns + self.n_sources + self.place * n_training
        return np.ascontiguousarray(columns), missing, rows[:, first : first + n_training]

    def __call__(self, a: Array, b: Array) -> Array:
        """Return ⟨φ̂(x), φ̂(z)⟩, (n, m)."""
        columns, missing, roots = self._images(a)
        others, others_lack, others_roots = self._images(b)
        values = np.array(self.kernel(columns, others))
        if missing.any():
            beside = self.kernel(self.training, others)
            values[missing] = roots[missing] @ beside
        if others_lack.any():
            beside = np.array(self.kernel(columns, self.training))
            if missing.any():
                beside[missing] = roots[missing] @ self.kernel(self.training, self.training)
            values[:, others_lack] = beside @ others_roots[others_lack].T
        return values

    def diagonal(self, a: Array) -> Array:
        """Return ‖φ̂(x)‖² (n,)."""
        columns, missing, roots = self._images(a)
        values = np.array(self.kernel.diagonal(columns))
        if missing.any():
            gram = self.kernel(self.training, self.training)
            values[missing] = np.einsum("ij,ij->i", roots[missing] @ gram, roots[missing])
        return values


@attrs.frozen
class _CompletingCombiner(Around):
    name: ClassVar[str] = "complete"

    ridge: float
    n_iter: int

    def fit(
        self, views: Any, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> CompletedDecision:
        """Return the other combiner's decision on completed kernels."""
        if views.explicit:
            raise IncompatibleError(
                "missing='complete' completes Gram matrices: use feature_map='implicit', or"
                " missing='present', which works on features too."
            )
        on_text = [view.label for view in views if view.projector.reads == "text"]
        if on_text:
            raise IncompatibleError(
                f"missing='complete' keeps what kernels read in columns of one width, and kernel"
                f" {on_text[0]!r} reads text: use missing='present' or 'per-pattern'."
            )
        has = has_sources(views.missing, len(target), len(views))
        grams = [np.asarray(view.gram(keep=False), dtype=np.float64) for view in views]
        completion = Completion.of(grams, has, self.ridge, self.n_iter)
        images = Images([view.projector for view in views], completion)
        parts = [np.asarray(view.rows, dtype=np.float64) for view in views]
        rows = images.joined(parts, has, completion.roots)
        kernels = []
        start = 0
        n_columns = sum(part.shape[1] for part in parts)
        for place, (view, part) in enumerate(zip(views, parts, strict=True)):
            width = part.shape[1]
            # β is 0 for samples without this source, which hold medians in these columns.
            shape = (start, width, len(views), place, n_columns)
            kernels.append(CompletedKernel(view.kernel, part, *shape))
            start += width
        completed = views.replaced(kernels, rows)
        decision = self.combiner.fit(completed, target, learner, random_state)
        return CompletedDecision(decision.weights, images, decision)


@register
@attrs.frozen(eq=False)
class Images:
    """Turns samples into (own columns of all kernels, what is missing, β of each source)."""

    projectors: list[Any]
    completion: Completion

    def joined(self, parts: list[Array], has: NDArray[np.bool_], roots: list[Array]) -> Array:
        """Return rows of all columns, of what is missing (n, M), and of coefficients (n, MN)."""
        return np.hstack([*parts, (~has).astype(np.float64), *roots])

    def of(self, block: RowBlock) -> Array:
        """Return new samples."""
        missing = block.missing_of(self.projectors)
        has = has_sources(missing, len(block), len(self.projectors))
        similar: list[Any] = [None] * len(self.projectors)
        for index, values in block.columns_of(self.projectors):
            similar[index] = np.array(values, dtype=np.float64)
        parts = [np.asarray(a, np.float64) for a in block.rows.arrays_of(self.projectors)]
        return self.joined(parts, has, self.completion.coefficients(similar, has))


@register
@attrs.frozen(eq=False)
class CompletedDecision(BlockDecision):
    """A decision on completed kernels."""

    weights: Array
    images: Images
    decision: Any

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values of one block of samples."""
        return np.asarray(self.decision.decide(self.images.of(block)))
