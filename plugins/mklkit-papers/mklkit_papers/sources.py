"""The papers' data sets: from a folder, from scikit-learn, and from OpenML."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import attrs
import numpy as np
import pandas as pd
from sklearn.datasets import fetch_openml, get_data_home

from mklkit.comparison.data import DataSet, data_sets
from mklkit.datasets import load_table
from mklkit.datasets.paths import status
from mklkit.datasets.table import Table
from mklkit.datasets.table_schema import columns_of
from mklkit.errors import DataError, counted, plain_message
from mklkit.evaluation.study import Roles

FOLDER = "MKLKIT_DATA"
"""The environment variable that names the folder of data sets."""

OF_SCIKIT_LEARN = {"iris": "iris", "wine": "wine", "wdbc": "breast_cancer"}
"""The papers' name for a set, and the built-in one with the same samples."""

VOTES = {"y": 1.0, "n": -1.0}

ADDRESS = "https://www.openml.org/api/v1/json/data/{}"
KEPT = "openml/openml.org/api/v1/json/data/{}.gz"
"""The description of a data set in scikit-learn's data folder."""
PATIENCE = 10.0
"""Seconds to wait for an answer."""
TROUBLE = (OSError, HTTPException, ValueError, KeyError)
"""Errors of a network, a folder, or an unexpected answer."""


@attrs.frozen
class Known:
    """The size of the papers' version of a data set, and the number of the same data at OpenML.

    ``complete`` means that samples with missing values are dropped.
    """

    rows: int
    features: int
    classes: int
    openml: int | None = None
    complete: bool = False

    def remark(self, table: Table) -> str:
        """Return how a table's size differs from the known one, empty if it does not."""
        ours = len(table.target), table.features.shape[1], len(np.unique(table.target))
        known = self.rows, self.features, self.classes
        if ours == known:
            return ""
        words = ("row", "feature", "class")
        shown = [counted(number, word) for number, word in zip(ours, words, strict=True)]
        return f"{', '.join(shown)} instead of {', '.join(map(str, known))}"


KNOWN = {
    "arrhythmia": Known(452, 279, 13, openml=5),
    "australian": Known(690, 14, 2, openml=40981),
    "balance_scale": Known(625, 4, 3, openml=11),
    "breast_w": Known(683, 9, 2, openml=15, complete=True),
    "clean1": Known(476, 166, 2),
    "cmc": Known(1473, 9, 3, openml=23),
    "german": Known(1000, 24, 2),
    "glass": Known(214, 9, 6, openml=41),
    "heart_c": Known(303, 13, 2, openml=49),
    "ionosphere": Known(351, 34, 2, openml=59),
    "iris": Known(150, 4, 3),
    "letter": Known(20000, 16, 26, openml=6),
    "liver": Known(345, 6, 2),
    "madelon": Known(2599, 500, 2),
    "page_blocks": Known(5473, 10, 5, openml=30),
    "pima": Known(768, 8, 2, openml=37),
    "segment": Known(2310, 19, 7, openml=36),
    "sonar": Known(208, 60, 2, openml=40),
    "soybean_small": Known(47, 35, 4),
    "spambase": Known(4601, 57, 2, openml=44),
    "vote": Known(435, 16, 2, openml=56),
    "waveform": Known(5000, 40, 3, openml=60),
    "wdbc": Known(569, 30, 2),
    "wine": Known(178, 13, 3),
}
"""The papers' sets. Some have no number: OpenML has german with 20 attributes, liver without its
two classes, and madelon with another sample."""


class DataNotHere(DataError):
    """A data set that was not found in any place, or that OpenML did not deliver."""


