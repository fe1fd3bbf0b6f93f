"""Views: kernels seen through a feature map on the training rows.

A view computes what is asked of it once. Whatever needs a Gram matrix, a tile statistic or an
eigendecomposition asks the view, so that methods, grids and folds can share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.components import declared
from mklkit.errors import DataError, IncompatibleError
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.projectors import Projector
from mklkit.protocols import Array, FeatureMap, FittedKernel
from mklkit.sides import Side, weighted_gram
from mklkit.statistics import Quadrants, SharedStatistics

__all__ = ["BoundKernel", "View", "ViewSet", "WeightedViews"]


@attrs.frozen
class BoundKernel:
    """A kernel with the name that results show and the columns it sees (None: all of them)."""

    label: str
    kernel: Any
    columns: Any = None


class View(Side):
    """One kernel through one feature map on the training rows.

    Attributes
    ----------
    label : str
        The kernel's name in results.
    kernel : FittedKernel
    rows : ndarray of shape (N, d)
        The training rows, the kernel's own columns only.
    """

    def __init__(
        self,
        projector: Projector,
        kernel: FittedKernel,
        rows: Array,
        shared: SharedStatistics,
        index: int,
    ) -> None:
        super().__init__()
        self.label = projector.label
        self.projector = projector
        self.kernel = kernel
        self.rows = rows
        self.n_rows = len(rows)
        self.explicit = projector.map.explicit
        self._shared = shared
        self._index = index
        self._gram: Array | None = None
        self._features: Array | None = None
        self._whole: tuple[View, NDArray[np.intp]] | None = None

    def restricted(self, members: NDArray[np.intp], rows: Array, shared: SharedStatistics) -> View:
        """Return the view of some training rows, their features taken from this one's."""
        part = View(self.projector, self.kernel, rows, shared, self._index)
        part._whole = (self, members)
        return part

    def gram(self, keep: bool = True) -> Array:
        """Return the kernel's Gram matrix (N, N) on the training rows.

        Parameters
        ----------
        keep : bool, default=True
            Whether the view remembers it. Combiners that look at each kernel once pass False, so
            that no more than one matrix is held at a time.
        """
        if self._gram is not None:
            return self._gram
        gram = weighted_gram([self.kernel], [self.rows], np.ones(1))
        if keep:
            self._gram = gram
        return gram

    def features(self) -> Array:
        """Return the features (N, p) of the training rows."""
        if self._features is None and self._whole is not None:
            whole, members = self._whole
            self._features = whole.features()[members]
        if self._features is None:
            ready = getattr(self.projector.map, "training_features", lambda: None)()
            self._features = self.projector.map.transform(self.rows) if ready is None else ready
        return self._features

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features``; on a full empirical map its diagonal alone, in O(p)."""
        if self._normal is None:
            fitted = self.projector.map
            is_whole = self._whole is None and getattr(fitted, "full", False)
            if is_whole and hasattr(fitted, "eigenvalues"):
                sums = self.features().sum(axis=0)
                self._normal = NormalMatrix(fitted.eigenvalues, sums, self.n_rows)
        return super().normal_matrix()

    def quadrants(self, y: Array) -> Quadrants:
        """Return the class blocks' statistics; computed for all kernels together, once."""
        return self._shared.quadrants(y)[self._index]

    def label_alignment(self, y: Array, centered: bool = False) -> float:
        """Return the alignment with the label kernel; computed for all kernels together, once."""
        return self._shared.alignments(y, centered)[self._index]


