"""Tasks: what is to be predicted, and all that commands need to know about it.

A task is one class in one module. It states how its target columns are read and split, the scores,
the baseline, the estimator and the words for them; commands, comparisons and reports know tasks
only. Those of packages are registered like any other component.

Commands, ``explain``, ``compare``, searches and ``cross_validate`` differ between targets only
through their task, which they get by its name (``registry/tasks.py``) or from a model
(``estimators/task_of.py``). Tasks of packages may add options for their target columns, which
commands offer (``cli/target_columns.py``). A task lists its scores in ``scores``, over which all
tables, JSON and stored runs iterate; a ``Score`` (``score.py``) says how it is computed, named,
written and counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, IncompatibleError, UnknownNameError, counted, quoted, suggest
from mklkit.protocols.component import Component
from mklkit.protocols.rows import Array
from mklkit.protocols.score import Answers, Score, Scorer, values_of
from mklkit.protocols.splits.split import Indices, Splits
from mklkit.protocols.target_kind import TargetKind

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.display.section import Section

__all__ = ["TargetColumn", "Task"]

PREDICTION = "prediction"
"""The beginning of the names of predicted columns."""


@attrs.frozen
class TargetColumn:
    """A target column of a task with its own option on the command line.

    Parameters
    ----------
    name : str
        The option without hyphens, such as ``"time"`` for ``--time``.
    help : str
        What the column holds, for the command's help.

    See Also
    --------
    Task : The base of the tasks that return it.

    Examples
    --------
    >>> TargetColumn("time", "The months until death or the last visit.").option
    '--time'
    """

    name: str
    help: str

    @property
    def option(self) -> str:
        """The option as users type it."""
        return f"--{self.name.replace('_', '-')}"


@attrs.frozen(eq=False)
class Task(Component, ABC):
    """What is to be predicted, and how each command treats it.

    A subclass states the class attributes below and writes the abstract methods; the others have
    defaults. It is decorated by ``@register`` and ``@attrs.frozen(eq=False)``.

    Parameters
    ----------
    targets : tuple of str, default=("target",)
        The names of the columns that are predicted.

    Attributes
    ----------
    name : str
        The name after ``--task``.
    noun, plural : str
        A sample's target in words, such as ``"class"`` and ``"classes"``.
    kinds : tuple of TargetKind
        The kinds of the problems that its estimator makes of a target, the usual one first.
        Learners and combiners of this kind are offered.
    estimator : type
        The class of its estimator. A model is of this task if its last step is of this class, or
        if :meth:`fits` says so.
    estimator_noun : str, default="estimator"
        What :meth:`fits` accepts, in messages.
    scores : tuple of Score
        All scores, the one that models are ranked by first; a baseline is one too.
    guess : str
        The baseline without features in words: "no better than always predicting ...".
    guessed_by : str
        The key of the score that a model must beat.
    columns : tuple of TargetColumn, default=()
        The options that name the target columns if there are several, instead of ``--target``.
    step : str, default="predict"
        The name of the estimator among the steps of a pipeline.
    has_classes : bool, default=False
        Whether the values of a target are classes, which are listed and counted.
    takes_classes : bool, default=False
        Whether options for classes apply: class weights, probabilities, votes.
    in_parts : bool, default=False
        Whether a table that does not fit into memory can be learned.
    n_predicted : int, optional
        How many columns a prediction has, if these are not as many as there are targets.
    least_fold : int, default=1
        The fewest samples of a fold, if folds are not stratified.
    default_methods : tuple of str, default=()
        The combiners that a comparison has by default, by name or glob.

    See Also
    --------
    TargetKind : What learners learn from.
    Score : A score of predictions.

    Notes
    -----
    Targets are an array (N,), or (N, T) of several columns, wherever a method has ``targets``,
    ``truth`` or ``training``.

    Examples
    --------
    >>> from mklkit.tasks import Regression
    >>> task = Regression(["height", "weight"])
    >>> task.n_targets, task.ranked_by[0], task.shown("r2", 0.5)
    (2, 'r2', '0.500')
    """

    noun: ClassVar[str]
    plural: ClassVar[str]
    kinds: ClassVar[tuple[TargetKind, ...]]
    estimator: ClassVar[type]
    estimator_noun: ClassVar[str] = "estimator"
    scores: ClassVar[tuple[Score, ...]]
    guess: ClassVar[str]
    guessed_by: ClassVar[str]
    columns: ClassVar[tuple[TargetColumn, ...]] = ()
    step: ClassVar[str] = "predict"
    has_classes: ClassVar[bool] = False
    takes_classes: ClassVar[bool] = False
    in_parts: ClassVar[bool] = False
    n_predicted: ClassVar[int | None] = None
    least_fold: ClassVar[int] = 1
    default_methods: ClassVar[tuple[str, ...]] = ()

    targets: tuple[str, ...] = attrs.field(default=("target",), converter=tuple)

    # How targets are read.

    @abstractmethod
    def read(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the target columns of a table, without gaps, as they are learned.

        Parameters
        ----------
        columns : DataFrame
            The target columns of a table, in their order.

        Returns
        -------
        DataFrame
            The columns as they are learned.

        Raises
        ------
        DataError
            If they can't be learned.
        """

    def read_scored(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the target columns of new samples, without gaps, by which a model is scored.

        By default they are read as for a fit; a task that learns only from different targets
        overrides this.

        Parameters
        ----------
        columns : DataFrame
            The target columns of a table, in their order.

        Returns
        -------
        DataFrame
            The columns as they are scored.
        """
        return self.read(columns)

    @classmethod
    def claims(cls, columns: pd.DataFrame) -> bool:
        """Return whether ``--task auto`` treats target columns, without gaps, as of this task.

        Parameters
        ----------
        columns : DataFrame
            The target columns of a table, in their order.

        Returns
        -------
        bool
            True if it does.
        """
        return False

    def as_array(self, y: Any) -> NDArray[Any]:
        """Return what Python users give as targets as an array, (N,) or (N, T).

        Parameters
        ----------
        y : array-like
            What users give as targets.

        Returns
        -------
        ndarray of shape (N,) or (N, T)
            The targets.

        Raises
        ------
        DataError
            If they are a structured array, whose fields only a task's own method can read.
        """
        targets = np.asarray(y)
        if targets.dtype.names is not None:
            names = targets.dtype.names
            raise DataError(
                f"The task {self.name!r} expects targets of shape (N,) or (N, T); got a structured"
                f" array with the fields {', '.join(names)}: pass one of them, as y[{names[0]!r}]."
            )
        return targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return targets given in Python as an array; DataError if they can't score a model.

        By default they are :meth:`complete`, and checked by :meth:`read`.

        Parameters
        ----------
        y : array-like
            What users give as targets.
        n_rows : int
            The number of samples that there must be.

        Returns
        -------
        ndarray of shape (N,) or (N, T)
            The targets.

        Raises
        ------
        DataError
            If they can't score a model.
        """
        import pandas as pd

        targets = self.complete(y, n_rows)
        columns = pd.DataFrame(targets, columns=list(self.targets)).infer_objects()
        return self.as_array(self.read(columns).to_numpy())

    def complete(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return targets given in Python as an array of the task's shape, without gaps.

        Parameters
        ----------
        y : array-like
            What users give as targets.
        n_rows : int
            The number of samples that there must be.

        Returns
        -------
        ndarray of shape (N,) or (N, T)
            The targets.

        Raises
        ------
        DataError
            If the shape is another one, or targets are missing.
        """
        import pandas as pd

        targets = self.as_array(y)
        expected = (n_rows, self.n_targets) if self.n_targets > 1 else (n_rows,)
        if targets.shape != expected:
            raise DataError(
                f"Expected a {self.noun} per sample and target, {expected}; got y of shape"
                f" {targets.shape}."
            )
        gaps = int(pd.isna(targets).reshape(n_rows, -1).any(axis=1).sum())
        if gaps:
            raise DataError(f"{counted(gaps, 'sample')} without a {self.noun}: leave them out.")
        return targets

    def check_learnable(self, name: str, targets: NDArray[Any]) -> None:
        """Raise a DataError if no model could learn the targets of the data of a name.

        Parameters
        ----------
        name : str
            The name of the data.
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.
        """
        self.checked(targets, len(targets))

    def check_scored(self, columns: pd.DataFrame) -> None:
        """Raise a DataError if target columns, without gaps, can't score predictions.

        They are some rows of a table. By default :meth:`read` checks them; a task that reads only
        whole tables, as it needs different targets, overrides this.

        Parameters
        ----------
        columns : DataFrame
            The target columns of a part of a table.
        """
        self.read(columns)

    def is_scorable(self, truth: NDArray[Any]) -> bool:
        """Return whether a model can be scored by targets, in the form of :meth:`comparable`.

        Parameters
        ----------
        truth : ndarray of shape (n,) or (n, T)
            The targets of the n scored samples.

        Returns
        -------
        bool
            False if no score can be told.
        """
        return True

    def truth(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return the targets by which models are scored, if these are not what they learn.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.

        Returns
        -------
        ndarray of shape (N,) or (N, T)
            The targets that score models.
        """
        return targets

    @property
    def n_targets(self) -> int:
        """The number of columns that are predicted."""
        return len(self.targets)

    def example(self, numbers: Array) -> NDArray[Any]:
        """Return targets that follow from numbers, with which checks of components try the task.

        Parameters
        ----------
        numbers : ndarray of shape (N,)
            A number for each sample.

        Returns
        -------
        ndarray of shape (N,) or (N, T)
            By default the numbers, the same in each column.
        """
        columns = np.repeat(numbers[:, None], self.n_targets, axis=1)
        return self.as_array(columns)

    # What is said of them.

    @abstractmethod
    def summary(self, targets: NDArray[Any], counts: pd.Series | None = None) -> str:
        """Return what targets hold, such as ``"numbers from 1 to 7"``.

        If the targets are a sample, ``counts`` are the numbers of all samples by class.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.
        counts : pandas.Series, optional
            The number of all samples of each class, if the targets are a sample of them.

        Returns
        -------
        str
            A part of a sentence.
        """

    def metadata(self, targets: NDArray[Any]) -> dict[str, Any]:
        """Return plain values that describe targets: classes and their counts, if there are any.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.

        Returns
        -------
        dict
            The names and counts of ``classes``, empty without classes.
        """
        return {"classes": [], "class_counts": []}

    # Models.

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Return whether an estimator, such as scikit-learn's, predicts targets of this task.

        Parameters
        ----------
        model : estimator
            A model, inside a pipeline or search its last step.

        Returns
        -------
        bool
            True if it does.
        """
        return isinstance(model, cls.estimator)

    @classmethod
    def of_model(cls, model: Any) -> Self:
        """Return the task of an estimator, fitted or not, with the columns that it predicts.

        Parameters
        ----------
        model : estimator
            A model, inside a pipeline or search its last step.

        Returns
        -------
        Task
            The task.
        """
        names = vars(model).get("target_names_")
        return cls() if names is None else cls(targets=names)

    @property
    def why_no_classes(self) -> str:
        """Why options for classes do not apply, as a part of a sentence."""
        return f"{self.plural} are no classes"

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return usual estimators of other libraries by name, which comparisons have by default.

        Parameters
        ----------
        seed : int
            The seed of everything random.
        n_jobs : int or None
            The number of threads.
        class_weight : object
            The weights of classes, as for scikit-learn's classifiers.

        Returns
        -------
        dict of str to estimator
            The estimators, not fitted.
        """
        return {}

    def baseline_grids(self, is_fast: bool) -> Mapping[str, Mapping[str, Sequence[Any]]]:
        """Return grids of :meth:`baselines`, which are tuned if the compared methods are.

        Parameters
        ----------
        is_fast : bool
            Whether the search is a fast one, of few values.

        Returns
        -------
        mapping of str to mapping
            By the name of a baseline, the values of its parameters; those without are not tuned.
        """
        return {}

    @abstractmethod
    def baseline(self) -> Any:
        """Return the estimator of :attr:`guess`, which predicts without features.

        Returns
        -------
        estimator
            Not fitted.
        """

    def guesser(self) -> Any:
        """Return the estimator whose score comparisons show as a guess.

        Returns
        -------
        estimator
            Not fitted.
        """
        return self.baseline()

    # Splits.

    def strata(self, targets: NDArray[Any]) -> NDArray[Any] | None:
        """Return the class of each sample (N,) by which folds are stratified, or None.

        That of the task's first kind by default.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.

        Returns
        -------
        ndarray of shape (N,) or None
            The class of each sample.
        """
        return self.kinds[0].strata(targets)

    def splits(self, targets: NDArray[Any], cv: Any, seed: Any = 0, groups: Any = None) -> Splits:
        """Return the splits of :func:`mklkit.evaluation.make_splits` for targets of the task.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.
        cv : object
            As for :func:`mklkit.evaluation.make_splits`.
        seed : int
            The seed of everything random.
        groups : ndarray of shape (N,), optional
            The group of each sample.

        Returns
        -------
        Splits
            The splits.
        """
        from mklkit.protocols.splits.making import Folds, make_splits, read_cv

        request, strata = read_cv(cv), self.strata(targets)
        if self.least_fold > 1 and isinstance(request, Folds):
            request = attrs.evolve(request, least=self.least_fold)
        return make_splits(targets, request, seed=seed, groups=groups, strata=strata)

    def gives(self, features: pd.DataFrame, targets: NDArray[Any]) -> list[str]:
        """Return the features that tell the target of every sample by themselves, beyond chance.

        Parameters
        ----------
        features : pandas.DataFrame of shape (N, d)
            The samples.
        targets : ndarray of shape (N,) or (N, T)
            Their targets.

        Returns
        -------
        list of str
            The names of these features; by default none.
        """
        return []

    # Scores.

    @property
    def ranked_by(self) -> tuple[str, ...]:
        """The names of the scores that can rank models, larger is better."""
        return tuple(score.name for score in self.scores if score.ranks)

    @property
    def labeled(self) -> tuple[Score, ...]:
        """The scores that every command computes from predictions, with the baseline."""
        return tuple(score for score in self.scores if score.of and score.needs == "labels")

    @property
    def measured(self) -> tuple[Score, ...]:
        """The scores of each run of a comparison, as far as the model has what they need."""
        return tuple(score for score in self.scores if score.of and score.ranks)

    def score_named(self, name: str) -> Score:
        """Return the score of a name or key; UnknownNameError if there is none.

        Parameters
        ----------
        name : str
            The name or key of a score.

        Returns
        -------
        Score
            The score.

        Raises
        ------
        UnknownNameError
            If there is no such score.
        """
        for score in self.scores:
            if name in (score.name, score.key):
                return score
        known = self.ranked_by
        raise UnknownNameError(
            f"There is no score {quoted(name)} for {self.plural}.{suggest(name, known)}"
            f" Choose one of {', '.join(known)}.",
            name,
        )

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return the name of the score for these targets, if the user names none.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.

        Returns
        -------
        str
            Its name.
        """
        return self.ranked_by[0]

    def why(self, name: str, targets: NDArray[Any]) -> str:
        """Return why :meth:`usual_score` is not the first of the task, empty if it is.

        Parameters
        ----------
        name : str
            The name or key of a score.
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.

        Returns
        -------
        str
            A part of a sentence.
        """
        return ""

    def needs_probabilities(self, name: str, targets: NDArray[Any]) -> bool:
        """Return whether a score needs probabilities, which kernel methods have only on request.

        Parameters
        ----------
        name : str
            The name or key of a score.
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.

        Returns
        -------
        bool
            True if it does.

        Raises
        ------
        ValueError
            If the score is not defined for these targets.
        """
        return False

    def scorer(
        self, name: str, variance: Array | None = None, training: NDArray[Any] | None = None
    ) -> Scorer:
        """Return a function of a fitted model, samples and targets, as scikit-learn's scorers.

        One of several splits has the ``variance`` of :meth:`held_out` for its R², and ``training``
        are the targets that the model has learned from.

        Parameters
        ----------
        name : str
            The name or key of a score.
        variance : ndarray, optional
            What R² of one of several splits divides by.
        training : ndarray, optional
            The targets of the training samples.

        Returns
        -------
        callable
            A function of a model, samples and targets; larger is better.

        Raises
        ------
        UnknownNameError
            If there is no such score.
        AttributeError
            By the function, if the model lacks what the score needs, such as probabilities.
        """
        score = self.score_named(name)
        known, value_of = score.scorer, score.of
        if known is not None:
            return known
        if value_of is None:
            raise UnknownNameError(f"scikit-learn has no score {quoted(name)}.", name)

        def score_of(model: Any, rows: Any, truth: NDArray[Any]) -> float:
            predictions = np.asarray(model.predict(rows))
            answers = self.answers(model, rows, truth, predictions, training, variance)
            if not answers.has(score.needs):
                raise AttributeError(f"The score {score.name} needs {score.needs}.")
            return score.sign * float(value_of(answers))

        return score_of

    def scoring(self, name: str) -> Any:
        """Return what scikit-learn's searches take as ``scoring``: a name, or a scorer.

        Parameters
        ----------
        name : str
            The name or key of a score.

        Returns
        -------
        str or callable
            The score.
        """
        return name if self.score_named(name).is_known else self.scorer(name)

    def held_out(self, targets: NDArray[Any], tests: Sequence[Indices]) -> Any:
        """Return what R² of each split needs of all splits; None for other targets.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, T)
            The targets of N samples.
        tests : sequence of ndarray of int
            The samples that each split scores.

        Returns
        -------
        object
            Its ``variance(place)`` is that of a split.
        """
        return None

    def answers(
        self,
        model: Any,
        rows: Any,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> Answers:
        """Return what scores may see of a fitted model on some samples.

        Parameters
        ----------
        model : estimator
            A model, inside a pipeline or search its last step.
        rows : DataFrame
            The n samples that are predicted.
        truth : ndarray of shape (n,) or (n, T)
            The targets of the n scored samples.
        predictions : ndarray of shape (n,) or (n, T)
            Their predictions.
        training : ndarray, optional
            The targets of the training samples.
        variance : ndarray, optional
            What R² of one of several splits divides by.

        Returns
        -------
        Answers
            Targets, predictions and what else the model has.
        """
        return Answers(truth, predictions, training=training, variance=variance)

    def score(
        self,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        counts: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> dict[str, Any]:
        """Return the scores of predictions, and those of the baseline.

        Parameters
        ----------
        truth : ndarray of shape (n,) or (n, T)
            The targets of the scored samples.
        predictions : ndarray of shape (n,) or (n, T)
            Their predictions.
        training : ndarray, optional
            The targets of the training samples; default: ``truth``.
        counts : ndarray of shape (n,), optional
            How many samples each pair of a target and a prediction stands for; default: one.
        variance : ndarray, optional
            As for :meth:`scorer`.

        Returns
        -------
        dict
            ``rows``, the scores by their keys (None if undefined), and ``better_than_baseline``.
        """
        if counts is not None:
            truth, predictions = (np.repeat(part, counts, axis=0) for part in (truth, predictions))
        trained = truth if training is None else training
        guess = self.baseline().fit(np.zeros((len(trained), 1)), trained)
        by = self.score_named(self.guessed_by)
        context = {"training": trained, "variance": variance}
        guesses = np.asarray(guess.predict(np.zeros((len(truth), 1))))
        baseline = float(by.of(Answers(truth, guesses, **context)))  # type: ignore[misc, arg-type]
        answers = Answers(truth, predictions, baseline=baseline, **context)
        values = values_of(answers, self.labeled)
        reached = values[by.key]
        better = reached < baseline if by.lower else reached > baseline
        known = {key: None if np.isnan(value) else value for key, value in values.items()}
        return {"rows": len(truth), **known, "better_than_baseline": bool(better)}

    def guess_score(
        self,
        name: str,
        training: NDArray[Any],
        truth: NDArray[Any],
        variance: Array | None = None,
    ) -> float:
        """Return the score of a guess without any feature, learned from training targets.

        ``variance`` is as for :meth:`scorer`.

        Parameters
        ----------
        name : str
            The name or key of a score.
        training : ndarray, optional
            The targets of the training samples.
        truth : ndarray of shape (n,) or (n, T)
            The targets of the n scored samples.
        variance : ndarray, optional
            What R² of one of several splits divides by.

        Returns
        -------
        float
            The score.
        """
        guess = self.guesser().fit(np.zeros((len(training), 1)), training)
        scorer = self.scorer(name, variance, training)
        return float(scorer(guess, np.zeros((len(truth), 1)), truth))

    def guess_baseline(self, name: str, scores: Mapping[str, Any]) -> float:
        """Return what the baseline without features reaches in a score of some samples.

        Parameters
        ----------
        name : str
            The name or key of a score.
        scores : mapping
            The result of :meth:`score`.

        Returns
        -------
        float
            The score.
        """
        return float(scores["baseline"])

    def no_better_than_guessing(self, scores: Mapping[str, Any], by: str | None = None) -> str:
        """Return the baseline that a model does not beat, empty if its scores show that it does.

        It is written in the score ``by``, one of :attr:`scores`; by default :attr:`guessed_by`.

        Parameters
        ----------
        scores : mapping
            The result of :meth:`score`.
        by : str, optional
            The key of a score; default: :attr:`guessed_by`.

        Returns
        -------
        str
            A part of a sentence.
        """
        name = by or self.guessed_by
        value = scores[name]
        baseline = self.guess_baseline(name, scores)
        score = self.score_named(name)
        better = value < baseline if score.lower else value > baseline
        if scores.get("better_than_baseline", better):
            return ""
        return (
            f"no better than always predicting {self.guess}: {score.words}"
            f" {self.shown(name, value)}, against {self.shown(name, baseline)} for that"
        )

    def in_words(self, name: str) -> str:
        """Return the name of a score in words, such as "balanced accuracy".

        Parameters
        ----------
        name : str
            The name or key of a score.

        Returns
        -------
        str
            Its name in words.
        """
        return self.score_named(name).words

    def in_points(self, name: str) -> bool:
        """Return whether a score is a share from 0 to 1, written in percent and points.

        Parameters
        ----------
        name : str
            The name or key of a score.

        Returns
        -------
        bool
            True if it is.
        """
        return self.score_named(name).is_share

    def shown(self, name: str, value: float | None) -> str:
        """Return a score, by its name or key, as text.

        Parameters
        ----------
        name : str
            The name or key of a score.
        value : float or None
            A value of the score; None if it is undefined.

        Returns
        -------
        str
            The value.
        """
        return self.score_named(name).written(value)

    # Predictions.

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the predicted columns for samples, as they are written: one for each target.

        Parameters
        ----------
        model : estimator
            A model, inside a pipeline or search its last step.
        rows : DataFrame
            The n samples that are predicted.

        Returns
        -------
        DataFrame
            One row per sample.
        """
        import pandas as pd

        values = np.asarray(model.predict(rows))
        several = [f"{PREDICTION}_{name}" for name in self.targets]
        return pd.DataFrame(values, columns=several if values.ndim > 1 else [PREDICTION])

    def likeliest(self, model: Any, rows: Any, count: int) -> pd.DataFrame:
        """Return the predicted columns for samples, and the likeliest classes of each, best first.

        Parameters
        ----------
        model : estimator
            A model, inside a pipeline or search its last step.
        rows : DataFrame
            The n samples that are predicted.
        count : int
            How many classes to return.

        Returns
        -------
        DataFrame
            One row per sample.

        Raises
        ------
        IncompatibleError
            If the task has no classes, as by default, or the model has fewer.
        """
        raise IncompatibleError(
            f"The model predicts {self.plural}, not classes, so there are no likeliest classes."
        )

    def check_predicted(self, predictions: NDArray[Any], truth: NDArray[Any]) -> None:
        """Raise a ValueError if predictions have another shape than the task's.

        Parameters
        ----------
        predictions : ndarray of shape (n,) or (n, T)
            Their predictions.
        truth : ndarray of shape (n,) or (n, T)
            The targets of the n scored samples.

        Raises
        ------
        ValueError
            If the shape is another.
        """
        n_columns = self.n_predicted or self.n_targets
        expected = (len(truth),) if n_columns == 1 else (len(truth), n_columns)
        if np.shape(predictions) != expected:
            raise ValueError(
                f"it predicts {self.plural} of shape {np.shape(predictions)}, not {expected}"
            )

    def comparable(self, columns: pd.DataFrame) -> NDArray[Any]:
        """Return target columns, or written predictions, as :meth:`score` compares them.

        They have shape (n,) or (n, T), NaN for missing ones. By default they are numbers.

        Parameters
        ----------
        columns : DataFrame
            The target columns of a table, in their order.

        Returns
        -------
        ndarray of shape (n,) or (n, T)
            The values.
        """
        import pandas as pd

        values = columns.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
        return np.asarray(values[:, 0] if values.shape[1] == 1 else values)

    def predicted(self, table: pd.DataFrame) -> NDArray[Any]:
        """Return the predictions in a table of :meth:`predictions`, as :meth:`comparable` does.

        Parameters
        ----------
        table : DataFrame
            The result of :meth:`predictions`, perhaps read from a file.

        Returns
        -------
        ndarray of shape (n,) or (n, T)
            The predictions.
        """
        names = [name for name in table if str(name).startswith(PREDICTION)]
        return self.comparable(table[names])

    # Runs of comparisons and their report.

    def details(
        self, answers: Answers, truth: NDArray[Any], predictions: NDArray[Any], known: NDArray[Any]
    ) -> dict[str, Any]:
        """Return what a run of a comparison keeps besides scores; ``known`` are all targets.

        Parameters
        ----------
        answers : Answers
            What scores see of the model.
        truth : ndarray of shape (n,) or (n, T)
            The targets of the n scored samples.
        predictions : ndarray of shape (n,) or (n, T)
            Their predictions.
        known : ndarray
            The targets of all samples of the data.

        Returns
        -------
        dict
            Lists and dicts of plain values, by name; :meth:`sections` shows them.
        """
        return {}

    def check_details(self, details: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        """Raise a ValueError if :meth:`details`, read from a file, are impossible for the data.

        Parameters
        ----------
        details : mapping
            Plain values, by name.
        data : mapping
            The ``name`` of the data, and its :meth:`metadata`.

        Raises
        ------
        ValueError
            If :meth:`sections` can't show them. Errors of type TypeError, KeyError and
            AttributeError count too.
        """

    def sections(
        self,
        data: Mapping[str, Any],
        methods: pd.DataFrame,
        details: Mapping[str, Sequence[dict[str, Any]]],
    ) -> Sequence[Section]:
        """Return the sections of a report about one data set, from the details of all runs.

        Parameters
        ----------
        data : mapping
            The ``name`` of the data, and its :meth:`metadata`.
        methods : DataFrame
            The methods with their scores, the best first: :meth:`mklkit.Comparison.table`.
        details : mapping of str to sequence of dict
            By method, the best first, the :meth:`details` of each split.

        Returns
        -------
        sequence of Section
            Pictures under headings; by default none.
        """
        return []
