"""How far each column moves its kernel's part of the decision values, in each fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.combiners.templates.fusion import FusedDecision
from mklkit.estimators.plan import check_new_rows
from mklkit.estimators.problems import decision_parts
from mklkit.explanation.columns import exchanged
from mklkit.explanation.screening import Screen
from mklkit.protocols import KernelTraits, traits_of

TOP = 10
"""The most columns of a kernel to select in a fit, and at most half of them."""
ROWS, FEW, CHANGED, AT_ONCE = 100, 10, 20_000, 1_000
"""The held-out rows in which columns are changed (fewer in wide tables), and rows per batch."""
EFFECT = (
    "effect is how far a column moves its kernel's part of the decision values: its spread over"
    " samples, exact for linear kernels, and by permuting for others; it shows what the model uses"
)
EFFECTS = ["kernel", "column", "columns", "effect", "exact"]
"""The parts of an effect: places of kernel and column, and how many columns the kernel reads."""
SMALL_P = 0.05
"""A bound of p that can't fall below it is no evidence, and not shown."""
CHANCE = (
    "selected is the share of fits in which a column is among the top ones of its kernel, and noise"
    " the mean share if all columns of the kernel were noise"
)
BOUND = (
    "p at most bounds the probability that a column of noise is selected so often: it does not"
    " shrink with the number of fits, because their training samples overlap; kernels of few"
    " columns have none, because it could never be small"
)
Columns = Mapping[int, NDArray[np.intp]]
"""The encoded columns of each of the user's columns that a kernel reads."""


