"""The file of finished runs, from which an interrupted comparison goes on."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

import attrs

from mklkit.comparison.methods import Method
from mklkit.comparison.running import Cell
from mklkit.datasets.paths import refused, status
from mklkit.errors import DataError, quoted
from mklkit.persistence.atomic import check_writable
from mklkit.persistence.facts import json_ready

__all__ = ["Results", "method_key"]

HEAD = '{"mklkit_comparison": 1, '
"""How the first line begins, by which the file of a comparison is known."""
SURE = len('{"mklkit_comparison"')
"""How many of its letters tell a first line that was cut by a kill from another file."""
COMPARED = {
    "data": "the data",
    "splits": "the splits",
    "seed": "the seed",
    "tune": "how methods are tuned",
}
NEW_MODE = 0o666

if sys.platform == "win32":

    def _lock(file: BinaryIO) -> None:
        """Leave the file as it is: Windows has no such locks."""
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        """Lock a file until it is closed; BlockingIOError if another process has it locked."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # some network file systems have no locks
            return


def method_key(method: Method) -> str:
    """Return a digest of what a method's results depend on besides data, splits and seed."""
    text = f"{method.spec}|{method.version}"
    return sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


class Results:
    """Finished cells, in memory and, where a path is given, in a file of JSON lines.

    The first line is the plan. Each later line is a cell, written as soon as it is finished, or the
    methods of a later run that has others. It is read when the block is entered, and locked until
    its end.

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
        On entering the block, if the file is of another plan, is no file of results, is damaged,
        can't be written, or is in use by another comparison.
    """

    def __init__(self, path: Path | None, plan: dict[str, Any], methods: Sequence[Method]) -> None:
        self.path = path
        self._cells: dict[tuple[str, int, str], Cell] = {}
        self._file: BinaryIO | None = None
        self.n_new = 0
        self._plan = json_ready(plan)
        self._methods = [{**method.facts(), "key": method_key(method)} for method in methods]
        self._written_methods: Any = None

    def __enter__(self) -> Self:
        """Open and lock the file, and take the cells that are in it."""
        if self.path is None:
            return self
        self._file = _opened(self.path)
        try:
            self._go_on(self.path, self._file)
        except BaseException:
            self._file.close()
            raise
        return self

    def _go_on(self, path: Path, file: BinaryIO) -> None:
        try:
            content = file.read()
        except OSError as error:
            raise DataError(refused(path, "read", error)) from error
        whole = self._read(path, content)
        try:
            file.truncate(whole)
            file.seek(whole)
        except OSError as error:
            raise DataError(refused(path, "written", error)) from error
        if whole == 0:
            self._write_line(HEAD + self._dumped({**self._plan, "methods": self._methods})[1:])
        elif self._methods != self._written_methods:
            self._write_line(self._dumped({"methods": self._methods}))

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            # What could not be written has been reported by then.
            with suppress(OSError):
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
        self._cells[key] = Cell(**values)
        return self._cells[key]

    def _write_line(self, line: str) -> None:
        if self._file is None or self.path is None:
            return
        try:
            # Half a character of a name that is not UTF-8 is written as JSON escapes it.
            self._file.write(f"{line}\n".encode(errors="backslashreplace"))
            self._file.flush()
        except OSError as error:
            raise DataError(refused(self.path, "written", error)) from error

    @staticmethod
    def _dumped(values: dict[str, Any]) -> str:
        return json.dumps(values, ensure_ascii=False, allow_nan=False)

    def _read(self, path: Path, content: bytes) -> int:
        """Take the whole lines of a file and return how many bytes they have."""
        head = HEAD.encode()
        cut = len(content) >= SURE and head.startswith(content)
        if content and not content.startswith(head) and not cut:
            raise DataError(
                f"{path} is not a file of results of a comparison; choose another name."
            )
        # A line without an end was being written when the run was killed.
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                self._take(number, json.loads(line))
            except DataError:
                raise
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                advice = "delete this line, and its run is done again"
                if number == 1:
                    advice = "it says what the results are of, so choose another file for them"
                raise DataError(f"{path} is damaged in line {number}; {advice}.") from error
        return whole

    def _take(self, number: int, values: dict[str, Any]) -> None:
        parts = ("data", "splits", "methods") if number == 1 else ("methods",)
        if number == 1 or values.keys() == {"methods"}:
            for part in parts:
                _need(isinstance(values[part], list))
                _need(all(isinstance(entry, dict) for entry in values[part]))
            self._written_methods = values["methods"]
        if number == 1:
            self._check_plan(values)
        elif values.keys() != {"methods"}:
            split, key = values.pop("split"), values.pop("key")
            _need(values.keys() == attrs.fields_dict(Cell).keys())
            cell = Cell(**values)
            place = [data["name"] for data in self._plan["data"]].index(cell.data)
            _need(isinstance(split, int) and 0 <= split < self._plan["splits"][place]["number"])
            n_classes = len(self._plan["data"][place]["classes"])
            _need(cell.confusion is None or len(cell.confusion) == n_classes)
            # A run has a score or a reason why it has none.
            _need((cell.reason is None) == (values["accuracy"] is not None))
            self._cells[cell.data, split, str(key)] = cell

    def _check_plan(self, stored: dict[str, Any]) -> None:
        for key, part in COMPARED.items():
            before, now = stored.get(key), self._plan[key]
            if before != now:
                raise DataError(
                    f"{self.path} has the results of another comparison: {part} differ,"
                    f" {quoted(before)} there, {quoted(now)} now. Choose another file for the"
                    " results, or the same plan as before."
                )


def _need(holds: bool) -> None:
    if not holds:
        raise ValueError("a value can't be that of a run")


def _opened(path: Path) -> BinaryIO:
    """Return a file open for reading and writing, new if there was none, and locked."""
    check_writable(path)
    known = status(path)
    if known is not None and not stat.S_ISREG(known.st_mode):
        raise DataError(
            f"{path} is a device or a pipe, from which results can't be read again; the name of a"
            " file is expected."
        )
    try:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(path, flags, NEW_MODE), "r+b")
    except OSError as error:
        raise DataError(refused(path, "written", error)) from error
    try:
        _lock(file)
    except BlockingIOError as error:
        file.close()
        raise DataError(
            f"{path} is being written by another comparison, such as another mklkit compare; wait"
            " until it has ended, or choose another file for the results."
        ) from error
    return file
