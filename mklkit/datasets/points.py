"""Points that may stand between thousands, where pandas has taken them for decimal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from mklkit.datasets.delimited import DECIMAL
from mklkit.datasets.numerals import points_may_group

__all__ = ["with_points_as_written"]


def with_points_as_written(
    frame: pd.DataFrame, reread: Callable[[Sequence[str]], pd.DataFrame]
) -> pd.DataFrame:
    """Return a table with numbers such as 1.470 as text, where all in a column are like it.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of a CSV file, as pandas reads it.
    reread : callable
        Takes names of columns and returns the table with these as text.
    """
    names = [str(name) for name in frame.columns if _may_be_grouped(frame[name], frame.attrs)]
    if not names:
        return frame
    written = reread(names)
    grouped = [name for name in names if points_may_group(written[name].dropna().astype("str"))]
    return frame.assign(**{name: written[name] for name in grouped})


def _may_be_grouped(column: pd.Series, attrs: dict[object, object]) -> bool:
    """Tell whether a column's numbers are what 1.470 and 12.345 become; a few may be whole."""
    if column.dtype != np.float64:
        return False
    values = np.abs(column.dropna().to_numpy())
    broken = values[values % 1 != 0]
    if not len(broken):
        # 1.000 and 2.000 are whole, too; only where commas are decimal ones is it worth a look.
        return attrs.get(DECIMAL) == "," and len(values) > 0
    if broken.min() < 1 or broken.max() >= 1000:
        return False
    thousandfold = 1000 * broken
    return bool((np.abs(thousandfold - np.rint(thousandfold)) < 1e-6).all())
