"""The result of a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import METHOD, ONE_KERNEL, Method
from mklkit.comparison.permuting import sentence_on_permutations
from mklkit.comparison.report import html_report
from mklkit.comparison.report.tables import comparison_html
from mklkit.comparison.seeds import NOT_TESTED, SAME_SPLITS, agreement, differences_over_seeds
from mklkit.comparison.stored import Cell
from mklkit.comparison.table import (
    answers,
    answers_over_data_sets,
    methods_like_guessing,
    ranking,
    table_of_datasets,
    table_of_splits,
)
from mklkit.comparison.withholding import (
    sentences,
    without_p_values,
    without_verdicts,
)
from mklkit.comparison.writing import check_report, methods_latex, write_text
from mklkit.datasets.csv_file import csv_text
from mklkit.datasets.pipeline import for_table, match_class_weights
from mklkit.errors import DataError, counted, listed
from mklkit.evaluation.claims import (
    coverage,
    coverage_over_data_sets,
    estimand,
    margin_in_words,
    question_in_words,
    score_in_words,
)
from mklkit.evaluation.fit_and_score import Samples, fit_and_predict
from mklkit.evaluation.no_verdict import why_no_verdict
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.over_data_sets import outcome_of_datasets, verdict_of_datasets
from mklkit.evaluation.resolution import Resolution
from mklkit.evaluation.sentences import Unit, beats_guessing, joined
from mklkit.evaluation.verdict import outcome, verdict
from mklkit.persistence.metadata import json_ready
from mklkit.plotting.comparison import ComparisonDisplay
from mklkit.protocols import Task
from mklkit.protocols.score import Score
from mklkit.registry.tasks import task_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPLIT = ["data", "repeat", "fold"]
HIDDEN = ("scores", "weights", "details", "responses")
"""Fields without a place in a tidy table; :attr:`Comparison.cells` has them."""
MOST_NAMED = 3
"""The methods that a sentence on several data sets names, of those that may be guessing."""
CORRECTED = "corrected t-test"
"""The test over several splits."""
WITHOUT_RESPONSES: Any = attrs.filters.exclude("responses")


@attrs.frozen(eq=False, slots=False)
class Comparison:
    """The result of :func:`mklkit.compare`: scores of all runs, tables, tests and a report.

    Parameters
    ----------
    cells : list of Cell
        One per data set, split and method, in that order; with weights and the task's details.
    data : list of DataSet
        The data sets as read.
    methods : list of Method
        The methods, with their pipelines.
    plan : dict
        Plain values: ``data``, ``splits``, ``task``, ``score``, ``margins``, ``resolution``,
        ``seed``, ``tune``, ``methods``, ``versions``, ``questions``, ``reference``; ``one_split``,
        the test on each data set with a single split;
        ``asked_after_scores``, whether a file of results held scores of other methods before.
    notes : list of str
        What was omitted or differs from the request.
    complete : bool
        False if it was interrupted before all runs were done.
    reused : int, default=0
        The number of runs that were in a file of results.
    by_time : bool, default=False
        True if the time limit ended it.
    unadjusted : dict of str to dict of str to list of str, default={}
        Per data set, the methods that read columns from which the removed ``covariates`` can still
        be told (discrete or skewed ones), and these columns. They get no verdict and no p value.
    tested : dict of str to OneSplit, default={}
        Per data set with a single split, its test samples with the answers of the fitted models.
        Tests and intervals are then about these models, over samples.
    runs : tuple of (int, int), optional
        The finished and the planned runs, those of other seeds and permuted labels among them.
    other_seeds : list of Comparison, default=[]
        The same comparison with each other seed, as far as they are finished.
    permutation_tests : DataFrame, optional
        For each data set and tested method its ``score`` in one repetition of the splits, their
        number ``splits``, the number of ``permutations`` of the labels, in how many of them the
        method (``at_least``) or the best method (``best_at_least``) has such a score, and the p
        values ``p_value`` and ``p_best``.

    Attributes
    ----------
    results : DataFrame
        One row per run: data, method, kind, learner, repeat, fold, sizes, scores, times in seconds,
        memory in bytes, and the reason of a failure.
    questions : DataFrame
        The tests of the questions that the request plans, one row per test and data set.
    questions_over_data_sets : DataFrame
        The tests of these questions over several data sets.
    seeds_agree : list of str
        In how many seeds each verdict is the same, and the range of the differences.
    ranking : dict
        Over several data sets, average ranks, Friedman's test, and Nemenyi's critical difference.
    verdict : str
        The answers in words.
    how : list of str
        What a difference estimates, and what the tests cover.
    task : Task
        The task of all data sets.
    score : Score
        The score that ranks and tests methods.
    unit : str
        The unit of differences in score: ``"points"``, or the name of the score.
    compared_data : list of str
        The names of the data sets that count in :meth:`table`.
    best_method : Method
        The multiple-kernel method with the best mean score (of several data sets, rank).
    best_estimator_ : Pipeline
        The pipeline of ``best_method``, fitted on all samples when first used.

    See Also
    --------
    compare : The function that returns it.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52
       (2003), 239–281.
    .. [2] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
       of Statistics 6 (1979), 65–70.
    .. [3] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7 (2006), 1–30.

    Examples
    --------
    >>> from mklkit import compare
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> comparison = compare(X[50:], y[50:], methods="alignment", kernels=["rbf"], cv="2x1")
    >>> comparison.table()["kind"].tolist().count("baseline")
    3
    >>> bool(comparison.results.groupby("method")["accuracy"].mean()["alignment"] > 0.8)
    True
    """

    cells: list[Cell]
    data: list[DataSet]
    methods: list[Method]
    plan: dict[str, Any]
    notes: list[str]
    complete: bool
    reused: int = 0
    by_time: bool = False
    unadjusted: dict[str, dict[str, list[str]]] = attrs.field(factory=dict)
    tested: dict[str, OneSplit] = attrs.field(factory=dict)
    runs: tuple[int, int] = attrs.Factory(lambda self: self._runs_of_seed(), takes_self=True)
    other_seeds: list[Comparison] = attrs.field(factory=list)
    permutation_tests: pd.DataFrame | None = None

    def _runs_of_seed(self) -> tuple[int, int]:
        """Return the finished and the planned runs of this seed."""
        n_splits = sum(int(split["number"]) for split in self.plan["splits"])
        return len(self.cells), len(self.methods) * n_splits

    def __repr__(self) -> str:
        """Return one line: how much was compared, and the best row."""
        methods = counted(len(self.methods), "method")
        if not self.cells:
            return f"Comparison({methods}, no run finished)"
        names = self.compared_data
        scored = self._scored().to_dict("records")
        n_splits = len(self._compared[SPLIT].drop_duplicates())
        where = names[0] if len(names) == 1 else f"{len(names)} data sets"
        rest = "" if self.complete else ", interrupted"
        best = "none could be fitted"
        if scored:
            best = f"best {scored[0]['method']} {self.shown(scored[0]['score'])}"
        return f"Comparison({methods}, {counted(n_splits, 'split')} of {where}{rest}: {best})"

    def _repr_html_(self) -> str:
        """Return the notebook display: the line, the table's main columns, and the verdict."""
        return comparison_html(self)

    @cached_property
    def results(self) -> pd.DataFrame:
        """One row per run: data, method, kind, learner, repeat, fold, sizes, scores, times, reason.

        ``seconds`` are those of the fit with its tuning, ``refit_seconds`` those of its last fit,
        ``memory`` is in bytes. ``reason`` says why a method failed; its scores are NaN then.
        """
        missing = {score.key: float("nan") for score in self.task.measured}
        rows = [
            {**attrs.asdict(cell, recurse=False), **missing, **cell.scores} for cell in self.cells
        ]
        return pd.DataFrame(rows).drop(columns=list(HIDDEN))

    @property
    def task(self) -> Task:
        """The task of all data sets."""
        return task_named(str(self.plan["task"]))

    @property
    def score(self) -> Score:
        """The score that ranks and tests methods."""
        return self.task.score_named(str(self.plan["score"]))

    @cached_property
    def _compared(self) -> pd.DataFrame:
        """The results of splits on which every method has run, or of all if there are none."""
        runs = self.results.groupby(SPLIT)["method"].transform("size")
        whole = self.results[runs == len(self.methods)]
        return whole if len(whole) else self.results

    @property
    def compared_data(self) -> list[str]:
        """The names of the data sets that count in :meth:`table`."""
        return [str(name) for name in self._compared["data"].unique()]

    def compared_cells(self, data: str) -> list[Cell]:
        """Return the runs of one data set that count in :meth:`table`.

        Parameters
        ----------
        data : str
            The name of the data set.

        Returns
        -------
        list of Cell
            The runs, in their order.
        """
        splits = set(self._compared[SPLIT].itertuples(index=False, name=None))
        cells = (cell for cell in self.cells if cell.data == data)
        return [cell for cell in cells if (cell.data, cell.repeat, cell.fold) in splits]

    def table(self, data: str | None = None) -> pd.DataFrame:
        """Return one row per method.

        In an interrupted comparison only splits count on which every method has run.

        Parameters
        ----------
        data : str, optional
            The name of one data set. By default all of them.

        Returns
        -------
        pandas.DataFrame
            For one data set, the best first: ``method``, ``kind``, ``learner``, ``splits``,
            ``failures`` with the first ``reason``; mean ``score`` with its standard ``deviation``
            over splits and 95 % interval, ``low`` to ``high`` (by the variance of the corrected
            test, of a single split over its test samples); the score of a ``guess`` without any
            feature; ``complete_score`` and ``incomplete_score`` of the test samples that have all
            sources and those that lack one; the scores of the task by their keys, such as
            ``accuracy``, ``balanced_accuracy``, ``auc`` and ``log_loss``, or ``r2`` and
            ``mean_absolute_error``; the ``difference`` in score from the requested reference, else
            from the best method that did not fail, with its 95 % interval ``difference_low`` to
            ``difference_high``, ``p_corrected`` by the corrected resampled t-test (of a single
            split McNemar's test or the paired bootstrap of its test samples) with Holm's correction
            and ``p_paired`` by the ordinary paired t-test, without a correction; ``seconds``,
            ``refit_seconds`` and ``predict_seconds`` per split, peak ``memory`` in bytes.

            For several data sets, the best rank first: the means over data sets, ``rank``, and
            ``p_worse``, ``p_equivalent``, ``p_better``: the probabilities that on another data set
            the likeliest outcome is to be worse than the first (or the reference), the same (to
            within two points) or better, by the Bayesian signed-rank test.

        Raises
        ------
        DataError
            If there is no such data set, or none was finished.
        """
        names = self.compared_data
        reference = self.plan["reference"]
        if data is None and len(names) > 1:
            table = table_of_datasets(self._compared, self._margins, self.task, reference)
            return without_p_values(table, self._unadjusted_anywhere, reference)
        name = names[0] if data is None else data
        if name not in names:
            raise DataError(f"There are no results of data {name!r}, only of {listed(names)}.")
        runs = self._compared[self._compared["data"] == name]
        return without_p_values(
            table_of_splits(runs, self.score, self.task, reference, self.tested.get(name)),
            self.unadjusted.get(name, {}),
            reference,
            self._why_no_verdict(name),
        )

    @property
    def _unadjusted_anywhere(self) -> dict[str, list[str]]:
        """The unadjusted methods of any of the compared data sets, with their columns."""
        methods: dict[str, list[str]] = {}
        for name in self.compared_data:
            methods |= self.unadjusted.get(name, {})
        return methods

    @cached_property
    def questions(self) -> pd.DataFrame:
        """The tests of the questions that the request plans, one row per test and data set.

        ``data``, and the columns of :func:`mklkit.evaluation.planned_tests`: title, method,
        reference, difference in score, interval and p values. Holm's correction covers the
        questions about one data set; see :attr:`how`. Questions about :attr:`unadjusted` methods,
        or on few groups or a target of heavy tails, are ``withheld`` and have no numbers;
        ``no_verdict`` says why.
        """
        questions = self.plan["questions"]
        tests = [
            without_verdicts(
                answers(
                    runs,
                    questions,
                    self._resolution(name, runs),
                    self._margins[str(name)],
                    len(self._data_named(name).target),
                    self.tested.get(str(name)),
                ),
                self.unadjusted.get(str(name), {}),
                self._why_no_verdict(str(name)),
            ).assign(data=name)
            for name, runs in self._compared.groupby("data", sort=False)
        ]
        table = pd.concat(tests, ignore_index=True)
        return table[["data", *table.columns.drop("data")]]

    @property
    def _margins(self) -> dict[str, float]:
        """The difference that counts as none, by data set."""
        return dict(self.plan["margins"])

    def _data_named(self, name: Any) -> DataSet:
        return next(data for data in self.data if data.name == name)

    def _why_no_verdict(self, name: str) -> str:
        """Return why no method of a data set gets a verdict, empty if they get one."""
        data = self._data_named(name)
        return why_no_verdict(self.score, data.truth, data.groups)

    def _resolution(self, name: Any, runs: pd.DataFrame) -> Resolution | None:
        """Return the units that the score counts in the compared splits of a data set."""
        units = self.plan["resolution"].get(name)
        planned = {part["name"]: part["number"] for part in self.plan["splits"]}
        n_splits = len(runs[SPLIT].drop_duplicates())
        n_rows = len(self._data_named(name).target)
        # An interrupted comparison has not scored all samples.
        share = 1.0 if n_splits == planned[name] else n_splits * runs["n_test"].mean() / n_rows
        return None if units is None else Resolution(**units).part(min(1.0, share))

    @cached_property
    def questions_over_data_sets(self) -> pd.DataFrame:
        """The tests of the planned questions over several data sets, one row per test.

        The columns are those of :func:`mklkit.evaluation.planned_tests_of_datasets`. Holm's
        correction covers the questions. Questions about :attr:`unadjusted` methods are
        ``withheld``. It is empty for one data set.
        """
        questions = self.plan["questions"] if len(self.compared_data) > 1 else []
        tests = answers_over_data_sets(self._compared, questions)
        return without_verdicts(tests, self._unadjusted_anywhere)

    @cached_property
    def ranking(self) -> dict[str, Any]:
        """Average ranks over data sets, Friedman's test, Nemenyi's critical difference, groups."""
        return ranking(self._compared)

    @cached_property
    def verdict(self) -> str:
        """A line for each of the planned questions, about the data set or over several ones.

        The last lines name the methods that are not shown to be better than guessing, and tell what
        the permutation tests show.
        """
        several = len(self.compared_data) > 1
        questions = self.questions_over_data_sets if several else self.questions
        answered = verdict_of_datasets if several else verdict
        withheld = questions["withheld"]
        lines = sentences(questions[withheld])
        if not len(questions):
            lines = ["No question is planned about these methods."]
        elif len(tests := questions[~withheld]):
            lines.insert(0, answered(tests, self.score))
        return "\n".join([*lines, *self._guessing(), *self._shuffled()])

    @cached_property
    def seeds_agree(self) -> list[str]:
        """For each planned question, in how many of the seeds the verdict is the same.

        The least and the largest mean difference of the seeds follow. It is empty for one
        seed, and has no line for questions without a verdict.
        """
        every = [self, *self.other_seeds]
        if len(every) == 1:
            return []
        by_seed = zip(*(comparison._outcomes() for comparison in every), strict=True)
        differences = zip(*(comparison._differences() for comparison in every), strict=True)
        names = map(question_in_words, self.plan["questions"])
        unit = Unit.of_differences(self.score)
        return [
            f"{agreement(name, outcomes)}; {differences_over_seeds(of_seeds, unit)}"
            for name, outcomes, of_seeds in zip(names, by_seed, differences, strict=True)
            if all(outcomes)
        ]

    def _differences(self) -> list[float]:
        """Return the mean difference of each planned question."""
        several = len(self.compared_data) > 1
        questions = self.questions_over_data_sets if several else self.questions
        return questions["difference"].tolist()

    def _outcomes(self) -> list[str]:
        """Return the outcome of each planned question in a word, empty if there is none."""
        several = len(self.compared_data) > 1
        questions = self.questions_over_data_sets if several else self.questions
        of = outcome_of_datasets if several else outcome
        return [of(test) for test in questions.to_dict("records")]

    def _shuffled(self) -> Iterator[str]:
        """Yield a sentence on the permutation test of each data set."""
        if self.permutation_tests is None:
            return
        for name, tests in self.permutation_tests.groupby("data", sort=False):
            where = f" on {name}" if len(self.data) > 1 else ""
            words = score_in_words(self.plan)
            part = self._part_with_shuffles(str(name), int(tests["splits"].iloc[0]))
            sentence = sentence_on_permutations(tests, self.shown, words, part)
            yield f"Permuted labels{where}: {sentence}."

    def _part_with_shuffles(self, name: str, n_splits: int) -> str:
        """Return which splits are run with permuted labels, empty if all of them are."""
        every = next(part["number"] for part in self.plan["splits"] if part["name"] == name)
        return "" if n_splits >= every else f" in the first {n_splits} of {every} splits"

    def _guessing(self) -> Iterator[str]:
        """Yield a sentence if some method may be guessing, on one or several data sets."""
        guessing = dict[str, list[str]]()
        every = dict[str, bool]()
        for name in self.compared_data:
            runs = self._compared[self._compared["data"] == name]
            if names := methods_like_guessing(runs):
                guessing[name] = names
                every[name] = len(names) == runs.loc[runs["score"].notna(), "method"].nunique()
        if guessing and len(self.compared_data) > 1:
            parts = [
                f"{name}, {'all methods' if every[name] else joined(names, MOST_NAMED)}"
                for name, names in guessing.items()
            ]
            where = f"{len(guessing)} of {counted(len(self.compared_data), 'data set')}"
            shown = beats_guessing("some methods", "are not")
            yield f"Guessing: {shown} on {where} ({'; '.join(parts)})."
            return
        for name, names in guessing.items():
            which = "no method" if every[name] else ", ".join(names)
            are = "is" if every[name] or len(names) == 1 else "are"
            guesses = self._compared.loc[self._compared["data"] == name, "guess"]
            guess = f"{score_in_words(self.plan)} {self.shown(guesses.mean())}"
            shown = beats_guessing(which, are if every[name] else f"{are} not")
            yield f"Guessing: {shown} ({guess})."

    @property
    def how(self) -> list[str]:
        """What a difference estimates, and what the tests of the questions cover."""
        is_tested = bool(self.tested) or len(self._compared[SPLIT].drop_duplicates()) > 1
        covered = coverage(self.plan) if is_tested else ""
        texts = [estimand(self.plan), margin_in_words(self.plan), covered]
        if len(self.compared_data) > 1:
            texts.append(coverage_over_data_sets(self.plan))
        if self.other_seeds:
            texts.append(NOT_TESTED)
            if all(each.plan["splits"] == self.plan["splits"] for each in self.other_seeds):
                texts.append(SAME_SPLITS)
        return [text for text in texts if text]

    def test_of(self, name: str) -> str:
        """Return the test of differences on a data set.

        Parameters
        ----------
        name : str
            The name of the data set.

        Returns
        -------
        str
            The corrected t-test over splits, or that of a single split.
        """
        return self.tested[name].test if name in self.tested else CORRECTED

    def shown(self, score: float) -> str:
        """Return a score as it is written in text.

        Parameters
        ----------
        score : float
            The score.

        Returns
        -------
        str
            As :attr:`score` writes it, of an error without the sign.
        """
        return self.score.written_ranked(score)

    @cached_property
    def best_method(self) -> Method:
        """The multiple-kernel method with the best mean score (of several data sets, rank).

        If none could be fitted, the best method of one kernel; never another classifier.

        Raises
        ------
        DataError
            If no method of kernels could be fitted.
        """
        scored = self._scored()
        of_kernels = [scored[scored["kind"] == kind] for kind in (METHOD, ONE_KERNEL)]
        name = next((rows["method"].iloc[0] for rows in of_kernels if len(rows)), None)
        if name is None:
            (reason, *_) = [*self.table()["reason"].dropna(), "none was compared"]
            raise DataError(f"No method of kernels could be fitted: {reason}")
        return next(method for method in self.methods if method.name == name)

    def _scored(self) -> pd.DataFrame:
        """Return the rows of the table with a score, those that never failed first."""
        table = self.table()
        return table[table["score"].notna()].sort_values("failures", kind="stable")

    @cached_property
    def best_estimator_(self) -> Pipeline:
        """The pipeline of :attr:`best_method`, fitted on all samples when first used."""
        if len(self.data) > 1:
            raise DataError(
                "With several data sets there is no single best estimator; compare on one of them."
            )
        (data,) = self.data
        pipeline = for_table(self.best_method.pipeline, data.schema)
        match_class_weights(pipeline, np.unique(data.target))
        step = pipeline.steps[-1][0]
        weights = {} if data.weights is None else {f"{step}__sample_weight": data.weights}
        samples = Samples(data.features, data.truth, weights, data.groups)
        fitted: Pipeline = fit_and_predict(pipeline, samples).model
        return fitted

    def plot(self, ax: Axes | None = None, data: str | None = None) -> ComparisonDisplay:
        """Draw scores with their intervals, the best method first; it needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default new axes.
        data : str, optional
            The name of one data set; by default all of them.

        Returns
        -------
        ComparisonDisplay
            The drawing, with ``ax_`` and ``figure_``.

        Raises
        ------
        DataError
            If there is no such data set, or none was finished.
        """
        return ComparisonDisplay(self.table(data), self.score).plot(ax)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON.

        Returns
        -------
        dict
            With None for NaN: ``plan``, ``complete``, ``notes``, ``how``, ``tables`` by data set,
            ``questions``, ``verdict``, ``seeds`` (``agree``, and the questions with each other
            seed), ``permutation_tests``, ``unadjusted`` and ``cells`` (without ``responses``, the
            answers for single samples, which are in a file of results); of several data sets also
            ``over_data_sets``, ``questions_over_data_sets`` and ``ranking``.
        """
        names = self.compared_data
        content = {
            "plan": self.plan,
            "complete": self.complete,
            "notes": self.notes,
            "how": self.how,
            "tables": {name: self.table(name).to_dict("records") for name in names},
            "questions": self.questions.to_dict("records"),
            "verdict": self.verdict,
            "seeds": {
                "agree": self.seeds_agree,
                "others": [
                    {"seed": each.plan["seed"], "questions": each.questions.to_dict("records")}
                    for each in self.other_seeds
                ],
            },
            "permutation_tests": None
            if self.permutation_tests is None
            else self.permutation_tests.to_dict("records"),
            "unadjusted": self.unadjusted,
            "cells": [attrs.asdict(cell, filter=WITHOUT_RESPONSES) for cell in self.cells],
        }
        if len(names) > 1:
            content["over_data_sets"] = self.table().to_dict("records")
            content["questions_over_data_sets"] = self.questions_over_data_sets.to_dict("records")
            content["ranking"] = self.ranking
        return dict(json_ready(content))

    def report(self, path: str | PathLike[str], command: str | None = None) -> None:
        """Write a file in the format that its extension names.

        Parameters
        ----------
        path : path
            Ends in ``.html`` (everything, on one page that works offline), ``.csv``
            (:attr:`results`, one line per run; parameters are JSON in their cells), ``.json``
            (:meth:`as_dict`) or ``.tex`` (:meth:`table` for the package booktabs).
        command : str, optional
            The command line to show on a page as its origin.

        Raises
        ------
        DataError
            If the extension is unknown, or the file can't be written.
        """
        ending = check_report(Path(path))
        if ending == ".html":
            text = html_report(self, command)
        elif ending == ".csv":
            params = ["" if p is None else json.dumps(p) for p in self.results["params"]]
            text = csv_text(self.results.assign(params=params))
        elif ending == ".json":
            content = self.as_dict()
            text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        else:
            text = methods_latex(self)
        write_text(Path(path), text)
