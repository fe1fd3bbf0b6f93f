"""Steps that all estimators share: from checked data to the views of each binary problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Number
from typing import Any, TypeVar, cast

import attrs
import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype, is_object_dtype
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from mklkit.errors import (
    DataError,
    IncompatibleError,
    MKLKitError,
    SpecError,
    counted,
    quoted,
)
from mklkit.estimators.multiclass import BinaryProblem, Strategy
from mklkit.numerics.threads import blas_threads
from mklkit.protocols import (
    Array,
    CombinerFacts,
    FeatureMap,
    FeatureMapFacts,
    LearnerFacts,
    Rows,
    RowSource,
    facts_of,
)
from mklkit.protocols.component import is_whole
from mklkit.registry.columns import resolve_columns
from mklkit.registry.composing import bind_kernels
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.dask.predicting import in_memory
from mklkit.views.dask.recognising import is_dask
from mklkit.views.dask.rows import DaskRows
from mklkit.views.duration import say_if_long
from mklkit.views.engines import engine_of
from mklkit.views.memory import check_gram_fits
from mklkit.views.row_ids import hide_row_ids
from mklkit.views.row_parts import rows_at
from mklkit.views.stored_rows import StoredRows
from mklkit.views.view import ViewSet

__all__ = [
    "ProblemViews",
    "bind_to_columns",
    "check_new_rows",
    "check_training_data",
    "choose_strategy",
    "in_threads",
]

Result = TypeVar("Result")

SMALL_ROWS = 2000
"""Below, a second BLAS thread saves less than a second, and costs several beside a busy process."""
MULTICLASS = ("ovo", "ovr", "native")
BANDWIDTHS = ("per-problem", "all-rows")


def check_training_data(
    estimator: Any, X: Any, y: Any, multiclass: str
) -> tuple[Rows, NDArray[np.intp]]:
    """Return checked rows and class numbers; sets ``classes_`` and scikit-learn's own attributes.

    Rows that are read in parts are checked when they are read.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, one row, continuous targets.
    DataError
        For one class only, rows without a label, NaN, or a frame with columns of text or dates or
        with repeated names.
    """
    if multiclass not in MULTICLASS:
        raise SpecError(
            f"multiclass must be one of {', '.join(map(repr, MULTICLASS))}; got {multiclass!r}."
        )
    y = in_memory(y) if is_dask(y) else y
    _check_no_label_is_missing(y)
    X = _as_source(X)
    if isinstance(X, RowSource):
        y = _check_labels_of_source(estimator, X, y)
    else:
        _check_columns_are_numbers(X)
        with _checking_rows(X):
            X, y = validate_data(
                estimator, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2, order="C"
            )
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise DataError(
            "A classifier needs rows of at least two classes; there is only one class,"
            f" {estimator.classes_.tolist()[0]!r}."
        )
    return X, codes


def _as_source(X: Any) -> Any:
    """Return rows to be read in parts: of a memory map's own file, of Dask; others unchanged."""
    if is_dask(X):
        return DaskRows.of(X)
    stored = StoredRows.of_memmap(X) if isinstance(X, np.memmap) else None
    return X if stored is None else stored


