"""The design of a comparison: the settings that methods share, and what is varied and scored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

import attrs

from mklkit.comparison.data import DataSet
from mklkit.errors import SpecError, listed
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation.score_needs import is_defined
from mklkit.protocols import Task
from mklkit.protocols.component import KERNELS, TASK
from mklkit.registry.columns import kernel_list
from mklkit.registry.tasks import task_named


@attrs.frozen(kw_only=True)
class Design:
    """What the methods of a comparison are made of.

    Attributes
    ----------
    settings : ModelSettings
        What all methods share, except for the parts that a method has of its own.
    by_source : tuple
        A kernel to be chosen for each source of the data, if there are several and the user named
        no kernels.
    learners, strategies : tuple
        The learners, and the strategies for missing sources, with which each method is run; its
        own, and the default, if there are none.
    also : tuple
        Kernels to compare but not to combine.
    baselines : tuple of str or None
        The names of scikit-learn's estimators to compare; None for all of the task.
    without : tuple of str
        The names or roles of methods to leave out.
    task : Task
    score : str
        The score that ranks methods.
    scoring : str or callable, optional
        The score by which a search chooses: accuracy if ``score`` needs probabilities.
    """

    settings: ModelSettings = attrs.field(factory=ModelSettings)
    by_source: tuple[Any, ...] = ()
    learners: tuple[Any, ...] = ()
    strategies: tuple[Any, ...] = ()
    also: tuple[Any, ...] = ()
    baselines: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    task: Task = attrs.field(factory=lambda: task_named(TASK))
    score: str = attrs.Factory(lambda self: self.task.ranked_by[0], takes_self=True)
    scoring: Any = None

    @classmethod
    def of(
        cls,
        settings: ModelSettings,
        learners: Any,
        also: Any,
        baselines: Any,
        without: Any = (),
    ) -> Self:
        """Return the design of a request, whose settings may name several strategies at once."""
        return cls(
            settings=attrs.evolve(settings, missing=None),
            strategies=_strategies(settings.missing),
            learners=tuple(learners),
            also=(also,) if isinstance(also, str) else tuple(also),
            baselines=_baseline_names(baselines),
            without=(without,) if isinstance(without, str) else tuple(without),
        )

    @property
    def usual_kernels(self) -> tuple[Any, ...]:
        """The kernels of methods that have none of their own, if the user named none."""
        return self.by_source or KERNELS

    @property
    def kernels(self) -> list[Any]:
        """The kernels that all methods combine, unless a preset has its own."""
        named = self.settings.kernels
        return list(self.usual_kernels) if named is None else kernel_list(named)

    def for_data(self, data: Sequence[DataSet], score: str | None) -> tuple[Self, list[str]]:
        """Return the design for the task of the data, with a score defined for it, and notes on it.

        The usual score of one of several data sets is that of all, if it is not the task's first.
        """
        task = data[0].task
        notes = []
        if score is None:
            usual = {source.task.usual_score(source.target): source for source in data}
            score = next((name for name in usual if name != task.ranked_by[0]), task.ranked_by[0])
            notes = [reason] if (reason := task.why(score, usual[score].target)) else []
        defined = [is_defined(task, score, source.target, source.name) for source in data]
        uncalibrated = all(defined)
        if not uncalibrated and not self.settings.probability:
            raise SpecError(
                f"The score {score} needs probabilities, which kernel methods have only if they are"
                " calibrated: add --probability (in Python probability=True)."
            )
        chooses = uncalibrated and score != "accuracy"
        scoring = task.scoring(score) if chooses else None
        if self.settings.tune is not None and scoring is None and score != "accuracy":
            notes.append("parameters are chosen by accuracy, because a search has no probabilities")
        design = attrs.evolve(self, task=task, score=score, scoring=scoring)
        return design._on_sources(data, notes), notes

    def _on_sources(self, data: Sequence[DataSet], notes: list[str]) -> Self:
        """Return the design with kernels for the sources of the data, if all have the same ones.

        Those that are named get the columns that their labels tell. If none is named, one is chosen
        for each of several sources, as the notes then say.
        """
        settings = self.settings
        if settings.kernels is not None:
            kernels = _in_common([source.table.with_columns(settings.kernels) for source in data])
            also = [
                _in_common([source.table.with_columns([k]) for source in data]) for k in self.also
            ]
            if kernels is None or None in also:
                return self
            return attrs.evolve(
                self,
                settings=attrs.evolve(settings, kernels=kernels),
                also=tuple(kernel for bank in also for kernel in bank or ()),
            )
        if settings.covariates or self.task.kinds[0].is_empty:
            return self
        by_source = _in_common([source.kernels_by_source() for source in data])
        if not by_source:
            return self
        labels = listed([label for label, *_ in by_source])
        notes.append(f"no kernels were named: one is chosen for each source, {labels}")
        return attrs.evolve(self, by_source=tuple(by_source))


def _in_common(banks: Sequence[list[Any]]) -> list[Any] | None:
    """Return the kernels of all data sets; None if they differ."""
    first = repr(banks[0])
    return banks[0] if all(repr(bank) == first for bank in banks[1:]) else None


def _strategies(missing: Any) -> tuple[Any, ...]:
    """Return the strategies of a text such as ``"present, complete(ridge=1)"``, or of several."""
    if isinstance(missing, str):
        return tuple(part.strip() for part in re.split(r",(?![^(]*\))", missing))
    return tuple(missing or ())


def _baseline_names(names: Any) -> tuple[str, ...] | None:
    """Return the names of baselines; a single "none" means none."""
    if names is None:
        return None
    words = [names] if isinstance(names, str) else names
    known = tuple(dict.fromkeys(word.strip().replace("-", " ") for word in words))
    return () if known == ("none",) else known