class ViewSet(Sequence[View]):
    """The views of one problem, on the same training rows.

    Attributes
    ----------
    rows : ndarray of shape (N, d)
        The training rows with all features.
    explicit : bool
        Whether the views have features (else Gram rows).
    """

    def __init__(self, views: Sequence[View], rows: Array, explicit: bool) -> None:
        self._views = list(views)
        self.rows = rows
        self.explicit = explicit

    @classmethod
    def fit(
        cls,
        kernels: Sequence[BoundKernel],
        feature_map: FeatureMap,
        rows: Array,
        random_state: np.random.RandomState,
    ) -> ViewSet:
        """Return the views of training rows (N, d); ``columns`` of the kernels are positions.

        Raises
        ------
        IncompatibleError
            If the map is made for other kernels.
        """
        _refuse_other_kernels(kernels, feature_map)
        cuts: dict[bytes | None, Array] = {}
        own_rows, fitted = [], []
        for bound in kernels:
            key = None if bound.columns is None else bound.columns.tobytes()
            if key not in cuts:
                cuts[key] = (
                    rows if bound.columns is None else np.ascontiguousarray(rows[:, bound.columns])
                )
            own_rows.append(cuts[key])
            fitted.append(_fit_kernel(bound, cuts[key]))
        shared = SharedStatistics(fitted, own_rows)
        views = []
        for index, (bound, kernel, own) in enumerate(zip(kernels, fitted, own_rows, strict=True)):
            fitted_map = feature_map.fit(kernel, own, random_state)
            projector = Projector(bound.label, bound.columns, fitted_map)
            views.append(View(projector, kernel, own, shared, index))
        return cls(views, rows, feature_map.explicit)

    @overload
    def __getitem__(self, index: int) -> View: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[View]: ...
    def __getitem__(self, index: int | slice) -> View | Sequence[View]:
        """Return the view, or views, at a position."""
        return self._views[index]

    def __len__(self) -> int:
        """Return the number of views M."""
        return len(self._views)

    def __iter__(self) -> Iterator[View]:
        """Iterate over the views."""
        return iter(self._views)

    @property
    def labels(self) -> list[str]:
        """The kernels' names in results."""
        return [view.label for view in self._views]

    def restricted(self, members: NDArray[np.intp]) -> ViewSet:
        """Return the views of some of the training rows, on the maps fitted to all of them."""
        cuts: dict[int, Array] = {}
        rows = [cuts.setdefault(id(view.rows), view.rows[members]) for view in self._views]
        shared = SharedStatistics([view.kernel for view in self._views], rows)
        parts = [
            view.restricted(members, own, shared)
            for view, own in zip(self._views, rows, strict=True)
        ]
        return ViewSet(parts, self.rows[members], self.explicit)

    def weighted(self, weights: Array) -> WeightedViews:
        """Return the weighted sum of the kernels as one training side."""
        return WeightedViews(self, weights)


def _refuse_other_kernels(kernels: Sequence[BoundKernel], feature_map: FeatureMap) -> None:
    only = declared(feature_map, "for_kernels")
    others = [bound for bound in kernels if only and bound.kernel.name not in only]
    if others:
        labels = ", ".join(dict.fromkeys(bound.label for bound in others))
        raise IncompatibleError(
            f"The feature map {feature_map.name!r} can't be fitted to {labels}. Kernels that work"
            f" with {feature_map.name}: {', '.join(only)}; or choose another feature map."
        )


def _fit_kernel(bound: BoundKernel, rows: Array) -> FittedKernel:
    """Return the fitted kernel; refuse one whose values no float can hold on these rows."""
    fitted: FittedKernel = bound.kernel.fit(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(fitted.diagonal(rows)).max()
    if not np.isfinite(largest):
        raise DataError(
            f"Kernel {bound.label!r} has values that are no finite numbers on these data"
            f" ({largest}): scale the data, or choose a lower degree."
        )
    return fitted


class WeightedViews(Side):
    """The sum Σ w_m K_m as a training side: one Gram matrix, or scaled features side by side.

    Parameters
    ----------
    views : ViewSet
    weights : ndarray of shape (M,)
        Not negative where the views are explicit.
    """

    def __init__(self, views: ViewSet, weights: Array) -> None:
        super().__init__()
        self.views = views
        self.weights = np.asarray(weights, dtype=np.float64)
        self.explicit = views.explicit
        self.n_rows = len(views.rows)
        self._gram: Array | None = None
        self._features: Array | None = None

    def gram(self, keep: bool = True) -> Array:
        """Return Σ w_m K_m, (N, N): one matrix, summed tile by tile."""
        if self._gram is not None:
            return self._gram
        used = [m for m in range(len(self.views)) if self.weights[m] != 0]
        gram = weighted_gram(
            [self.views[m].kernel for m in used],
            [self.views[m].rows for m in used],
            self.weights[used],
            len(self.views.rows),
        )
        if keep:
            self._gram = gram
        return gram

    def features(self) -> Array:
        """Return the features √w_m Φ_m side by side, (N, Σp)."""
        if self._features is None:
            roots = np.sqrt(self.weights)
            used = [(roots[m], view) for m, view in enumerate(self.views) if roots[m] != 0]
            self._features = np.hstack([root * view.features() for root, view in used])
        return self._features

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features``; where one view carries all weight, its own."""
        used = np.flatnonzero(self.weights)
        if self._normal is None and len(used) == 1:
            own = self.views[int(used[0])].normal_matrix()
            weight = self.weights[used[0]]
            self._normal = NormalMatrix(
                weight * own.products, np.sqrt(weight) * own.sums, own.n_rows
            )
        return super().normal_matrix()
