"""mklkit's own checks of what a kernel must do, on rows of what each reads."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_authors.testing import parametrize_with_component_checks

from mklkit.kernels.amounts import Chi2, Hellinger, MinMax
from mklkit.kernels.text.spectrum import SpectrumKernel
from mklkit.kernels.text.token_set import TokenSet

pytestmark = pytest.mark.slow

COUNTS = np.random.default_rng(5).poisson(2.0, (40, 6)).astype(float)


@parametrize_with_component_checks(
    [
        SpectrumKernel(k=2, normalize=False),
        SpectrumKernel(k=1, words=True),
        TokenSet(separators="a"),
    ]
)
def test_kernels_with_other_parameters(check):
    check()


@parametrize_with_component_checks(
    [
        MinMax(),
        Hellinger(normalize=False),
        Chi2(gamma=0.5),
    ],
    rows=COUNTS,
)
def test_kernels_on_counts(check):
    check()