def column_effects(
    member: Any,
    rows: Any,
    sources: NDArray[np.intp],
    seed: Sequence[int],
    screens: Sequence[Screen] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the effect of each column of each kernel that reads two or more.

    ``rows`` are encoded, and ``sources`` are the user's columns of the encoded ones. A linear part
    changes by β(x − c) if a column is set to a constant c; for other kernels, the mean square of
    the change by permuting is halved, since for a linear one it is twice the variance of βx. Of
    kernels that have ``screens`` only the columns that these select are measured.
    """
    known = {screen.kernel: screen for screen in screens}
    groups = _apart(member, sources, known)
    widest = max((len(columns) for kernels in groups for columns in kernels.values()), default=1)
    most = min(ROWS, max(FEW, CHANGED // widest))
    order = np.random.default_rng(seed).permutation(len(rows))[:most]
    table = check_new_rows(member, rows)[order]
    # Few samples, whose values are exchanged: sparse ones are dense here.
    table = attrs.evolve(table, numbers=np.asarray(table))
    fused = any(isinstance(decision, FusedDecision) for decision in member.decisions_)
    linear = [traits_of(kernel, KernelTraits).linear and not fused for kernel in member.kernels_]
    before, size = decision_parts(member.fitted_, table), len(table)
    for kernels in groups:
        n_columns = {m: _n_columns(known, member.kernel_names_[m], of) for m, of in kernels.items()}
        longest = max(map(len, kernels.values()))
        step = max(1, AT_ONCE // size)
        for start in range(0, longest, step):
            stop = min(start + step, longest)
            changes = _changes(size, kernels, linear, range(start, stop))
            after = decision_parts(member.fitted_, exchanged(table, changes))
            change = after.reshape(stop - start, *before.shape) - before
            for m, columns in kernels.items():
                of_kernel = change[:, :, m]
                squares = of_kernel.var(axis=1) if linear[m] else (of_kernel**2).mean(axis=1) / 2
                effects = np.sqrt(squares.mean(axis=1))
                for column, effect in zip(list(columns)[start:stop], effects, strict=False):
                    yield {
                        "kernel": m,
                        "column": column,
                        "columns": n_columns[m],
                        "effect": effect,
                        "exact": linear[m],
                    }


def _n_columns(screens: Mapping[str, Screen], kernel: str, measured: Columns) -> int:
    return screens[kernel].n_columns if kernel in screens else len(measured)


def effects_table(
    folds: Sequence[Sequence[dict[str, Any]]], kernels: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Return a row per kernel and column, with the share of fits that select the column.

    If all d columns of a kernel were noise, and so exchangeable, each fit would select ``top`` of
    them at random, and a column would be selected in a share of ``top``/d of the fits on average:
    its ``chance``. The fits are not independent, because their training rows overlap, so the number
    of selections is not binomial: a column that is strongest by chance in the table is strongest in
    most of the fits. Markov's inequality holds for any dependence: a frequency of f or more has a
    probability of at most chance/f, the ``p_chance``. Columns that are not noise take places from
    those that are, which makes both smaller. The bound is for a column that was named before; among
    d columns of noise, up to ``top``/f may reach f.
    """
    rows = [{"fold": fold, **row} for fold, effects in enumerate(folds) for row in effects]
    frame = pd.DataFrame(rows, columns=["fold", *EFFECTS])
    in_fit = frame.groupby(["fold", "kernel"])["effect"]
    frame["top"] = np.minimum(TOP, frame["columns"] // 2)
    frame["chance"] = frame["top"] / frame["columns"]
    in_top = in_fit.rank(ascending=False, method="first") <= frame["top"]
    frame["frequency"] = in_top & (frame["effect"] > 0)
    columns_of = frame.groupby(["kernel", "column"])
    table = columns_of[["effect"]].mean()
    # One fit, as of a column that a screen selects once, has no deviation.
    table["effect_std"] = columns_of["effect"].std()
    table["frequency"] = columns_of["frequency"].sum() / max(len(folds), 1)
    table[["top", "exact"]] = columns_of[["top", "exact"]].max()
    table["chance"] = columns_of["chance"].mean()
    table["p_chance"] = (table["chance"] / table["frequency"]).clip(upper=1.0)
    table = table.reset_index().sort_values(["kernel", "effect"], ascending=[True, False])
    table["kernel"] = [kernels[m] for m in table["kernel"]]
    table["column"] = [columns[place] for place in table["column"]]
    return table.reset_index(drop=True)


def is_bounded(effects: pd.DataFrame) -> pd.Series[bool]:
    """Return for each column whether selection in every fit would bound p below 0.05."""
    return effects["chance"] < SMALL_P


def _apart(
    member: Any, sources: NDArray[np.intp], screens: Mapping[str, Screen]
) -> list[dict[int, Columns]]:
    """Return the kernels in groups that share no column, with the columns to change of each."""
    groups: list[dict[int, Columns]] = []
    for m, places in enumerate(member.kernel_columns_):
        read = np.arange(len(sources)) if places is None else np.asarray(places)
        order = np.argsort(sources[read], kind="stable")
        used, starts = np.unique(sources[read][order], return_index=True)
        if len(used) < 2:
            continue
        encoded = dict(zip(used.tolist(), np.split(read[order], starts[1:]), strict=True))
        screen = screens.get(member.kernel_names_[m])
        columns = encoded if screen is None else {c: encoded[c] for c in screen.columns.tolist()}
        if not columns:
            continue
        free = (g for g in groups if not any({*taken} & {*columns} for taken in g.values()))
        group = next(free, None)
        if group is None:
            groups.append(group := {})
        group[m] = columns
    return groups


def _changes(
    size: int, kernels: Mapping[int, Columns], linear: Sequence[bool], which: range
) -> list[list[tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """Return the changes of each place in ``which``: each kernel's column at that place gets the
    first sample's value, or that of the next sample (samples are in random order)."""
    changes: list[list[tuple[NDArray[np.intp], NDArray[np.intp]]]] = [[] for _ in which]
    for m, columns in kernels.items():
        order = np.zeros(size, np.intp) if linear[m] else np.roll(np.arange(size), 1)
        part = list(columns.values())[which.start : which.stop]
        for change, encoded in zip(changes, part, strict=False):
            change.append((encoded, order))
    return changes
