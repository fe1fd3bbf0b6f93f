"""Which columns still carry covariates after these were removed by least squares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution
from scipy.stats import false_discovery_control, rankdata, skewtest

from mklkit.protocols import Array

LEVEL = 0.01
"""The chance that a table of normally distributed columns has a column with traces, at most."""
SHARED = 0.1
"""A value that this share of the samples has is an atom: its residuals are an exact function of
the covariates, which a tree or a Gaussian kernel can read however small the coefficients are."""
FEWEST = 10
"""The fewest samples that make an atom, or half of all."""
SKEWED = 0.3
"""Residuals are skewed if the distances of their 5 % and 95 % quantiles from the median differ by
more than this share of their sum: their dense end tells the covariates."""
TAIL = 0.05
PER_SLICE = (5, 20, 80)
"""Samples in a slice: small ones find steps, large ones smooth relations."""
FEWEST_IN_SLICE = 4
"""The expected number of samples of a slice that do not have a covariate's commonest value."""
FEWEST_FOR_SKEWNESS = 8
"""As the test of D'Agostino needs."""
MOST_SAMPLES = 5_000
"""The test looks at this many samples, so a trace that is reported is not too weak to matter."""
AT_ONCE = 2**22
"""Numbers in a block of columns."""


def with_traces(values: Array, residuals: Array, design: Array) -> NDArray[np.bool_]:
    """Return the columns whose residuals tell the covariates, though not by a straight line.

    Least squares leaves residuals that are uncorrelated with the covariates, and independent of
    them if the column is normally distributed around a linear effect. Otherwise they are not: the
    residuals of a column of zeros and ones are −βz and 1 − βz, from which z can be read, even where
    β differs from zero only by chance (Hamdan et al. 2023).

    A column has traces in any of three cases:

    * A value is shared by 10 % of the samples, as in binary columns, small counts, categories and
      zero-inflated measurements.
    * The residuals are skewed, both significantly (D'Agostino) and in their quantiles.
    * The covariates differ between slices of the samples in the order of the residuals: an analysis
      of variance of the ranks of each covariate, and of the column's fitted effect, over slices of
      5, 20 and 80 samples (Bonferroni).

    The last two are at a false discovery rate of 1 % over columns (Benjamini and Hochberg). A table
    in which all columns are normal, with linear effects, is reported with a probability of at most
    about 1 %.

    Columns are tested one by one: a joint dependence, such as a correlation of two columns that
    differs between batches, is not found.

    Parameters
    ----------
    values, residuals : ndarray of shape (N, d)
        Columns before and after removal, without gaps.
    design : ndarray of shape (N, p)
        The numbers and indicators of the covariates.

    Returns
    -------
    ndarray of shape (d,)

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> age = random.normal(size=(300, 1))
    >>> columns = np.column_stack([random.random(300) < 0.4, random.normal(size=300)]).astype(float)
    >>> residuals = columns - age @ np.linalg.lstsq(age, columns, rcond=None)[0]
    >>> with_traces(columns, residuals, age).tolist()
    [True, False]
    """
    n_samples, n_columns = values.shape
    drawn = np.random.default_rng(0).permutation(n_samples)[:MOST_SAMPLES]
    design = design[drawn]
    atoms, p_values = np.zeros(n_columns, bool), np.ones(n_columns)
    step = max(1, AT_ONCE // len(drawn))
    for start in range(0, n_columns, step):
        part = np.ix_(drawn, np.arange(start, min(start + step, n_columns)))
        atoms[start : start + step] = _has_atom(values[part])
        p_values[start : start + step] = _p_values(values[part], residuals[part], design)
    return atoms | (false_discovery_control(p_values) < LEVEL)


def _has_atom(values: Array) -> NDArray[np.bool_]:
    """Return the columns in which enough samples share a value, but not all do."""
    least = max(min(FEWEST, (len(values) + 1) // 2), int(np.ceil(SHARED * len(values))))
    ordered = np.sort(values, axis=0)
    shared = (ordered[least - 1 :] == ordered[: len(ordered) - least + 1]).any(axis=0)
    return np.asarray(shared & (ordered[0] < ordered[-1]))


def _p_values(values: Array, residuals: Array, design: Array) -> Array:
    """Return the p value of each column: that of its skewness or its slices, for two tests."""
    spread = residuals.std(axis=0)
    # What is left of a column that the covariates determine is rounding.
    varies = spread > 1e-9 * values.std(axis=0)
    p_values = np.ones(values.shape[1])
    if not varies.any():
        return p_values
    kept = residuals[:, varies]
    smallest = _slices_p_values(kept, values[:, varies] - kept, design)
    if len(kept) >= FEWEST_FOR_SKEWNESS:
        low, middle, high = np.quantile(kept, [TAIL, 0.5, 1 - TAIL], axis=0)
        is_large = np.abs(high + low - 2 * middle) > SKEWED * (high - low)
        p_skewed = np.where(is_large, skewtest(kept, axis=0).pvalue, 1.0)
        smallest = 2 * np.minimum(smallest, p_skewed)
    p_values[varies] = np.clip(smallest, 0.0, 1.0)
    return p_values


def _slices_p_values(residuals: Array, effects: Array, design: Array) -> Array:
    """Return the smallest p value of each column over covariates and sizes of slices, times their
    number, or 1 if no slices suit."""
    n_samples, n_columns = residuals.shape
    order = np.argsort(residuals, axis=0, kind="stable")
    smallest, n_tests = np.ones(n_columns), np.zeros(n_columns, int)
    for told in _told(effects, design):
        first, last = (rankdata(told, method, axis=0) for method in ("min", "max"))
        # Ties have their average rank.
        ranks = (first + last - n_samples - 1) / 2
        sorted_ranks = np.take_along_axis(np.broadcast_to(ranks, residuals.shape), order, axis=0)
        total = (ranks**2).sum(axis=0)
        commonest = (last - first).max(axis=0) + 1
        for size in PER_SLICE:
            n_slices = n_samples // size
            # Ties of a rare value would make the test liberal.
            suits = size * (n_samples - commonest) >= FEWEST_IN_SLICE * n_samples
            if n_slices < 2 or not suits.any():
                continue
            starts = np.arange(n_slices) * n_samples // n_slices
            sizes = np.diff(starts, append=n_samples)
            sums = np.add.reduceat(sorted_ranks, starts, axis=0)
            between = (sums**2 / sizes[:, None]).sum(axis=0)
            within = np.maximum(total - between, 1e-12 * np.maximum(total, 1.0))
            freedom = n_slices - 1, n_samples - n_slices
            ratio = (between / freedom[0]) / (within / freedom[1])
            p_values = np.where(suits, f_distribution.sf(ratio, *freedom), 1.0)
            smallest = np.minimum(smallest, p_values)
            n_tests += suits
    return smallest * np.maximum(n_tests, 1)


def _told(effects: Array, design: Array) -> Iterator[Array]:
    """Yield what residuals may tell: each covariate (N, 1), and each column's effect (N, d)."""
    varying = design[:, design.std(axis=0) > 0]
    for place in range(varying.shape[1]):
        yield varying[:, [place]]
    if varying.shape[1] > 1:
        # Samples with equal covariates have equal effects, but for rounding, which ranks would
        # take for an order.
        _, first, group = np.unique(varying, axis=0, return_index=True, return_inverse=True)
        yield effects[first[group]]
