"""The file of finished runs, from which an interrupted comparison goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

import attrs

from mklkit.comparison.methods import Method
from mklkit.comparison.running import Cell
from mklkit.datasets.paths import refused
from mklkit.errors import DataError, quoted
from mklkit.persistence.atomic import check_writable
from mklkit.persistence.facts import json_ready

__all__ = ["Results", "method_key"]

HEAD = '{"mklkit_comparison": 1, '
"""How the first line begins, by which the file of a comparison is known."""
COMPARED = {
    "data": "the data",
    "splits": "the splits",
    "seed": "the seed",
    "tune": "how methods are tuned",
}
FLOATS = tuple(field.name for field in attrs.fields(Cell) if field.type in (float, "float"))


def method_key(method: Method) -> str:
    """Return a digest of what a method's results depend on besides data, splits and seed."""
    return sha256(f"{method.spec}|{method.version}".encode()).hexdigest()[:16]


class Results:
    """Finished cells, in memory and, where a path is given, in a file of JSON lines.

    The first line is the plan. Each later line is a cell, written as soon as it is finished, or the
    methods of a later run that has others.

    Parameters
    ----------
    path : Path, optional
    plan : dict
        ``data``, ``splits``, ``seed`` and ``tune``, in which runs of one file must agree; anything
        else in it describes the run.
    methods : sequence of Method

    Attributes
    ----------
    n_new : int
        The number of cells that were added.

    Raises
    ------
    DataError
        If the file is of another plan, is no file of results, is damaged or can't be written.
    """

    def __init__(self, path: Path | None, plan: dict[str, Any], methods: Sequence[Method]) -> None:
        self.path = path
        self._cells: dict[tuple[str, int, str], Cell] = {}
        self._file: BinaryIO | None = None
        self.n_new = 0
        self._plan = json_ready(plan)
        self._methods = [{**one.facts(), "key": method_key(one)} for one in methods]
        if path is not None:
            self._read(path)

    def __enter__(self) -> Self:
        """Open the file for more cells."""
        if self.path is not None:
            try:
                self._file = self.path.open("r+b" if self.path.exists() else "xb")
                self._file.truncate(self._whole)
                self._file.seek(0, 2)
            except OSError as error:
                raise DataError(refused(self.path, "written", error)) from error
            if self._whole == 0:
                self._write_line(HEAD + self._dumped({**self._plan, "methods": self._methods})[1:])
            elif self._methods != self._written_methods:
                self._write_line(self._dumped({"methods": self._methods}))
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def known(self, data: str, place: int, method: Method) -> Cell | None:
        """Return the cell of an earlier run, under the name that the method has now."""
        cell = self._cells.get((data, place, method_key(method)))
        return None if cell is None else attrs.evolve(cell, method=method.name, kind=method.kind)

    def add(self, place: int, method: Method, cell: Cell) -> Cell:
        """Keep a cell, in the file too, and return it as it will be read from there."""
        key = (cell.data, place, method_key(method))
        if key in self._cells:
            return cell
        self.n_new += 1
        values = json_ready(attrs.asdict(cell))
        self._write_line(self._dumped({"split": place, "key": key[2], **values}))
        self._cells[key] = _cell_of(values)
        return self._cells[key]

    def _write_line(self, line: str) -> None:
        if self._file is None or self.path is None:
            return
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
        except OSError as error:
            raise DataError(refused(self.path, "written", error)) from error

    @staticmethod
    def _dumped(values: dict[str, Any]) -> str:
        return json.dumps(values, ensure_ascii=False, allow_nan=False)

    def _read(self, path: Path) -> None:
        check_writable(path)
        self._whole = 0
        self._written_methods: Any = None
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise DataError(refused(path, "read", error)) from error
        if not content:
            return
        head = HEAD.encode()
        if content[: len(head)] != head[: len(content)]:
            raise DataError(
                f"{path} is not a file of results of a comparison; choose another name."
            )
        # A line without an end was being written when the run was killed.
        self._whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[: self._whole].splitlines()):
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(
                    f"{path} is damaged in line {number + 1}; delete this line, and its run is"
                    " done again."
                ) from error

    def _take(self, values: dict[str, Any]) -> None:
        if "methods" in values:
            self._written_methods = values["methods"]
        if "mklkit_comparison" in values:
            self._check_plan(values)
        elif "split" in values:
            place, key = values.pop("split"), values.pop("key")
            self._cells[values["data"], place, key] = _cell_of(values)

    def _check_plan(self, stored: dict[str, Any]) -> None:
        differing = [key for key in COMPARED if stored.get(key) != self._plan[key]]
        if not differing:
            return
        shown = [
            f"{COMPARED[key]} ({_difference(stored.get(key), self._plan[key])})"
            for key in differing
        ]
        raise DataError(
            f"{self.path} has the results of another comparison: {' and '.join(shown)} differ."
            " Choose another file for the results, or the same plan as before."
        )


def _cell_of(values: dict[str, Any]) -> Cell:
    """Return the cell of a line; JSON has no NaN."""
    missing = {name: float("nan") for name in FLOATS if values[name] is None}
    return Cell(**{**values, **missing})


def _difference(before: Any, now: Any) -> str:
    """Return in few words what two parts of plans differ in."""
    if not (isinstance(before, list) and isinstance(now, list)) or len(before) != len(now):
        return f"{quoted(before)} there, {quoted(now)} now"
    for old, new in zip(before, now, strict=True):
        for key in new:
            if old.get(key) != new[key]:
                name = f"{key} of {new['name']}" if key != "name" else key
                return f"{name}: {quoted(old.get(key))} there, {quoted(new[key])} now"
    return "not the same"
