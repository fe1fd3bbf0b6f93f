"""The data sets included in scikit-learn, without download."""

from __future__ import annotations

import pandas as pd

from mklkit.errors import DataError, suggest

__all__ = ["BUILTIN_NAMES", "DEFAULT_NAME", "read_builtin"]

DEFAULT_NAME = "breast_cancer"
BUILTIN_NAMES = ("breast_cancer", "iris", "wine", "digits")


def read_builtin(name: str) -> pd.DataFrame:
    """Read a built-in data set.

    Parameters
    ----------
    name : str
        One of ``BUILTIN_NAMES``.

    Returns
    -------
    pandas.DataFrame
        The features under scikit-learn's names and the column ``target`` with the class names
        (for ``digits`` the digits 0 to 9).

    Raises
    ------
    DataError
        If there is no such data set.

    Examples
    --------
    >>> sorted(set(read_builtin("breast_cancer")["target"]))
    ['benign', 'malignant']
    """
    if name not in BUILTIN_NAMES:
        raise DataError(
            f"No built-in data set is named {name!r}.{suggest(name, BUILTIN_NAMES)}"
            f" Known: {', '.join(BUILTIN_NAMES)}."
        )
    # scikit-learn takes most of a second to import, so it is imported only when needed.
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame: pd.DataFrame = bunch.data
    labels = bunch.target
    if name != "digits":
        labels = labels.map(dict(enumerate(str(word) for word in bunch.target_names)))
    return frame.assign(target=labels)
