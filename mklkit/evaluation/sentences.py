"""The sentences that commands, reports and texts say of a result, from plain numbers.

Each stands here once: that a difference is shown, excluded or inconclusive, what a source costs,
and what a number estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from mklkit.display import numbers
from mklkit.display.numbers import DECIMALS
from mklkit.errors import counted
from mklkit.protocols.score import Score

INCONCLUSIVE = "inconclusive"
"""The beginning of a sentence on an interval that shows neither a difference nor its absence."""


@attrs.frozen
class Unit:
    """How differences in a score are written.

    Attributes
    ----------
    score : str
        The score in words, such as ``"accuracy"``.
    scale : int
        What differences are multiplied by: 100 for points, −1 for negated errors.
    digits : int or None
        Decimals; None writes two significant digits.
    word : str
        What follows a number, with its space: ``" points"``, or empty.
    is_error : bool
        Whether the score is an error, which rises where something is lost.
    """

    score: str
    scale: int = 100
    digits: int | None = 1
    word: str = " points"
    is_error: bool = False

    @classmethod
    def of(cls, score: Score, mean: float) -> Unit:
        """Return the unit of losses of a score of this mean."""
        if score.is_share or score.name == "r2":
            return cls(score.words)
        digits = max(0, 2 - int(np.floor(np.log10(abs(mean) or 1.0))))
        return cls(score.words, 1, digits, "", score.lower)

    @classmethod
    def of_differences(cls, score: Score) -> Unit:
        """Return the unit of differences in a score between methods."""
        if score.is_share:
            return cls(score.words)
        if score.name == "r2":
            return cls(score.words, word=f" points of {score.words}")
        # A difference of negated errors is that of the errors, negated.
        return cls(score.words, score.sign, None, f" in {score.words}", score.lower)

    @property
    def of_changes(self) -> str:
        """The unit of a change, such as "points of accuracy"."""
        return f"points of {self.score}" if self.word else self.score

    def number(self, value: float) -> str:
        """Return a difference without its unit, as in a column of a table."""
        return numbers.number(self.scale * value, 1 if self.digits is None else self.digits)

    def amount(self, value: float) -> str:
        """Return the size of a difference; only zero is written as zero."""
        size = round(abs(self.scale * value), DECIMALS)
        if self.digits is None:
            return numbers.significant(size, 2)
        if size and round(size, self.digits) == 0:
            return numbers.significant(size, 1)
        return numbers.number(size, self.digits)

    def sized(self, value: float) -> str:
        """Return the size of a difference with its unit."""
        return f"{self.amount(value)}{self.word}"

    def negative(self, value: float) -> str:
        """Return a difference with a minus if it is below zero."""
        below = round(self.scale * value, DECIMALS) < 0
        return f"{numbers.MINUS if below else ''}{self.amount(value)}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign, such as "−2.2" or "+1.1"; zero has none."""
        above = round(self.scale * value, DECIMALS) > 0
        return f"{'+' if above else ''}{self.negative(value)}"

    def changed(self, change: float) -> str:
        """Return a change in the score with its sign; that of an error is above zero if it rises.

        Examples
        --------
        >>> Unit("accuracy").changed(-0.0075), Unit("error", 1, 2, "", True).changed(-0.3)
        ('−0.8', '+0.30')
        """
        return self.signed(self._as_written(change))

    def change_in_table(self, change: float) -> str:
        """Return a change in the score, in the decimals of a table."""
        value = self.scale * self._as_written(change)
        return numbers.signed(value, 1 if self.digits is None else self.digits)

    def _as_written(self, change: float) -> float:
        """Return a change of a score, of which errors are negated, as one of what is written."""
        return -change if self.is_error else change


def interval(
    low: float,
    high: float,
    written: Callable[[float], str],
    level: float = 0.95,
    narrowest_with: str = "",
) -> str:
    """Return a confidence interval, or limits that the number of samples alone determines.

    ``narrowest_with`` counts these samples.

    Examples
    --------
    >>> interval(-0.056, 0.011, Unit("accuracy").signed)
    '95 % CI −5.6 to +1.1'
    >>> interval(-0.03, 0.03, Unit("accuracy").signed, narrowest_with="100 samples")
    '95 % limits −3.0 to +3.0, the narrowest with 100 samples'
    """
    kind = "limits" if narrowest_with else "CI"
    ends = f"{numbers.significant(100 * level, 3)} % {kind} {written(low)} to {written(high)}"
    return f"{ends}, the narrowest with {narrowest_with}" if narrowest_with else ends


