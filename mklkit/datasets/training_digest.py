"""A digest of training rows, by which new rows are recognised as the same."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.datasets.row_hashes import Hashes
from mklkit.errors import counted, quoted

MOST = 10_000
"""The hashes that are kept, the smallest of all, which are a random sample."""
DISTINCT = 0.95
"""If a smaller share of training rows is distinct, other rows equal them by chance."""


def digest_of(hashes: Hashes) -> Hashes:
    """Return the smallest of distinct hashes, in order."""
    return np.unique(hashes)[:MOST]


def digest_of_rows(hashes: Hashes) -> Hashes:
    """Return the digest of rows; an empty one if many are the same, which then tells nothing."""
    digest = np.unique(hashes)
    return digest[:MOST] if len(digest) >= DISTINCT * len(hashes) else digest[:0]


def hashes_of_ids(ids: pd.Series) -> Hashes:
    """Return a hash for each identifier, as text."""
    return np.asarray(pd.util.hash_array(ids.astype(str).to_numpy(object)), np.uint64)


def as_text(digest: Hashes) -> str:
    """Return a digest as text, for the facts of a model file."""
    return base64.b64encode(digest.astype("<u8").tobytes()).decode()


def from_text(text: Any) -> Hashes:
    """Return a digest from the facts of a model file; an empty one if they hold something else."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<u8").astype(np.uint64)
    except (TypeError, ValueError, binascii.Error):
        return np.zeros(0, np.uint64)


@attrs.define(eq=False)
class KnownRows:
    """How many new rows, which may come in parts, are or may be training rows of a model.

    A model file keeps 8 bytes for each of at most 10,000 training rows: a hash of the identifier,
    where files were joined by one, and one of all values that the encoder read. Rows with equal
    values are training rows, unless more than one in twenty training rows equals another one. Rows
    of which only the identifiers are equal may be samples that were measured again, or miss a
    source; they may as well be those of another cohort that is numbered alike, so they are only
    asked about. A hash does not contain what it was made from, but whoever knows an identifier, or
    all values of a row, can test whether the model has learned from it. Sparse tables have no
    hashes of values.

    Parameters
    ----------
    encoder : TableEncoder, optional
        The model's.
    ids : ndarray of uint64
        The digest of training identifiers.
    n_training : int
        How many rows the model has learned from; with more than a digest keeps, it tells the least
        number.
    """

    encoder: Any
    ids: Hashes
    n_training: int
    n_rows: int = 0
    by_values: int = 0
    by_id: int = 0
    """The rows with other values, or unknown ones, and the identifier of a training row."""
    name: str = ""

    def add(self, features: pd.DataFrame, ids: pd.Series | None) -> None:
        """Look at more rows, as read."""
        self.n_rows += len(features)
        equal = np.zeros(len(features), bool)
        digest = self._digest_of_values()
        if len(digest):
            equal = np.isin(self.encoder.row_hashes(features), digest)
            self.by_values += int(equal.sum())
        if ids is not None and len(self.ids):
            self.name = str(ids.name)
            self.by_id += int((np.isin(hashes_of_ids(ids), self.ids) & ~equal).sum())

    def sentences(self) -> list[str]:
        """Return a sentence on rows that are training rows, and one on those that may be."""
        lines = []
        digest = self._digest_of_values()
        if self.by_values:
            are = "is a training sample" if self.by_values == 1 else "are training samples"
            lines.append(
                f"{self._share(self.by_values, digest)} {are} of the model (with the same values):"
                " scores on them are too good"
            )
        if self.by_id:
            # Of a part of the training rows' values, the others are not known.
            known = len(digest) >= DISTINCT * self.n_training
            have = "has the identifier" if self.by_id == 1 else "have the identifiers"
            but = " but other values" if len(digest) and known else ""
            lines.append(
                f"{self._share(self.by_id, self.ids)} {have} of training samples (by"
                f" {quoted(self.name)}){but}: are they the same samples? Then scores on them are"
                " too good"
            )
        return lines

    def _digest_of_values(self) -> Hashes:
        return self.ids[:0] if self.encoder is None else self.encoder.row_digest_

    def _share(self, count: int, digest: Hashes) -> str:
        least = "at least " if len(digest) < self.n_training else ""
        return f"{least}{count:,} of {counted(self.n_rows, 'sample')}"
