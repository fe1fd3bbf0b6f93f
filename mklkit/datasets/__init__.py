"""Training data: built-in data sets and files in common formats.

``load_table`` reads a data set with its target, ``load_study`` one that has a file for each source,
and ``load_features`` new rows to predict for.

Examples
--------
>>> from mklkit.datasets import load_table
>>> load_table("breast_cancer").summary()
"breast_cancer: 569 samples, 30 features, 2 classes: benign (357), malignant (212); target 'target'"
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit.datasets.builtin import BUILTIN_NAMES
    from mklkit.datasets.covariates import CovariateRemoval
    from mklkit.datasets.new_rows import NewRows, load_features
    from mklkit.datasets.study_files import StudyFiles
    from mklkit.datasets.table import Table, load_study, load_table
    from mklkit.views.stored_rows import StoredRows

# Imported when first used: the command line knows formats and names without pandas.
_HOME = {
    "datasets.builtin": "BUILTIN_NAMES",
    "datasets.covariates": "CovariateRemoval",
    "datasets.new_rows": "NewRows load_features",
    "datasets.study_files": "StudyFiles",
    "datasets.table": "Table load_study load_table",
    "views.stored_rows": "StoredRows",
}

__all__ = [
    "BUILTIN_NAMES",
    "CovariateRemoval",
    "NewRows",
    "StoredRows",
    "StudyFiles",
    "Table",
    "load_features",
    "load_study",
    "load_table",
]


def __getattr__(name: str) -> Any:
    """Import a name of the package when it is first used."""
    for module, names in _HOME.items():
        if name in names.split():
            value = globals()[name] = getattr(import_module(f"mklkit.{module}"), name)
            return value
    raise AttributeError(f"module 'mklkit.datasets' has no attribute {name!r}")
