"""Training data: built-in data sets and files in common formats.

``load_table`` reads a data set with its target, ``load_features`` reads new rows to predict for.

Examples
--------
>>> from mklkit.datasets import load_table
>>> load_table("breast_cancer").summary()
"breast_cancer: 569 rows, 30 features, 2 classes: benign (357), malignant (212); target 'target'"
"""

from mklkit.datasets.builtin import BUILTIN_NAMES
from mklkit.datasets.loading import load_features, load_table
from mklkit.datasets.stars import make_four_stars
from mklkit.datasets.table import NewRows, Table
from mklkit.views.stored_rows import StoredRows

__all__ = [
    "BUILTIN_NAMES",
    "NewRows",
    "StoredRows",
    "Table",
    "load_features",
    "load_table",
    "make_four_stars",
]
