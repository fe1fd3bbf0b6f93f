"""MultiK-MHKS and MultiV-KMHKS as mklkit orders their steps, and the convex problem itself.

With one view and λ = 0 they are MHKS and KMHKS, as the papers of 2008 and 2009 print them. The
orders that Wang's three papers print are in ``printed.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from scipy.optimize import minimize

from oracles.printed import table_1_of_wang_2009

Array = np.ndarray


@attrs.frozen(eq=False)
class NaiveFit:
    """Where a transcription ended.

    ``coefficients`` (p + 1,) or (N + 1,) a view, the bias last; ``outputs`` (M, N) are f on the
    training rows, ``margins`` (M, N) are b.
    """

    coefficients: list[Array]
    history: list[float]
    outputs: Array
    margins: Array


def start_of(initial: str, widths: Sequence[int]) -> list[Array]:
    """Return equal coefficients, the bias included: of length one if ``"unit"``, else zero."""
    return [np.full(width, (initial == "unit") / np.sqrt(width)) for width in widths]


def multik_mhks(
    features: Sequence[Array],
    y: Array,
    c: float,
    lam: float,
    *,
    mu: Array | None = None,
    start: Sequence[Array] | None = None,
    rho: float = 0.99,
    b0: Array | float = 1e-6,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> NaiveFit:
    """Return MultiK-MHKS on M views (N, p), each solved from the newest weights of the others.

    Equations (8), (9) and (11) of Wang, Chen and Sun 2008 with a dense inverse a view; ``b0`` may
    be (M, N). For a mean with weights μ the views are coupled by (I − 1μᵀ)ᵀ(I − 1μᵀ).
    """
    m, n_rows = len(features), len(y)
    mu = np.full(m, 1 / m) if mu is None else mu
    deviation = np.eye(m) - np.outer(np.ones(m), mu)
    coupling = lam * deviation.T @ deviation
    signed = [y[:, None] * np.column_stack([f, np.ones(n_rows)]) for f in features]
    omega = list(start or start_of("zeros", [block.shape[1] for block in signed]))
    b = np.full((m, n_rows), b0)
    inverses = []
    for view, part in enumerate(signed):
        ridge = c * np.eye(part.shape[1])
        ridge[-1, -1] = 0
        inverses.append(np.linalg.inv((1 + coupling[view, view]) * part.T @ part + ridge))

    def solve(view: int) -> None:
        pull = sum(coupling[view, j] * signed[j] @ omega[j] for j in range(m) if j != view)
        omega[view] = inverses[view] @ (signed[view].T @ (b[view] + 1 - pull))

    def objective() -> float:
        outputs = [part @ w for part, w in zip(signed, omega, strict=True)]
        mean = mu @ np.array(outputs)
        return float(
            sum(
                np.sum((outputs[view] - 1 - b[view]) ** 2)
                + c * omega[view][:-1] @ omega[view][:-1]
                + lam * np.sum((outputs[view] - mean) ** 2)
                for view in range(m)
            )
        )

    solve(0)
    history = [objective()]
    while True:
        for view in range(m):
            e = signed[view] @ omega[view] - b[view] - 1
            b[view] += rho * (e + np.abs(e))
        for view in range(m):
            solve(view)
        history.append(objective())
        if abs(history[-1] - history[-2]) <= tol or len(history) == max_iter:
            outputs = np.array([y * (part @ w) for part, w in zip(signed, omega, strict=True)])
            return NaiveFit(omega, history, outputs, b)


def multiv_kmhks(
    grams: Sequence[Array],
    y: Array,
    c: float,
    gamma: float,
    *,
    mu: Sequence[float] | None = None,
    start: Sequence[Array] | None = None,
    rho: float = 0.99,
    b0: float = 1e-6,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> NaiveFit:
    """Return MultiV-KMHKS on M Gram matrices; coefficients are yα and w₀.

    Equations (6) and (9) of Wang and Chen 2009; margins grow by the error of the function just
    solved. ``start`` has the row coefficients of the decision function, y∘Γ, in its first N
    entries.
    """
    m, n_rows = len(grams), len(y)
    begin = [
        np.append(y * vector[:-1], vector[-1])
        for vector in start or start_of("zeros", [n_rows + 1] * m)
    ]
    shares = np.full(m, 1 / m) if mu is None else mu
    margins = [np.full(n_rows, b0)] * m
    settings = gamma, [c] * m, [rho] * m, shares, margins, begin, tol, max_iter
    end = table_1_of_wang_2009(grams, y, *settings, of_newest=True)
    coefficients = [np.append(y * vector[:-1], vector[-1]) for vector in end.omega]
    outputs = [
        gram @ vector[:-1] + vector[-1] for gram, vector in zip(grams, coefficients, strict=True)
    ]
    return NaiveFit(coefficients, end.losses, np.array(outputs), np.array(end.b))


def joint_minimum(
    features: Sequence[Array],
    y: Array,
    c: float,
    lam: float,
    *,
    mu: Array | None = None,
    shares: Array | None = None,
    least_margins: Array | float = 0.0,
) -> float:
    """Return min over all ω and b ≥ ``least_margins`` of Σ_l s_l(‖e_l‖² + c‖ω̃_l‖² + λ‖f_l − f̄‖²).

    By a generic solver, with b eliminated: the best b for given outputs is the larger of its bound
    and φf − 1, which leaves a squared hinge. ``shares`` are s, one each where not given.
    """
    m, n_rows = len(features), len(y)
    mu = np.full(m, 1 / m) if mu is None else np.asarray(mu)
    shares = np.ones(m) if shares is None else np.asarray(shares)
    signed = [y[:, None] * np.column_stack([f, np.ones(n_rows)]) for f in features]
    ends = np.cumsum([0] + [block.shape[1] for block in signed])
    slots = [slice(ends[view], ends[view + 1]) for view in range(m)]
    ridge = np.concatenate(
        [
            share * c * np.append(np.ones(view.shape[1] - 1), 0)
            for share, view in zip(shares, signed, strict=True)
        ]
    )
    deviation = np.eye(m) - np.outer(np.ones(m), mu)
    coupling = deviation.T @ np.diag(shares) @ deviation

    def outputs(omega: Array) -> Array:
        return np.array([view @ omega[slot] for view, slot in zip(signed, slots, strict=True)])

    def value_and_gradient(omega: Array) -> tuple[float, Array]:
        f = outputs(omega)
        short = np.maximum(0, 1 + least_margins - f)
        pull = coupling @ f
        value = shares @ np.sum(short**2, axis=1) + ridge @ omega**2 + lam * np.sum(f * pull)
        slope = 2 * lam * pull - 2 * shares[:, None] * short
        parts = [view.T @ row for view, row in zip(signed, slope, strict=True)]
        return float(value), np.concatenate(parts) + 2 * ridge * omega

    def hessian(omega: Array) -> Array:
        active = outputs(omega) < 1 + least_margins
        matrix = 2 * np.diag(ridge)
        for i in range(m):
            for j in range(m):
                weight = 2 * lam * coupling[i, j] + (2 * shares[i] * active[i] if i == j else 0)
                block = signed[i].T @ (np.broadcast_to(weight, n_rows)[:, None] * signed[j])
                matrix[slots[i], slots[j]] += block
        return matrix

    optimum = minimize(
        value_and_gradient,
        np.zeros(ends[-1]),
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-7, "maxiter": 500},
    )
    # The last digits of a kinked function may defeat the solver's own test: the slope counts.
    assert np.abs(optimum.jac).max() <= 1e-5 * max(1.0, optimum.fun), optimum.message
    return float(optimum.fun)
