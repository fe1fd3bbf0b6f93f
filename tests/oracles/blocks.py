"""DiMKL 1–6 and kernel alignment, written as the papers have them, on whole Gram matrices."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def block_values(gram: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return the values of q1, q2 and q4 in extended precision; class 1 is +1."""
    wide = np.asarray(gram, dtype=np.longdouble)
    first, second = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    return (
        wide[np.ix_(first, first)],
        wide[np.ix_(first, second)],
        wide[np.ix_(second, second)],
    )


def iqr(values: Array) -> np.longdouble:
    """Return the distance of the 75th and the 25th percentile."""
    low, high = np.percentile(values, [25, 75])
    return high - low


def dimkl_score(gram: Array, y: Array, number: int) -> np.longdouble:
    """Return the weight, not yet divided by the sum, that DiMKL ``number`` (1–5) gives."""
    q1, q2, q4 = block_values(gram, y)
    m1, m2, m4 = np.mean(q1), np.mean(q2), np.mean(q4)
    s1, s2, s4 = np.std(q1), np.std(q2), np.std(q4)
    with np.errstate(all="ignore"):
        if number == 1:
            return np.exp(-((m2 - iqr(q2)) ** 2) / (2 * s1))
        if number == 2:
            return np.exp(-((m2 - s2) ** 2) / (2 * s1))
        if number == 3:
            return abs((m1 - iqr(q1)) - (m2 - iqr(q2)))
        if number == 4:
            return abs(m1 - m2) / np.sqrt(iqr(q1) + iqr(q2))
        b1 = (m1 - m2) ** 2 / (s1**2 + s2**2) / 4 + np.log((s1**2 + s2**2) / (2 * s1 * s2)) / 2
        b2 = (m4 - m2) ** 2 / (s4**2 + s2**2) / 4 + np.log((s4**2 + s2**2) / (2 * s4 * s2)) / 2
        return (b1 + b2) / (b1 + b2 + s1 + s2 + s2)


def dimkl_weights(grams: list[Array], y: Array, number: int) -> Array | None:
    """Return the weights on the simplex, or None where DiMKL ``number`` has none."""
    scores = np.array([dimkl_score(gram, y, number) for gram in grams])
    if not np.isfinite(scores).all() or not scores.any():
        return None
    return (scores / scores.sum()).astype(np.float64)


def bhattacharyya_in_coordinates(gram: Array, y: Array, rank: int, floor: float) -> float:
    """Return DiMKL 6's score from full class covariances in empirical kernel coordinates."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-13 * values.max()
    rows = vectors[:, kept] * np.sqrt(values[kept])
    covariances = []
    for label in (1, -1):
        eigenvalues, basis = np.linalg.eigh(np.cov(rows[y == label], rowvar=False, bias=True))
        top = np.argsort(eigenvalues)[::-1][:rank]
        excess = np.maximum(eigenvalues[top] - floor, 0)
        covariances.append(
            basis[:, top] @ np.diag(excess) @ basis[:, top].T + floor * np.eye(rows.shape[1])
        )
    gap = rows[y == 1].mean(axis=0) - rows[y == -1].mean(axis=0)
    both = (covariances[0] + covariances[1]) / 2
    logs = [np.linalg.slogdet(matrix)[1] for matrix in (both, *covariances)]
    return float(gap @ np.linalg.inv(both) @ gap / 8 + (logs[0] - (logs[1] + logs[2]) / 2) / 2)


def alignment(gram: Array, y: Array) -> float:
    """Return ⟨K, yyᵀ⟩_F/(‖K‖‖yyᵀ‖)."""
    return cosine(gram, np.outer(y, y))


def centered_alignment(gram: Array, y: Array) -> float:
    """Return the alignment of HKH and HyyᵀH, H = I − 11ᵀ/N."""
    return cosine(in_the_middle(gram), in_the_middle(np.outer(y, y)))


def cosine(first: Array, second: Array) -> float:
    """Return ⟨A, B⟩_F/(‖A‖‖B‖)."""
    return float((first * second).sum() / np.linalg.norm(first) / np.linalg.norm(second))


def in_the_middle(gram: Array) -> Array:
    """Return HKH, H = I − 11ᵀ/N: subtract the mean of each column, and then of each row."""
    centered = gram - gram.mean(axis=0)
    return centered - centered.mean(axis=1)[:, None]
