"""The fuzzy measure whose Choquet integral is closest to given targets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mklkit.plugin import solve_cone_program
from mklkit_fusion.choquet import chains

Norm = Literal[1, 2]


def learn_measure(
    scores: NDArray[Any], targets: NDArray[Any], alpha: float = 0.0, p: Norm = 2
) -> NDArray[Any]:
    """Return the fuzzy measure g (2^M,) whose integral of the scores is closest to the targets.

    Minimises Σ_i (C_g(f_i) − t_i)² + λ·Σ_A g(A)^p, A all sets but the empty and the whole set,
    subject to g(∅) = 0, g(all) = 1 and g(A) ≤ g(B) for A ⊂ B: a quadratic program.

    Parameters
    ----------
    scores : ndarray of shape (n, M)
        f.
    targets : ndarray of shape (n,)
        t, labels −1 and +1 in DeFIMKL.
    alpha : float, default=0.0
        λ, the penalty on g. With 0, sets that occur in no sample's order of scores are constrained
        by monotonicity alone.
    p : {1, 2}, default=2
        The norm; with 1 the penalty is linear, as g is non-negative.

    Returns
    -------
    ndarray of shape (2^M,)
        Exactly monotone.

    Raises
    ------
    MKLKitError
        If the solver ends without a solution.

    Notes
    -----
    2^M − 2 variables and M·2^(M−1) constraints, by Clarabel's interior-point method.

    Examples
    --------
    Targets that are the larger of two scores:

    >>> scores = np.array([[0.0, 1.0], [2.0, 1.0], [-1.0, 0.5]])
    >>> learn_measure(scores, scores.max(axis=1)).round(3)
    array([0., 1., 1., 1.])
    """
    count = scores.shape[1]
    if count == 1:
        return np.array([0.0, 1.0])
    free = 2**count - 2
    sets, steps = chains(scores.astype(np.float64))
    rows = np.repeat(np.arange(len(scores)), count - 1)
    # The whole set's value is 1: its term, the smallest score, moves to the right-hand side.
    design = sparse.csc_matrix(
        (steps[:, 1:].ravel(), (rows, sets[:, 1:].ravel() - 1)), shape=(len(scores), free)
    )
    residual = targets - steps[:, 0]
    normal = 2 * (design.T @ design)
    linear = -2 * (design.T @ residual)
    if p == 1:
        linear = linear + alpha
    else:
        normal = normal + 2 * alpha * sparse.identity(free)
    matrix, bound = _monotonicity(count)
    solution = solve_cone_program(
        normal,
        linear,
        matrix,
        bound,
        [("nonnegative", len(bound))],
        name="the fuzzy measure's quadratic program",
        remedy="check for decision values that are very large, or all equal",
    )
    return _exactly_monotone(np.concatenate([[0.0], np.clip(solution.values, 0, 1), [1.0]]))


def _monotonicity(count: int) -> tuple[Any, NDArray[Any]]:
    """Return matrix and bound of ``matrix @ g ≤ bound`` for the sets 1 … 2^M − 2."""
    sets = np.arange(2**count)
    pairs = [(a, a | (1 << m)) for m in range(count) for a in sets[(sets >> m) & 1 == 0]]
    smaller, larger = np.array(pairs).T
    number = np.arange(len(pairs))
    whole = 2**count - 1
    low, high = smaller > 0, larger < whole
    entries = np.concatenate([np.ones(low.sum()), -np.ones(high.sum())])
    rows = np.concatenate([number[low], number[high]])
    columns = np.concatenate([smaller[low], larger[high]]) - 1
    matrix = sparse.csc_matrix((entries, (rows, columns)), shape=(len(pairs), whole - 1))
    return matrix, (~high).astype(np.float64)


def _exactly_monotone(measure: NDArray[Any]) -> NDArray[Any]:
    """Return the measure with each set's value raised to its subsets', against rounding errors."""
    sets = np.arange(len(measure))
    for member in range(len(measure).bit_length() - 1):
        within = sets[(sets >> member) & 1 == 1]
        measure[within] = np.maximum(measure[within], measure[within ^ (1 << member)])
    return measure
