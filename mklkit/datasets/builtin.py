"""Data sets without download: those included in scikit-learn, one computed, one generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.errors import DataError, suggest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BUILTIN_NAMES", "DEFAULT_NAME", "ORIGINS", "read_builtin"]

DEFAULT_NAME = "breast_cancer"
BUILTIN_NAMES = ("breast_cancer", "iris", "wine", "digits", "digits_sources", "mixed_sources")
ORIGINS = {
    "digits_sources": "computed from scikit-learn's digits",
    "mixed_sources": "generated",
}


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
        (for ``digits`` the digits 0 to 9). ``digits_sources`` is computed from ``digits``: the 719
        images of 1, 3, 8 and 9 by three sources of columns, ``profile_*``, ``fourier_*`` and
        ``pattern_*``. ``mixed_sources`` is generated: text, numbers and categories.

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
    if name == "mixed_sources":
        from mklkit.datasets.mixed_sources import mixed_sources

        return mixed_sources()
    # scikit-learn takes most of a second to import, so it is imported only when needed.
    from sklearn import datasets

    if name == "digits_sources":
        from mklkit.datasets.digits_sources import digits_sources

        bunch = datasets.load_digits()
        return digits_sources(bunch.images, bunch.target)
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame: pd.DataFrame = bunch.data
    labels = bunch.target
    if name != "digits":
        labels = labels.map(dict(enumerate(str(word) for word in bunch.target_names)))
    return frame.assign(target=labels)
