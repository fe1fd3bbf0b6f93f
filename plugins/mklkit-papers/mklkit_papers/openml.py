"""Data sets from OpenML, through scikit-learn, which keeps what it has fetched."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pandas as pd
from sklearn.datasets import fetch_openml, get_data_home

from mklkit.errors import DataError, plain_message

__all__ = ["NotFetched", "OpenML"]

ADDRESS = "https://www.openml.org/api/v1/json/data/{}"
KEPT = "openml/openml.org/api/v1/json/data/{}.gz"
"""Where scikit-learn keeps the description of a data set, in its folder of data."""
PATIENCE = 10.0
"""Seconds to wait for an answer."""
TROUBLE = (OSError, HTTPException, ValueError, KeyError)
"""What a network, a folder, or an answer that is not as expected may raise."""


class NotFetched(DataError):
    """A data set that OpenML did not give, with the reason."""


class OpenML:
    """The way to OpenML, which is tried once: an offline machine waits for one answer only.

    Parameters
    ----------
    say : callable
        Called with a sentence before something is fetched.
    """

    def __init__(self, say: Callable[[str], Any]) -> None:
        self._say = say
        self._unreached: str | None = None

    def frame(self, data_id: int) -> pd.DataFrame:
        """Return the features of a data set and, last, its classes as the column ``target``.

        It is kept in scikit-learn's folder of data (``SCIKIT_LEARN_DATA``), and has the checksum
        that OpenML states: :func:`sklearn.datasets.fetch_openml` refuses any other.

        Parameters
        ----------
        data_id : int
            OpenML's number for it.

        Raises
        ------
        NotFetched
            If OpenML can't be reached, or its answer can't be used.
        """
        try:
            if not (Path(get_data_home()) / KEPT.format(data_id)).exists():
                self._reach(data_id)
                self._say(f"fetching data set {data_id} from OpenML")
            with _in_time():
                bunch = fetch_openml(data_id=data_id, as_frame=True, n_retries=1, delay=0.1)
        except NotFetched:
            raise
        except TROUBLE as error:
            raise NotFetched(
                f"data set {data_id} of OpenML can't be used: {_plain(error)}"
            ) from error
        return bunch.data.assign(target=bunch.target)

    def _reach(self, data_id: int) -> None:
        if self._unreached is None:
            self._unreached = ""
            try:
                with urlopen(ADDRESS.format(data_id), timeout=PATIENCE):
                    return
            except TROUBLE as error:
                self._unreached = f"OpenML can't be reached: {_plain(error)}"
        if self._unreached:
            raise NotFetched(self._unreached)


@contextmanager
def _in_time() -> Iterator[None]:
    """Wait for each answer only so long, and leave out remarks on further attempts."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)


def _plain(error: Exception) -> str:
    """Return what the network says, without the words that Python puts around it."""
    if isinstance(error, KeyError):
        return f"its answer has no {error}"
    reason = getattr(error, "reason", error)
    text = getattr(reason, "strerror", None)
    return text or (plain_message(reason) if isinstance(reason, Exception) else str(reason))
