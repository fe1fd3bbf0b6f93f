"""libsvm's (svmlight's) format: one line per row, with the label and the non-zero entries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from mklkit.datasets.file_contents import FileContents
from mklkit.datasets.paths import readable_as
from mklkit.errors import DataError

# Up to this width all columns are kept, so that their positions match the file.
WIDE = 10_000
# Kernels take dense rows, with several copies in memory at a time.
LARGEST_DENSE = 2e9


def read_libsvm(path: Path) -> FileContents:
    """Read a file in libsvm's format as dense columns ``x0``, ``x1``, … and ``target``.

    If there are more than 10,000 columns, those that are zero in all rows are dropped.
    """
    from sklearn.datasets import load_svmlight_file

    with readable_as(path, "libsvm"):
        rows, labels = load_svmlight_file(str(path))
    notes: list[str] = []
    columns = np.arange(min(rows.shape[1], WIDE))
    if rows.shape[1] > WIDE:
        # SciPy's selection of columns takes memory proportional to the width.
        columns, places = np.unique(rows.indices, return_inverse=True)
        if len(columns) < rows.shape[1]:
            notes = [f"{rows.shape[1] - len(columns)} columns without entries dropped"]
        shape = (rows.shape[0], len(columns))
        rows = csr_array((rows.data, places, rows.indptr), shape=shape)
    size = 8.0 * rows.shape[0] * rows.shape[1]
    if size > LARGEST_DENSE:
        raise DataError(
            f"{path.name} has {rows.shape[0]} rows with {rows.shape[1]} columns: mklkit needs them"
            f" dense, which would take {1e-9 * size:.0f} GB of memory. Choose fewer rows or"
            " columns."
        )
    frame = pd.DataFrame(rows.toarray(), columns=[f"x{column}" for column in columns])
    return FileContents(frame.assign(target=labels), notes)
