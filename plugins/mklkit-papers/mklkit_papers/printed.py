"""Numbers as the papers print them."""

from __future__ import annotations

import re

import attrs

__all__ = ["Printed", "PrintedTable", "printed"]

NAN = float("nan")
NUMBER = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
CELL = re.compile(
    rf"(?P<value>{NUMBER})(?:\s*±\s*(?P<spread>{NUMBER}))?(?:\s*(?P<test>[pt])=(?P<tested>{NUMBER}))?"
)
MISSING = ""


@attrs.frozen
class Printed:
    """A number of a paper's table.

    Attributes
    ----------
    value : float
    spread : float
        The standard deviation that is printed with it; NaN where there is none.
    p_value : float
        Of the paper's test against its own system; NaN where none is printed.
    t_statistic : float
        The same, where the paper prints the statistic.
    test : str
        The test as it is printed, ``"p = 0.0697"``; empty where there is none.
    """

    value: float
    spread: float = NAN
    p_value: float = NAN
    t_statistic: float = NAN
    test: str = ""


PrintedTable = dict[str, dict[str, Printed]]
"""Printed numbers by row and column of a table."""


def printed(text: str) -> PrintedTable:
    """Read a table: a line of heads, then lines of a name and its cells, all parted by bars.

    Parameters
    ----------
    text : str
        A cell is a number, with its deviation after ``±`` and ``p=`` or ``t=`` of a test where the
        paper has them, or empty where a number is missing. The first head names nothing.

    Returns
    -------
    PrintedTable

    Raises
    ------
    ValueError
        If a cell is no number, a line has more or fewer cells than there are heads, or two rows or
        columns have the same name.

    Examples
    --------
    >>> table = printed('''
    ...     set   | ours        | theirs
    ...     Sonar | 80.7 ± 1.5  | 75.8 t=4.44
    ...     Liver |             | 62.3
    ... ''')
    >>> table["Sonar"]["theirs"].value, table["Sonar"]["ours"].spread, list(table["Liver"])
    (75.8, 1.5, ['theirs'])
    """
    lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    heads, *rows = lines
    for names in (heads[1:], [name for name, *_ in rows]):
        if len(set(names)) < len(names):
            raise ValueError(f"two rows or columns have the same name: {', '.join(names)}")
    return {
        name: {
            head: _printed(cell)
            for head, cell in zip(heads[1:], cells, strict=True)
            if cell != MISSING
        }
        for name, *cells in rows
    }


def _printed(cell: str) -> Printed:
    match = CELL.fullmatch(cell)
    if match is None:
        raise ValueError(f"{cell!r} is not a number as tables print them")
    tested = NAN if match["tested"] is None else float(match["tested"])
    return Printed(
        float(match["value"]),
        NAN if match["spread"] is None else float(match["spread"]),
        p_value=tested if match["test"] == "p" else NAN,
        t_statistic=tested if match["test"] == "t" else NAN,
        test="" if match["test"] is None else f"{match['test']} = {match['tested']}",
    )
