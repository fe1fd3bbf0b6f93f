"""A screen of long tables: the columns of each kernel that are worth measuring, and how many of
them noise alone would select."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.display import numbers
from mklkit.errors import IncompatibleError
from mklkit.estimators.predicting import finite_values
from mklkit.estimators.problems import decision_parts
from mklkit.explanation.columns import exchanged
from mklkit.explanation.gradients import KernelSum, kernel_sums
from mklkit.protocols import Array, Rows

SELECTED = 50
"""The columns of a kernel that its screen selects."""
ROWS, FEW = 200, 10
"""The training samples at which gradients are computed, and in which groups of columns change."""
AT_ONCE = 500
"""Changed samples per batch."""
BLOCK = 2_000
"""Columns whose gradients are computed at a time."""

Owners = NDArray[np.intp]
"""The place of the user's column, among those of a kernel, of each column that it reads (d,)."""


@attrs.frozen(eq=False)
class Screen:
    """The columns of a kernel that a screen selects in a fit, the most important first.

    ``kernel`` is its label, ``columns`` the user's, ``n_columns`` how many it reads, and ``noise``
    the number of permuted columns with at least the gradient of the last one selected; NaN if
    groups of columns were permuted instead.
    """

    kernel: str
    columns: NDArray[np.intp]
    n_columns: int
    noise: float


def screens_of(
    member: Any, rows: Rows, sources: NDArray[np.intp], wide: Sequence[str], seed: Sequence[int]
) -> list[Screen]:
    """Return the screens of a fitted member's ``wide`` kernels.

    ``rows`` are its training samples, encoded, and ``sources`` the user's columns of the encoded
    ones.

    The gradient of a sum over landmarks takes O(nNd) for n ≤ 200 of the N training rows, less than
    the Gram matrix of these rows; so do the probes. Other functions take O(log d) rounds with 100
    groups of columns, each permuted in ten samples.
    """
    random = np.random.default_rng(seed)
    names = list(member.kernel_names_)
    sums = [kernel_sums(decision, rows, names, wide) for decision in member.decisions_]
    screens = []
    for name in wide:
        if name not in names:  # A fit may leave out a source.
            continue
        m = names.index(name)
        columns = member.kernel_columns_[m]
        read = np.arange(len(sources)) if columns is None else np.asarray(columns)
        used, owners = np.unique(sources[read], return_inverse=True)
        of_kernel = [of_decision[name] for of_decision in sums if name in of_decision]
        weighted = [np.any(np.atleast_2d(each.weights)[:, m]) for each in member.decisions_]
        noise = np.nan
        if sum(weighted) > len(of_kernel):
            best = by_halving(values_of(member, m), _few(rows, random), read, owners)
        elif of_kernel:
            sizes, probes = gradient_sizes(of_kernel, rows, owners, random)
            best = np.argsort(-sizes, kind="stable")[:SELECTED]
            best = best[sizes[best] > 0]
            least = sizes[best].min(initial=np.inf)
            noise = float(np.count_nonzero(probes >= least))
        else:
            best = np.arange(0)
        screens.append(Screen(name, used[best], len(used), noise))
    return screens


