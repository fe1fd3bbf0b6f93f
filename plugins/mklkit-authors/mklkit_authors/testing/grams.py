"""A helper for tests of kernels, in addition to the checks: values from a formula."""

from __future__ import annotations

import numpy as np

from mklkit.protocols import Array, Kernel


def cosines(gram: Array) -> Array:
    """Return a Gram matrix divided by the roots of its diagonal; 0 where that is 0."""
    squares = np.diag(gram)
    lengths = np.where(squares > 0, np.sqrt(np.where(squares > 0, squares, 1)), np.inf)
    return gram / lengths[:, None] / lengths


def check_gram(kernel: Kernel, rows: Array, expected: Array | None = None) -> None:
    """Expect the values, symmetric, with the same diagonal, no negative eigenvalue."""
    fitted = kernel.fit(rows)
    gram = fitted(rows, rows)
    if expected is not None:
        np.testing.assert_allclose(gram, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.diagonal(rows), np.diag(gram), rtol=1e-9, atol=1e-12)
    size = max(float(np.abs(gram).max()), 1.0)
    assert np.linalg.eigvalsh((gram + gram.T) / 2)[0] >= -1e-9 * size
    cut = len(rows) // 2
    np.testing.assert_allclose(fitted(rows[:cut], rows), gram[:cut], rtol=1e-9, atol=1e-12)