def joined(names: Sequence[str], most: int | None = None) -> str:
    """Return names with commas and an "and"; those after ``most`` are counted.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"]), joined(["a", "b", "c", "d"], most=2)
    ('a', 'a, b and c', 'a, b and 2 others')
    """
    shown = list(names[:most])
    if len(shown) < len(names):
        shown.append(counted(len(names) - len(shown), "other"))
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


# Two methods.


def difference_shown(
    method: str, reference: str, mean: float, low: float, high: float, level: float, unit: Unit
) -> str:
    """Return that a method is better or worse, for an interval without zero.

    Examples
    --------
    >>> difference_shown("dimkl", "uniform", 0.02, 0.01, 0.03, 0.95, Unit("accuracy"))
    'dimkl is better than uniform by 2.0 points (95 % CI 1.0 to 3.0)'
    """
    near, far = sorted((abs(low), abs(high)))
    span = interval(near, far, unit.amount, level)
    word = "better" if mean > 0 else "worse"
    return f"{method} is {word} than {reference} by {unit.sized(mean)} ({span})"


def difference_excluded(
    method: str, reference: str, most: float, margin: float, unit: Unit, narrowest_with: str = ""
) -> str:
    """Return that no difference is larger than ``most``, which is within the margin.

    ``narrowest_with`` counts the samples, if their number alone determines it.

    Examples
    --------
    >>> difference_excluded("dimkl", "uniform", 0.013, 0.02, Unit("accuracy"))
    ... # doctest: +NORMALIZE_WHITESPACE
    'no difference larger than 1.3 points either way between dimkl and uniform, within the margin of
    2.0 points'
    """
    least = f", the least that {narrowest_with} can exclude" if narrowest_with else ""
    return (
        f"no difference larger than {unit.sized(most)} either way between {method} and"
        f" {reference}{least}, within the margin of {unit.sized(margin)}"
    )


def difference_inconclusive(
    method: str,
    reference: str,
    mean: float,
    low: float,
    high: float,
    level: float,
    unit: Unit,
    narrowest_with: str = "",
    enough: str = "",
) -> str:
    """Return that an interval shows neither a difference nor its absence.

    ``narrowest_with`` counts the samples, if their number alone makes the interval so wide;
    ``enough`` tells how many would have an even chance of another outcome.

    Examples
    --------
    >>> difference_inconclusive("dimkl", "uniform", -0.001, -0.021, 0.02, 0.95, Unit("accuracy"))
    'inconclusive: dimkl − uniform = −0.1 points (95 % CI −2.1 to 2.0)'
    """
    ends = (low, high) if unit.scale > 0 else (high, low)
    span = interval(*ends, unit.negative, level, narrowest_with)
    return (
        f"{INCONCLUSIVE}: {method} {numbers.MINUS} {reference} = {unit.negative(mean)}{unit.word}"
        f" ({span}){enough and '; '}{enough}"
    )


def even_chance(samples: float, which: str = "samples") -> str:
    """Return how many samples would have an even chance of a conclusive outcome.

    Examples
    --------
    >>> even_chance(1700)
    'about 1,700 samples would have an even chance'
    """
    return f"about {samples:,.0f} {which} would have an even chance"


def too_few_splits(method: str, reference: str, n_splits: int) -> str:
    """Return that an interval is too wide to be of use.

    Examples
    --------
    >>> too_few_splits("dimkl", "uniform", 2)
    'inconclusive: 2 splits are too few to compare dimkl and uniform'
    """
    return f"{INCONCLUSIVE}: {n_splits} splits are too few to compare {method} and {reference}"


def same_scores(method: str, reference: str, n_splits: int) -> str:
    """Return that two methods have equal scores.

    Examples
    --------
    >>> same_scores("dimkl", "uniform", 5), same_scores("dimkl", "uniform", 1)
    ... # doctest: +NORMALIZE_WHITESPACE
    ('dimkl and uniform have the same score on every split',
     'dimkl and uniform have the same score on each test sample')
    """
    where = "every split" if n_splits > 1 else "each test sample"
    return f"{method} and {reference} have the same score on {where}"


def not_excluded(counts: object, differences: str, most: float, unit: Unit) -> str:
    """Return up to which size ``differences`` may be chance, with so many samples or groups.

    Examples
    --------
    >>> not_excluded("100 samples", "losses", 0.03, Unit("accuracy"))
    'with 100 samples, losses of up to 3.0 points cannot be excluded'
    """
    return f"with {counts}, {differences} of up to {unit.sized(most)} cannot be excluded"


# One source of a model.