def _check_labels_of_source(estimator: Any, X: RowSource, y: Any) -> NDArray[Any]:
    """Return the labels of rows that are read in parts; sets scikit-learn's own attributes."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if len(labels) != len(X):
        raise DataError(f"There must be one label per row; got {len(labels)} for {len(X)} rows.")
    if len(labels) < 2:
        raise DataError(f"At least 2 rows are needed to learn from; there are {len(labels)}.")
    _remember_columns(estimator, X)
    return labels


def _remember_columns(estimator: Any, X: RowSource) -> None:
    estimator.n_features_in_ = X.shape[1]
    if X.column_names is not None:
        estimator.feature_names_in_ = np.array(X.column_names, dtype=object)


def check_new_rows(estimator: Any, X: Any, first: bool = False) -> Rows:
    """Return checked new rows, with the same columns as the training data.

    ``first``: these are the training data, whose columns are remembered.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, another number of columns.
    DataError
        For NaN, and for a frame in which column names repeat.
    """
    X = _as_source(X)
    if isinstance(X, RowSource):
        if first:
            _remember_columns(estimator, X)
        if X.shape[1] != estimator.n_features_in_:
            raise DataError(
                f"The model was trained on {counted(estimator.n_features_in_, 'column')}; these"
                f" rows have {X.shape[1]}."
            )
        return X
    with _checking_rows(X):
        rows: Array = validate_data(
            estimator, X, dtype=[np.float64, np.float32], reset=first, order="C"
        )
    return rows


@contextmanager
def _checking_rows(X: Any) -> Iterator[None]:
    """Refuse repeated column names, and explain what to do about NaN where it is found."""
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise DataError(
            f"Column names must be unique, and {quoted(str(repeated))} occurs"
            f" {int((X.columns == repeated).sum())} times: rename the columns."
        )
    try:
        # Numbers that overflow float64 are refused, so the cast need not warn.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN"):
            raise
        raise DataError(
            "Input X contains NaN, which kernels can't compare. Fill the gaps first, within the"
            " model: make_pipeline(SimpleImputer(), StandardScaler(), MKLClassifier(…)), with"
            " 'from sklearn.impute import SimpleImputer'; for tables that also have text or dates,"
            " TableEncoder() instead, with 'from mklkit import TableEncoder'."
        ) from None


def _check_columns_are_numbers(X: Any) -> None:
    if not isinstance(X, pd.DataFrame):
        return  # scikit-learn detects text in arrays
    other = [
        X.columns[place]
        for place, kind in enumerate(X.dtypes)
        if not (is_numeric_dtype(kind) or _holds_numbers(X.iloc[:, place]))
    ]
    if other:
        more = f" and {len(other) - 1} more" if len(other) > 1 else ""
        holds = "holds" if len(other) == 1 else "hold"
        raise DataError(
            f"Kernels compare numbers, and column {str(other[0])!r}{more} {holds} text, dates or"
            " categories. Encode them first, within the model: make_pipeline(TableEncoder(),"
            " StandardScaler(), MKLClassifier(…)), with 'from mklkit import TableEncoder'."
        )


def _holds_numbers(column: pd.Series) -> bool:
    return is_object_dtype(column) and all(isinstance(each, Number) for each in column.dropna())


def _check_no_label_is_missing(y: Any) -> None:
    labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return  # scikit-learn detects NaN among numbers
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise DataError(
            f"{len(missing)} of {len(labels)} rows have no class label, the first is row"
            f" {missing[0]} (counted from 0): remove them or give them a label."
        )


def bind_to_columns(kernels: Any, estimator: Any) -> list[BoundKernel]:
    """Return the kernels with their columns as positions in the training data.

    A kernel that names no columns uses all columns except those of row ids: the order of the rows
    may reveal the classes to be learned.

    Raises
    ------
    DataError
        If a kernel's columns do not exist, or only row ids are left for a kernel on features.
    """
    names = getattr(estimator, "feature_names_in_", None)
    names = None if names is None else list(names)
    resolved = []
    for kernel in bind_kernels(kernels):
        try:
            columns = resolve_columns(kernel.columns, estimator.n_features_in_, names)
        except MKLKitError as error:
            raise DataError(f"Kernel {quoted(kernel.label)}: {error}") from None
        resolved.append(BoundKernel(kernel.label, kernel.kernel, columns))
    return hide_row_ids(resolved, estimator.n_features_in_)


def choose_strategy(multiclass: str, combiner: Any, learner: Any) -> Strategy:
    """Return the multiclass strategy.

    Raises
    ------
    IncompatibleError
        If ``"native"`` is required of components that handle only two classes.
    """
    native = [
        facts_of(combiner, CombinerFacts).native_multiclass,
        facts_of(learner, LearnerFacts).native_multiclass,
    ]
    if multiclass == "native" and not all(native):
        part = learner if native[0] else combiner
        raise IncompatibleError(
            f"{part.name} handles two classes only; for more use multiclass='ovo' or 'ovr'."
        )
    return cast(Strategy, multiclass)


class ProblemViews:
    """The views of each binary problem on some training rows.

    A map whose facts state ``shared`` (a random subset) is fitted once on all rows, and each
    problem uses its rows of the features; any other is fitted on each problem's own rows.

    Parameters
    ----------
    kernels : sequence of BoundKernel
    feature_map : FeatureMap
    rows : ndarray of shape (N, d)
    codes : ndarray of shape (N,)
        Class numbers.
    seed : int
        The seed of the shared map.
    bandwidths : {"per-problem", "all-rows"}
        Whether kernels are fitted on each problem's own rows or once on all of them.
    max_memory : int, optional
        Bytes that features and sums over them may take; half of what is free where not given.

    Raises
    ------
    SpecError
        If ``bandwidths`` is neither.
    """

    def __init__(
        self,
        kernels: Sequence[BoundKernel],
        feature_map: FeatureMap,
        rows: Rows,
        codes: NDArray[np.intp],
        seed: int,
        bandwidths: str,
        max_memory: int | None = None,
    ) -> None:
        if bandwidths not in BANDWIDTHS:
            raise SpecError(
                f"bandwidths must be one of {', '.join(map(repr, BANDWIDTHS))};"
                f" got {bandwidths!r:.80}."
            )
        if bandwidths == "all-rows":
            fitted, _ = fit_kernels(kernels, rows)
            pairs = zip(kernels, fitted, strict=True)
            kernels = [attrs.evolve(bound, fitted=one) for bound, one in pairs]
        self.codes = codes
        self.shared: ViewSet | None = None
        self._kernels = kernels
        self._map = feature_map
        self._facts = facts_of(feature_map, FeatureMapFacts)
        if isinstance(rows, RowSource) and not self._facts.shared:
            _refuse_distributed(rows, feature_map)
            check_gram_fits(len(rows), rows.dtype.itemsize)
            rows = rows_at(rows, slice(0, len(rows)))
        self._rows = rows
        self._memory = max_memory
        if self._facts.shared:
            draw = np.random.RandomState(seed)
            self.shared = ViewSet.fit(kernels, feature_map, rows, draw, max_memory)
            # Computed here, before several threads need them at the same time.
            if self.shared.blocks is not None:
                self.shared.blocks.keep_small()

    def say_if_long(self, problems: Sequence[BinaryProblem]) -> None:
        """Report the expected time for the Gram matrices of these problems, if it is long."""
        if not self._facts.explicit:
            pairs = sum(float(len(problem.rows(self.codes))) ** 2 for problem in problems)
            say_if_long(self._kernels, np.asarray(self._rows), pairs)

    def of(
        self, problem: BinaryProblem, random_state: np.random.RandomState
    ) -> tuple[ViewSet, Array]:
        """Return a problem's views and its labels −1 and +1."""
        members = problem.rows(self.codes)
        labels = problem.labels(self.codes[members], self._rows.dtype)
        everyone = len(members) == len(self._rows)
        if self.shared is not None:
            return (self.shared if everyone else self.shared.restricted(members)), labels
        if not self._facts.explicit:
            check_gram_fits(len(members), self._rows.dtype.itemsize)
        rows = self._rows if everyone else self._rows[members]
        return ViewSet.fit(self._kernels, self._map, rows, random_state, self._memory), labels


