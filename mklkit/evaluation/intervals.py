"""The interval of a mean difference, and how many samples would make it narrow enough."""

from __future__ import annotations

import math
from typing import Self

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mklkit.evaluation.paired_proportions import tango_interval
from mklkit.evaluation.paired_tests import corrected_interval
from mklkit.evaluation.resolution import Resolution

EQUAL_DIGITS = 9
"""Numbers of samples that agree to so many digits are equal up to rounding."""
MOST_GROWTH = 1e9
"""No more than so many times the present samples are called enough."""
STEPS = 60
"""The halvings that find the number of samples."""


@attrs.frozen
class Interval:
    """The interval of a mean difference by its variation, and what else limits it.

    Attributes
    ----------
    mean, low, high : float
        The mean, and the ends by its variation over splits or test samples; NaN if unknown.
    level : float
        The confidence, between 0 and 1.
    units : Resolution or None
        What the score counts: the ends are no nearer to the mean than it allows.
    discordant : tuple of three int, optional
        The test samples of one split that only the one and only the other model predicts right,
        and their number in all, of whose shares the interval is Tango's.
    of_one_split : bool
        Whether the variation is that over test samples. An interval that excludes 0 is then left
        as it is.
    """

    mean: float
    low: float
    high: float
    level: float = 0.95
    units: Resolution | None = None
    discordant: tuple[int, int, int] | None = None
    of_one_split: bool = False

    @classmethod
    def over_splits(
        cls,
        differences: ArrayLike,
        n_train: ArrayLike,
        n_test: ArrayLike,
        units: Resolution | None = None,
        level: float = 0.95,
    ) -> Self:
        """Return that of :func:`mklkit.evaluation.corrected_interval`, with these units."""
        low, high = corrected_interval(differences, n_train, n_test, level)
        return cls(float(np.asarray(differences, dtype=float).mean()), low, high, level, units)

    def limits(self, growth: float = 1.0) -> tuple[float, float]:
        """Return the ends with ``growth`` times the samples, if the mean stays the same.

        Examples
        --------
        >>> units = Resolution(100, "samples")
        >>> interval = Interval(0.0, -0.01, 0.01, units=units)
        >>> [round(interval.limits(growth)[1], 4) for growth in (1, 4, 16)]
        [0.03, 0.0075, 0.0025]
        """
        low, high = self._by_variation(growth)
        if self.units is None:
            return low, high
        units = self.units.part(growth)
        if not self.of_one_split:
            return units.limits(self.mean, low, high, self.level)
        if not low <= 0 <= high and (growth == 1 or self._differ_enough(units)):
            return low, high
        # Draws of a few samples that all differ in one direction end near 0 by chance.
        return units.limits(self.mean, min(low, 0.0), max(high, 0.0), self.level)

    @property
    def is_narrowest(self) -> bool:
        """Whether the units alone determine the interval: it contains 0 and is the narrowest."""
        if self.units is None or not self.low <= 0 <= self.high:
            return False
        least = self.units.floor(self.mean, self.level)
        return self.mean - self.low < least and self.high - self.mean < least

    @property
    def narrowest_with(self) -> str:
        """The units in words where they alone determine the interval, else empty."""
        return str(self.units) if self.is_narrowest else ""

    def _differ_enough(self, units: Resolution) -> bool:
        """Return whether a draw without any of the units that differ is improbable."""
        n_differ = abs(self.mean) * units.count * units.n_means
        return units.unexplained is not None or n_differ >= -math.log((1 - self.level) / 2)

    def _by_variation(self, growth: float) -> tuple[float, float]:
        if self.discordant is not None and growth != 1:
            first, second, n_samples = (growth * count for count in self.discordant)
            return tango_interval(first, second, n_samples, self.level)
        narrower = math.sqrt(growth)
        below, above = self.mean - self.low, self.high - self.mean
        return self.mean - below / narrower, self.mean + above / narrower


def samples_needed(
    n_samples: float, interval: Interval, margin: float, both_ends: bool = False
) -> float:
    """Return with how many samples an interval around the same mean would be conclusive.

    It excludes 0, or ends within the margin. The part that is due to variation shrinks with 1/√n,
    the limits of the units with 1/n where nothing differs. The mean of other samples is as likely
    to be farther from what is to be excluded as nearer, so this number has an even chance to be
    enough, if the present mean is right.

    Parameters
    ----------
    n_samples : float
        The present number of samples.
    interval : Interval
        The present interval.
    margin : float
        The largest difference that does not matter.
    both_ends : bool, default=False
        Whether both ends must be within the margin, and not only the upper one.

    Returns
    -------
    float
        The number, rounded up to two digits; NaN if no number is enough, or it is unknown.

    Examples
    --------
    >>> samples_needed(100, Interval(0.0, -0.04, 0.04), 0.01)
    1600.0
    >>> samples_needed(60, Interval(0.0, 0.0, 0.0, units=Resolution(60, "samples")), 0.02)
    150.0
    """

    def is_enough(growth: float) -> bool:
        low, high = interval.limits(growth)
        within = high <= margin and (low >= -margin or not both_ends)
        return low > 0 or high < 0 or within

    if math.isnan(interval.low) or math.isnan(n_samples) or not is_enough(MOST_GROWTH):
        return math.nan
    least, most = 0.0, math.log(MOST_GROWTH)
    for _ in range(STEPS):
        middle = (least + most) / 2
        least, most = (least, middle) if is_enough(math.exp(middle)) else (middle, most)
    needed = n_samples * math.exp(most)
    size = 10 ** math.floor(math.log10(needed) - 1)
    return float(math.ceil(round(needed / size, EQUAL_DIGITS)) * size)
