"""Decisions of several problems on the same training samples, which are kept once.

In one-vs-one problems, each sample is a support vector of many decisions. They keep its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array, Decision, Projector, SomeRows
from mklkit.views.deciding import BlockDecision

WORTH_DROPPING = 0.2
"""The share of samples that no decision uses, from which they are dropped."""


def is_table(array: Any) -> bool:
    """Return whether an array has samples in memory, of which maps can keep the places."""
    return isinstance(array, np.ndarray) and array.ndim == 2


def without_unused(decisions: Sequence[Decision]) -> Sequence[Decision]:
    """Return decisions whose maps share arrays without the samples that none of them uses.

    They are the same decisions if these are few.
    """
    used: dict[int, tuple[Array, NDArray[np.bool_]]] = {}
    for some in _shared_in(decisions):
        _, mask = used.setdefault(id(some.rows), (some.rows, np.zeros(len(some.rows), bool)))
        mask[some.members] = True
    if all(mask.mean() > 1 - WORTH_DROPPING for _, mask in used.values()):
        return decisions
    kept = {key: (rows[mask], np.cumsum(mask) - 1) for key, (rows, mask) in used.items()}

    def reduced(projector: Projector) -> Projector:
        some = projector.map.kept
        if not isinstance(some, SomeRows):
            return projector
        rows, numbers = kept[id(some.rows)]
        shared = projector.map.with_shared(SomeRows(rows, numbers[some.members]))
        return attrs.evolve(projector, map=shared)

    return [
        decision.with_projectors([reduced(projector) for projector in decision.projectors])
        if isinstance(decision, BlockDecision) and decision.projectors
        else decision
        for decision in decisions
    ]


def _shared_in(decisions: Sequence[Decision]) -> list[SomeRows]:
    """Return the samples of shared arrays that the maps of decisions use."""
    of_blocks = [decision for decision in decisions if isinstance(decision, BlockDecision)]
    kept = (
        projector.map.kept
        for decision in of_blocks
        for projector in decision.projectors
        if not projector.map.explicit and projector.map.from_landmarks
    )
    return [some for some in kept if isinstance(some, SomeRows)]
