"""Suppression of library warnings that mklkit replaces by its own."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["held_back"]

FILTERS = threading.Lock()
"""Warning filters are global: two threads that change and restore them at once would conflict."""


@contextmanager
def held_back(category: type[Warning]) -> Iterator[list[str]]:
    """Collect the messages of one category of warning, in a list that is filled at the end.

    Examples
    --------
    >>> with held_back(RuntimeWarning) as told:
    ...     warnings.warn("it is late", RuntimeWarning)
    >>> told
    ['it is late']
    """
    told: list[str] = []
    with FILTERS, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", category)
        yield told
    for each in seen:
        if issubclass(each.category, category):
            told.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
