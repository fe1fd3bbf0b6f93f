"""Gram matrices of kernels and their weighted sum, in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO
from zipfile import ZipFile

import attrs
import numpy as np
from numpy.lib.format import write_array
from numpy.typing import NDArray

from mklkit.errors import DataError, IncompatibleError, quoted
from mklkit.estimators.introspection import classifier_in
from mklkit.evaluation.alignment import FittedBank
from mklkit.protocols import Array, sample_scale
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.memory import refuse_large_gram

COMBINED = "combined"
"""The label of the weighted sum of all kernels."""

RESERVED = ("ids", "training_ids", "labels", "weights", "missing", "training_missing", COMBINED)
"""The arrays beside the matrices of the kernels, whose labels can't be these."""


@attrs.frozen(eq=False)
class KernelMatrices:
    """The matrices of several kernels for some samples, and their weighted sum.

    Attributes
    ----------
    bank : FittedBank
        The kernels.
    weights : ndarray of shape (M,)
    samples : KernelRows
        The identifiers of the samples (n,).
    ids : sequence of str
        What identifies them.
    training : KernelRows, optional
        Those of the columns (N,); by default those of the samples.
    training_ids : sequence of str, optional

    Examples
    --------
    >>> X = np.array([[1.0], [3.0]])
    >>> bank = FittedBank.fitted(["linear", "polynomial(degree=2, coef0=0)"], X)
    >>> matrices = KernelMatrices(bank, np.array([0.5, 0.5]), bank.rows, ["a", "b"])
    >>> {label: matrix.tolist() for label, matrix in matrices.each()}["combined"]
    [[1.0, 6.0], [6.0, 45.0]]
    """

    bank: FittedBank
    weights: Array
    samples: KernelRows
    ids: Sequence[str]
    training: KernelRows | None = None
    training_ids: Sequence[str] | None = None

    def __attrs_post_init__(self) -> None:
        for label in self.bank.labels:
            if label in RESERVED:
                raise DataError(
                    f"A file of matrices has an array {quoted(label)} beside those of the kernels:"
                    f" give kernel {quoted(label)} another label."
                )
        columns = self.samples if self.training is None else self.training
        refuse_large_gram(max(self.samples.n_rows, columns.n_rows), 3 * 8, None, "may be used")

    @property
    def summary(self) -> str:
        """The number and size of the matrices, in words."""
        others = self.samples if self.training is None else self.training
        return f"{len(self.bank.labels) + 1} matrices of {self.samples.n_rows} × {others.n_rows}"

    def each(self) -> Iterator[tuple[str, Array]]:
        """Yield each kernel's label and matrix (n, N), then the weighted sum.

        Similarities of samples that miss a source are zero, and the weighted sum is scaled by the
        sources that a sample has, as in a fit. O(nNd) time for each distinct base quantity, and
        three matrices of memory.
        """
        others = self.samples if self.training is None else self.training
        total = np.zeros((self.samples.n_rows, others.n_rows))
        for index, values in self.samples.similarities(others):
            # Both triangles of a product may differ by rounding.
            matrix = (values + values.T) / 2 if self.training is None else values
            total += self.weights[index] * matrix
            yield self.bank.labels[index], matrix
        for axis, rows in enumerate((self.samples, others)):
            if rows.missing is not None:
                scale = sample_scale(rows.missing, self.weights)
                total *= scale[:, None] if axis == 0 else scale
        yield COMBINED, total

    def write(self, file: BinaryIO) -> None:
        """Write an archive ``.npz`` of plain arrays: a matrix at a time.

        It has an array for each kernel, ``combined``, the ``ids`` of the samples as text, the
        ``labels`` and ``weights`` of the kernels, and, if they are others, the ``training_ids`` of
        the columns. If samples miss a source, ``missing`` (n, M) and ``training_missing`` (N, M)
        say which kernel's, whose similarities are zero.
        """
        with ZipFile(file, "w", allowZip64=True) as archive:

            def add(name: str, array: NDArray[Any]) -> None:
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    write_array(member, np.ascontiguousarray(array), allow_pickle=False)

            add("ids", np.array(self.ids, np.str_))
            if self.training_ids is not None:
                add("training_ids", np.array(self.training_ids, np.str_))
            add("labels", np.array(self.bank.labels, np.str_))
            add("weights", self.weights)
            if self.samples.missing is not None:
                add("missing", self.samples.missing)
            if self.training is not None and self.training.missing is not None:
                add("training_missing", self.training.missing)
            for label, matrix in self.each():
                add(label, matrix)


def check_ids(ids: Sequence[str]) -> None:
    """Raise a ``DataError`` if two samples have the same identifier."""
    label, count = Counter(ids).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"{count} samples have the identifier {quoted(label)}: each has one row in a matrix."
        )


def weights_of_model(model: Any) -> Array:
    """Return the weights (M,) of a fitted model's kernels, the mean over its problems.

    A ``IncompatibleError`` is raised for a model that does not learn from one weighted sum of
    kernels.
    """
    inner = classifier_in(model)
    weights = [decision.weights for decision in inner.fitted_.decisions]
    if not inner.combiner_.gives_weights or any(np.ndim(each) != 1 for each in weights):
        raise IncompatibleError(
            f"The model's combiner ({inner.combiner_.name}) does not learn from a weighted sum of"
            " kernels, so there is no combined matrix: use a model with another combiner."
        )
    return np.asarray(np.mean(weights, axis=0))
