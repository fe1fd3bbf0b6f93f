"""Explanation: tables and sentences on how much a model's kernels and columns contribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from mklkit.display.html import html_table, notes, shown
from mklkit.display.measures import PARTS
from mklkit.display.table import ResultTable
from mklkit.errors import counted, cut
from mklkit.evaluation.sentences import Unit
from mklkit.explanation.result_tables import (
    DETAILS,
    groups_result,
    kernels_result,
    together_result,
)
from mklkit.persistence.metadata import json_ready
from mklkit.plotting.worth import ColumnEffectsDisplay, KernelWorthDisplay
from mklkit.protocols import Task

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

MOST_ROWS = 20
"""The most rows of a table in a notebook."""
LONGEST = 60
"""The most letters of a name there."""


@attrs.frozen(eq=False)
class Explanation:
    """Which kernels and columns matter to a model, as :func:`mklkit.explain` finds.

    A change is one in ``score``, below zero if the score drops: −0.02 of accuracy or R² is two
    points lost. Errors are negated, as in ``scores``, so a change of −0.3 is a rise by 0.3; in
    sentences, tables and figures it is written as +0.3. Column suffixes:
    ``_std`` is the standard deviation over folds (NaN for one), ``_low`` and ``_high`` the
    interval, corrected for folds that share training samples, ``_level`` its level, by which it is
    adjusted for the number of sources (95 % without one), and ``_p_holm`` the p value by Holm's
    procedure.

    Attributes
    ----------
    kernels : DataFrame
        One row per kernel, also for sources that the model dropped and a fit may choose:
        ``kernel``; ``columns``, the user's columns that it reads; ``weight``
        with ``weight_std``, ``weight_min`` and ``weight_max`` over folds, 0 in those that leave a
        source out; ``chosen``, the share of folds with another weight; ``row_spread``, the
        standard deviation over samples if each sample has its own weights; ``size``, the mean of
        k(x, x), and ``sized_weight``, weight × size with sum 1 (NaN if weights are those of
        decision values); ``alone``, how much better than guessing fits with this kernel only are,
        with their ``alone_score``, ``alone_outcome`` (``"informative"`` if the interval is above
        zero, else ``"not shown"``) and ``why_not_alone``; ``left_out``, the change in fits without
        the kernel, and ``why_not``, the reason if it can't be dropped; if samples lack sources,
        ``have``, the change on the ``have_rows`` that have the kernel's source and another one (of
        a single split, of its test samples), with ``have_outcome``; ``outcome``, ``"lost"`` if the
        interval is below zero, ``"gained"`` if it is above, ``"not lost"`` if no loss in it is
        larger than the ``margin``, else ``"inconclusive"``, and ``rows_needed``, with about how
        many samples there is an even chance of another outcome; ``narrowest_with``, the samples, if
        their number alone determines the interval; ``unadjusted``, the columns from which removed
        covariates can still be told; ``no_verdict``, why the outcome is ``"no verdict"``: because
        of such columns, few groups or a target of heavy tails; ``shuffled``, the change when its
        columns are permuted for all kernels.
    together : DataFrame
        One row per group of kernels that are dropped together: ``kernels``, their names, and
        ``left_out``, ``outcome``, ``rows_needed``, ``unadjusted`` and ``why_not`` as for one.
    columns : DataFrame
        One row per column or group: ``group``, ``columns``, ``kernels`` that read them, and
        ``shuffled``; if columns are screened, ``selected``, the share of fits whose screen selects
        the column, and ``shuffled`` is the mean over these.
    effects : DataFrame
        One row per column of each kernel with several, the largest effect first: ``effect``, how
        far the column moves the kernel's part of the decision values, with ``effect_std``;
        ``frequency``, the share of fits in which it is among the ``top`` columns of the kernel
        (10, at most half of them); ``chance``, the mean of this share if all columns of the kernel
        were noise, and ``p_chance``, at most the probability that a column of noise is selected so
        often (for any overlap of training samples, by Markov's inequality); ``exact``, whether the
        effect is computed (linear kernels) or estimated by permuting. Of kernels with over 200
        columns, those that a screen selects in some fit. Empty if columns can't be traced, or
        values are not a sum over kernels.
    screens : DataFrame
        One row per kernel with over 200 columns: ``kernel``, ``columns``, how many it reads,
        ``selected``, how many the screen of a fit selects; ``noise``, how many permuted columns
        have as large a gradient, and so how many of the selected ones noise alone would give, with
        ``noise_std``; ``rate``, the share of the fits that select a column of noise. NaN where the
        screen is not by gradients.
    alignment : DataFrame of shape (M, M)
        The centred alignment of each pair of kernels.
    scores : DataFrame
        One row per fold: ``training_rows``, ``rows``, ``score``, and ``guess``, the score without
        any column; if samples lack sources, ``complete_score`` of the samples that have all of them
        and ``incomplete_score`` of the others; ``accuracy``, ``balanced_accuracy``, and
        ``baseline``, the accuracy of the majority class; for numbers ``r2``,
        ``mean_absolute_error``, and ``baseline``, the error of the training samples' median.
    weights : DataFrame
        Tidy: ``fold``, ``kernel``, ``weight``.
    notes : DataFrame
        ``about`` (``"score"``, ``"rows"``, ``"incomplete"``, ``"weights"``, ``"ablation"``,
        ``"together"``, ``"alone"``, ``"have it"``, ``"permuted"``, ``"alike"``, ``"screened"``,
        ``"effects"``) and ``note``, one sentence each: the method, and the limits of a number.
        :meth:`text` has them in full, since pandas cuts long cells.
    task : Task
    score : str
        scikit-learn's name of the score.
    unit : Unit
        How the score is written: ``unit.score`` is ``"accuracy"`` or ``"R²"``.
    margin : float
        The largest loss that does not matter, in the unit of the score.
    n_fits : int
        The number of fits.
    seconds : float
    """

    kernels: pd.DataFrame
    together: pd.DataFrame
    columns: pd.DataFrame
    effects: pd.DataFrame
    screens: pd.DataFrame
    alignment: pd.DataFrame
    scores: pd.DataFrame
    weights: pd.DataFrame
    notes: pd.DataFrame
    task: Task
    score: str
    unit: Unit
    margin: float
    n_fits: int
    seconds: float

    def __repr__(self) -> str:
        """Return one line."""
        kernels, folds = counted(len(self.kernels), "kernel"), counted(len(self.scores), "fold")
        mean = self.task.score_named(self.score).written_ranked(self.scores["score"].mean())
        return f"Explanation({kernels}, {folds}: {self.unit.score} {mean})"

    def _repr_html_(self) -> str:
        """Return the notebook display: the line, the kernels, the columns, and the notes."""
        kernels = self.kernels
        if len(kernels) > MOST_ROWS:
            kernels = kernels.sort_values("weight", key=abs, ascending=False, kind="stable")
        table = kernels_result(kernels, self.unit)
        parts: list[object] = [repr(self), _notebook_table(table, "with smaller weights")]
        if not self.together.empty:
            parts.append(_notebook_table(together_result(self.together, self.unit), "less similar"))
        if not self.columns.empty:
            groups = groups_result(self.columns, self.unit)
            parts.append(_notebook_table(groups, "that matter less"))
        return shown(*parts, notes("Notes", self.text().splitlines()))

    def summary(self) -> str:
        """Return the mean scores of the folds, and the unit of losses."""
        means = self.scores.mean()
        shown = self.task.score_named(self.score).written_ranked
        # The third is a baseline of the first or second, not necessarily of the score.
        others = [
            f"{score.words} {score.written(means[score.key])}"
            for score in self.task.labeled
            if score.ranks and score.name != self.score
        ]
        guess = f"({shown(means['guess'])} without any column)"
        scores = [f"{shown(means['score'])} {guess}", *others]
        if "incomplete_score" in means:
            complete, incomplete = (shown(means[part]) for part in PARTS)
            scores.append(f"{complete} of samples with all sources, {incomplete} of the others")
        # For a score written in per cent it is clear.
        point = ": 1 point is 0.01" if self.score == "r2" else ""
        return f"{', '.join(scores)}; changes are in {self.unit.of_changes}{point}"

    def text(self) -> str:
        """Return the notes in full, one per line: ``left out: these 5 folds …``."""
        pairs = zip(self.notes["about"], self.notes["note"], strict=True)
        return "\n".join(f"{about}: {note}" for about, note in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, text and numbers, ready for ``json.dumps``.

        Unknown numbers become None.
        """
        plain = attrs.asdict(self, recurse=False, filter=attrs.filters.exclude("task", "unit"))
        for name, table in plain.items():
            if isinstance(table, pd.DataFrame):
                plain[name] = table.to_dict("records")
        plain["alignment"] = {
            "kernels": list(self.alignment.index),
            "values": self.alignment.to_numpy().tolist(),
        }
        return dict(json_ready(plain))

    def plot(self, axes: tuple[Axes, Axes, Axes] | None = None) -> KernelWorthDisplay:
        """Draw the change in the score with each kernel alone, without it and without groups."""
        scale = -self.unit.scale if self.unit.is_error else self.unit.scale
        display = KernelWorthDisplay(
            self.kernels, self.together, self.unit.of_changes, scale, self.margin
        )
        return display.plot(axes)

    def plot_columns(self, axes: Sequence[Axes] | None = None) -> ColumnEffectsDisplay:
        """Draw the columns of each kernel that move its part of the decision values most."""
        return ColumnEffectsDisplay(self.effects).plot(axes)


def _notebook_table(table: ResultTable, which: str) -> Markup:
    """Return the first rows of a table without its details, with long names cut."""

    def short(value: Any) -> Any:
        return cut(value, LONGEST) if isinstance(value, str) else value

    rows = [{key: short(value) for key, value in row.items()} for row in table.rows]
    return html_table(attrs.evolve(table, rows=rows).without(*DETAILS).first(MOST_ROWS, which))
