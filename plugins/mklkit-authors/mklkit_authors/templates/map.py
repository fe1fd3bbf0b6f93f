"""Features that are similarities to randomly drawn training samples."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from mklkit.plugin import FeatureMap, FeatureMapTraits, FittedKernel, FittedMap, as_int, register


@register
@attrs.frozen
class Sketch(FeatureMap):
    """Represent a sample by its similarities to a few training samples.

    Parameters
    ----------
    landmarks : int, default=50
        Number of samples drawn with the estimator's seed; all of them if there are fewer.
    """

    name: ClassVar[str] = "sketch"
    traits: ClassVar[FeatureMapTraits] = FeatureMapTraits(explicit=True)

    landmarks: int = attrs.field(default=50, converter=as_int, validator=[instance_of(int), ge(1)])

    def fit(
        self, kernel: FittedKernel, rows: np.ndarray, random_state: np.random.RandomState
    ) -> FittedSketch:
        """Return the map fitted on the training samples (N, d)."""
        drawn = random_state.permutation(len(rows))[: self.landmarks]
        return FittedSketch(kernel, rows[drawn])


@register
@attrs.frozen(eq=False)
class FittedSketch(FittedMap):
    """The kernel and the landmark samples."""

    explicit: ClassVar[bool] = True

    kernel: FittedKernel
    landmarks: np.ndarray

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the features (n, p) of samples (n, d)."""
        return self.kernel(rows, self.landmarks) / np.sqrt(len(self.landmarks))
