"""Features of rows that are gone, of which class moments are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.class_moments import ClassMoments
from mklkit.protocols import Array, Projector
from mklkit.views.feature_blocks import FeatureBlocks

__all__ = ["GatheredMoments", "UnavailableRows"]


@attrs.frozen
class UnavailableRows:
    """Rows (N, d) that can't be read any more."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    column_names: Sequence[str] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> Array:
        """Refuse."""
        raise _refusal()

    def check_unchanged(self) -> None:
        """Do nothing."""


class GatheredMoments(FeatureBlocks):
    """The features of M views by the moments of all side by side; rows are in order of their class.

    Parameters
    ----------
    projectors : sequence of Projector
        M of them.
    widths : sequence of int
        The number of features of each.
    moments : ClassMoments
        Of C classes with Σ widths features.
    rows : UnavailableRows
    """

    def __init__(
        self,
        projectors: Sequence[Projector],
        widths: Sequence[int],
        moments: ClassMoments,
        rows: UnavailableRows,
    ) -> None:
        super().__init__(projectors, rows)
        self.__dict__["widths"] = list(widths)
        self._moments = moments

    def moments(
        self,
        groups: Sequence[Sequence[int]],
        codes: NDArray[np.intp],
        n_classes: int,
        row_weights: Array | None = None,
    ) -> list[ClassMoments]:
        """Return the class moments of each group of views, for classes that join these."""
        if row_weights is not None:
            raise _refusal()
        merged = self._moments.merged(self._by_class(codes), n_classes)
        return [merged.part(self._columns(group)) for group in groups]

    def project_back(self, wanted: Sequence[int], targets: Array) -> list[Array]:
        """Return Φ_mᵀt for targets (N, k) that are the same for all rows of a class."""
        counts = self._moments.counts[:, None]
        sums = self._moments.sums + counts * self._moments.origin
        return [sums[:, self._columns([m])].T @ self._by_class(targets) for m in wanted]

    def keep_small(self, wanted: Sequence[int] | None = None) -> None:
        """Do nothing: there are no features to keep."""

    def _columns(self, group: Sequence[int]) -> NDArray[np.intp]:
        stops = np.cumsum(self.widths)
        return np.concatenate([np.arange(stops[m] - self.widths[m], stops[m]) for m in group])

    def _by_class(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each class (C, ...) for values of rows (N, ...)."""
        counts = self._moments.counts.astype(np.intp)
        found = values[np.cumsum(counts) - counts]
        if not np.array_equal(np.repeat(found, counts, axis=0), values):
            raise _refusal()
        return found


def _refusal() -> IncompatibleError:
    return IncompatibleError(
        "This needs the rows themselves, and partial_fit keeps none: use a combiner and a learner"
        " that need sums over rows only, or fit on all rows."
    )
