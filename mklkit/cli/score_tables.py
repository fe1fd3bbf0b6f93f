"""Tables of scores, of all rows and per class, laid out for the available width."""

from __future__ import annotations

from typing import Any

import attrs
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain
from mklkit.cli.regression import numbers_grid
from mklkit.cli.report import percent

__all__ = ["SCORES", "ClassTable", "decisive_score", "scores_tables"]

MOST_CLASSES = 12
"""With more classes the worst are listed instead of the confusion matrix."""
UNBOUNDED = 10_000
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "baseline": "always the commonest",
}
PARTS = {"train": "train", "held_out": "held out"}


def decisive_score(scores: dict[str, dict[str, Any] | None]) -> tuple[str, dict[str, Any]]:
    """Return the scores for assessing a model: of held-out rows if there are any."""
    held_out, train = scores["held_out"], scores["train"]
    if held_out is not None:
        return PARTS["held_out"], held_out
    assert train is not None
    return PARTS["train"], train


def scores_tables(scores: dict[str, dict[str, Any] | None]) -> tuple[Grid | ClassTable, ...]:
    """Return the scores of each part of the rows, and those per class on the decisive part."""
    part, decisive = decisive_score(scores)
    if "r2" in decisive:
        return (numbers_grid(scores),)
    return _scores_grid(scores), ClassTable(decisive, part)


@attrs.frozen
class ClassTable:
    """Recall and confusions per class; rich renders it for the available width."""

    score: dict[str, Any]
    """The result of :func:`mklkit.evaluation.score`."""
    rows: str
    """Which rows were scored, for the head."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the confusion matrix if it fits, else each class's commonest confusion."""
        matrix = self._matrix()
        wide = options.update(max_width=UNBOUNDED)
        fits = Measurement.get(console, wide, matrix).maximum <= options.max_width
        yield matrix if fits and len(self.score["classes"]) <= MOST_CLASSES else self._listing()

    def _matrix(self) -> Grid:
        grid = self._grid("recall", *(f"as {label}" for label in self.score["classes"]))
        for place, counts in enumerate(self.score["confusion"]):
            grid.add_row(*self._head(place), *(str(count) for count in counts))
        return grid

    def _listing(self) -> Grid:
        grid = self._grid("recall")
        grid.add_column("mostly taken for", overflow="fold")
        scored = [place for place, counts in enumerate(self.score["confusion"]) if sum(counts)]
        worst = sorted(scored, key=self._recall)[:MOST_CLASSES]
        for place in sorted(worst):
            grid.add_row(*self._head(place), Text(self._mostly_taken_for(place)))
        if len(scored) > len(worst):
            grid.caption = f"and {len(scored) - len(worst)} classes of higher recall (--json)"
            grid.caption_justify = "left"
        return grid

    def _grid(self, *names: str) -> Grid:
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        grid.add_column(Text(self.rows), overflow="fold")
        grid.add_column("rows", justify="right")
        for name in names:
            grid.add_column(Text(plain(name)), justify="right")
        return grid

    def _head(self, place: int) -> tuple[Text, str, str]:
        rows = sum(self.score["confusion"][place])
        recall = percent(self._recall(place)) if rows else ""
        return Text(plain(self.score["classes"][place]), style="bold"), str(rows), recall

    def _recall(self, place: int) -> float:
        return float(self.score["recall"][place])

    def _mostly_taken_for(self, place: int) -> str:
        """Return the class most often predicted in place of this one, with the count."""
        counts = list(self.score["confusion"][place])
        counts[place] = 0
        wrong = max(counts)
        return f"{plain(self.score['classes'][counts.index(wrong)])} ({wrong})" if wrong else ""


def _scores_grid(scores: dict[str, dict[str, Any] | None]) -> Grid:
    """Return the scores of each part of the rows, one column per part to fit any width."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("")
    found = {name: score for part, name in PARTS.items() if (score := scores[part]) is not None}
    for name in found:
        grid.add_column(name, justify="right")
    grid.add_row("rows", *(str(score["rows"]) for score in found.values()))
    for key, words in SCORES.items():
        grid.add_row(words, *(percent(score[key]) for score in found.values()))
    return grid
