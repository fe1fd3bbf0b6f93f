"""Components that go with some others only say so: the core heeds it, and the checks too."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from mklkit import IncompatibleError, MKLClassifier
from mklkit.plugin import CombinerFacts, FeatureMapFacts, WeightingCombiner
from mklkit.protocols import Component
from mklkit.registry.composing import choose_components
from mklkit.testing import Check, component_checks


@attrs.frozen
class Fourier(Component):
    """Random Fourier features of the Gaussian kernel (Rahimi and Recht, 2007).

    Parameters
    ----------
    n_features : int, default=200
    """

    name: ClassVar[str] = "fourier"
    facts: ClassVar[FeatureMapFacts] = FeatureMapFacts(explicit=True, for_kernels=("rbf",))

    n_features: int = attrs.field(default=200, validator=attrs.validators.instance_of(int))

    def fit(self, kernel: Any, rows: np.ndarray, random_state: np.random.RandomState) -> Any:
        # exp(-gamma d^2), read off one pair of rows: any other kernel would give nonsense.
        origin = np.zeros((1, rows.shape[1]))
        unit = origin + np.eye(1, rows.shape[1])
        gamma = -np.log(kernel(origin, unit)[0, 0])
        size = (rows.shape[1], self.n_features)
        frequencies = random_state.normal(scale=np.sqrt(2 * gamma), size=size)
        return FittedFourier(frequencies, random_state.uniform(0, 2 * np.pi, self.n_features))


@attrs.frozen(eq=False)
class FittedFourier:
    frequencies: np.ndarray
    phases: np.ndarray
    explicit: bool = True

    def transform(self, rows: np.ndarray) -> np.ndarray:
        scale = np.sqrt(2 / len(self.phases))
        return scale * np.cos(rows @ self.frequencies + self.phases)


@attrs.frozen
class ByMargin(WeightingCombiner):
    """Weights for support vector machines, say."""

    name: ClassVar[str] = "by-margin"
    facts: ClassVar[CombinerFacts] = CombinerFacts(for_learners=("svm",))

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.ones(len(views))


# Model files hold registered classes only, and these are none.
CHECKS = [
    check
    for component in (Fourier, ByMargin)
    for check in component_checks(component)
    if check.name != "model_file_round_trip"
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.component}-{check.name}")
def test_they_pass_the_checks(check: Check) -> None:
    check()


def test_a_map_refuses_other_kernels_by_name() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20, 2)), np.arange(20) % 2
    model = MKLClassifier(
        ["linear", "rbf", "wide:laplacian"], feature_map=Fourier(), learner="mhks"
    )
    with pytest.raises(IncompatibleError) as error:
        model.fit(X, y)
    assert str(error.value) == (
        "The feature map 'fourier' can't be fitted to linear, wide. Kernels that work with fourier:"
        " rbf; or choose another feature map."
    )
    model.set_params(kernels=["rbf(sigma=2)", "rbf"]).fit(X, y)
    with pytest.raises(IncompatibleError, match="can't be fitted to cosine"):
        model.set_params(kernels=["cosine(rbf)"]).fit(X, y)


def test_a_combiner_refuses_other_learners_by_name() -> None:
    assert choose_components(ByMargin(), None, "svm(C=2)").learner.C == 2
    with pytest.raises(IncompatibleError) as error:
        choose_components(ByMargin(), None, "kmhks")
    assert str(error.value) == (
        "The combiner 'by-margin' does not work with the learner 'kmhks'. Learners that work with"
        " by-margin: svm."
    )
