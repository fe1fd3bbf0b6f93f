"""Data sets without download: scikit-learn's, computed and generated ones, part of one of UCI's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_NAME = "breast_cancer"
ORIGINS = {
    "digits_sources": "computed from scikit-learn's digits",
    "digits_missing": "digits_sources with missing sources",
    "mixed_sources": "generated",
    "multiple_features": "a part of UCI's Multiple Features by R. Duin, CC BY 4.0",
}
BUILTIN_NAMES = ("breast_cancer", "iris", "wine", "digits", *ORIGINS)


def read_builtin(name: str) -> pd.DataFrame:
    """Read a built-in data set, with the column ``target``.

    Those of scikit-learn keep its names of columns and classes; for the others see
    :mod:`mklkit.datasets.generated`.
    """
    # scikit-learn takes most of a second to import, so it is imported only when needed.
    if name in ORIGINS:
        from mklkit.datasets.generated import TABLES

        return TABLES[name]()
    from sklearn import datasets

    bunch = vars(datasets)[f"load_{name}"](as_frame=True)
    frame: pd.DataFrame = bunch.data
    labels = bunch.target
    if name != "digits":
        labels = labels.map(dict(enumerate(str(word) for word in bunch.target_names)))
    return frame.assign(target=labels)
