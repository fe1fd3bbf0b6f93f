"""The columns of a table, from the head of its file alone."""

from __future__ import annotations

from glob import glob, has_magic
from pathlib import Path

from mklkit.cli.completion.names import known_names
from mklkit.datasets.dialects import sample_of, sniff
from mklkit.datasets.paths import user_path
from mklkit.errors import MKLKitError

__all__ = ["columns_of"]

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET = (".parquet", ".pq")
ARFF = (".arff",)


def columns_of(data: str) -> list[str]:
    """Return the columns of a built-in data set or a file; none if they can't be read.

    Of a folder or glob these are the columns of the first file.

    Parameters
    ----------
    data : str
        As typed for DATA.
    """
    built_in: list[str] | None = known_names()["data"].get(data)
    if built_in is not None:
        return built_in
    try:
        path = _first_file(user_path(data))
        if path is None:
            return []
        name = path.name.lower()
        if name.endswith(PARQUET):
            return _of_parquet(path)
        return _of_arff(path) if name.endswith(ARFF) else _of_text(path)
    except (MKLKitError, OSError, ValueError):
        return []


def _first_file(path: Path) -> Path | None:
    """Return a regular file; anything else, such as a pipe, might be waited for."""
    if has_magic(str(path)) and not path.exists():
        inside = [Path(name) for name in sorted(glob(str(path)))]
    elif path.is_dir():
        inside = sorted(path.iterdir())
    else:
        inside = [path]
    endings = (*TEXT, *PARQUET, *ARFF)
    known = (file for file in inside if file.name.lower().endswith(endings) and file.is_file())
    return next(known, None)


def _of_text(path: Path) -> list[str]:
    dialect = sniff(sample_of(path), path.name)
    if not dialect.has_header:
        return [f"x{place}" for place in range(len(dialect.header))]
    return list(dict.fromkeys(name for name in dialect.header if name))


def _of_arff(path: Path) -> list[str]:
    from mklkit.datasets.arff import attributes_in

    text = sample_of(path).decode("utf-8-sig", errors="replace")
    return list(attributes_in(text.splitlines()))


def _of_parquet(path: Path) -> list[str]:
    try:
        from pyarrow.parquet import read_schema
    except ImportError:
        return []
    return [str(name) for name in read_schema(path).names]
