"""What is refused before the first run: labels that no method learns, splits without end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import DataError, SpecError, quoted, type_name

__all__ = ["MOST_SPLITS", "check_labels", "check_number", "in_unicode"]

MOST_SPLITS = 10_000
"""Far more than a test of differences needs; the row numbers of all are in memory."""
KINDS = (str, bool, int, float, np.bool_, np.integer, np.floating)


def check_labels(name: str, labels: NDArray[Any]) -> None:
    """Refuse labels that no method could learn.

    Parameters
    ----------
    name : str
        Of the data.
    labels : ndarray of shape (n_rows,)

    Raises
    ------
    DataError
        If there are no rows, labels are missing, not finite, or anything but text, numbers and
        booleans, text and numbers are mixed, or there are fewer than two classes.

    Examples
    --------
    >>> check_labels("data", np.array(["a", "b"]))
    >>> check_labels("data", np.array(["a", "a"]))
    Traceback (most recent call last):
        ...
    mklkit.errors.DataError: data has one class, 'a'; at least two are needed to compare methods.
    """
    if len(labels) == 0:
        raise DataError(f"{name} has no rows; rows of at least two classes are needed.")
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise DataError(
            f"{name} has no label in row {missing[0]} (counted from 0), as in {len(missing)} of"
            f" {len(labels)} rows; leave these rows out."
        )
    # Times of some units would become integers.
    plain = list(labels) if labels.dtype.kind in "mM" else labels.tolist()
    for label in plain:
        if not isinstance(label, KINDS):
            raise DataError(
                f"Labels must be text, numbers or booleans; {name} has {quoted(label)} of type"
                f" {type_name(label)}. Convert them, such as by y.astype(str)."
            )
    texts = [isinstance(label, str) for label in plain]
    if any(texts) and not all(texts):
        one, other = plain[texts.index(True)], plain[texts.index(False)]
        raise DataError(
            f"Labels must be all text or all numbers; {name} has {quoted(one)} and"
            f" {quoted(other)}. Convert them, such as by y.astype(str)."
        )
    if not any(texts) and not np.isfinite(labels.astype(float)).all():
        raise DataError(f"{name} has labels that are infinite; leave these rows out.")
    if len(set(plain)) < 2:
        raise DataError(
            f"{name} has one class, {quoted(plain[0])}; at least two are needed to compare methods."
        )


def in_unicode(name: str) -> str:
    """Return a name with what is not Unicode escaped, as of files whose names are not UTF-8.

    Examples
    --------
    >>> in_unicode("caf\\udce9"), in_unicode("café")
    ('caf\\\\udce9', 'café')
    """
    return name.encode(errors="backslashreplace").decode()


def check_number(splits: int) -> None:
    """Refuse more splits than can be kept and run.

    Raises
    ------
    SpecError
        If there are more than ``MOST_SPLITS``.
    """
    if splits > MOST_SPLITS:
        raise SpecError(
            f"{splits:,} splits are too many: at most {MOST_SPLITS:,} (folds x repeats) are"
            " allowed, and some tens are usual."
        )
