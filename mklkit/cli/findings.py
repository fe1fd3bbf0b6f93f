"""What ``mklkit predict`` says of new rows, counted chunk by chunk and said once."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.cli.console import say

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.datasets.encoder import TableEncoder
    from mklkit.evaluation.tasks import Task

__all__ = ["FarValues", "Tally", "UnknownValues", "warnings_once"]

VALUES_SHOWN = 3
VALUES_KEPT = 10_000


@attrs.define(eq=False)
class UnknownValues:
    """Values of text columns that were not in the training data; they have no indicator."""

    encoder: TableEncoder | None
    rows: Counter[str] = attrs.field(factory=Counter)
    values: dict[str, dict[str, None]] = attrs.field(factory=dict)

    def add(self, features: pd.DataFrame) -> None:
        """Count the rows with such values."""
        encoder = self.encoder
        if encoder is None:
            return
        for name, unknown in encoder.unseen_values(features):
            self.rows[name] += len(unknown)
            values = self.values.setdefault(name, {})
            if len(values) < VALUES_KEPT:
                values.update(dict.fromkeys(unknown))

    def say(self) -> None:
        """Say how many rows have which."""
        from mklkit.errors import counted

        for name, values in self.values.items():
            if values:
                shown = ", ".join(repr(value) for value in list(values)[:VALUES_SHOWN])
                more = len(values) - VALUES_SHOWN
                rest = f" and {more} more" if more > 0 else ""
                say(
                    f"column {name!r}: not in the training data, in"
                    f" {counted(self.rows[name], 'row')}: {shown}{rest}"
                )


@attrs.define(eq=False)
class FarValues:
    """Numeric columns that lie wholly outside the training data, by more than their range."""

    encoder: TableEncoder | None
    far: dict[str, tuple[int, float, float]] = attrs.field(factory=dict)
    """The number of values, the least and the largest; of columns of which none is near."""
    near: set[str] = attrs.field(factory=set)

    def add(self, features: pd.DataFrame) -> None:
        """Look at more rows."""
        import numpy as np
        import pandas as pd

        for name, low, high in self._ranges():
            if name not in features or low == high or name in self.near:
                continue
            values = pd.to_numeric(features[name], errors="coerce").to_numpy(float, na_value=np.nan)
            values = values[~np.isnan(values)]
            reach = high - low
            if not ((values < low - reach) | (values > high + reach)).all():
                self.near.add(name)
            elif len(values):
                count, least, most = self.far.get(name, (0, np.inf, -np.inf))
                bounds = min(least, values.min()), max(most, values.max())
                self.far[name] = (count + len(values), *bounds)

    def say(self) -> None:
        """Say which columns they are."""
        from mklkit.errors import counted, quoted

        for name, low, high in self._ranges():
            if name in self.far and name not in self.near:
                count, least, most = self.far[name]
                say(
                    f"column {quoted(name)}: {counted(count, 'value')} from {least:.6g} to"
                    f" {most:.6g}, all far outside the training data ({low:.6g} to {high:.6g});"
                    " same units?"
                )

    def _ranges(self) -> Iterator[tuple[str, float, float]]:
        import numpy as np

        encoder = self.encoder
        # A model file may have been altered, and its trial at loading does not ask for ranges.
        if encoder is not None and np.shape(encoder.ranges_) == (2, len(encoder.numeric_)):
            for name, (low, high) in zip(encoder.numeric_, encoder.ranges_.T, strict=True):
                yield name, low, high


@attrs.define(eq=False)
class Tally:
    """How often each pair of a target that is given and its prediction occurs."""

    task: Task
    name: Any = None
    counts: list[pd.Series] = attrs.field(factory=list)

    def add(self, target: pd.Series, predictions: pd.Series) -> None:
        """Count the pairs of more rows."""
        import pandas as pd

        self.name = target.name
        truth, guesses = (self.task.comparable(column) for column in (target, predictions))
        self.counts.append(pd.DataFrame({"truth": truth, "guess": guesses}).value_counts())

    def say(self) -> None:
        """Say the scores, if the data have a column of targets."""
        import pandas as pd

        from mklkit.errors import counted

        if self.name is None:
            return
        counts = pd.concat(self.counts).groupby(level=[0, 1]).sum()
        pairs = counts.index.to_frame()
        known = set() if self.task.labels is None else set(map(str, self.task.labels))
        if len(counts) == 0 or (known and not known & set(pairs["truth"])):
            say(f"column {self.name!r} has none of the model's {self.task.values}: no score")
            return
        truth, guesses = (pairs[side].to_numpy() for side in ("truth", "guess"))
        score = self.task.score(truth, guesses, counts=counts.to_numpy())
        first, second, third = (
            f"{words} {self.task.shown(name, score[name])}"
            for name, words in self.task.scores.items()
        )
        rows = counted(score["rows"], "row")
        say(f"{first}, {second} on the {rows} with {self.name!r} given; {third}")


@contextmanager
def warnings_once() -> Iterator[None]:
    """Hold back warnings, and issue one for each column or other subject at the end."""
    subjects: dict[str, tuple[warnings.WarningMessage, int]] = {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    finally:
        for warning in caught:
            # "column 'x' holds 'abc' in row 7, not a number": for each chunk another row.
            subject = str(warning.message).partition(" holds ")[0]
            first, count = subjects.get(subject, (warning, 0))
            subjects[subject] = first, count + 1
        for first, count in subjects.values():
            text = str(first.message)
            if count > 1 and " holds " in text:
                text += f" (and so on: in {count} parts of the data)"
            warnings.warn_explicit(text, first.category, first.filename, first.lineno)
