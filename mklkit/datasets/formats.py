"""The formats of data files: their extensions, and where their readers and writers are.

A format is a file of its own in this folder and an entry here. Commands, completion, messages and
help texts follow this table, which imports neither pandas nor a reader.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import attrs


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@attrs.frozen
class Format:
    """A format of data files; functions are named as ``module:function`` of this folder.

    Attributes
    ----------
    name : str
    endings : tuple of str
        The extensions of its files, in lower case, given as one text.
    reader : str
        Of a path, returns the contents
        (:class:`mklkit.datasets.file_contents.FileContents`); or, if files can be read
        ``in_parts``, the opened file, which has ``chunks``
        (:class:`mklkit.datasets.csv_file.CSVFile`).
    in_parts : bool
        Whether a file can be read some rows at a time.
    header : str, optional
        Of a path, returns the names of the columns from the beginning of a file, for completion.
    writer : str, optional
        Of a binary file and its name, whose extension may stand for a variant of the format, a
        context that gives a function that writes more rows.
    layers : bool
        Whether a file may hold its numbers in several versions, of which one can be named after
        the path, as in ``cells.h5ad:counts``; the reader gets this name too.

    Examples
    --------
    >>> format_of(Path("rows.PQ")).name, format_of(Path("rows.txt"))
    ('Parquet', None)
    """

    name: str
    endings: tuple[str, ...] = attrs.field(converter=_split)
    reader: str
    in_parts: bool = False
    header: str | None = None
    writer: str | None = None
    layers: bool = False


FORMATS = (
    Format(
        "CSV",
        ".csv .csv.gz .tsv .tsv.gz",
        "csv_file:CSVFile.opened",
        in_parts=True,
        header="dialects:columns_in",
        writer="csv_file:writing",
    ),
    Format(
        "Parquet",
        ".parquet .pq",
        "parquet_file:ParquetFile.opened",
        in_parts=True,
        header="parquet_file:columns_in",
        writer="parquet_file:writing",
    ),
    Format(
        "Feather",
        ".feather .arrow",
        "feather_file:read_feather",
        header="feather_file:columns_in",
        writer="feather_file:writing",
    ),
    Format("ARFF", ".arff", "arff:read_arff", header="arff:columns_in"),
    Format("libsvm", ".libsvm .svmlight .svm .libsvm.gz", "libsvm:read_libsvm"),
    Format("NPZ", ".npz", "npz:read_npz"),
    Format(
        "AnnData",
        ".h5ad",
        "anndata_file:read_anndata",
        header="anndata_file:columns_in",
        layers=True,
    ),
    Format(
        "MuData",
        ".h5mu",
        "anndata_file:read_mudata",
        header="anndata_file:columns_in",
        layers=True,
    ),
)
ENDINGS = tuple(ending for each in FORMATS for ending in each.endings)
WRITABLE = tuple(ending for each in FORMATS if each.writer for ending in each.endings)
IN_PARTS = tuple(each.name for each in FORMATS if each.in_parts)
"""The names of the formats whose files can be read in parts."""


def ending_of(path: Path) -> str | None:
    """Return the known extension of a file's name, or None."""
    name = path.name.lower()
    return next((ending for ending in ENDINGS if name.endswith(ending)), None)


def format_of(path: Path) -> Format | None:
    """Return the format of a file by the extension of its name, None if it is unknown."""
    ending = ending_of(path)
    return next((each for each in FORMATS if ending in each.endings), None)


def path_and_layer(path: Path) -> tuple[Path, str | None]:
    """Return a path without the name of a layer after it, and this name, None without.

    >>> path_and_layer(Path("cells.h5ad:counts"))[1], path_and_layer(Path("cells.csv:counts"))[1]
    ('counts', None)
    """
    name, _, layer = path.name.rpartition(":")
    known = format_of(Path(name)) if name and layer else None
    if known is None or not known.layers:
        return path, None
    return path.with_name(name), layer


def imported(function: str) -> Any:
    """Return a function of this folder by its name, ``module:function``."""
    module, _, names = function.partition(":")
    value: Any = import_module(f"mklkit.datasets.{module}")
    for name in names.split("."):
        value = getattr(value, name)
    return value
