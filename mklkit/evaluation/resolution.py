"""The least difference of scores that a number of samples can exclude."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from mklkit.evaluation.class_scores import CLASS_SCORES
from mklkit.evaluation.number_scores import NUMBER_SCORES, R2
from mklkit.evaluation.paired_tests import rule_of_three
from mklkit.protocols.score import Score


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
    unexplained : float, optional
        For R², the share of the variance that the models do not explain, 1 − R²; None for scores
        of classes.
    span : float
        The largest possible difference, which no limit exceeds.

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
    unexplained: float | None = None
    span: float = np.inf

    def __str__(self) -> str:
        """Return the count and the unit."""
        nouns, _, of_what = self.unit.partition(" ")
        noun = nouns.removesuffix("s") if self.count == 1 else nouns
        return f"{self.count:,.0f} {noun} {of_what}".rstrip()

    def part(self, share: float) -> Resolution:
        """Return the resolution if only a share of the units is scored, or several times as many.

        Parameters
        ----------
        share : float
            The share; above 1 as of more samples like these.

        Returns
        -------
        Resolution
            At least one unit.
        """
        count = share * self.count
        return attrs.evolve(self, count=max(1.0, count if share > 1 else np.floor(count)))

    def with_scores(self, *scores: float) -> Resolution:
        """Return the resolution for models with these scores.

        The best of them tells how much of the variance is unexplained, which limits differences in
        R²; the resolution of other scores is the same for all models.

        Parameters
        ----------
        *scores : float
            The mean scores; NaN if unknown.

        Returns
        -------
        Resolution
            The resolution, for R² with ``unexplained`` between 0 and 1.
        """
        if self.unexplained is None or np.isnan(scores).all():
            return self
        return attrs.evolve(self, unexplained=float(np.clip(1 - np.nanmax(scores), 0, 1)))

    def floor(self, difference: float, level: float = 0.95) -> float:
        """Return how far from a measured difference the true one may be by chance alone.

        For scores of classes, that is the limit of
        :func:`mklkit.evaluation.paired_tests.rule_of_three` for as many units as make up the
        difference. For R², √difference has a standard error of about √(``unexplained``/``count``),
        because the difference is the square of what a coefficient adds; so a source of which
        nothing is measured may add up to z²·``unexplained``/``count``.

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
        size = abs(difference)
        if self.unexplained is not None:
            error = -special.ndtri((1 - level) / 2) * np.sqrt(self.unexplained / self.count)
            return float((np.sqrt(size) + error) ** 2 - size)
        n_units = self.count * self.n_means
        return rule_of_three(n_units, level, size * n_units)

    def limits(
        self, mean: float, low: float, high: float, level: float = 0.95
    ) -> tuple[float, float]:
        """Return an interval of a difference whose ends are no nearer than the units allow.

        Parameters
        ----------
        mean : float
            The measured difference.
        low, high : float
            The ends of its interval by the variation over splits; NaN if unknown.
        level : float, default=0.95
            The confidence of the interval.

        Returns
        -------
        low : float
            The lower limit. If the interval by the splits contains 0, both limits are at least
            :meth:`floor` from the mean. If not, it excludes 0 still: the limit that is farther from
            0 is at least so far from the mean, and the nearer one at most the least difference that
            could have given the mean by chance.
        high : float
            The upper limit. No limit is beyond :attr:`span`.

        Examples
        --------
        >>> units = Resolution(100, "samples")
        >>> ["%.3f to %.3f" % units.limits(0.05, *ends) for ends in ((-0.01, 0.11), (0.04, 0.06))]
        ['-0.010 to 0.110', '0.020 to 0.105']
        """
        least = self.floor(mean, level)
        ends = min(low, mean - least), max(high, mean + least)
        if low > 0:
            ends = min(low, self._least(mean, level) or low), ends[1]
        elif high < 0:
            ends = ends[0], max(high, -self._least(-mean, level) or high)
        low, high = np.clip(ends, -self.span, self.span)
        return float(low), float(high)

    def _least(self, size: float, level: float) -> float:
        """Return the least true difference with which chance may give one of this size."""
        if self.unexplained is not None:
            error = -special.ndtri((1 - level) / 2) * np.sqrt(self.unexplained / self.count)
            return float(max(0.0, np.sqrt(size) - error) ** 2)
        n_units = self.count * self.n_means
        return float(special.gammaincinv(size * n_units, 1 - level) / n_units)


def resolution_of(
    score: Score | str, labels: ArrayLike, groups: ArrayLike | None = None
) -> Resolution | None:
    """Return the units that a score counts; None for errors.

    Of n samples of which none is predicted differently, up to about 3/n of all samples may be
    (the rule of three). The accuracy counts all samples. In the balanced accuracy of C classes, a
    sample of a class of n_c counts 1/(C·n_c), and in the area under the ROC curve, in F1 and in
    others up to 1/n_c: there, n is the size of the rarest class. Samples of a group, such as a
    patient, are not independent: then groups are counted, and of each class those that have it.
    R² counts all samples, and its limit depends on the variance that models leave unexplained, at
    most all of it. Errors have no such limit.

    Parameters
    ----------
    score : Score or str
        Its ``counts`` tell which samples count; one of the library's scores has a name.
    labels : array-like of shape (n,)
        The classes or numbers of the samples that are scored.
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
    >>> units = resolution_of("r2", range(200)).with_scores(0.6, 0.5)
    >>> round(units.floor(0.0), 4), round(units.floor(0.01), 4)
    (0.0077, 0.0252)
    """
    if isinstance(score, str):
        score = next(each for each in (*CLASS_SCORES, *NUMBER_SCORES) if each.name == score)
    is_r2 = score.name == R2.name
    if score.lower or not (score.counts or is_r2):
        return None
    values = np.asarray(labels)
    units = np.arange(len(values)) if groups is None else np.asarray(groups)
    word = "samples" if groups is None else "groups"
    if is_r2:
        return Resolution(len(np.unique(units)), word, unexplained=1.0)
    if score.counts == "samples":
        return Resolution(len(np.unique(units)), word, span=score.high - score.low)
    classes = np.unique(values)
    count = min(len(np.unique(units[values == label])) for label in classes)
    rarest = "in the rarest class" if groups is None else "in the class with the fewest"
    n_means = len(classes) if score.counts == "classes" else 1
    return Resolution(count, f"{word} {rarest}", n_means, span=score.high - score.low)
