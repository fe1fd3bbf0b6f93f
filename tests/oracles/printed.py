"""Table 1 of Wang's papers of 2008, 2009 and 2013 step by step, with their symbols and indices.

Nothing is left out or put in another order; dense inverses, one list entry per view and per k.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

Array = np.ndarray


@attrs.frozen(eq=False)
class Printed:
    """The last ω (M of them, or Γ with w₀ last), the margins b (M, N) and L or J′ of each pass."""

    omega: list[Array]
    b: list[Array]
    losses: list[float]


def table_1_of_wang_2008(
    phi: Sequence[Array],
    varphi: Array,
    lam: float,
    c: Sequence[float],
    rho: Sequence[float],
    b_1: float,
    omega_1: Sequence[Array],
    xi: float,
    passes: int = 1000,
) -> Printed:
    """MultiK-MHKS on mapped rows Φ_l (N, n_l); ``omega_1[0]`` is not read, as in step 3."""
    m, n_rows = len(phi), len(varphi)
    ones = np.ones(n_rows)
    # 2.
    y = [varphi[:, None] * np.column_stack([view, ones]) for view in phi]
    # 3.
    k = 1
    omega: dict[int, list[Array]] = {1: [np.full(0, np.nan), *omega_1[1:]]}
    b = {1: [np.full(n_rows, b_1) for _ in range(m)]}

    def solved(view: int, margins: Array, others: list[Array]) -> Array:
        """Return equation (9)."""
        tilde = np.diag(np.append(np.ones(y[view].shape[1] - 1), 0.0))
        factor = (1 + lam * (m - 1) / m) * y[view].T @ y[view] + c[view] * tilde
        agreed = sum((y[j] @ others[j] for j in range(m) if j != view), np.zeros(n_rows))
        return np.linalg.inv(factor) @ y[view].T @ (margins + ones + lam / m * agreed)

    def loss(k: int) -> float:
        """Return equation (8)."""
        outputs = [y[view] @ omega[k][view] for view in range(m)]
        mean = sum(outputs) / m
        total = 0.0
        for view in range(m):
            e = outputs[view] - ones - b[k][view]
            weights = omega[k][view][:-1]
            total += e @ e + c[view] * weights @ weights
            total += lam * (outputs[view] - mean) @ (outputs[view] - mean)
        return float(total)

    # 4.
    omega[1][0] = solved(0, b[1][0], omega[1])
    losses = [loss(1)]
    while True:
        # 5.
        e = [y[view] @ omega[k][view] - b[k][view] - ones for view in range(m)]
        # 6.
        b[k + 1] = [b[k][view] + rho[view] * (e[view] + np.abs(e[view])) for view in range(m)]
        # 7.
        omega[k + 1] = [solved(view, b[k + 1][view], omega[k]) for view in range(m)]
        losses.append(loss(k + 1))
        if abs(losses[-1] - losses[-2]) > xi and len(losses) < passes:
            k = k + 1
        else:
            return Printed(omega[k + 1], b[k + 1], losses)


def table_1_of_wang_2013(
    phi: Sequence[Sequence[Array]],
    new: Sequence[Sequence[Array]],
    varphi: Array,
    lam: float,
    c: Sequence[float],
    rho: Sequence[float],
    b_1: float,
    xi: float,
) -> Array:
    """Return RPEMEKL's votes for new rows; Φ_l of the H subsets, of training rows and of new rows.

    Step 6 is that of Wang, Chen and Sun 2008; ω_l¹ for l = 2 … M is "one unit vector", of equal
    entries.
    """
    counts = np.zeros((len(new[0][0]), 2))
    for mapped, mapped_new in zip(phi, new, strict=True):
        widths = [part.shape[1] + 1 for part in mapped]
        start = [np.full(width, 1 / np.sqrt(width)) for width in widths]
        # 3. to 6.
        end = table_1_of_wang_2008(mapped, varphi, lam, c, rho, b_1, start, xi)
        # 7.
        total = np.zeros(len(counts))
        for view, omega in zip(mapped_new, end.omega, strict=True):
            total += np.column_stack([view, np.ones(len(view))]) @ omega
        hypothesis = total / len(mapped) > 0
        counts[:, 1] += hypothesis
        counts[:, 0] += ~hypothesis
    return np.where(counts[:, 1] > counts[:, 0], 1.0, -1.0)


def table_1_of_wang_2009(
    grams: Sequence[Array],
    y: Array,
    gamma: float,
    c: Sequence[float],
    rho: Sequence[float],
    mu: Sequence[float],
    b_1: Sequence[Array],
    gamma_1: Sequence[Array],
    xi: float,
    passes: int = 1000,
    of_newest: bool = False,
) -> Printed:
    """MultiV-KMHKS on Gram matrices without labels; ``gamma_1`` are Γ_1 with w₀ last.

    Margins grow by the error of Γ_k, or, as mklkit has it, of the function just solved.
    """
    m, n_rows = len(grams), len(y)
    ones = np.ones(n_rows)
    kernel = [np.outer(y, y) * gram for gram in grams]
    # 1.
    k = 1
    big, w = (
        {1: [vector[:-1] for vector in gamma_1]},
        {1: [float(vector[-1]) for vector in gamma_1]},
    )
    b = {1: list(b_1)}
    losses: list[float] = []

    def output(p: int, k: int) -> Array:
        return kernel[p] @ big[k][p] + w[k][p] * y

    def loss(k: int) -> float:
        """Return equation (6)."""
        outputs = [output(p, k) for p in range(m)]
        mean = sum(mu[p] * outputs[p] for p in range(m))
        total = 0.0
        for p in range(m):
            e = outputs[p] - ones - b[k][p]
            total += e @ e + c[p] * big[k][p] @ kernel[p] @ big[k][p]
            total += gamma * (outputs[p] - mean) @ (outputs[p] - mean)
        return float(total)

    # 2.
    while True:
        big[k + 1], w[k + 1], b[k + 1] = [], [], []
        # a
        for p in range(m):
            # i: equation (9)
            known = [output(j, k + 1 if j < p else k) for j in range(m)]
            right = ones + b[k][p] + gamma * sum(mu[j] * known[j] for j in range(m))
            left = np.block(
                [
                    [(1 + gamma) * kernel[p] + c[p] * np.eye(n_rows), (1 + gamma) * y[:, None]],
                    [(1 + gamma) * (y @ kernel[p])[None, :], np.array([[(1 + gamma) * (y @ y)]])],
                ]
            )
            solution = np.linalg.solve(left, np.append(right, y @ right))
            big[k + 1].append(solution[:-1])
            w[k + 1].append(float(solution[-1]))
            # ii: equation (11), with e_k of Γ_k
            e = output(p, k + 1 if of_newest else k) - ones - b[k][p]
            b[k + 1].append(b[k][p] + rho[p] * (e + np.abs(e)))
        # b
        losses.append(loss(k + 1))
        # c
        k = k + 1
        resolved = len(losses) > 1 and abs(losses[-1] - losses[-2]) / abs(losses[-2]) <= xi
        if resolved or len(losses) == passes:
            last = [np.append(vector, bias) for vector, bias in zip(big[k], w[k], strict=True)]
            return Printed(last, b[k], losses)
