"""The kernels that are dropped together: each one, all others, and groups of similar kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.errors import SpecError, listed, quoted, suggest

ALIKE = 0.9
"""The centred alignment from which kernels are called similar."""
MOST_PROPOSED = 3
"""The most groups of similar kernels that are dropped unasked: each takes a fit per fold."""

Kernels = frozenset[str]
"""The labels of kernels that a fit leaves out."""
Group = tuple[str, ...]


@attrs.frozen(eq=False)
class Ablations:
    """What the fits of a fold leave out.

    ``labels`` are those of all sources, also of those that the model dropped, because a fit may
    choose them; ``groups`` are dropped together, and ``why_not`` says what can't be dropped.
    """

    labels: Sequence[str]
    groups: Sequence[Group]
    why_not: Mapping[Kernels, str]

    def single(self, kernel: str) -> Kernels:
        """Return what is dropped to measure the loss without a kernel."""
        return frozenset([kernel])

    def others(self, kernel: str) -> Kernels:
        """Return what is dropped to measure a kernel alone."""
        return frozenset(self.labels) - {kernel}

    @property
    def tried(self) -> list[Kernels]:
        """Every set of kernels that a fit leaves out, once."""
        sets = [self.single(kernel) for kernel in self.labels]
        sets += [frozenset(group) for group in self.groups]
        sets += [self.others(kernel) for kernel in self.labels]
        return [kernels for kernels in dict.fromkeys(sets) if kernels not in self.why_not]


def fits_ahead(n_kernels: int) -> str:
    """Return how many fits a fold takes, before anything is known of groups.

    Examples
    --------
    >>> fits_ahead(1), fits_ahead(2), fits_ahead(4)
    ('1 fit a fold', '3 fits a fold', '9 fits a fold and 1 for each group of similar kernels')
    """
    # Of two and three kernels, those without some are also those of the others.
    if n_kernels <= 3:
        return ("1 fit a fold", "3 fits a fold", "7 fits a fold")[n_kernels - 1]
    return f"{1 + 2 * n_kernels} fits a fold and 1 for each group of similar kernels"


def named_groups(without: Iterable[Any] | None, labels: Sequence[str]) -> list[Group]:
    """Return the groups that the user names, each as names or a text with commas between them.

    Examples
    --------
    >>> named_groups(["dna,rna", ("rna", "scan")], ["dna", "rna", "scan", "age"])
    [('dna', 'rna'), ('rna', 'scan')]
    """
    if without is None:
        return []
    entries = [without] if isinstance(without, str) else without
    if not isinstance(entries, Iterable):
        raise SpecError(f"{_expected(labels)}; got {quoted(without)}.")
    groups = [_group(names, labels) for names in entries]
    return list({frozenset(group): group for group in groups}.values())


def similar_groups(alignment: pd.DataFrame) -> list[Group]:
    """Return groups of kernels with a centred alignment above 0.9, the most similar ones first.

    Pairs are joined in the order of their alignment (single linkage), unless a group would have all
    kernels: nothing is left to learn from without these.

    Examples
    --------
    >>> names = ["main", "copy", "side", "noise"]
    >>> values = np.eye(4)
    >>> values[[0, 1], [1, 0]] = 0.95
    >>> similar_groups(pd.DataFrame(values, names, names))
    [('main', 'copy')]
    """
    values, n_kernels = alignment.to_numpy(dtype=float), len(alignment)
    rows, columns = np.triu_indices(n_kernels, 1)
    order = np.argsort(-values[rows, columns], kind="stable")
    group_of = {place: frozenset([place]) for place in range(n_kernels)}
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        joined = group_of[row] | group_of[column]
        if values[row, column] > ALIKE and len(joined) < n_kernels:
            group_of |= dict.fromkeys(joined, joined)
    by_alignment = [group_of[place] for place in rows[order].tolist()]
    groups = [group for group in dict.fromkeys(by_alignment) if len(group) > 1]
    names = [str(label) for label in alignment.index]
    return [tuple(names[place] for place in sorted(group)) for group in groups[:MOST_PROPOSED]]


def _group(names: Any, labels: Sequence[str]) -> Group:
    """Return the labels of a group; a SpecError if it is not of several kernels, or of all."""
    if not isinstance(names, Iterable) or not names:
        raise SpecError(f"{_expected(labels)}; got {quoted(names)} as one of them.")
    parts = _split(names, labels) if isinstance(names, str) else [str(name) for name in names]
    for part in parts:
        if part not in labels:
            raise SpecError(
                f"No kernel is named {quoted(part)}; there are {listed(labels)}."
                f"{suggest(part, labels)}"
            )
    group = tuple(label for label in labels if label in parts)
    if len(group) < 2:
        raise SpecError(
            f"Name two or more kernels to leave out together, such as {','.join(labels[:2])}; got"
            f" {listed(parts)}. Each kernel is dropped by itself anyway."
        )
    if len(group) == len(labels):
        raise SpecError(
            f"{listed(group)} are all kernels: without them nothing is left to learn from. Leave"
            " out a part of them."
        )
    return group


def _expected(labels: Sequence[str]) -> str:
    """Return what ``without`` must be, the beginning of a sentence."""
    return f"without must be groups of two or more kernels each, such as [{tuple(labels[:2])}]"


def _split(text: str, labels: Sequence[str]) -> list[str]:
    """Return the names between commas; a name may contain a comma itself."""
    parts, names = [part.strip() for part in text.split(",")], []
    while parts:
        ends = range(len(parts), 0, -1)
        end = next((end for end in ends if ",".join(parts[:end]) in labels), 1)
        names.append(",".join(parts[:end]))
        parts = parts[end:]
    return names
