"""The steps of a support vector machine's dual problem, compiled, on rows that come when needed.

The signed dual variables are a = α∘y, so that Σa = 0 and each is in an interval that contains 0.
With v = y − Ka, a is optimal if no v of a variable that may grow is above that of one that may
shrink. A step changes the two variables that libsvm would change (Fan, Chen and Lin 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

Array = NDArray[np.floating[Any]]

BLOCK = 512
"""The values of which the largest is searched for, at a time, before its place is."""
LEAST_NEW, KNOWN_PER_NEW = 4, 128
"""The rows asked for at a time: at least 4, and more if many are known, as many are needed then."""
LEAST_CURVATURE = 1e-12
"""What libsvm takes for kᵢᵢ + kⱼⱼ − 2kᵢⱼ where rounding or an indefinite kernel makes it less."""
OPTIMAL, STOPPED = -1, -2


@attrs.frozen(eq=False)
class DualSteps:
    """The state of a dual problem: signed variables a (N,) in intervals, and v = y − Ka.

    ``grows`` and ``shrinks`` (N,) are 0 for variables that may, −∞ and +∞ for others. ``rows`` has
    the rows of K that are there, in single precision as in libsvm, at the ``slots`` (N,) of the
    variables, −1 for others; memory of the rest is not touched. ``count`` (1,) counts steps.
    """

    a: NDArray[np.float64]
    v: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    grows: NDArray[np.float64]
    shrinks: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    slots: NDArray[np.intp]
    rows: NDArray[np.float32]
    count: NDArray[np.intp]

    @classmethod
    def start(cls, y: Array, costs: Array, diagonal: Array) -> Self:
        """Return the state at a = 0 for labels −1 and +1, costs (N,), and the k(x, x) (N,)."""
        v = np.array(y, np.float64)
        lower, upper = np.where(v > 0, 0.0, -costs), np.where(v > 0, costs, 0.0)
        grows, shrinks = np.where(upper > 0, 0.0, -np.inf), np.where(lower < 0, 0.0, np.inf)
        size = len(v)
        slots, rows = np.full(size, -1, np.intp), np.empty((size, size), np.float32)
        parts = np.zeros(size), v, lower, upper, grows, shrinks
        return cls(*parts, np.array(diagonal, np.float64), slots, rows, np.zeros(1, np.intp))

    def run(
        self,
        rows_of: Callable[[NDArray[np.intp]], Array],
        tol: float,
        most_steps: int,
    ) -> bool:
        """Take steps until a is optimal to a tolerance; return False if there are too many.

        ``rows_of`` returns rows of K (n, N). It is asked for the row that a step needs together
        with those that the next steps are likely to need. A step is O(N).
        """
        state = attrs.astuple(self, recurse=False)
        while True:
            needed = _steps(*state, tol, most_steps)
            if needed < 0:
                return bool(needed == OPTIMAL)
            n_known = int((self.slots >= 0).sum())
            places = self._likely(needed, max(LEAST_NEW, n_known // KNOWN_PER_NEW))
            self.rows[n_known : n_known + len(places)] = rows_of(places)
            self.slots[places] = np.arange(n_known, n_known + len(places))

    def _likely(self, needed: int, count: int) -> NDArray[np.intp]:
        """Return the places of a row and of those farthest from their optimum, as many as told."""
        violation = np.maximum(self.v + self.grows, -(self.v + self.shrinks))
        violation[self.slots >= 0] = -np.inf
        violation[needed] = np.inf
        size = min(count, int((self.slots < 0).sum()))
        return np.argpartition(violation, -size)[-size:]

    @property
    def bias(self) -> float:
        """The constant: the mean v of variables inside their intervals, or an interval's middle."""
        free = np.isfinite(self.grows) & np.isfinite(self.shrinks)
        if free.any():
            return float(self.v[free].mean())
        return float(((self.v + self.grows).max() + (self.v + self.shrinks).min()) / 2)


@compiled(inexact=["contract", "reassoc", "nnan", "nsz"])
def _moved(
    v: Array, grows: Array, first: Array, second: Array, step: float
) -> tuple[float, int]:  # pragma: no cover - compiled
    """Subtract a step times the difference of two rows; return the largest v that may grow.

    And the start of its block: LLVM vectorises a maximum, and not the search for its place.
    """
    best, place = -np.inf, 0
    for start in range(0, v.size, BLOCK):
        most = -np.inf
        for t in range(start, min(start + BLOCK, v.size)):
            v[t] -= step * (first[t] - second[t])
            value = v[t] + grows[t]
            most = value if value > most else most
        if most > best:
            best, place = most, start
    return best, place


@compiled(inexact=["contract", "reassoc", "nnan", "nsz"])
def _gains(
    v: Array, shrinks: Array, row: Array, diagonal: Array, most: float, own: float
) -> tuple[float, int]:  # pragma: no cover - compiled
    """Return the least v that may shrink, and the start of the block of the best second variable.

    The best one lets the objective fall most.
    """
    least, best, place = np.inf, -1.0, 0
    for start in range(0, v.size, BLOCK):
        gain_of_block, least_of_block = -1.0, np.inf
        for t in range(start, min(start + BLOCK, v.size)):
            value = v[t] + shrinks[t]
            least_of_block = value if value < least_of_block else least_of_block
            gap = most - value
            curvature = own + diagonal[t] - 2.0 * row[t]
            curvature = curvature if curvature > LEAST_CURVATURE else LEAST_CURVATURE
            gain = gap * gap / curvature
            gain = gain if gap > 0 else -1.0
            gain_of_block = gain if gain > gain_of_block else gain_of_block
        least = least_of_block if least_of_block < least else least
        if gain_of_block > best:
            best, place = gain_of_block, start
    return least, place


@compiled()
def _steps(
    a: Array,
    v: Array,
    lower: Array,
    upper: Array,
    grows: Array,
    shrinks: Array,
    diagonal: Array,
    slots: NDArray[np.intp],
    rows: NDArray[np.float32],
    count: NDArray[np.intp],
    tol: float,
    most_steps: int,
) -> int:  # pragma: no cover - compiled
    """Take steps until one needs a row that is not there; return its place, or why it ended."""
    most, start = _moved(v, grows, v, v, 0.0)
    while True:
        i = start
        while i < v.size - 1 and v[i] + grows[i] != most:
            i += 1
        if slots[i] < 0:
            return i
        row = rows[slots[i]]
        least, start = _gains(v, shrinks, row, diagonal, most, diagonal[i])
        if most - least <= tol:
            return OPTIMAL
        if count[0] >= most_steps:
            return STOPPED
        best, j, curvature = -1.0, -1, LEAST_CURVATURE
        for t in range(start, min(start + BLOCK, v.size)):
            gap = most - (v[t] + shrinks[t])
            bend = max(diagonal[i] + diagonal[t] - 2.0 * row[t], LEAST_CURVATURE)
            if gap > 0 and gap * gap / bend > best:
                best, j, curvature = gap * gap / bend, t, bend
        if slots[j] < 0:
            return j
        to_upper, to_lower = upper[i] - a[i], a[j] - lower[j]
        step = min((most - v[j]) / curvature, to_upper, to_lower)
        a[i] = upper[i] if step == to_upper else a[i] + step
        a[j] = lower[j] if step == to_lower else a[j] - step
        for t in (i, j):
            grows[t] = 0.0 if a[t] < upper[t] else -np.inf
            shrinks[t] = 0.0 if a[t] > lower[t] else np.inf
        count[0] += 1
        most, start = _moved(v, grows, row, rows[slots[j]], step)
