"""Decisions of several problems on the same training rows, which are kept once.

In one-vs-one problems, each row is a support vector of many decisions. They keep its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array, Decision, Projector, Rows, SomeRows
from mklkit.views.deciding import BlockDecision


def sharing_rows(decisions: Sequence[Decision], rows: Rows) -> Sequence[Decision]:
    """Return decisions whose implicit maps share their training rows, which are among ``rows``.

    A single decision, maps that can't share and rows outside of memory stay as they are.
    """
    if len(decisions) < 2 or not rows.in_memory:
        return decisions
    of_blocks = [decision for decision in decisions if isinstance(decision, BlockDecision)]
    shared = _Shared(rows)
    shared.add(projector for decision in of_blocks for projector in decision.projectors)
    return [
        decision.with_projectors([shared.of(projector) for projector in decision.projectors])
        if isinstance(decision, BlockDecision) and decision.projectors
        else decision
        for decision in decisions
    ]


class _Shared:
    """The training rows of maps by their content, and the arrays of those that are used."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._numbers: dict[int, dict[bytes, int]] = {}
        self._some: dict[int, tuple[Array, int, NDArray[np.intp]]] = {}
        self._used = np.zeros(len(rows), bool)
        self._arrays: dict[int, Array] = {}
        self._kept: dict[int, Array] = {}
        self._made: dict[tuple[int, bytes], SomeRows] = {}

    def add(self, projectors: Iterable[Projector]) -> None:
        """Look up the landmarks of maps among the rows."""
        for projector in projectors:
            fitted = projector.map
            if fitted.explicit or not fitted.from_landmarks:
                continue
            landmarks = fitted.landmarks
            if id(landmarks) in self._some or not _is_table(landmarks):
                continue
            (array,) = self.rows.arrays_of([projector])
            members = self._members(landmarks, array) if _is_table(array) else None
            if members is not None:
                self._used[members] = True
                # The landmarks are kept so that no other array gets their id.
                self._some[id(landmarks)] = landmarks, id(array), members
                self._arrays[id(array)] = array

    def _members(self, landmarks: Array, array: Array) -> NDArray[np.intp] | None:
        """Return the places of landmarks among the rows; None if some are not among them."""
        if id(array) not in self._numbers:
            self._numbers[id(array)] = {key: place for place, key in enumerate(_keys(array))}
        numbers = self._numbers[id(array)]
        places = [numbers.get(key) for key in _keys(landmarks)]
        known = [place for place in places if place is not None]
        return np.array(known, np.intp) if len(known) == len(places) else None

    def of(self, projector: Projector) -> Projector:
        """Return a projector whose map shares its rows."""
        fitted = projector.map
        known = None
        if not fitted.explicit and fitted.from_landmarks:
            known = self._some.get(id(fitted.landmarks))
        if known is None:
            return projector
        _, source, members = known
        key = source, members.tobytes()
        if key not in self._made:
            if source not in self._kept:
                self._kept[source] = self._arrays[source][self._used]
            used = self._kept[source]
            if len(members) > len(used):  # Some of them are equal.
                return projector
            self._made[key] = SomeRows(used, (np.cumsum(self._used) - 1)[members])
        return attrs.evolve(projector, map=fitted.with_shared(self._made[key]))


def _is_table(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 2


def _keys(array: Array) -> list[bytes]:
    return [blake2b(row.tobytes(), digest_size=16).digest() for row in array]