class OpenML:
    """Access to OpenML, reported by ``say``; an offline machine waits for only one answer.

    ``patience`` is how many seconds each answer may take.
    """

    def __init__(self, say: Callable[[str], Any], patience: float = PATIENCE) -> None:
        self._say = say
        self._patience = patience
        self._unreached: str | None = None

    def frame(self, data_id: int) -> pd.DataFrame:
        """Return the features of a data set and, last, its classes as the column ``target``.

        It is stored in scikit-learn's data folder (``SCIKIT_LEARN_DATA``), and must have the
        checksum that OpenML states: :func:`sklearn.datasets.fetch_openml` rejects others.
        """
        try:
            if not (Path(get_data_home()) / KEPT.format(data_id)).exists():
                self._reach(data_id)
                self._say(f"fetching data set {data_id} from OpenML")
            with _in_time(self._patience):
                bunch = fetch_openml(data_id=data_id, as_frame=True, n_retries=1, delay=0.1)
        except DataNotHere:
            raise
        except TROUBLE as error:
            raise DataNotHere(
                f"data set {data_id} of OpenML can't be used: {_plain(error)}"
            ) from error
        return bunch.data.assign(target=bunch.target)

    def _reach(self, data_id: int) -> None:
        # scikit-learn would try four times, with pauses.
        if self._unreached is None:
            self._unreached = ""
            try:
                with urlopen(ADDRESS.format(data_id), timeout=self._patience):
                    return
            except TROUBLE as error:
                self._unreached = f"OpenML can't be reached: {_plain(error)}"
        if self._unreached:
            raise DataNotHere(self._unreached)


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    """Limit the wait for each answer, and hide remarks on further attempts."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)


def _plain(error: Exception) -> str:
    """Return the network's message, without the text that Python puts around it."""
    if isinstance(error, KeyError):
        return f"its answer has no {error}"
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return plain_message(reason) if isinstance(reason, Exception) else str(reason)


def find_data(
    name: str,
    folder: Path | None = None,
    columns: int | None = None,
    openml: OpenML | None = None,
) -> DataSet:
    """Return a data set of the papers; DataNotHere if no place has it.

    The places are the folder, by default that of the environment variable ``MKLKIT_DATA``, with
    ``name.csv`` or ``name.csv.gz`` with a header row and the class in the column ``target``; then
    scikit-learn; then OpenML, if given. Only
    the first ``columns`` are features. Its ``notes`` tell if its size differs from that of the
    papers' data, and whether it was fetched.
    """
    table, notes = _table(name, folder, openml)
    features = table.features if columns is None else table.features.iloc[:, :columns]
    features = _votes_as_numbers(features)
    notations = {str(column.name): column.notation for column in table.schema}
    table = attrs.evolve(table, features=features, schema=columns_of(features, notations))
    (data,) = data_sets({name: table}, None, Roles())
    return attrs.evolve(data, notes=notes)


def _table(name: str, folder: Path | None, openml: OpenML | None) -> tuple[Table, list[str]]:
    """Return a table from the first place that has it, with notes."""
    known = KNOWN.get(name)
    variable = os.environ.get(FOLDER)
    if folder is None and variable:
        folder = Path(variable)
    files = [folder / f"{name}{ending}" for ending in (".csv", ".csv.gz")] if folder else []
    path = next((file for file in files if status(file) is not None), None)
    if path is not None or name in OF_SCIKIT_LEARN:
        table = load_table(OF_SCIKIT_LEARN[name] if path is None else path)
        remark = known.remark(table) if known else ""
        return table, [f"{table.origin} has {remark}"] if remark else []
    missing = f"there is no folder to look for {name}.csv in: give --data-dir or set ${FOLDER}"
    if folder is not None:
        missing = f"there is no {name}.csv or {name}.csv.gz in {folder}"
    if openml is None or known is None or known.openml is None:
        raise DataNotHere(missing)
    try:
        table = _fetched(name, known, known.openml, openml)
    except DataNotHere as error:
        raise DataNotHere(f"{missing}, and {error}") from error
    return table, [f"from {table.origin}"]


def _fetched(name: str, known: Known, number: int, openml: OpenML) -> Table:
    """Return a table from OpenML, read as a user's file would be."""
    frame = openml.frame(number)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.csv"
        (frame.dropna() if known.complete else frame).to_csv(path, index=False)
        table = load_table(path, "target")
    remark = known.remark(table)
    if remark:
        raise DataNotHere(f"data set {number} of OpenML has {remark}")
    return attrs.evolve(table, origin=f"data set {number} of OpenML")


def _votes_as_numbers(features: pd.DataFrame) -> pd.DataFrame:
    """Return y, n and missing as 1, −1 and 0 in columns that hold nothing else."""
    texts = features.select_dtypes(exclude="number")
    votes = [name for name in texts if set(texts[name].dropna().unique()) <= VOTES.keys()]
    if not votes:
        return features
    numbers = features[votes].apply(lambda column: column.map(VOTES).fillna(0.0).astype(float))
    return features.assign(**{str(name): numbers[name] for name in votes})
