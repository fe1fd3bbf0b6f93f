"""The least difference of scores that a number of samples can exclude."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mklkit.evaluation.class_scores import CLASS_SCORES
from mklkit.evaluation.number_scores import NUMBER_SCORES
from mklkit.evaluation.paired_tests import rule_of_three
from mklkit.protocols import Array
from mklkit.protocols.score import Score

DIGITS = 9
"""Numbers of samples that differ by less than this are equal up to rounding."""


@attrs.frozen
class Resolution:
    """The number of units that a score counts.

    Parameters
    ----------
    count : float
        The number of units that are scored.
    unit : str
        ``"samples"``, ``"groups"``, ``"samples in the rarest class"`` or ``"groups in the class
        with the fewest"``.
    n_means : int
        The number of classes over which the score is a mean: one of ``count`` units changes it by
        at most 1/(``count``·``n_means``).

    See Also
    --------
    resolution_of : The resolution of a score on given samples.

    Examples
    --------
    >>> print(Resolution(30, "samples"))
    30 samples
    """

    count: float
    unit: str
    n_means: int = 1

    def __str__(self) -> str:
        """Return the count and the unit."""
        return f"{self.count:,.0f} {self.unit}"

    def part(self, share: float) -> Resolution:
        """Return the resolution if only a share of the units is scored.

        Parameters
        ----------
        share : float
            The share, from 0 to 1.

        Returns
        -------
        Resolution
            At least one unit.
        """
        return attrs.evolve(self, count=max(1.0, np.floor(share * self.count)))

    def floor(self, difference: float, level: float = 0.95) -> float:
        """Return how far from a measured difference the true one may be by chance alone.

        That is the limit of :func:`mklkit.evaluation.paired_tests.rule_of_three` for as many units
        as make up the difference.

        Parameters
        ----------
        difference : float
            The difference of scores, of which one unit changes at most 1/``count``.
        level : float, default=0.95
            The probability that the true difference is nearer.

        Returns
        -------
        float
            A difference of scores.
        """
        n_units = self.count * self.n_means
        return rule_of_three(n_units, level, abs(difference) * n_units)


def samples_needed(n_samples: ArrayLike, half_width: ArrayLike, resolved: ArrayLike) -> Array:
    """Return with how many samples half the width of an interval would be ``resolved``.

    Half the width is proportional to 1/√n. Around the same mean, the interval of so many samples
    just reaches what is to be excluded. The mean of other samples is as likely to be farther from
    it as nearer, so this number has an even chance to be enough, if the present mean is right.

    Parameters
    ----------
    n_samples : array-like
        The present number of samples.
    half_width : array-like
        Half the present width.
    resolved : array-like
        Half the width that would do.

    Returns
    -------
    ndarray
        The numbers, rounded up to two digits.

    Examples
    --------
    >>> float(samples_needed(100, 0.04, 0.01)), float(samples_needed(178, 0.032, 0.014))
    (1600.0, 930.0)
    """
    needed = np.asarray(n_samples) * np.square(np.asarray(half_width) / np.asarray(resolved))
    size = 10 ** np.floor(np.log10(needed) - 1)
    return np.asarray(np.ceil(np.round(needed / size, DIGITS)) * size)


def resolution_of(
    score: Score | str, labels: ArrayLike, groups: ArrayLike | None = None
) -> Resolution | None:
    """Return the units that a score of classes counts; None for errors and scores of numbers.

    Of n samples of which none is predicted differently, up to about 3/n of all samples may be
    (the rule of three). The accuracy counts all samples. In the balanced accuracy of C classes, a
    sample of a class of n_c counts 1/(C·n_c), and in the area under the ROC curve, in F1 and in
    others up to 1/n_c: there, n is the size of the rarest class. Samples of a group, such as a
    patient, are not independent: then groups are counted, and of each class those that have it.
    Errors and R² change with every sample, so their differences have no such limit.

    Parameters
    ----------
    score : Score or str
        Its ``counts`` tell which samples count; one of the library's scores has a name.
    labels : array-like of shape (n,)
        The classes of the samples that are scored.
    groups : array-like of shape (n,), optional
        The group of each sample, such as its patient.

    Returns
    -------
    Resolution or None
        The number of units and what they are.

    Examples
    --------
    >>> labels = ["ill"] * 20 + ["well"] * 180
    >>> for score in ("accuracy", "balanced_accuracy", "roc_auc"):
    ...     units = resolution_of(score, labels)
    ...     print(f"{score}: {units}, {units.floor(0.0):.3f}")
    accuracy: 200 samples, 0.015
    balanced_accuracy: 20 samples in the rarest class, 0.075
    roc_auc: 20 samples in the rarest class, 0.150
    """
    if isinstance(score, str):
        score = next(each for each in (*CLASS_SCORES, *NUMBER_SCORES) if each.name == score)
    if score.lower or not score.counts:
        return None
    values = np.asarray(labels)
    units = np.arange(len(values)) if groups is None else np.asarray(groups)
    word = "samples" if groups is None else "groups"
    if score.counts == "samples":
        return Resolution(len(np.unique(units)), word)
    classes = np.unique(values)
    count = min(len(np.unique(units[values == label])) for label in classes)
    rarest = "in the rarest class" if groups is None else "in the class with the fewest"
    return Resolution(count, f"{word} {rarest}", len(classes) if score.counts == "classes" else 1)
