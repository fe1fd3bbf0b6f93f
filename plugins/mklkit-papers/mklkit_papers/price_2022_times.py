"""Price et al. 2022, Table 10: the time to compute a kernel's weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import attrs
import numpy as np
from sklearn.preprocessing import minmax_scale

from mklkit.errors import MKLKitError
from mklkit.estimators.from_preset import preset_classifier
from mklkit.kernels.distances import RBF
from mklkit.kernels.precomputed import Precomputed
from mklkit.protocols import Array
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.view_set import ViewSet
from mklkit_papers.entries import Entry
from mklkit_papers.lines import Line, Measure, published
from mklkit_papers.protocol import SEED, DataUse
from mklkit_papers.session import Session, SetLines

TABLE_10 = published("price-2022-table10")
COMBINERS = {name: name.lower() for name in TABLE_10}
COMBINERS |= {"DiMKL5": "dimkl5(distance='printed')", "MKLGL": "mklgl(C=0.1)"}

TIME = Measure("time, s", "lower", 4)
COLUMNS = 10
APART = 1.0
"""Distance of the two class means of synthetic samples in each column, in standard deviations."""
MOST_ROWS, QUICK_ROWS = 5000, 1000
"""The number of Gram matrices in a full and in a quick run."""
RUNS = DataUse("synthetic", "synthetic", repeats=20, quick=5)
FEW = 3
"""The number of runs for more samples than in a quick run."""


def time_lines(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield seconds: of DiMKL for n similarities in q₁ and in q₂, of MKLGL for n samples.

    Extra rows of the table show DiMKL for n samples.
    """
    most = QUICK_ROWS if session.quick else MOST_ROWS
    for name, cells in TABLE_10.items():
        for column, cell in cells.items():
            n = int(column)
            line = Line(row=name, column=column, measure=TIME, printed=cell)
            if name == "MKLGL":
                yield _timed(session, line, n, partial(_mklgl, n))
                continue
            members = round(math.sqrt(n))
            yield _timed(session, line, 0, partial(_weight, name, members))
            extra = attrs.evolve(line, row=f"{name}, n samples", printed=None)
            if n <= most:
                yield _timed(session, extra, n, partial(_weight, name, n // 2))


def _timed(session: Session, line: Line, n_rows: int, run: Callable[[], Callable[[], Any]]) -> Line:
    """Return a line with the median time of several runs, after one that is not counted.

    Other programs on the machine disturb a mean; the standard deviation tells how much.
    """
    if n_rows > MOST_ROWS:
        size = 5 * 8 * n_rows**2 / 2**30
        reason = f"five Gram matrices of {n_rows} samples take {size:.0f} GiB"
        return attrs.evolve(line, reason=reason)
    if session.quick and n_rows > QUICK_ROWS:
        return attrs.evolve(line, reason="not part of quick runs, because it takes long")
    seconds: list[float] = []
    repeats = session.number(RUNS) if n_rows <= QUICK_ROWS else FEW
    session.progress(0, repeats, f"{line.row}: {line.column}")
    try:
        run()()
        for _ in range(repeats):
            measured = run()
            start = perf_counter()
            measured()
            seconds.append(perf_counter() - start)
    except MKLKitError as error:
        return attrs.evolve(line, reason=str(error))
    return attrs.evolve(line, ours=float(np.median(seconds)), repeats=repeats)


def _weight(name: str, members: int) -> Callable[[], Any]:
    """Return a function that weighs one Gram matrix with a number of samples per class."""
    rows, y = synthetic_rows(members)
    gram = RBF(gamma="auto").fit(rows)(rows, rows)
    kernel = BoundKernel("gaussian", Precomputed(gram))
    ids = np.arange(len(y), dtype=float)[:, None]
    implicit = get_registry().create("feature_map", "implicit")
    views = ViewSet.fit([kernel], implicit, ids, np.random.RandomState(SEED))
    combiner = get_registry().create("combiner", COMBINERS[name])
    return lambda: combiner.weights(views, y)


def _mklgl(n_rows: int) -> Callable[[], Any]:
    rows, y = synthetic_rows(n_rows // 2)
    model = preset_classifier("paper-dimkl1", combiner=COMBINERS["MKLGL"], random_state=SEED)
    return lambda: model.fit(rows, y)


def synthetic_rows(members: int) -> tuple[Array, Array]:
    """Return two normal classes of n samples each, scaled to [−1, 1], and labels −1 and +1."""
    y = np.repeat([-1.0, 1.0], members)
    noise = np.random.RandomState(SEED).standard_normal((2 * members, COLUMNS))
    return minmax_scale(noise + APART / 2 * y[:, None], (-1, 1)), y


TIMES = Entry.told("price-2022-table10", SetLines([RUNS], TIME, time_lines))
