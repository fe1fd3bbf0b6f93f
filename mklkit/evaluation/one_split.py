"""Models fitted on one split, compared on its test samples: what these samples tell of the models.

Several splits show how a difference varies with training and test samples. One split has only its
test samples, so its intervals and tests are about the models as they were fitted, on other samples
of the same population, and not about models of other training samples.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, t
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from mklkit.evaluation.class_scores import ACCURACY, BALANCED, SAMPLES
from mklkit.evaluation.counted_scores import OfCounts, Responses, of_counts
from mklkit.evaluation.intervals import Interval
from mklkit.evaluation.paired_proportions import mcnemar_test, paired_interval
from mklkit.evaluation.rank_tests import DIGITS
from mklkit.evaluation.resampling import (
    FEW_GROUPS,
    FEWEST,
    LEVEL,
    Resampling,
    wilson,
    wilson_of_mean,
)
from mklkit.evaluation.resolution import Resolution
from mklkit.protocols import Array, Task
from mklkit.protocols.score import Score, Scorer

METHODS = ("predict", "decision_function", "predict_proba")
"""The methods of a model from whose answers scores are computed."""
DRAWS, FEWER_DRAWS = 9_999, 1_999
"""The draws of test samples; fewer for scores that are computed for one draw after another."""
MOST_DRAWN = 200_000_000
"""The most samples in all draws, as far as the fewer draws allow."""
MCNEMAR = "McNemar's exact test"
UNKNOWN = (float("nan"), float("nan"))


class Recorder:
    """A fitted model that keeps its answers for some samples.

    It is used in place of the model where these samples are scored, which then are predicted once.
    """

    def __init__(self, model: Any, rows: Any, predictions: Any = None) -> None:
        self._model, self._rows = model, rows
        self.responses: dict[str, NDArray[Any]] = {}
        if predictions is not None:
            self.responses["predict"] = np.asarray(predictions)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the model, and of its methods the answers that it gave before."""
        value = getattr(self._model, name)
        if name not in METHODS:
            return value

        def respond(rows: Any) -> Any:
            if rows is not self._rows:
                return value(rows)
            if name not in self.responses:
                self.responses[name] = np.asarray(value(rows))
            return self.responses[name]

        respond.__name__ = name  # by which scikit-learn's scorers know what was called
        return respond


class _Recalled(BaseEstimator):
    """A model of the answers of another one, whose samples are their places."""

    def __init__(self, responses: Responses, classes: NDArray[Any] | None, kind: Any) -> None:
        self.responses, self.kind = responses, kind
        if classes is not None:
            self.classes_ = classes

    def __sklearn_tags__(self) -> Any:
        """Return the tags of an estimator of the same kind."""
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.kind
        return tags

    def __getattr__(self, name: str) -> Any:
        """Return the method of the answers of this name."""
        if name not in METHODS or name not in self.responses:
            raise AttributeError(name)
        values = self.responses[name]
        if name == "predict" and "classes_" in vars(self):
            values = self.classes_[values]

        def recall(places: Any) -> Any:
            return values[places]

        recall.__name__ = name  # by which scikit-learn's scorers know what was called
        return recall


