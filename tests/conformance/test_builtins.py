"""Every built-in component passes what is asked of plugins, whose own tests ask it of theirs."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_authors.testing import Check, parametrize_with_component_checks

from mklkit.kernels import Precomputed
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import Registry

# The checks of all components take a fifth of the suite: they have their turn in CI's next step.
pytestmark = pytest.mark.process

BUILT_IN = Registry(third_party=False)
REGISTERED = [entry.target for kind in HOOKS for entry in BUILT_IN.entries(kind)]

_RANDOM = np.random.default_rng(3)
_FACTOR = _RANDOM.normal(size=(32, 6))
_IDS = np.arange(32.0)[:, None]


@parametrize_with_component_checks([cls for cls in REGISTERED if cls is not Precomputed])
def test_registered_component(check: Check) -> None:
    check()


@parametrize_with_component_checks([Precomputed(_FACTOR @ _FACTOR.T)], rows=_IDS)
def test_kernel_given_as_its_matrix(check: Check) -> None:
    check()


@parametrize_with_component_checks(
    [
        BUILT_IN.create(kind, spec)
        for kind, spec in [
            ("kernel", "cosine(polynomial)"),
            ("feature_map", "empirical(subset=0.5, rank=5)"),
            ("feature_map", "empirical(subset=0.5, landmarks=kmeans)"),
            ("combiner", "ifsl(lam=0.1, rule=fixed-mean)"),
            ("combiner", "cluster-gating(n_clusters=2, composition=product)"),
        ]
    ]
)
def test_built_in_with_other_parameters(check: Check) -> None:
    check()
