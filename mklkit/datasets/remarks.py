"""Notes on suspicious columns of a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from hashlib import sha256
from shlex import quote

import numpy as np
import pandas as pd

from mklkit.datasets.columns import is_number_type
from mklkit.datasets.notations import TEXT
from mklkit.errors import listed, named, quoted
from mklkit.numerics.sparse import values_of

NAMES_SHOWN = 5
# More distinct texts than this, and in half of the rows, are rarely categories.
MANY_CATEGORIES = 30
BLOCK_VALUES = 1 << 22


def remarks(
    features: pd.DataFrame, target: pd.Series | pd.DataFrame, notations: Mapping[str, str]
) -> list[str]:
    """Return notes on suspicious columns of a table, whose text is written in these notations."""
    constant, leaks = list[str](), list[str]()
    copies: dict[str, str] = {}
    first_of: dict[Hashable, str] = {}
    of_targets = {content for content, _ in _contents(pd.DataFrame(target)).values()}
    for name, (content, varies) in _contents(features).items():
        twin = first_of.setdefault(content, name)
        if not varies:
            constant.append(name)
        elif content in of_targets:
            leaks.append(name)
        if varies and twin != name:
            copies[name] = twin
    faults = {
        "constant": constant,
        "a copy of the target": leaks,
        f"the same as {listed([*copies.values()])}": [*copies],
    }
    notes = [f"{named(names)}: {fault}" for fault, names in faults.items() if names]
    texts = [name for name, notation in notations.items() if notation == TEXT]
    # Most rows, but not all, hold distinct texts; notes on identifiers cover the rest.
    few = max(MANY_CATEGORIES, len(features) / 2)
    varied = [n for n in texts if few < features[n].nunique() < features[n].notna().sum()]
    for name in varied[:NAMES_SHOWN]:
        distinct = features[name].dropna().unique()
        notes.append(
            f"column {quoted(name)} holds {len(distinct)} different texts in {len(features)} rows,"
            f" such as {quoted(distinct[0], 40)}: keep only the numbers if there are any, use"
            f" a kernel on text, -k {quote(f'spectrum@{name}')}, or leave it out with --drop"
            f" {quote(name)}"
        )
    if len(varied) > NAMES_SHOWN:
        notes.append(f"{len(varied) - NAMES_SHOWN} more columns of text are like this")
    return notes


def _contents(frame: pd.DataFrame) -> dict[str, tuple[Hashable, bool]]:
    """Return a comparable key of each column's contents, and whether its values differ."""
    kinds = frame.dtypes.tolist()
    plain = np.array([is_number_type(kind) for kind in kinds], bool)
    of_numbers = _contents_of_numbers(frame.loc[:, plain])
    contents: dict[str, tuple[Hashable, bool]] = {}
    for place, name in enumerate(frame.columns):
        if plain[place]:
            contents[str(name)] = next(of_numbers)
        else:
            codes, distinct = pd.factorize(frame.iloc[:, place])
            key = codes.tobytes(), tuple(map(str, distinct))
            contents[str(name)] = key, len(distinct) > 1
    return contents


def _contents_of_numbers(frame: pd.DataFrame) -> Iterator[tuple[Hashable, bool]]:
    """Yield the same of each column of numbers, by blocks because there may be thousands."""
    step = max(1, BLOCK_VALUES // max(1, len(frame)))
    for start in range(0, frame.shape[1], step):
        numbers = values_of(frame.iloc[:, start : start + step]).astype(np.float64, copy=False)
        low, high = (ufunc.reduce(numbers, initial=np.nan) for ufunc in (np.fmin, np.fmax))
        columns = np.ascontiguousarray(numbers.T)
        for column, varies in zip(columns, (low < high).tolist(), strict=True):
            # A digest takes less memory than the values.
            yield sha256(column).digest(), varies
