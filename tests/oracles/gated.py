"""Cluster gating and graph embedding as Mu and Zhou 2011 print them, every N × N matrix formed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import attrs
import numpy as np
import scipy.linalg
from scipy.optimize import brentq, minimize

Array = np.ndarray


def discriminant_matrices(y: Array) -> tuple[Array, Array]:
    """Return L = I − W, W_ij = 1/n_c within a class, and B = I − 11ᵀ/N (section 3.2)."""
    same = y[:, None] == y[None, :]
    similar = same / same.sum(axis=1)
    size = len(y)
    return np.eye(size) - similar, np.eye(size) - np.full((size, size), 1 / size)


def composite(grams: Sequence[Array], gates: Array, composition: str) -> Array:
    """Return Σ_p Λ_p ⊗ G_p for gates (N, M), Λ_p the sums or products of the gates (4)."""
    join = np.add.outer if composition == "sum" else np.multiply.outer
    return sum(join(gates[:, p], gates[:, p]) * gram for p, gram in enumerate(grams))


def ratio_of(
    gram: Array,
    projection: Array,
    similarity: Array,
    constraint: Array,
    alpha: float,
    prior: float = 0.0,
) -> float:
    """Return the trace ratio (6)."""
    upper = np.trace(projection.T @ gram @ constraint @ gram @ projection)
    inner = gram @ similarity @ gram + alpha * gram
    return float(upper / (np.trace(projection.T @ inner @ projection) + prior))


@attrs.frozen(eq=False)
class NaiveForms:
    """S_B and S_L (CM, CM) and f (CM,), Θ flattened row by row."""

    upper: Array
    lower: Array
    linear: Array


def naive_forms(
    grams: Sequence[Array],
    memberships: Array,
    projection: Array,
    similarity: Array,
    constraint: Array,
    alpha: float,
) -> NaiveForms:
    """Return what (7)–(10) give for the sum form: O(M²N³) and more."""
    parts = [
        np.diag(memberships[:, c]) @ gram + gram @ np.diag(memberships[:, c])
        for c, gram in product(range(memberships.shape[1]), grams)
    ]

    def form(graph: Array) -> Array:
        return np.array(
            [
                [np.trace(projection.T @ part @ graph @ two @ projection) for two in parts]
                for part in parts
            ]
        )

    linear = [alpha * np.trace(projection.T @ part @ projection) for part in parts]
    return NaiveForms(form(constraint), form(similarity), np.array(linear))


def best_single_direction(upper: Array, lower: Array) -> tuple[float, Array]:
    """Return the top eigenpair of a dense pencil, the vector of length one."""
    values, vectors = scipy.linalg.eigh(upper, lower)
    return float(values[-1]), vectors[:, -1] / np.linalg.norm(vectors[:, -1])


def best_trace_ratio(upper: Array, lower: Array, n_components: int) -> float:
    """Return the largest trace ratio: the root of the sum of the top K eigenvalues of U − λL."""

    def surplus(ratio: float) -> float:
        return float(np.linalg.eigvalsh(upper - ratio * lower)[-n_components:].sum())

    highest = 2 * float(scipy.linalg.eigh(upper, lower, eigvals_only=True)[-1]) + 1
    return float(brentq(surplus, 0.0, highest, xtol=1e-14, rtol=1e-14))


def printed_stage_two(
    theta: Array, forms: NaiveForms, pairs: Iterator[tuple[int, int]], max_rounds: int, small: float
) -> tuple[Array, float]:
    """Return Θ and λ of Algorithms 1 and 2 with given pairs; a rise by ``small`` ends a loop."""

    def objective(xi: float, direction: Array, ratio: float) -> float:  # (14)
        difference = forms.upper - ratio * forms.lower
        shifted = xi * direction + 2 * flat
        return float(xi * shifted @ difference @ direction - ratio * xi * forms.linear @ direction)

    def ratio_now() -> float:
        return float(flat @ forms.upper @ flat / (flat @ forms.lower @ flat + forms.linear @ flat))

    flat = theta.ravel().copy()
    ratio = ratio_now()
    for _ in range(max_rounds):  # Algorithm 1
        at_start = ratio
        while True:  # Algorithm 2
            k1, k2 = next(pairs)
            direction = np.eye(flat.size)[k1] - np.eye(flat.size)[k2]  # (12)
            low, high = max(-flat[k1], flat[k2] - 1), min(1 - flat[k1], flat[k2])
            # The objective is aξ² + 2bξ (15).
            plus, minus = objective(1.0, direction, ratio), objective(-1.0, direction, ratio)
            a, b = (plus + minus) / 2, (plus - minus) / 4
            candidates = [low, high, *([-b / a] if a and low <= -b / a <= high else [])]
            flat += direction * max(candidates, key=lambda xi: objective(xi, direction, ratio))
            before, ratio = ratio, ratio_now()
            if ratio - before <= small * ratio:
                break
        if ratio - at_start <= small * ratio:
            break
    return flat.reshape(theta.shape), ratio


def printed_alternation(
    grams: Sequence[Array],
    memberships: Array,
    y: Array,
    alpha: float,
    pairs_of_turns: Iterable[Iterator[tuple[int, int]]],
    max_rounds: int,
    small: float,
) -> tuple[Array, list[float]]:
    """Return Θ and the ratio after each stage (section 3.4), two classes, sum form, from 1/M.

    For positive definite composites only.
    """
    similarity, constraint = discriminant_matrices(y)
    theta = np.full((memberships.shape[1], len(grams)), 1 / len(grams))

    def embedding() -> tuple[float, Array]:  # (8) for K = 1
        gram = composite(grams, memberships @ theta, "sum")
        return best_single_direction(
            gram @ constraint @ gram, gram @ similarity @ gram + alpha * gram
        )

    ratio, direction = embedding()
    history = [ratio]
    for pairs in pairs_of_turns:
        forms = naive_forms(grams, memberships, direction[:, None], similarity, constraint, alpha)
        theta, ratio = printed_stage_two(theta, forms, pairs, max_rounds, small)
        history.append(ratio)
        ratio, direction = embedding()
        history.append(ratio)
    return theta, history


def ratio_by_slsqp(weights: Array, upper: Array, lower: Array, linear: Array) -> float:
    """Return the ratio that SciPy's SLSQP reaches from given weights, rows on the simplex."""
    n_clusters, n_kernels = weights.shape

    def ratio(theta: Array) -> float:
        return float(theta @ upper @ theta / (theta @ lower @ theta + linear @ theta))

    def gradient(theta: Array) -> Array:
        below = theta @ lower @ theta + linear @ theta
        return (2 * upper @ theta - ratio(theta) * (2 * lower @ theta + linear)) / below

    scale = ratio(weights.ravel())
    sums = np.kron(np.eye(n_clusters), np.ones(n_kernels))
    optimum = minimize(
        lambda theta: -ratio(theta) / scale,
        weights.ravel(),
        jac=lambda theta: -gradient(theta) / scale,
        bounds=[(0, 1)] * weights.size,
        constraints={"type": "eq", "fun": lambda t: sums @ t - 1, "jac": lambda t: sums},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    feasible = np.maximum(optimum.x.reshape(weights.shape), 0)
    return ratio((feasible / feasible.sum(axis=1, keepdims=True)).ravel())