@attrs.frozen(eq=False)
class OneSplit:
    """The test samples of a split, and what models answer for them.

    Attributes
    ----------
    task : Task
        Of the models.
    score : Score
        The score that compares them.
    truth : ndarray of shape (n,) or (n, T)
        The targets of the test samples.
    scorer : callable
        A function of a model, samples and targets, larger is better.
    classes : ndarray, optional
        The classes of all samples, in the order of the models; None for other targets.
    groups : ndarray of shape (n,), optional
        The group of each test sample.
    seed : int, default=0
        Of the draws of test samples.
    responses : dict
        By the name of a model, its answers for all samples, which may be given several times, one
        after another, as with permuted columns.
    """

    task: Task
    score: Score
    truth: NDArray[Any]
    scorer: Scorer
    classes: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    seed: int = 0
    responses: Mapping[Hashable, Responses] = attrs.field(factory=dict)
    _drawn: dict[Hashable, Array] = attrs.field(factory=dict, init=False)

    def having(self, responses: Mapping[Hashable, Responses]) -> Self:
        """Return the same samples with the answers of models."""
        known = {name: answers for name, answers in responses.items() if answers}
        return attrs.evolve(self, responses=known)

    def essential(self, recorder: Recorder) -> dict[str, NDArray[Any]]:
        """Return the fewest answers that reproduce a model's score; none if they do not.

        The score of a package's task may depend on more than these answers.
        """
        known = {name: self._coded(name, values) for name, values in recorder.responses.items()}
        answers = {name: values for name, values in known.items() if values is not None}
        with suppress(Exception):  # Scorers of packages may raise any.
            score = self.value(answers)
            subsets = (
                {name: answers[name] for name in names}
                for size in range(1, len(answers) + 1)
                for names in combinations(answers, size)
            )
            return next(some for some in subsets if self.is_of(some, score))
        return {}

    def answers_of(self, model: Any, rows: Any) -> dict[str, NDArray[Any]]:
        """Return the fewest answers of a model that have its score; none if it is undefined."""
        recorder = Recorder(model, rows)
        n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        with suppress(Exception):  # Scorers of packages may raise any.
            self.scorer(recorder, rows, self._truth(np.arange(n_rows)))
            return self.essential(recorder)
        return {}

    def value(self, responses: Responses) -> float:
        """Return the score of a model's answers; errors are those of the scorer."""
        places = np.arange(_length(responses))
        return float(self.scorer(self._model(responses), places, self._truth(places)))

    def is_of(self, responses: Responses, score: float) -> bool:
        """Return whether answers, read from a file, are those of a model with this score."""
        with suppress(Exception):
            return _equal(self.value(responses), score)
        return False

    def knows(self, *models: Hashable) -> bool:
        """Return whether the answers of all these models are known, and samples can be drawn."""
        if not all(model in self.responses for model in models):
            return False
        if self._counts_samples(*models):
            return len(self.truth) > 1 or len(models) == 1
        return self._resampling.suffices

    def why_not(self, *models: Hashable) -> str:
        """Return why these models have no interval, as a part of a sentence; empty if they do."""
        unknown = [model for model in models if model not in self.responses]
        if unknown:
            return f"the answers of {unknown[0]} for the test samples are not known"
        if self.knows(*models):
            return ""
        if len(self.truth) == 1:
            return "there is one test sample"
        unit = "samples" if self.groups is None else "groups"
        few = f"in the rarest class, fewer than {FEWEST}"
        n_drawn = self._resampling.n_drawn
        if self.groups is not None and n_drawn < FEW_GROUPS:
            few = f"for test, fewer than {FEW_GROUPS}"
        return f"there are too few {unit} {few}"

    @property
    def test(self) -> str:
        """The test of differences in words."""
        if self._counts_samples(*self.responses):
            return MCNEMAR
        unit = "test samples" if self.groups is None else "groups of test samples"
        return f"paired bootstrap of {self._resampling.n_drawn:,} {unit}"

    def interval(self, model: Hashable, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval of a model's score, NaN if it is unknown."""
        if not self.knows(model):
            return UNKNOWN
        if self._counts_samples(model):
            return wilson(self._right(model), level)
        if self.score.name == BALANCED.name and self.classes is not None and self.groups is None:
            right, codes = self._right(model), self._codes
            if len(right) == len(codes):
                return wilson_of_mean([right[codes == code] for code in np.unique(codes)], level)
        drawn = self._draws_of([model])[model]
        return self._ends(drawn, self.value(self.responses[model]), level)

    def difference_interval(
        self, model: Hashable, reference: Hashable, level: float = LEVEL
    ) -> tuple[float, float]:
        """Return the ends of the interval of the difference of two models, NaN if unknown."""
        return self.difference(model, reference, level).limits()

    def difference(
        self,
        model: Hashable,
        reference: Hashable,
        level: float = LEVEL,
        units: Resolution | None = None,
    ) -> Interval:
        """Return the interval of the difference of two models, with NaN if it is unknown.

        It excludes 0 if and only if the p value is below 1 − ``level``. If it does not, it is as
        wide as the ``units`` require: those of a share of samples that are right, and of other
        scores only if no draw shows a difference, so that the draws say nothing of their width.
        """
        if not self.knows(model, reference):
            return Interval(math.nan, *UNKNOWN, level, of_one_split=True)
        if self._counts_samples(model, reference):
            counts = (*self._discordant(model, reference), len(self.truth))
            mean = (counts[0] - counts[1]) / len(self.truth)
            ends = paired_interval(*counts, level)
            return Interval(mean, *ends, level, units, counts, of_one_split=True)
        value, of_reference = (self.value(self.responses[name]) for name in (model, reference))
        ends = self._ends(self._differences(model, reference), value - of_reference, level)
        is_share = self.score.counts in ("samples", "classes")
        if not is_share and not self.are_equal(model, reference):
            units = None
        return Interval(value - of_reference, *ends, level, units, of_one_split=True)

    def p_value(self, model: Hashable, reference: Hashable) -> float:
        """Return the p value of the test that two models have the same score, NaN if unknown.

        It is McNemar's exact test for shares of independent samples, else that of the intervals by
        drawing samples.
        """
        if not self.knows(model, reference):
            return float("nan")
        if self._counts_samples(model, reference):
            return mcnemar_test(*self._discordant(model, reference))
        differences = self._differences(model, reference)
        known = differences[~np.isnan(differences)]
        if len(known) < LEVEL * len(differences):
            return float("nan")
        fewer = min((known <= 0).sum(), (known >= 0).sum())
        n_units = self._resampling.n_units
        share = min((1 + fewer) / (1 + len(known)), 0.5)
        statistic = norm.ppf(share) * np.sqrt((n_units - 1) / n_units)
        return float(2 * t.cdf(statistic, n_units - 1))

    def are_equal(self, model: Hashable, reference: Hashable) -> bool:
        """Return whether two models have the same score on these samples and on all draws."""
        if not self.knows(model, reference):
            return False
        if self._counts_samples(model, reference):
            return self._discordant(model, reference) == (0, 0)
        return not np.any(self._differences(model, reference))

    @property
    def _codes(self) -> NDArray[Any]:
        """The targets as models answer them: the numbers of classes."""
        return self.truth if self.classes is None else np.searchsorted(self.classes, self.truth)

    def _truth(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Return the targets of places in answers, which may be given several times."""
        return np.asarray(self.truth[places % len(self.truth)])

    def _coded(self, name: str, values: NDArray[Any]) -> NDArray[Any] | None:
        """Return answers with numbers for classes; None if they are of other classes."""
        if self.classes is None:
            return values
        if name != "predict":
            columns = values.shape[1:]
            return values if columns in [(), (len(self.classes),)] else None
        codes = np.searchsorted(self.classes, values).clip(max=len(self.classes) - 1)
        return codes if np.array_equal(self.classes[codes], values) else None

    def _model(self, responses: Responses) -> Any:
        """Return a model with these answers."""
        kind = "classifier" if self.classes is not None else _kind_of(self.task)
        return _Recalled(responses, self.classes, kind)

    def _counts_samples(self, *models: Hashable) -> bool:
        """Whether the score is the share of independent samples that are right."""
        answers = [self.responses[model].get("predict", ()) for model in models]
        once = all(len(predictions) == len(self.truth) for predictions in answers)
        is_share = self.score.name in (ACCURACY.name, *SAMPLES) and self.classes is not None
        return is_share and self.groups is None and once

    def _right(self, model: Hashable) -> NDArray[np.bool_]:
        """Return which samples a model predicts right."""
        predictions = self.responses[model]["predict"]
        return np.asarray(predictions == self._codes[np.arange(len(predictions)) % len(self.truth)])

    def _discordant(self, model: Hashable, reference: Hashable) -> tuple[int, int]:
        """Return how many samples only the model, and only the reference predicts right."""
        right, of_reference = self._right(model), self._right(reference)
        return int((right & ~of_reference).sum()), int((of_reference & ~right).sum())

    @cached_property
    def _resampling(self) -> Resampling:
        """How test samples are drawn; as many of each class where the score needs all classes."""
        needs_classes = self.classes is not None and self.score.counts != ACCURACY.counts
        classes = self._codes if needs_classes else None
        return Resampling.of(len(self.truth), self.groups, self.seed, classes)

    def _differences(self, model: Hashable, reference: Hashable) -> Array:
        """Return the differences of two models over the same draws."""
        drawn = self._draws_of([model, reference])
        n_draws = min(len(drawn[model]), len(drawn[reference]))
        # R² of a draw with equal targets is minus infinity in both.
        with np.errstate(invalid="ignore"):
            return np.round(drawn[model][:n_draws] - drawn[reference][:n_draws], DIGITS)

    def _draws_of(self, models: Iterable[Hashable]) -> dict[Hashable, Array]:
        """Return the scores of models over the draws, made once for all that are known."""
        if not all(model in self._drawn for model in models):
            missing = [model for model in self.responses if model not in self._drawn]
            functions = {model: self._of_counts(model) for model in missing}
            at_once = {model: known for model, known in functions.items() if known is not None}
            parts: dict[Hashable, list[Array]] = {model: [] for model in at_once}
            most = max(FEWER_DRAWS, min(DRAWS, MOST_DRAWN // len(self.truth)))
            for counts in self._resampling.counts(most) if at_once else ():
                for model, scores_of in at_once.items():
                    parts[model].append(scores_of(counts))
            self._drawn.update({model: np.concatenate(part) for model, part in parts.items()})
            rest = [model for model in missing if model not in at_once]
            self._drawn.update({model: self._one_by_one(model) for model in rest})
        return self._drawn

    def _of_counts(self, model: Hashable) -> OfCounts | None:
        """Return the function that computes a model's score of many draws, if it is known."""
        responses = self.responses[model]
        n_answers = _length(responses)
        repeats = n_answers // len(self.truth)
        truth = self._codes[np.arange(n_answers) % len(self.truth)]
        function = of_counts(self.score.name, truth, responses, self.classes)
        if function is None:
            return None

        def repeated(counts: Array) -> Array:
            return function(np.tile(counts, repeats))

        whole = float(repeated(np.ones((1, len(self.truth))))[0])
        return repeated if _equal(whole, self.value(responses)) else None

    def _one_by_one(self, model: Hashable) -> Array:
        """Return a model's scores of the draws, NaN where they are undefined."""
        responses = self.responses[model]
        n_answers = _length(responses)
        starts = np.arange(0, n_answers, len(self.truth))
        recalled = self._model(responses)
        scores = []
        with config_context(skip_parameter_validation=True):  # which takes as long as a score
            for rows in self._resampling.rows(FEWER_DRAWS):
                places = np.add.outer(starts, rows).ravel()
                scores.append(float("nan"))
                with suppress(ValueError, ArithmeticError):
                    scores[-1] = float(self.scorer(recalled, places, self._truth(places)))
        return np.array(scores)

    def _ends(self, drawn: Array, value: float, level: float) -> tuple[float, float]:
        """Return quantiles of draws, wider for few samples by Student's distribution.

        NaN if more than one of twenty draws is undefined.
        """
        known = np.sort(drawn[~np.isnan(drawn)])
        if len(known) == 0 or len(known) < LEVEL * len(drawn):
            return UNKNOWN
        n_units = self._resampling.n_units
        widened = t.ppf((1 - level) / 2, n_units - 1) * np.sqrt(n_units / (n_units - 1))
        # So many draws that an end excludes 0 if and only if the p value is below 1 − level.
        place = int(np.ceil(norm.cdf(widened) * (1 + len(known)))) - 1
        low, high = known[max(place, 1) - 1], known[-max(place, 1)]
        if place < 1:  # So far out that the draws do not show that 0 is excluded.
            low, high = min(low, 0.0), max(high, 0.0)
        return float(min(low, value)), float(max(high, value))


def _equal(first: float, second: float) -> bool:
    return bool(np.isclose(first, second, rtol=1e-9, atol=1e-12))


def _length(responses: Responses) -> int:
    return len(next(iter(responses.values())))


def _kind_of(task: Task) -> Any:
    """Return scikit-learn's type of a task's estimators, None if it has none."""
    with suppress(Exception):
        return get_tags(task.estimator()).estimator_type
    return None


def plain(responses: Responses) -> dict[str, list[Any]]:
    """Return answers as lists of numbers for JSON."""
    return {name: values.tolist() for name, values in responses.items()}


def read_responses(
    values: Mapping[str, ArrayLike], n_samples: int, n_classes: int | None
) -> dict[str, NDArray[Any]]:
    """Return answers from lists of numbers in a file; a ValueError if they are impossible."""
    responses = {}
    for name, answers in values.items():
        array = np.asarray(answers)
        of_classes = name == "predict" and n_classes is not None
        if name not in METHODS or array.dtype.kind not in ("i" if of_classes else "if"):
            raise ValueError("expected the answers of a model")
        if array.ndim > 2 or len(array) != n_samples or not np.isfinite(array).all():
            raise ValueError("expected a finite answer for each test sample")
        if of_classes and (array.ndim != 1 or array.min() < 0 or array.max() >= n_classes):
            raise ValueError("expected numbers of classes")
        responses[name] = array
    return responses