def _refuse_distributed(rows: RowSource, feature_map: FeatureMap) -> None:
    """Refuse rows on a cluster for a map that needs all of them in one place."""
    if not engine_of(rows).local:
        raise IncompatibleError(
            f"The feature map {feature_map.name!r} with these parameters needs all rows in one"
            " place, and they are on Dask's workers: use feature_map='empirical(subset=1000)',"
            " learner='mhks'."
        )


def in_threads(
    tasks: Sequence[Callable[[], Result]], n_jobs: int | None, n_rows: int
) -> Iterator[Result]:
    """Yield each task's result, in order, from ``n_jobs`` threads.

    One thread per task, BLAS's included, where there are several, or where matrices of ``n_rows``
    rows are too small to split: two thread pools on the same cores slow each other down, and on a
    busy computer two threads of one small product mostly wait for each other.

    Raises
    ------
    SpecError
        If ``n_jobs`` is not a whole number, or zero.
    """
    jobs = min(_effective_jobs(n_jobs), len(tasks))
    with blas_threads(1 if jobs > 1 or n_rows < SMALL_ROWS else None):
        if jobs == 1:
            for task in tasks:
                yield task()
        else:
            # Threads even where joblib's backend is a cluster: tasks share features.
            yield from Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")(
                delayed(task)() for task in tasks
            )


def _effective_jobs(n_jobs: Any) -> int:
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise SpecError(
            "n_jobs must be None or a whole number other than 0 (-1: one per processor);"
            f" got {n_jobs!r:.80}."
        )
    return int(effective_n_jobs(n_jobs))
