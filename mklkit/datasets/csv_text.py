"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_text"]

# A single sign, a common name of a class, is no formula.
_FORMULA = re.compile(r"[=+\-@\t\n].", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(inf(inity)?|nan|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.IGNORECASE)


def csv_text(table: pd.DataFrame, header: bool = True) -> str:
    r"""Return a table as CSV, with an apostrophe before text that a spreadsheet would run.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"class": ["=1+1", "-1", "+", "@a"], "score": [-1.0, 2.0, 3.0, 4.0]})
    >>> print(csv_text(table))
    class,score
    '=1+1,-1.0
    -1,2.0
    +,3.0
    '@a,4.0
    <BLANKLINE>
    """
    # By position, as two columns may have one name.
    safe = table.set_axis(range(table.shape[1]), axis=1)
    for place in safe:
        if safe[place].dtype.kind == "O":
            safe[place] = safe[place].map(_cell)
    return safe.to_csv(index=False, header=[_cell(name) for name in table] if header else False)


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Python 3.11 writes a carriage return without quotes, where a row ends for a spreadsheet.
    text = re.sub("\r\n?", "\n", value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
