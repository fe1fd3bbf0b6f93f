"""The fixed rule."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit import MKLClassifier


@pytest.mark.parametrize("n_kernels", [1, 2, 7])
def test_every_kernel_has_the_same_weight(two_classes, n_kernels):
    rows, y = two_classes
    kernels = [f"rbf(gamma={g})" for g in range(1, n_kernels + 1)]
    model = MKLClassifier(kernels, combiner="uniform").fit(rows, y)
    np.testing.assert_allclose(model.weights_, np.full((1, n_kernels), 1 / n_kernels))
