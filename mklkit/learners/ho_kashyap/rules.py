"""The iterations of coupled Ho–Kashyap learners (Wang, Chen and Sun 2008; Wang and Chen 2009).

Minimises, over one decision function f_l and margins b_l ≥ 0 per view,

    L = Σ_l [‖f_l − φ∘(1 + b_l)‖² + penalty_l] + λ Σ_l ‖f_l − f̄‖²,   f̄ = Σ_j μ_j f_j.

If samples lack sources, the squares of a view are over the samples that have its source, and f̄ is
the mean of the views that a sample has; μ depends on the pattern of sources.

For labels φ of −1 and +1 the misfit is the papers' ‖φ∘f_l − 1 − b_l‖²; for numbers, with margins
that stay at b = 0, it is ‖f_l − φ‖². Norms over samples are weighted where samples have weights.
With one view this is MHKS, KMHKS or ridge regression. Many (λ, ridge) pairs run side by side, one
per column, so a whole grid reads the features as often as one fit does; converged columns are
removed.

Arrays are (N, G) per view: N training samples, G columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled
from mklkit.protocols import Array, CouplingTraits, Stopping

PAPER_GRID = tuple(2.0**k for k in range(-4, 5))
"""2⁻⁴ … 2⁴, for the ridge α (the papers' c) and for λ (Wang, Chen and Sun 2008, section 3)."""

SIMPLEST_FIRST = PAPER_GRID[::-1]
"""Most ridge, and most agreement, first."""

COUPLINGS_OF_WANG_2009 = tuple(10.0**k for k in range(-5, 5))
"""10⁻⁵ … 10⁴, for γ (Wang and Chen 2009, section 3)."""


@attrs.frozen(eq=False)
class Columns:
    """The parameters of the columns: λ (G,) per column, the others for all.

    These are μ (M,) on the simplex, what the learner states, and ρ of each view (M,), which is the
    learner's where not given.
    """

    lam: Array
    weights: Array
    traits: CouplingTraits
    rates: Array = attrs.field()

    @rates.default
    def _same_rates(self) -> Array:
        return np.full(len(self.weights), self.traits.rho)


@attrs.frozen(eq=False)
class Solution:
    """The final state of one column: a linear function per view, and the objective of each pass.

    Margins are (M, N), or None where they stayed with samples that are read in parts. ``printed``
    is False for the minimiser of the smooth objective, which has none.
    """

    learners: list[Any]
    margins: Array | None
    history: tuple[float, ...]
    converged: bool
    printed: bool = True


@compiled()
def set_target(
    outputs: Array,
    margins: Array,
    labels: Array,
    codes: NDArray[np.intp],
    factors: Array,
    lam: Array,
    view: int,
    out: Array,
) -> None:  # pragma: no cover - compiled
    """Set ``φ∘(1 + b_l) + λ Σ_j c_j f_j`` for the factors c (K, M) of samples with codes (N,)."""
    n_views, n_rows, n_columns = outputs.shape
    for i in range(n_rows):
        for g in range(n_columns):
            pull = 0.0
            for j in range(n_views):
                pull += factors[codes[i], j] * outputs[j, i, g]
            out[i, g] = labels[i] * (1.0 + margins[view, i, g]) + lam[g] * pull


@compiled()
def grow_margins(
    outputs: Array, labels: Array, rate: float, margins: Array
) -> None:  # pragma: no cover - compiled
    """Set ``b ← b + ρ(e + |e|)`` with ``e = φ∘f − 1 − b``, in place."""
    for i in range(outputs.shape[0]):
        for g in range(outputs.shape[1]):
            error = labels[i] * outputs[i, g] - 1.0 - margins[i, g]
            if error > 0.0:
                margins[i, g] += 2.0 * rate * error


@compiled()
def loss(
    outputs: Array,
    margins: Array,
    labels: Array,
    counts: Array,
    codes: NDArray[np.intp],
    missing: NDArray[np.bool_],
    mu: Array,
    lam: Array,
) -> Array:  # pragma: no cover - compiled
    """Return the objective without its penalties, (G,), accumulated in float64.

    Each sample counts ``counts`` (N,) times. Of K patterns, ``codes`` (N,) are those of the
    samples, ``missing`` (K, M) the views that they miss, and ``mu`` (K, M) the weights of the
    others.
    """
    n_views, n_rows, n_columns = outputs.shape
    total = np.zeros(n_columns)
    for i in range(n_rows):
        for g in range(n_columns):
            mean = 0.0
            for j in range(n_views):
                mean += mu[codes[i], j] * outputs[j, i, g]
            misfit = 0.0
            spread = 0.0
            for j in range(n_views):
                if missing[codes[i], j]:
                    continue
                error = outputs[j, i, g] - labels[i] * (1.0 + margins[j, i, g])
                misfit += error * error
                gap = outputs[j, i, g] - mean
                spread += gap * gap
            total[g] += counts[i] * (misfit + lam[g] * spread)
    return total


def stands_still(
    stopping: Stopping, before: Array, now: Array, total: float, dtype: Any
) -> NDArray[np.bool_]:
    """Return where the objective (G,) has changed by no more than the tolerance.

    The objective is a sum over samples: above 1,000 samples, more than the papers' data sets have,
    the tolerance is per 1,000 samples, ``total`` of them. Changes within the rounding errors of
    outputs of this type do not count.
    """
    thousands = max(1.0, total / 1000)
    rounding = np.finfo(dtype).eps * np.abs(before)
    still = stopping.reached(before / thousands, now / thousands)
    return still | (np.abs(now - before) <= rounding)


def coupling_matrix(weights: Array, missing: NDArray[np.bool_]) -> Array:
    """Return C (M, M) with ``∂/∂f_l Σ_k ‖f_k − f̄‖² = 2 Σ_j C_lj f_j``.

    This is equation 9 of Wang, Chen and Sun 2008. Sums are over the views that a sample has; for
    the others μ (M,) is 0, and so is C.
    """
    has = (~missing).astype(np.float64)
    crossed = np.outer(weights, has)
    return np.diag(has) - crossed.T - crossed + has.sum() * np.outer(weights, weights)


Step = tuple[Literal["solve", "grow", "record"], int]
"""Solve a view, let its margins grow, or record the objective (whose number is unused)."""

RECORD: Step = ("record", 0)

Order = Literal["in-turn", "at-once", "late-margins"]
"""Whether a view of a pass is solved from the newest outputs of the others, or from those of the
pass before; with late margins, from the newest, and its margins grow by its own outputs of before.
"""


@attrs.frozen
class Rule:
    """A published iteration: the order of its steps, and a view's target and data weight.

    ``couplings`` returns for μ and missing views (K, M) each view's factors c_l of the outputs
    (M, K, M) and its d_l (M,): its target is φ∘(1 + b_l) + λ Σ_j c_lj f_j, with the data weight
    1 + λd_l. ``steps`` yields the
    steps for M views without an end. ``uses_first`` tells whether the first view's initial
    coefficients are used.
    """

    couplings: Callable[[Array, NDArray[np.bool_]], tuple[Array, Array]]
    steps: Callable[[int], Iterator[Step]]
    uses_first: bool
    order: Order = "in-turn"


def _gradient_couplings(weights: Array, missing: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the largest d_l = C_ll of all patterns; with a smaller one it gets (d_l − C_ll) f_l.

    That bounds the square from above and touches it at f_l, so that the objective still falls.
    """
    matrices = np.array(
        [coupling_matrix(*pattern) for pattern in zip(weights, missing, strict=True)]
    )
    of_itself = np.diagonal(matrices, axis1=1, axis2=2).max(axis=0)
    return np.ascontiguousarray((np.diag(of_itself) - matrices).transpose(1, 0, 2)), of_itself


def _fixed_mean_couplings(weights: Array, missing: NDArray[np.bool_]) -> tuple[Array, Array]:
    n_views = weights.shape[1]
    return np.tile(weights, (n_views, 1, 1)), np.ones(n_views)


def _gradient_steps(n_views: int) -> Iterator[Step]:
    yield ("solve", 0)
    yield RECORD
    while True:
        yield from (("grow", view) for view in range(n_views))
        yield from (("solve", view) for view in range(n_views))
        yield RECORD


def _fixed_mean_steps(n_views: int) -> Iterator[Step]:
    while True:
        for view in range(n_views):
            yield ("solve", view)
            yield ("grow", view)
        yield RECORD


GRADIENT = Rule(_gradient_couplings, _gradient_steps, uses_first=False)
"""The exact gradient in each view's function (Wang, Chen and Sun 2008, equation 9).

The first view is solved once; then, each pass, all margins grow, all views are solved, and the
objective is evaluated. In turn, each is solved from the newest outputs of the others, which is not
what Table 1 prints: its step 7 (and 6.iii of Wang et al. 2013) solves them at once."""

FIXED_MEAN = Rule(_fixed_mean_couplings, _fixed_mean_steps, uses_first=True)
"""The weighted mean is held fixed while a view is solved (Wang and Chen 2009, equation 9).

Each view's factor is 1 + γ and its target 1 + b_p + γ Σ_j μ_j F_j over all j, itself included, in
turn from the newest values. Its margins grow as soon as it is solved, by the error of the new
function; equation 11 has the index of the function before, which is the order of late margins."""