@attrs.frozen
class Loss:
    """What a score loses without a source, with its interval.

    Attributes
    ----------
    mean, low, high : float
        Above zero for a loss; the ends are NaN if they are unknown.
    level : float
        The confidence of the interval.
    narrowest_with : str
        The samples, if their number alone determines the interval.
    """

    mean: float
    low: float
    high: float
    level: float = 0.95
    narrowest_with: str = ""

    def size(self, unit: Unit) -> str:
        """Return the size of a loss or gain with its interval, both without a sign.

        The interval must not contain zero.

        Examples
        --------
        >>> [Loss(*ends).size(Unit("R²")) for ends in ((0.2, 0.1, 0.3), (-0.2, -0.3, -0.1))]
        ['20.0 points (95 % CI 10.0 to 30.0)', '20.0 points (95 % CI 10.0 to 30.0)']
        """
        near, far = sorted((abs(self.low), abs(self.high)))
        return f"{unit.sized(self.mean)} ({interval(near, far, unit.amount, self.level)})"

    def change(self, unit: Unit) -> str:
        """Return a loss as a change of the score, below zero if it drops; errors rise instead.

        Examples
        --------
        >>> Loss(0.091, 0.052, 0.13).change(Unit("accuracy"))
        '−9.1 points (95 % CI −13.0 to −5.2)'
        """
        in_score = f" in {unit.score}" if unit.is_error else unit.word
        changed = f"{unit.changed(-self.mean)}{in_score}"
        return changed if math.isnan(self.low) else f"{changed} ({self.interval(unit)})"

    def interval(self, unit: Unit) -> str:
        """Return the interval of the change of the score."""
        ends = (-self.high, -self.low) if not unit.is_error else (-self.low, -self.high)
        return interval(*ends, unit.changed, self.level, self.narrowest_with)


def lost_without(loss: Loss, unit: Unit) -> str:
    """Return that a source is needed.

    Examples
    --------
    >>> lost_without(Loss(0.2, 0.1, 0.3), Unit("accuracy"))
    'lost: 20.0 points (95 % CI 10.0 to 30.0)'
    >>> lost_without(Loss(0.2, 0.1, 0.3), Unit("mean absolute error", 1, 2, "", is_error=True))
    'lost: mean absolute error rises by 0.20 (95 % CI 0.10 to 0.30)'
    """
    rises = f"{unit.score} rises by " if unit.is_error else ""
    return f"lost: {rises}{loss.size(unit)}"


def not_lost_without(loss: Loss, unit: Unit, instead: str = "") -> str:
    """Return that a source is not needed, and which sources may stand in for it ``instead``.

    Examples
    --------
    >>> not_lost_without(Loss(0.001, -0.012, 0.014), Unit("accuracy"), "copy")
    ... # doctest: +NORMALIZE_WHITESPACE
    'not lost by more than 1.4 points (95 % CI −1.4 to +1.2); copy may stand in for it'
    """
    most = f"not lost by more than {unit.sized(loss.high)} ({loss.interval(unit)})"
    return f"{most}{_standing_in(instead)}"


def better_without(loss: Loss, unit: Unit, instead: str = "") -> str:
    """Return that a model is better without a source.

    Examples
    --------
    >>> better_without(Loss(-0.03, -0.05, -0.01), Unit("accuracy"))
    'not lost, better without: 3.0 points gained (95 % CI 1.0 to 5.0)'
    """
    if unit.is_error:
        gained = f"{unit.score} falls by {loss.size(unit)}"
    else:
        gained = loss.size(unit).replace(" (", " gained (", 1)
    return f"not lost, better without: {gained}{_standing_in(instead)}"


def _standing_in(instead: str) -> str:
    return f"; {instead} may stand in for it" if instead else ""


def inconclusive_without(loss: Loss, samples: float, unit: Unit, pronoun: str = "it") -> str:
    """Return that an interval does not show whether a source is needed.

    ``samples`` would have an even chance of another outcome; one fold has no interval, and no such
    number.

    Examples
    --------
    >>> inconclusive_without(Loss(0.022, -0.011, 0.056), 1700, Unit("accuracy"))
    ... # doctest: +ELLIPSIS
    'inconclusive: −2.2 points without it (95 % CI −5.6 to +1.1); about 1,700 samples would ...'
    """
    changed, _, ends = loss.change(unit).partition(" (")
    if not ends:
        return f"{INCONCLUSIVE} from one split: {changed} without {pronoun}"
    enough = f"; {even_chance(samples)}"
    return (
        f"{INCONCLUSIVE}: {changed} without {pronoun} ({ends}{enough if samples < np.inf else ''}"
    )


# Several sources of a model together.