def gradient_sizes(
    sums: Sequence[KernelSum], rows: Rows, owners: Owners, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return the size of the gradient by each of the user's columns of a kernel, and by a probe.

    The size is the mean of |∂f/∂x_j| over training samples times the standard deviation of column
    j, as the kernel reads it; the root mean square over the values f, and the root of the sum of
    squares over the columns that were made of one of the user's.

    A probe is a column with its values permuted over the training samples. The model is not fitted
    to it: its gradient is that of the function with the coefficients of the fit, if the kernel read
    one more column. A column of noise is in the fit, which shrinks its gradient by its share of the
    kernel. So probes are multiplied by the ratio of the medians of columns and probes, at most 1:
    if most columns are noise, both medians are those of noise; otherwise probes stay too large, and
    count too much noise.
    """
    reader = sums[0].projector
    missing = rows.missing_of([reader])
    present = np.arange(len(rows)) if missing is None else np.flatnonzero(~missing[:, 0])
    training = np.asarray(rows.arrays_of([reader])[0])[present]
    sample = random.permutation(len(training))[:ROWS]
    pool, places = _pool(training, [each.landmarks for each in sums])
    slopes = [
        (place, of_value)
        for each, place in zip(sums, places, strict=True)
        for of_value in each.slopes(training[sample])
    ]
    squares = np.zeros((2, int(owners.max()) + 1))
    order = np.argsort(owners, kind="stable")
    for block in np.array_split(order, -(-len(order) // BLOCK)):
        values = pool[:, block]
        deviations = training[:, block].std(axis=0)
        for k, of_columns in enumerate((values, _permuted(values, owners[block], random))):
            for place, of_value in slopes:
                steep = np.abs(of_value.of(of_columns[sample], of_columns[place])).mean(axis=0)
                np.add.at(squares[k], owners[block], (steep * deviations) ** 2 / len(slopes))
    sizes, probes = np.sqrt(squares)
    median, of_probes = np.median(sizes), np.median(probes)
    return sizes, probes * min(1.0, median / of_probes) if of_probes > 0 else probes


def _pool(training: Array, landmarks: Sequence[Array]) -> tuple[Array, list[NDArray[np.intp]]]:
    """Return training samples, then further landmarks, and the places of all landmarks."""
    known = {row.tobytes(): place for place, row in enumerate(training)}
    more: list[Array] = []
    places = []
    for each in landmarks:
        for row in each:
            key = row.tobytes()
            if key not in known:  # The centre of a cluster.
                known[key] = len(training) + len(more)
                more.append(row)
        places.append(np.array([known[row.tobytes()] for row in each], np.intp))
    return (np.vstack([training, *more]) if more else training), places


def _permuted(values: Array, owners: Owners, random: np.random.Generator) -> Array:
    """Return values (n, k) with samples permuted in each column, alike in those of one owner."""
    _, group = np.unique(owners, return_inverse=True)
    places = np.tile(np.arange(len(values)), (int(group.max()) + 1, 1))
    return np.take_along_axis(values, random.permuted(places, axis=1).T[:, group], axis=0)


def values_of(member: Any, kernel: int) -> Callable[[Rows], Array]:
    """Return the function of samples that is a kernel's part (n, P) of the decision values.

    It is the decision values themselves if these are not a sum over kernels.
    """

    def values(rows: Rows) -> Array:
        try:
            return decision_parts(member.fitted_, rows)[:, kernel]
        except IncompatibleError:
            return finite_values(member.fitted_, rows)

    return values


def by_halving(
    values: Callable[[Rows], Array], rows: Rows, read: NDArray[np.intp], owners: Owners
) -> NDArray[np.intp]:
    """Return the places of the columns whose values change a function most, the largest first.

    Groups of neighbouring columns exchange their values between samples, all of a group at once;
    the ``SELECTED`` groups with the largest changes are halved, until each is one column.
    """
    before = values(rows)
    groups = np.array_split(np.arange(owners.max() + 1), 2 * SELECTED)
    while True:
        sizes = np.array(list(_changes(values, rows, before, groups, read, owners)))
        best = np.argsort(-sizes, kind="stable")[:SELECTED]
        if all(len(groups[place]) == 1 for place in best):
            return np.array([groups[place][0] for place in best if sizes[place] > 0], np.intp)
        groups = [half for place in best for half in np.array_split(groups[place], 2) if len(half)]


def _changes(
    values: Callable[[Rows], Array],
    rows: Rows,
    before: Array,
    groups: Sequence[NDArray[np.intp]],
    read: NDArray[np.intp],
    owners: Owners,
) -> Iterator[float]:
    """Yield the root mean square change (n, P) of a function by each group of columns."""
    next_row, size = np.roll(np.arange(len(rows)), 1), len(rows)
    step = max(1, AT_ONCE // size)
    for start in range(0, len(groups), step):
        part = groups[start : start + step]
        changes = [[(read[np.isin(owners, group)], next_row)] for group in part]
        after = values(exchanged(rows, changes)).reshape(len(part), *before.shape)
        yield from np.sqrt(np.mean((after - before) ** 2, axis=(1, 2)))


def _few(rows: Rows, random: np.random.Generator) -> Rows:
    """Return a few of the samples, in random order."""
    return rows[random.permutation(len(rows))[:FEW]]


def screen_table(folds: Sequence[Sequence[Screen]], wide: Sequence[str]) -> pd.DataFrame:
    """Return a row per kernel with a screen: its columns, how many are selected, and by noise."""
    rows = []
    for name in wide:
        screens = [screen for fold in folds for screen in fold if screen.kernel == name]
        if screens:
            noise = np.array([screen.noise for screen in screens])
            columns = float(np.mean([screen.n_columns for screen in screens]))
            rows.append(
                {
                    "kernel": name,
                    "columns": round(columns),
                    "selected": float(np.mean([len(screen.columns) for screen in screens])),
                    "noise": noise.mean(),
                    "noise_std": noise.std(ddof=1) if len(noise) > 1 else np.nan,
                    "rate": noise.mean() / columns,
                }
            )
    heads = ["kernel", "columns", "selected", "noise", "noise_std", "rate"]
    return pd.DataFrame(rows, columns=heads)


def screen_notes(table: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on how columns were screened, and how many noise alone would select."""
    for row in table.to_dict("records"):
        selected = numbers.number(row["selected"], 0)
        among = f"{row['kernel']}: of {row['columns']:,} columns"
        if np.isnan(row["noise"]):
            yield (
                f"{among} {selected} were measured in a fit: those that were left after halving the"
                " groups of columns by which training samples differ most; how many of them noise"
                " alone would select is unknown"
            )
            continue
        noise, rate = numbers.number(row["noise"], 1), numbers.percentage(row["rate"], digits=2)
        if not np.isnan(row["noise_std"]):
            noise += f" ± {numbers.number(row['noise_std'], 1)} (SD over fits)"
        # Permuted columns are as many as all columns, so more of them than selected may be as good.
        of_noise = f"about {numbers.number(row['noise'], 0)} of the {selected}"
        if row["noise"] >= row["selected"]:
            of_noise = f"all {selected}"
        yield (
            f"{among} the {selected} with the largest gradient in a fit's training samples were"
            f" measured; {noise} permuted columns had one as large as the last of them, so"
            f" {of_noise} may be noise (a column of noise is selected in {rate} of the fits)"
        )
