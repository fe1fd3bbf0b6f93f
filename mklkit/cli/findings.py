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

__all__ = ["Accuracy", "FarValues", "UnknownValues", "warnings_once"]

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
            found = self.values.setdefault(name, {})
            if len(found) < VALUES_KEPT:
                found.update(dict.fromkeys(unknown))

    def say(self) -> None:
        """Say how many rows have which."""
        from mklkit.errors import counted

        for name, distinct in self.values.items():
            if not distinct:
                continue
            shown = ", ".join(repr(value) for value in list(distinct)[:VALUES_SHOWN])
            more = len(distinct) - VALUES_SHOWN
            rest = f" and {more} more" if more > 0 else ""
            holds = "holds" if self.rows[name] == 1 else "hold"
            were = "a value that was" if len(distinct) == 1 else "values that were"
            say(
                f"column {name!r}: {counted(self.rows[name], 'row')} {holds} {were} not in the"
                f" training data ({shown}{rest})"
            )


@attrs.define(eq=False)
class FarValues:
    """Numeric columns that lie wholly outside the training data, by more than their range."""

    encoder: TableEncoder | None
    found: dict[str, tuple[int, float, float]] = attrs.field(factory=dict)
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
                count, least, most = self.found.get(name, (0, np.inf, -np.inf))
                bounds = min(least, values.min()), max(most, values.max())
                self.found[name] = (count + len(values), *bounds)

    def say(self) -> None:
        """Say which columns they are."""
        from mklkit.errors import quoted

        for name, low, high in self._ranges():
            if name in self.near or name not in self.found:
                continue
            count, least, most = self.found[name]
            what = f"all {count} values ({least:.6g} to {most:.6g}) lie"
            if count == 1:
                what = f"{least:.6g} lies"
            say(
                f"column {quoted(name)}: {what} far outside the training data ({low:.6g} to"
                f" {high:.6g}); same units?"
            )

    def _ranges(self) -> Iterator[tuple[str, float, float]]:
        import numpy as np

        encoder = self.encoder
        # A model file may have been altered, and its trial at loading does not ask for ranges.
        if encoder is not None and np.shape(encoder.ranges_) == (2, len(encoder.numeric_)):
            for name, (low, high) in zip(encoder.numeric_, encoder.ranges_.T, strict=True):
                yield name, low, high


@attrs.define(eq=False)
class Accuracy:
    """The predictions of rows whose class is given."""

    classes: Any
    name: Any = None
    pairs: Counter[tuple[str, str]] = attrs.field(factory=Counter)

    def add(self, target: pd.Series | None, predictions: pd.Series) -> None:
        """Count the pairs of a class and its prediction."""
        from mklkit.datasets.columns import text_of

        if target is None:
            return
        self.name = target.name
        # Compared as text, since labels of a file with few rows may be read as another type.
        given = target.notna().to_numpy()
        truth = text_of(target.to_frame())[given, 0]
        guesses = text_of(predictions.to_frame())[given, 0]
        self.pairs.update(zip(truth.tolist(), guesses.tolist(), strict=True))

    def say(self) -> None:
        """Say the accuracy, if the data have a column of classes."""
        import numpy as np

        from mklkit.cli.report import percent
        from mklkit.errors import counted
        from mklkit.evaluation.scores import score_confusion

        if self.name is None:
            return
        if not {truth for truth, _ in self.pairs} & {str(label) for label in self.classes}:
            say(f"column {self.name!r} has none of the model's classes: no accuracy")
            return
        labels = sorted({label for pair in self.pairs for label in pair})
        confusion = np.zeros((len(labels), len(labels)), dtype=np.intp)
        for (truth, guess), count in self.pairs.items():
            confusion[labels.index(truth), labels.index(guess)] = count
        commonest = confusion.sum(axis=1).max() / confusion.sum()
        result = score_confusion(confusion, labels, commonest)
        say(
            f"accuracy {percent(result['accuracy'])}, balanced"
            f" {percent(result['balanced_accuracy'])} on the {counted(result['rows'], 'row')} with"
            f" {self.name!r} given; always the commonest class: {percent(result['baseline'])}"
        )


@contextmanager
def warnings_once() -> Iterator[None]:
    """Hold back warnings, and issue one for each column or other subject at the end."""
    found: dict[str, tuple[warnings.WarningMessage, int]] = {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    finally:
        for one in caught:
            # "column 'x' holds 'abc' in row 7, not a number": for each chunk another row.
            subject = str(one.message).partition(" holds ")[0]
            first, count = found.get(subject, (one, 0))
            found[subject] = first, count + 1
        for first, count in found.values():
            text = str(first.message)
            if count > 1 and " holds " in text:
                text += f" (and so on: in {count} parts of the data)"
            warnings.warn_explicit(text, first.category, first.filename, first.lineno)
