"""Functions of blocks of samples, mapped and summed by threads of this machine or elsewhere.

An engine cuts the samples into parts. It is independent of kernels, and learners and rules are
independent of it: they pass functions of ``(rows, *arrays)``, where ``arrays`` are the part's
samples of arrays over all samples, such as labels.

Functions run in threads of this machine, with one BLAS thread each, or on the workers of Dask if
the samples are a Dask array or data frame (``dask/``). Functions are sent to workers without their
large arrays, which are sent once per fit; tasks do not modify their inputs, so that the results of
a lost worker can be recomputed. Each solve in the iteration of Ho–Kashyap learners is one such
function (``learners/ho_kashyap/sweeps.py``): margins and outputs stay with the samples to which
they belong. For many samples the margins are eliminated, and each evaluation of the smooth
objective and its gradient is one such function (``learners/ho_kashyap/smooth.py``, minimised by
``numerics/lbfgs.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, FittedMap, Rows
from mklkit.views.deciding import BLOCK_ROWS, RowBlock, Scaling
from mklkit.views.kernel_rows import Scratch, SpareScratch

PART_ROWS = 16 * BLOCK_ROWS
"""The most samples that one thread takes at a time; it adds their sums before passing them on."""

Blocks = Iterator[tuple[slice, RowBlock]]
"""Blocks of a part of the samples, and their places in it."""

Sums = list[Array]
"""Arrays that add up over parts."""


class Engine:
    """Functions of parts of the samples (N, d), by the threads of this machine.

    Parts are equal, of at most 16,384 samples, and their sums are added in order: the result
    depends neither on the threads nor on how the samples are stored. Other engines have other
    parts, and are not ``local`` if the parts are outside the memory of this process.
    """

    local: ClassVar[bool] = True

    def each(
        self, function: Callable[..., Any], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Iterator[Any]:
        """Yield ``function(rows, *arrays)`` of each part, in order."""

        def task(place: slice) -> Any:
            return function(rows[place], *(array[place] for array in arrays))

        rows.check_unchanged()
        return each(task, _parts(len(rows)))

    def total(
        self, function: Callable[..., Sums], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Sums:
        """Return the sum over all parts of ``function(rows, *arrays)``."""
        return reduce(added, self.each(function, rows, arrays))

    def states(
        self, function: Callable[..., Any], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Sequence[Any]:
        """Return the states of the parts, ``function(rows, *arrays)``, for :meth:`sweep`."""
        return list(self.each(function, rows, arrays))

    def sweep(
        self, function: Callable[..., tuple[Any, Sums]], rows: Rows, states: Sequence[Any]
    ) -> tuple[Sequence[Any], Sums]:
        """Return new states and a sum: ``function(rows, state)`` returns both for each part.

        States stay with the parts. The function may modify its state; an engine that repeats
        tasks passes a copy.
        """

        def task(part: tuple[slice, Any]) -> tuple[Any, Sums]:
            place, state = part
            return function(rows[place], state)

        rows.check_unchanged()
        parts = zip(_parts(len(rows)), states, strict=True)
        kept, sums = zip(*each(task, parts), strict=True)
        return kept, reduce(added, sums)


def _parts(n_rows: int) -> Iterator[slice]:
    """Yield parts of whole blocks, an even number if several, so that threads end together."""
    count = max(-(-n_rows // PART_ROWS), 1)
    unit = -(-PART_ROWS // 16)
    count += count > 1 and count % 2
    size = unit * max(-(-n_rows // (unit * count)), 1)
    return row_blocks(n_rows, size)


def engine_of(rows: Rows) -> Engine:
    """Return the engine for some samples: their own engine, or the threads of this machine."""
    engine: Engine = rows.engine or Engine()
    return engine


def added(total: Sums, more: Sums) -> Sums:
    """Return the sums of both, in the arrays of the first."""
    return [np.add(array, addend, out=array) for array, addend in zip(total, more, strict=True)]


def on_blocks(
    function: Callable[..., Any],
    kept_maps: Sequence[FittedMap],
    spare: SpareScratch | None,
    scaling: Scaling | None,
    rows: Rows | Array,
    *arrays: Array,
) -> Any:
    """Call a function of blocks and arrays; the first arrays are features that are kept.

    The next block reuses the memory of one, unless the function collects columns.
    """
    kept, others = arrays[: len(kept_maps)], arrays[len(kept_maps) :]

    def blocks(scratch: Scratch | None) -> Blocks:
        for place in row_blocks(len(rows), BLOCK_ROWS):
            known = list(zip(kept_maps, (features[place] for features in kept), strict=True))
            yield place, RowBlock(rows[place], True, known, scratch, scaling)

    if spare is None:
        return function(blocks(None), *others)
    with spare.lent() as scratch:
        return function(blocks(scratch), *others)
