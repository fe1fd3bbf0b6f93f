"""Data sets without download: scikit-learn's, one computed, one generated, a part of one of UCI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.errors import DataError, suggest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BUILTIN_NAMES", "DEFAULT_NAME", "ORIGINS", "read_builtin"]

DEFAULT_NAME = "breast_cancer"
BUILTIN_NAMES = (
    "breast_cancer",
    "iris",
    "wine",
    "digits",
    "digits_sources",
    "mixed_sources",
    "multiple_features",
)
ORIGINS = {
    "digits_sources": "computed from scikit-learn's digits",
    "mixed_sources": "generated",
    "multiple_features": "a part of UCI's Multiple Features by R. Duin, CC BY 4.0",
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
        ``multiple_features`` is a part of UCI's: 500 handwritten digits by three sources of
        columns, ``fourier_*``, ``pixel_*`` and ``zernike_*``.

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
    if name == "multiple_features":
        from mklkit.datasets.multiple_features import multiple_features

        return multiple_features()
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
