"""ARFF, Weka's format: a header of typed attributes over comma-separated rows.

SciPy's reader does not support text attributes and treats quoted and unquoted values as different,
both common in published files; so the header is read here and the rows by pandas.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from mklkit.datasets.dialects import sample_of
from mklkit.datasets.file_contents import FileContents
from mklkit.datasets.paths import readable_as

ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(\{|\w+)""", re.IGNORECASE
)
NUMERIC = ("numeric", "real", "integer")


def read_arff(path: Path) -> FileContents:
    """Read a dense ARFF file: numbers, nominal attributes as categories, all others as text."""
    with readable_as(path, "ARFF"):
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        lines = [line for line in lines if line.strip() and not line.lstrip().startswith("%")]
        start = next((n for n, line in enumerate(lines) if _starts(line, "@data")), None)
        if start is None:
            raise ValueError("it has no @data line")
        return FileContents(_rows(lines[start + 1 :], attributes_in(lines[:start])))


def attributes_in(header: Iterable[str]) -> dict[str, str]:
    """Return the attributes by name, each with its type; ``{`` begins the values of a nominal."""
    kinds: dict[str, str] = {}
    for line in header:
        if not _starts(line, "@attribute"):
            continue
        match = ATTRIBUTE.match(line.strip())
        if match is None:
            raise ValueError(f"{line.strip()!r} names no attribute")
        title = match.group(1)
        if title[0] in "'\"":
            title = re.sub(r"\\(.)", r"\1", title[1:-1])
        if title in kinds:
            raise ValueError(f"two attributes are named {title!r}")
        kinds[title] = match.group(2).lower()
    if not kinds:
        raise ValueError("it has no @attribute lines")
    return kinds


def columns_in(path: Path) -> list[str]:
    """Return the names of the attributes from the beginning of a file."""
    text = sample_of(path).decode("utf-8-sig", errors="replace")
    return list(attributes_in(text.splitlines()))


def _rows(rows: list[str], kinds: dict[str, str]) -> pd.DataFrame:
    if not rows:
        return pd.DataFrame(columns=list(kinds))
    if rows[0].lstrip().startswith("{"):
        raise ValueError("its rows are sparse; save it as dense ARFF, or as libsvm")
    text = "\n".join(rows)
    with warnings.catch_warnings():
        # pandas cuts rows that are too long with only a warning.
        warnings.filterwarnings("error", category=pd.errors.ParserWarning)
        frame = pd.read_csv(
            io.StringIO(text),
            header=None,
            names=list(kinds),
            index_col=False,
            dtype=str,
            quotechar="'" if re.search(r"(^|,)\s*'", text, re.MULTILINE) else '"',
            escapechar="\\",
            skipinitialspace=True,
            na_values=["?"],
            keep_default_na=False,
        )
    short = (frame == "").to_numpy().any(axis=1)
    if short.any():
        raise ValueError(
            f"data row {int(short.argmax()) + 1} has fewer values than the {len(kinds)} attributes"
            " that are declared, or an empty one; a gap is written ?"
        )
    for name, kind in kinds.items():
        column = frame[name].str.strip()
        if kind in NUMERIC:
            # Some programs write gaps as NaN.
            frame[name] = pd.to_numeric(column.mask(column.str.lower() == "nan"))
        else:
            # Nominal values are categories even if they look like numbers.
            frame[name] = column.astype("category") if kind == "{" else column
    return frame


def _starts(line: str, keyword: str) -> bool:
    return line.lstrip().lower().startswith(keyword)