def redundant(names: Sequence[str], without: str) -> str:
    """Return that each of several sources is dispensable, and all together are not.

    Examples
    --------
    >>> redundant(["copy", "main"], "−9.1 points (95 % CI −13.0 to −5.2)")  # doctest: +ELLIPSIS
    'copy and main are redundant: either is dispensable, both are not (−9.1 points, 95 % CI ...)'
    """
    parts = "either is dispensable, both are not"
    if len(names) > 2:
        parts = "each is dispensable, all of them together are not"
    return f"{joined(names)} are redundant: {parts} ({without.replace(' (', ', ').rstrip(')')})"


def needed_together(names: Sequence[str], without: str) -> str:
    """Return that several sources are needed together, and none is shown to be by itself.

    Examples
    --------
    >>> needed_together(["copy", "main"], "−9.1 points (95 % CI …)")
    'neither copy nor main is shown to be needed on its own; without both −9.1 points (95 % CI …)'
    """
    if len(names) == 2:
        first, second = names
        return (
            f"neither {first} nor {second} is shown to be needed on its own; without both {without}"
        )
    return (
        f"none of {joined(names)} is shown to be needed on its own; without all of them {without}"
    )


def lost_together(names: Sequence[str], needed: Sequence[str], without: str) -> str:
    """Return what is lost without several sources, of which some are needed by themselves.

    Examples
    --------
    >>> lost_together(["copy", "main"], ["main"], "−9.1 points (95 % CI −13.0 to −5.2)")
    'without copy and main: −9.1 points (95 % CI −13.0 to −5.2); main is needed on its own'
    """
    are = "is needed on its own" if len(needed) == 1 else "are each needed on their own"
    return f"without {joined(names)}: {without}; {joined(needed)} {are}"


def dispensable_together(names: Sequence[str], loss: Loss, unit: Unit) -> str:
    """Return that several sources are not needed together.

    Examples
    --------
    >>> dispensable_together(["copy", "noise"], Loss(0.001, -0.012, 0.014), Unit("accuracy"))
    ... # doctest: +NORMALIZE_WHITESPACE
    'copy and noise are dispensable together: not lost by more than 1.4 points (95 % CI −1.4 to
    +1.2)'
    """
    return f"{joined(names)} are dispensable together: {not_lost_without(loss, unit)}"


# What a number estimates, and what limits it.


def share_of_samples(fewest: float, most: float, samples: int) -> str:
    """Return the share of the samples on which models are trained.

    Examples
    --------
    >>> share_of_samples(80, 80, 120), share_of_samples(80, 90, 120)
    ('67 % of 120 such samples', '67 to 75 % of 120 such samples')
    """
    ends = dict.fromkeys(numbers.whole(100 * count / samples) for count in (fewest, most))
    return f"{' to '.join(ends)} % of {samples:,} such samples"


def loss_estimated(trained: float, samples: int) -> str:
    """Return what the changes of an explanation estimate.

    Examples
    --------
    >>> loss_estimated(96, 120)
    'changes estimate the mean change of models trained on 80 % of 120 such samples (96)'
    """
    share = share_of_samples(trained, trained, samples)
    return f"changes estimate the mean change of models trained on {share} ({trained:,.0f})"


def difference_estimated(score: str, trained: str) -> str:
    """Return what a difference between methods estimates.

    Examples
    --------
    >>> difference_estimated("accuracy", share_of_samples(80, 80, 120))  # doctest: +ELLIPSIS
    'a difference estimates the mean difference in accuracy between models trained on 67 % of ...'
    """
    return (
        f"a difference estimates the mean difference in {score} between models trained on {trained}"
    )


def difference_of_one_split(score: str, trained: str) -> str:
    """Return what a difference between methods is on a single split.

    Examples
    --------
    >>> difference_of_one_split("accuracy", "80")
    'a difference is that in accuracy of two models trained on 80 samples'
    """
    return f"a difference is that in {score} of two models trained on {trained} samples"


def about_one_split(test: str, models: str) -> str:
    """Return what the intervals of a single split are about, with the test that they are from.

    Examples
    --------
    >>> about_one_split("McNemar's test", "the two models")  # doctest: +NORMALIZE_WHITESPACE
    "intervals and tests are over the test samples (McNemar's test), for the two models as they
     were fitted; they say nothing about models of other training samples"
    """
    return (
        f"intervals and tests are over the test samples ({test}), for {models} as they were"
        " fitted; they say nothing about models of other training samples"
    )


def beats_guessing(models: str, are: str) -> str:
    """Return that models ``are``, or are not, shown to be better than guessing.

    Examples
    --------
    >>> beats_guessing("the model", "is not")
    'the model is not shown to be better than guessing without any feature'
    """
    return f"{models} {are} shown to be better than guessing without any feature"
