"""A score: its names, how it is computed and written, and what it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.display import numbers
from mklkit.protocols.rows import Array

__all__ = ["Answers", "Score", "Scorer", "of_labels", "values_of"]

Scorer = Callable[[Any, Any, Any], float]
"""A function of a fitted model, samples and targets; larger is better."""


@attrs.frozen(eq=False)
class Answers:
    """What a score may see of the scored samples.

    Parameters
    ----------
    truth, predictions : ndarray of shape (n,) or (n, n_targets)
        The targets and their predictions; of classes their numbers.
    counts : ndarray of shape (n,), optional
        How many samples each pair stands for.
    training : ndarray, optional
        The targets of the training samples.
    baseline : float
        What the baseline without features reaches in its own score.
    variance : ndarray of shape (n_targets,), optional
        The mean squared error at which R² is 0.
    values, probabilities : ndarray of shape (n,) or (n, n_classes), optional
        Decision values, and the probabilities of the classes.

    See Also
    --------
    Score : Computes a value from them.

    Examples
    --------
    >>> answers = Answers(np.array([1.0, 2.0]), np.array([1.0, 4.0]), training=np.array([3.0]))
    >>> float(np.abs(answers.truth - answers.predictions).mean()), answers.has("probabilities")
    (1.0, False)
    """

    truth: NDArray[Any]
    predictions: NDArray[Any]
    counts: NDArray[Any] | None = None
    training: NDArray[Any] | None = None
    baseline: float = float("nan")
    variance: Array | None = None
    values: Array | None = None
    probabilities: Array | None = None

    def has(self, needs: str) -> bool:
        """Return whether they have what a score ``needs``.

        Parameters
        ----------
        needs : str
            What a score is computed from.

        Returns
        -------
        bool
            True if they have.
        """
        return needs == "labels" or getattr(self, needs) is not None


def words_of(score: str) -> str:
    """Return a score's name in words: of an error, without the sign.

    Examples
    --------
    >>> words_of("neg_mean_absolute_error")
    'mean absolute error'
    """
    return score.removeprefix("neg_").replace("_", " ")


def is_error(score: str) -> bool:
    """Return whether a score is an error, negated because larger is better."""
    return score.startswith("neg_")


@attrs.frozen(eq=False)
class Score:
    """A score by which models can be ranked, written and compared.

    A task lists its scores once; all commands, tables, JSON and reports iterate over them.

    Parameters
    ----------
    name : str
        The name that scikit-learn uses if it has one; that of an error begins with ``neg_``.
    of : callable, optional
        Its value, of an error without the sign, from :class:`Answers`. With it, every command
        computes the score; without, it is computed only on request, by scikit-learn.
    key : str
        The name of its value in tables and JSON; default: the name without ``neg_``.
    words : str
        Its name in text; default: the key in words.
    needs : {"labels", "values", "probabilities"}
        What it is computed from: predictions, decision values (of tests of a comparison) or
        probabilities.
    unit : {"share", "number", "error"}
        A share is written in percent and points; an error with four digits.
    counts : {"", "samples", "classes", "rarest"}
        Whether all samples count equally, each class, or samples of the rarest class the most;
        empty if differences have no least unit.
    low, high : float
        The range of its value.
    head, short : str
        Heads of tables, and on a terminal (None: omitted).
    decimal : bool
        Whether tables write a share as a decimal, as is usual for areas.
    of_model : callable, optional
        A scorer to use instead of scikit-learn's of the name.
    ranks : bool
        False for a baseline, which models can't be ranked by.

    See Also
    --------
    Answers : What it is computed from.
    Task : Lists the scores of its models.

    Examples
    --------
    >>> error = Score("neg_error", lambda a: float(np.abs(a.truth - a.predictions).mean()))
    >>> error.key, error.lower, error.of(Answers(np.array([1.0]), np.array([3.0])))
    ('error', True, 2.0)
    """

    name: str
    of: Callable[[Answers], float] | None = None
    key: str = attrs.field()
    words: str = attrs.field()
    needs: Literal["labels", "values", "probabilities"] = "labels"
    unit: Literal["share", "number", "error"] = "number"
    counts: Literal["", "samples", "classes", "rarest"] = "rarest"
    low: float = -np.inf
    high: float = np.inf
    head: str = attrs.field()
    short: str | None = attrs.field()
    decimal: bool = False
    of_model: Scorer | None = None
    ranks: bool = True

    @key.default
    def _key(self) -> str:
        return self.name.removeprefix("neg_")

    @words.default
    def _words(self) -> str:
        return words_of(self.key)

    @head.default
    def _head(self) -> str:
        return self.words[:1].upper() + self.words[1:]

    @short.default
    def _short(self) -> str | None:
        return self.words

    @property
    def sign(self) -> int:
        """−1 for an error, which is negated where larger must be better."""
        return -1 if is_error(self.name) else 1

    @property
    def is_share(self) -> bool:
        """Whether it is written in percent, and differences in points."""
        return self.unit == "share"

    @property
    def share(self) -> bool:
        """Whether tables write it in percent."""
        return self.is_share and not self.decimal

    @property
    def lower(self) -> bool:
        """Whether the least value is the best."""
        return self.sign < 0

    @property
    def scale(self) -> tuple[int, int]:
        """A factor, and the decimals of the product to show in tables."""
        return (100, 1) if self.share else (1, 3)

    @property
    def is_known(self) -> bool:
        """Whether scikit-learn has a scorer of the name, and no other replaces it."""
        # Imported late, since every command imports the protocols.
        from sklearn.metrics import get_scorer_names

        return self.of_model is None and self.name in get_scorer_names()

    @property
    def scorer(self) -> Scorer | None:
        """The scorer of scikit-learn, or the one that replaces it; None without any."""
        from sklearn.metrics import get_scorer

        known: Scorer | None = get_scorer(self.name) if self.is_known else self.of_model
        return known

    def written(self, value: float | None) -> str:
        """Return a value as text.

        Parameters
        ----------
        value : float or None
            A value of the score; None if it is undefined.

        Returns
        -------
        str
            The text.
        """
        if value is None:
            return "undefined"
        if self.is_share:
            return numbers.percentage(value)
        return numbers.significant(value, 4) if self.unit == "error" else numbers.number(value, 3)

    def written_ranked(self, value: float) -> str:
        """Return a value by which models are ranked as text: of an error without the sign.

        Parameters
        ----------
        value : float
            A value of which the larger is better, NaN if it is undefined.

        Returns
        -------
        str
            The text.
        """
        return self.written(None if np.isnan(value) else self.sign * value)

    def possible(self, value: float) -> bool:
        """Return whether a value is in the range, or missing.

        Parameters
        ----------
        value : float or None
            A value of the score; None if it is undefined.

        Returns
        -------
        bool
            True if it is.
        """
        return bool(np.isnan(value) or self.low <= value <= self.high)


def of_labels(metric: Callable[..., Any]) -> Callable[[Answers], float]:
    """Return the value of a scikit-learn metric of truth and predictions."""

    def value(answers: Answers) -> float:
        return float(metric(answers.truth, answers.predictions, sample_weight=answers.counts))

    return value


def values_of(answers: Answers, scores: Iterable[Score]) -> dict[str, float]:
    """Return the values of scores by their keys, as far as the answers have what they need."""
    return {
        score.key: score.of(answers)
        for score in scores
        if score.of is not None and answers.has(score.needs)
    }
