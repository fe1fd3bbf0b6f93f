"""A kernel given as a matrix that is indexed by row numbers or identifiers."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar
from zipfile import BadZipFile

import attrs
import numpy as np
from attrs.validators import instance_of, optional
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh
from scipy.sparse import issparse

from mklkit.errors import DataError, counted, listed, plain_message, quoted, suggest
from mklkit.numerics.pairwise import upper_blocks
from mklkit.protocols import Array, FixedKernel, KernelTraits
from mklkit.registry.hookspecs import register
from mklkit.registry.readings import is_text_of_row_ids, words_of, words_of_row_ids

NO_MATRICES = ("ids", "labels", "weights", "training_ids", "missing", "training_missing")
"""The arrays in a file of ``mklkit kernels`` that are no matrices."""

CHECKED_ROWS = 5000
"""Rows of a matrix in a file whose eigenvalues are checked, in the cube of their number."""

Words = NDArray[np.str_]


def _loaded(path: str, label: str | None) -> tuple[Array, Words | None]:
    """Return the matrix in a file, and its ids if it has any; a DataError tells why it has none."""
    try:
        status = os.stat(path)
        # The path may come from a model file that is refitted; reading a pipe would block.
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a file")
        return _read(os.path.abspath(path), label, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        reason = "there is no such file"
    except (OSError, ValueError, TypeError, EOFError, BadZipFile) as error:
        reason = plain_message(error).rstrip(".")
        if "allow_pickle" in reason:  # NumPy's advice would execute code in the file.
            reason = "it holds no array of numbers"
    raise DataError(
        f"The matrix of a precomputed kernel, {quoted(path)}: {reason}. It is read from a file"
        " .npy, .npz or .csv (numbers and commas only)."
    )


@lru_cache(maxsize=16)
def _read(path: str, label: str | None, modified: int, size: int) -> tuple[Array, Words | None]:
    """Return the matrix in a file with this time stamp and size, checked, and its ids.

    Specs are parsed several times.
    """
    matrix, ids = _content(path, label, size)
    _check_matrix(matrix)
    _check_definite(matrix)
    return matrix, ids


def _content(path: str, label: str | None, size: int) -> tuple[Array, Words | None]:
    if not size:
        raise ValueError("it is empty")
    if path.endswith(".csv"):
        return np.loadtxt(path, delimiter=",", ndmin=2), None
    content = np.load(path, allow_pickle=False)
    if not isinstance(content, np.lib.npyio.NpzFile):
        return _as_float(content), None
    with content:
        name = _chosen(content.files, label)
        if "training_ids" in content.files:
            raise ValueError(
                "it has similarities of new samples to those of training, and a kernel needs those"
                " of all samples: write them with 'mklkit kernels' for a table of all samples"
            )
        matrix = _as_float(content[name])
        ids = _as_words(content["ids"]) if "ids" in content.files else None
        if ids is None or not {"missing", "labels"} <= {*content.files}:
            return matrix, ids
        present = ~_missing_in(name, content["labels"], content["missing"], len(ids))
    # The similarities of samples that miss the source are zeros, which say nothing.
    return np.ascontiguousarray(matrix[present][:, present]), ids[present]


def _missing_in(name: str, labels: Any, missing: Any, size: int) -> NDArray[np.bool_]:
    """Return which samples have no row in a matrix of several (n,): they miss its source.

    Those that miss all sources have none in the weighted sum.
    """
    if missing.shape != (size, len(labels)) or missing.dtype != bool:
        raise ValueError("its array 'missing' must say of each sample and label if it is missing")
    place = np.flatnonzero(labels == name)
    absent: NDArray[np.bool_] = missing[:, place[0]] if len(place) else missing.all(axis=1)
    return absent


def _chosen(names: Sequence[str], label: str | None) -> str:
    """Return the name of the array in a file that is the matrix."""
    matrices = [name for name in names if name not in NO_MATRICES]
    if label is None and len(matrices) == 1:
        return matrices[0]
    if not matrices:
        raise ValueError("it has no matrix")
    if label is None:
        raise ValueError(
            f"it has {counted(len(matrices), 'array')} ({listed(matrices)}); choose a matrix by its"
            f" label, as in label={matrices[-1]!r}"
        )
    if label not in matrices:
        known = f"it has {listed(matrices)}"
        raise ValueError(f"it has no matrix {quoted(label)}; {known}.{suggest(label, matrices)}")
    return label


def _as_words(ids: Any) -> Any:
    """Return identifiers as text, so that 7 and '7' are the same; a ValueError if some repeat."""
    if ids is None:
        return None
    words = words_of(np.asarray(ids).ravel())
    if any(word is None for word in words):
        raise ValueError("each sample of a precomputed kernel needs an id; some have none")
    text: Words = np.array(words, np.str_)
    values, counts = np.unique(text, return_counts=True)
    if len(values) < len(text):
        twice = quoted(str(values[counts > 1][0]))
        raise ValueError(
            f"each sample of a precomputed kernel needs an id of its own; got {twice} twice"
        )
    return text


def _check_matrix(value: Array) -> None:
    if value.ndim != 2 or value.shape[0] != value.shape[1] or not len(value):
        raise ValueError(
            f"a precomputed kernel is a square matrix, got shape {value.shape}; for separate"
            " matrices of training and new rows use Precomputed(K, new=K_new)"
        )
    if not np.isfinite(value).all():
        raise ValueError("a precomputed kernel must be finite: it holds NaN or infinity")
    limit = 1e-4 * float(np.abs(value).max(initial=0))  # for rounding in any precision
    for block, across in upper_blocks(len(value)):
        if np.abs(value[block, across] - value[across, block].T).max(initial=0) > limit:
            raise ValueError(
                "a precomputed kernel must be symmetric; use (K + K.T) / 2 if it differs only by"
                " rounding"
            )


def _check_definite(value: Array) -> None:
    """Reject a matrix with negative eigenvalues beyond rounding, by evenly spaced rows of many."""
    step = -(-len(value) // CHECKED_ROWS)
    part = np.array(value[::step, ::step], np.float64)
    largest = float(np.abs(part).max(initial=0))
    part[np.diag_indices(len(part))] += largest * max(
        1e-6, len(part) * float(np.finfo(value.dtype).eps)
    )
    try:
        cholesky(part, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        values = eigvalsh(np.array(value[::step, ::step], np.float64))
        raise ValueError(
            f"a kernel is positive semi-definite, and the matrix has eigenvalues from"
            f" {values[0]:.3g} to {values[-1]:.3g}; set the negative ones to 0, or pass the matrix"
            " in Python, Precomputed(K), where kernels may be indefinite"
        ) from None


def _as_float(value: Any) -> Any:
    if value is None:
        return None
    array = value.toarray() if issparse(value) else np.asarray(value)
    if np.iscomplexobj(array):
        raise ValueError(f"a precomputed kernel must hold real numbers; got {array.dtype}")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _shape(value: Any) -> str:
    return "None" if value is None else f"<{' x '.join(map(str, np.shape(value)))}>"


@register
@attrs.frozen(eq=False)
class Precomputed(FixedKernel):
    """Similarities looked up in a matrix; the data are one column of row numbers or identifiers.

    Because rows are named, cross-validation and one-vs-one slice the matrix correctly. If the data
    have other columns too, bind the kernel to the one that identifies samples: ``("graph",
    Precomputed(K), ["id"])``, or ``"graph:precomputed(path='graph.npy')@id"``. Kernels that name no
    columns then use all others.

    Parameters
    ----------
    matrix : array or sparse matrix of shape (T, T), optional
        K over all samples to be used, training and new ones. Finite and symmetric.
    path : str, optional
        A file with the matrix instead: ``.npy``, ``.npz``, such as ``mklkit kernels -o`` writes,
        or ``.csv`` with only numbers. The matrix must be positive semi-definite up to rounding. A
        model file contains it.
    new : array or sparse matrix of shape (n, T), optional
        Similarities of further rows to these, stored separately; their ids are T, T + 1 and so on.
        Similarities of new samples to each other are unknown.
    ids : sequence of shape (T,) or (T + n,), optional
        What identifies the rows of the matrix, and of ``new``: text or numbers. By default that of
        the file, its array ``ids``, else the numbers of rows, from 0.
    label : str, optional
        The name of the matrix in a file ``.npz`` with several, such as the kernel's label.

    Raises
    ------
    DataError
        If the file is missing, or its matrix is not square, finite, real, symmetric and positive
        semi-definite.
    ValueError
        If the matrix has no rows, or is not square, finite, real and symmetric, or ids repeat.

    See Also
    --------
    WrappingKernel : The base of kernels of another kernel.

    Notes
    -----
    Cost: O(nm) to look the values up.

    Source: the user, who supplies the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Precomputed(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> ids = np.array([[1], [0]])
    >>> kernel.fit(ids)(ids, ids[:1])
    array([[1. ],
           [0.5]])

    Rows with identifiers, whose order in the table may be any:

    >>> from mklkit import MKLClassifier
    >>> graph = Precomputed([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]], ids=["ann", "bob", "cleo"])
    >>> model = MKLClassifier(graph, learner="svm(C=1)").fit([["cleo"], ["ann"]], ["no", "yes"])
    >>> model.predict([["bob"]]).tolist()
    ['yes']
    """

    name: ClassVar[str] = "precomputed"
    traits: ClassVar[KernelTraits] = KernelTraits(definite=False, reads="row ids")

    matrix: Array | None = attrs.field(default=None, converter=_as_float, repr=_shape)
    path: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    new: Array | None = attrs.field(default=None, converter=_as_float, repr=_shape)
    ids: Words | None = attrs.field(default=None, converter=_as_words, repr=_shape)
    label: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    _values: Array = attrs.field(init=False, repr=False)
    _words: Words | None = attrs.field(init=False, repr=False)
    """The identifiers in order, None if samples are numbered."""
    _places: NDArray[np.intp] | None = attrs.field(init=False, repr=False)
    """The sample of each of them."""

    def __attrs_post_init__(self) -> None:
        if (self.matrix is None) == (self.path is None):
            raise ValueError(
                "a precomputed kernel needs either its 'matrix', in Python, or the 'path' of a file"
                " with it, as in precomputed(path='graph.npy')"
            )
        if self.label is not None and self.path is None:
            raise ValueError("a 'label' names a matrix in a file: give its 'path' too")
        values, ids = self.matrix, self.ids
        if self.path is not None:
            values, of_file = _loaded(self.path, self.label)
            ids = of_file if ids is None else ids
        elif values is not None:
            _check_matrix(values)
        assert values is not None
        if self.new is not None:
            if self.new.shape[1:] != values.shape[1:] or not np.isfinite(self.new).all():
                raise ValueError(
                    f"'new' must have finite similarities, an array of shape (n, {len(values)});"
                    f" got shape {self.new.shape}"
                )
            values = np.vstack([values, self.new])
        if ids is not None and len(ids) != len(values):
            raise ValueError(
                f"a precomputed kernel of {counted(len(values), 'row')} needs as many ids; got"
                f" {len(ids)}"
            )
        order = None if ids is None else np.argsort(ids, kind="stable")
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_words", None if ids is None else ids[order])
        object.__setattr__(self, "_places", order)

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples with ids ``a`` (n, L) and ``b`` (m, L): (n, m).

        For consecutive rows the result is a view of the matrix, not to be written to.
        """
        ids = self._rows_of(b)
        if ids.max(initial=-1) >= self._values.shape[1]:
            self._refuse_new(self._rows_of(a))
            return self(b, a).T
        rows, columns = _run(self._rows_of(a)), _run(ids)
        if isinstance(rows, slice) and isinstance(columns, slice):
            part = self._values[rows, columns]
            part.flags.writeable = False
            return part
        if isinstance(rows, slice) or isinstance(columns, slice):
            return np.ascontiguousarray(self._values[rows][:, columns])
        return self._values[np.ix_(rows, columns)]

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        ids = self._rows_of(a)
        self._refuse_new(ids)
        return self._values[ids, ids]

    def unknown(self, ids: Any) -> NDArray[np.bool_]:
        """Return which identifiers have no row in the matrix (n,); of numbered samples none."""
        if self._words is None:
            return np.zeros(len(ids), bool)
        return ~np.isin(words_of(ids, "").astype(np.str_), self._words)

    def known_ids(self) -> list[str]:
        """Return the identifiers of the samples, in their order; none if they are numbered."""
        if self._words is None or self._places is None:
            return []
        return [str(word) for word in self._words[np.argsort(self._places)]]

    def _refuse_new(self, ids: NDArray[np.intp]) -> None:
        if ids.max(initial=-1) >= self._values.shape[1]:
            raise DataError(
                "Similarities of new samples to each other are needed, as by cosine, but not in"
                " Precomputed(K, new=K_new): use Precomputed(K) of all samples."
            )

    def _rows_of(self, ids: Array) -> NDArray[np.intp]:
        """Return the rows of the matrix that have these ids (n, L): code points, or numbers."""
        if self._words is None or self._places is None:
            return self._numbered(ids)
        words = words_of_row_ids(ids)
        # A sample without an identifier misses the source, so its similarities are not used.
        words = np.where(words == "", self._words[0], words) if is_text_of_row_ids(ids) else words
        places = np.searchsorted(self._words, words)
        known = places < len(self._words)
        known[known] = self._words[places[known]] == words[known]
        if not known.all():
            unknown = list(dict.fromkeys(words[~known].tolist()))
            which = "" if self.path is None else f" in {quoted(self.path)}"
            lacks = f"the id {quoted(unknown[0])}" if len(unknown) == 1 else f"{len(unknown)} ids"
            more = "" if len(unknown) == 1 else f" ({listed(unknown)})"
            raise DataError(
                f"The matrix of a precomputed kernel{which} has no row with {lacks}{more}: it needs"
                f" one for each sample, training and new ones. Its {len(self._words)} ids:"
                f" {listed(self._words.tolist())}.{suggest(unknown[0], self._words.tolist())}"
            )
        return self._places[places]

    def _numbered(self, rows: Array) -> NDArray[np.intp]:
        size = len(self._values)
        if rows.ndim != 2 or is_text_of_row_ids(rows):
            raise DataError(
                "A precomputed kernel whose matrix has no ids takes one column of row numbers, got"
                f" text (or {rows.shape[1]} columns): pass row numbers to fit and predict, such as"
                " np.arange(len(K))[:, None], bind it to the id column of a table, as in ('graph',"
                " Precomputed(K), ['id']), or name the rows of the matrix, as in Precomputed(K,"
                " ids=names) or by an array 'ids' in a file .npz."
            )
        ids = rows[:, 0].astype(np.intp)
        if (ids != rows[:, 0]).any() or (len(ids) and (ids.min() < 0 or ids.max() >= size)):
            raise DataError(
                f"A precomputed kernel over {size} samples needs whole numbers 0 to {size - 1},"
                f" got values from {rows.min():g} to {rows.max():g}."
            )
        return ids


def _run(ids: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Return consecutive ids as a slice, which needs no copy."""
    if len(ids) and ids[-1] - ids[0] + 1 == len(ids) and (np.diff(ids) == 1).all():
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return ids
