"""Numeric columns whose mean or spread differs between new and training samples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t

from mklkit.datasets.columns import all_as_numbers
from mklkit.datasets.encoder import TableEncoder
from mklkit.display.numbers import number, significant
from mklkit.errors import quoted
from mklkit.numerics.moments import about, moments_of_sums, power_sums

LEVEL = 0.05
"""The probability that some column of a cohort like the training samples is told."""
FEWEST_VALUES = 10
"""With fewer values in either sample, a column is not compared."""
SMALL = 0.25
"""Smaller differences of means, in training standard deviations, are not told."""
SMALL_RATIO = 2**0.5
"""Smaller ratios of standard deviations, either way, are not told."""
GROSS, GROSS_RATIO = 1.0, 2.0
"""What `predict` tells."""
SHOWN = 4
"""The largest shifts, which are named."""
COLUMNS = 500
"""The columns that are dense at a time."""

RULE = (
    f"beyond what sampling explains (level {LEVEL:g} over all columns), and by more than {SMALL:g}"
    f" training standard deviations in the mean or a factor of {SMALL_RATIO:.2f} in the spread"
)


@attrs.define(eq=False)
class ColumnShifts:
    """Means and standard deviations of the numeric columns of new samples, which may come in parts.

    A column has shifted if it differs from the training samples by more than sampling explains, and
    by an amount that may matter [1]_. The difference of means is compared with the quantile of
    Student's t (Welch's test, with the degrees of freedom of the smaller sample), and the logarithm
    of the ratio of spreads with its standard error, in which the larger of both kurtoses counts;
    levels are divided by the number of comparisons (Bonferroni). Samples count as independent.

    Parameters
    ----------
    names : list of str
        The columns.
    training : ndarray of shape (4, d)
        Their numbers of training values, means, standard deviations and kurtoses.

    References
    ----------
    .. [1] D. B. Rubin, "Using propensity scores to help design observational studies", Health
       Services and Outcomes Research Methodology 2 (2001), 169–188: means within a quarter of a
       standard deviation, and variances within a factor of two.
    """

    names: list[str]
    training: NDArray[np.float64]
    sums: NDArray[np.float64] = attrs.field()
    lowest: NDArray[np.float64] = attrs.field()
    highest: NDArray[np.float64] = attrs.field()

    @sums.default
    def _no_rows(self) -> NDArray[np.float64]:
        return np.zeros((5, len(self.names)))

    @lowest.default
    @highest.default
    def _no_values(self) -> NDArray[np.float64]:
        return np.full(len(self.names), np.nan)

    @classmethod
    def of(cls, encoder: TableEncoder | None) -> Self:
        """Return the columns of a fitted encoder that vary in training; none without one."""
        # A model file may have been altered, and its trial at loading does not ask for moments.
        if encoder is None or np.shape(encoder.moments_) != (4, len(encoder.numeric_)):
            return cls([], np.zeros((4, 0)))
        varies = (encoder.moments_[0] >= FEWEST_VALUES) & (encoder.moments_[2] > 0)
        names = np.asarray(encoder.numeric_, object)[varies]
        return cls(names.tolist(), encoder.moments_[:, varies])

    def add(self, features: pd.DataFrame) -> None:
        """Look at more samples, as read; columns may be absent."""
        places = np.flatnonzero(np.isin(self.names, features.columns))
        for start in range(0, len(places), COLUMNS):
            some = places[start : start + COLUMNS]
            numbers = all_as_numbers(features[[self.names[place] for place in some]])
            # Rounding hides in the sums that a column is constant.
            ends = np.fmin.reduce(numbers, axis=0), np.fmax.reduce(numbers, axis=0)
            self.lowest[some] = np.fmin(self.lowest[some], ends[0])
            self.highest[some] = np.fmax(self.highest[some], ends[1])
            # Sums of powers lose no digits if values are about 0.
            self.sums[:, some] += power_sums(
                (numbers - self.training[1, some]) / self.training[2, some]
            )

    def table(self) -> pd.DataFrame:
        """Return the compared columns.

        Returns
        -------
        DataFrame
            ``column``, the number of ``values``, their ``mean`` and ``deviation``, those of the
            training samples, the ``shift`` of the mean in training standard deviations, the
            ``ratio`` of the standard deviations, and whether the column has ``shifted``.
        """
        there = self.sums[0] >= FEWEST_VALUES
        n_training, mean, deviation, kurtosis = self.training[:, there]
        sums = self.sums[:, there]
        shift = sums[1] / sums[0]
        n, _, ratio, now = moments_of_sums(about(sums, shift), shift)
        least = np.minimum(n, n_training)
        limit = t.isf(LEVEL / (4 * max(1, len(shift))), least - 1)
        ratio = np.where(self.lowest[there] == self.highest[there], 0, ratio)
        kurtosis = np.maximum(3, np.maximum(kurtosis, now))
        of_ratio = np.sqrt((kurtosis - 1) / 4 * (1 / n + 1 / n_training))
        with np.errstate(divide="ignore"):
            log_ratio = np.abs(np.log(ratio))
        moved = np.abs(shift) > np.maximum(SMALL, limit * np.sqrt(1 / n_training + ratio**2 / n))
        spread = log_ratio > np.maximum(np.log(SMALL_RATIO), limit * of_ratio)
        return pd.DataFrame(
            {
                "column": np.asarray(self.names, object)[there],
                "values": n.astype(int),
                "mean": mean + shift * deviation,
                "training_mean": mean,
                "deviation": ratio * deviation,
                "training_deviation": deviation,
                "shift": shift,
                "ratio": ratio,
                "shifted": moved | spread,
            }
        )

    def sentences(
        self,
        sources: Mapping[str, Sequence[str]] | None = None,
        gross: bool = False,
        but: Collection[str] = (),
    ) -> list[str]:
        """Return what is told of the columns that have shifted, or of the ``gross`` shifts alone.

        Parameters
        ----------
        sources : mapping of str to sequence of str, optional
            The columns of each source, whose shifted columns are counted if there are many.
        gross : bool, default=False
            Whether only means that differ by over a standard deviation, and spreads by over a
            factor of two, are told.
        but : collection of str, optional
            Columns that are not told.

        Returns
        -------
        list of str
            None if no column has shifted.
        """
        table = self.table()
        told = table[table["shifted"] & ~table["column"].isin([*but])]
        size = np.maximum(
            told["shift"].abs() / SMALL, _factor(told["ratio"]).map(np.log) / np.log(SMALL_RATIO)
        )
        by = RULE
        if gross:
            large = (told["shift"].abs() > GROSS) | (_factor(told["ratio"]) > GROSS_RATIO)
            told, size = told[large], size[large]
            by = "grossly"
        if told.empty:
            return []
        first = told.loc[size.sort_values(ascending=False, kind="stable").index[:SHOWN]]
        shown = "; ".join(map(_words, first.to_dict("records")))
        more = f"; and {len(told) - SHOWN:,} more" if len(told) > SHOWN else ""
        nouns = "column" if len(table) == 1 else "columns"
        have = f"{nouns} {'has' if len(told) == 1 else 'have'}"
        lines = [
            f"{len(told):,} of {len(table):,} numeric {have} shifted against the training samples"
            f" {by}: {shown}{more}"
        ]
        if more and sources is not None and len(sources) > 1:
            lines.append(f"shifted columns by source: {_by_source(table, told, sources)}")
        return lines


def _factor(ratios: pd.Series) -> pd.Series:
    """Return ratios above 1."""
    return pd.Series(np.maximum(ratios, 1 / np.maximum(ratios, 1e-300)), ratios.index)


def _words(row: Mapping[str, Any]) -> str:
    """Return the larger shift of a column in words."""
    ratio = row["ratio"]
    if ratio == 0:
        of_training = f"{significant(row['training_mean'], 4)} on average in training"
        return f"{quoted(row['column'])} is constant ({significant(row['mean'], 6)}; {of_training})"
    if abs(row["shift"]) / SMALL >= abs(np.log(ratio)) / np.log(SMALL_RATIO):
        sign = "+" if row["shift"] > 0 else ""
        means = f"{significant(row['training_mean'], 4)} to {significant(row['mean'], 4)}"
        return (
            f"mean of {quoted(row['column'])} {sign}{number(row['shift'], 1)} standard deviations"
            f" ({means})"
        )
    return f"deviation of {quoted(row['column'])} {significant(ratio, 2)} times"


def _by_source(
    table: pd.DataFrame, told: pd.DataFrame, sources: Mapping[str, Sequence[str]]
) -> str:
    """Return how many columns of each source are told."""
    counts = []
    for label, names in sources.items():
        n_columns = int(table["column"].isin([*names]).sum())
        if n_columns:
            counts.append(f"{label} {int(told['column'].isin([*names]).sum()):,} of {n_columns:,}")
    return ", ".join(counts)
