"""A finished run, and the file of runs from which an interrupted comparison resumes."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

import attrs
from attrs import validators

from mklkit.comparison.methods import Method
from mklkit.datasets.paths import refused, status
from mklkit.errors import DataError, quoted
from mklkit.evaluation.one_split import read_responses
from mklkit.persistence.atomic import check_writable
from mklkit.persistence.metadata import json_ready
from mklkit.protocols import Task
from mklkit.registry.tasks import task_named

HEAD = b'{"mklkit_comparison": 1, '
"""The beginning of the first line, which identifies the file of a comparison."""
SURE = len(b'{"mklkit_comparison"')
"""The letters of it that suffice to recognise a first line cut off by a kill."""
COMPARED = {
    "data": "the data",
    "seed": "the seeds",
    "splits": "the splits",
    "tune": "how methods are tuned",
    "task": "the tasks",
    "score": "the scores",
}
LEFT_OUT = "omitted after the first split"
"""The beginning of the reason of a run that was not tried; such a run is not stored."""
NAN = float("nan")
LARGEST = 2**63
"""More than any count; integers in JSON have no bound."""

TEXT = validators.instance_of(str)
NO_BOOLEAN = validators.not_(validators.instance_of(bool))
COUNT: Any = validators.and_(
    validators.instance_of(int), NO_BOOLEAN, validators.ge(0), validators.lt(LARGEST)
)
PARAMS: Any = validators.optional(validators.instance_of(dict))
WEIGHTS: Any = validators.optional(
    validators.deep_mapping(TEXT, validators.instance_of((int, float, type(None))))
)
IS_NUMBER: Any = validators.and_(validators.instance_of((int, float)), NO_BOOLEAN)
SCORES: Any = validators.deep_mapping(TEXT, IS_NUMBER)
LISTS: Any = validators.deep_mapping(TEXT, validators.instance_of(list))
DETAILS: Any = validators.deep_mapping(TEXT, validators.instance_of((dict, list)))


def _number(low: float = -sys.float_info.max, high: float = sys.float_info.max) -> Any:
    """Return a field for a number that may be missing: NaN, or null in JSON."""

    is_number: Any = [
        validators.instance_of((int, float)),
        NO_BOOLEAN,
        validators.not_(validators.lt(low)),
        validators.not_(validators.gt(high)),
    ]
    to_nan = attrs.converters.default_if_none(NAN)
    return attrs.field(default=NAN, converter=to_nan, validator=is_number)


def _known(scores: Any) -> Any:
    """Return scores with NaN for null."""
    if not isinstance(scores, dict):
        return scores
    return {key: NAN if value is None else value for key, value in scores.items()}


@attrs.frozen(kw_only=True)
class Cell:
    """One method on one split of one data set, or the reason why it failed.

    Values are checked, since users edit, join and cut the files that cells are read from. Scores
    are NaN if the method failed or lacks them.

    Attributes
    ----------
    score : float
        The score that ranks and tests methods, larger is better; the plan names it.
    scores : dict of str to float
        The scores of the task by their keys, such as ``accuracy`` or ``log_loss``, in their own
        sign; those that the method lacks are absent.
    complete_score, incomplete_score : float
        The score of the test samples that have all sources, and of those that lack one.
    seconds, predict_seconds : float
        Of the fit, including tuning, and of predicting the test samples, without encoding and
        scaling. Quantities that methods share on the same samples, such as distances, are computed
        once, in the time of the first method.
    refit_seconds : float
        Of the last fit alone, with the parameters that a search chose, if there was one.
    memory : float
        The rise of the process's peak memory during the fit, in bytes; NaN if the system does not
        report it. Memory that is reused does not count.
    params : dict, optional
        The choices of a search.
    weights : dict of str to float, optional
        Per kernel, the mean over binary problems.
    details : dict of str to dict or list
        What the task keeps for a report, see :meth:`mklkit.protocols.Task.details`: of classes,
        ``confusion``, the counts by true and predicted class, in the order of the data's classes,
        and ``calibration``, see :func:`mklkit.evaluation.class_scores.calibration`.
    responses : dict of str to list
        If there is a single split, what the fitted model answers for each test sample, as far as
        the score needs it: ``predict`` (of classes their numbers), ``decision_function`` or
        ``predict_proba``; see :class:`mklkit.evaluation.one_split.OneSplit`.
    """

    data: str = attrs.field(validator=TEXT)
    method: str = attrs.field(validator=TEXT)
    kind: str = attrs.field(validator=TEXT)
    learner: str = attrs.field(default="", validator=TEXT)
    repeat: int = attrs.field(validator=COUNT)
    fold: int = attrs.field(validator=COUNT)
    n_train: int = attrs.field(validator=COUNT)
    n_test: int = attrs.field(validator=COUNT)
    score: float = _number()
    guess: float = _number()
    complete_score: float = _number()
    incomplete_score: float = _number()
    scores: dict[str, float] = attrs.field(factory=dict, converter=_known, validator=SCORES)
    seconds: float = _number(0)
    predict_seconds: float = _number(0)
    refit_seconds: float = _number(0)
    memory: float = _number(0)
    params: dict[str, Any] | None = attrs.field(default=None, validator=PARAMS)
    weights: dict[str, float] | None = attrs.field(default=None, validator=WEIGHTS)
    details: dict[str, Any] = attrs.field(factory=dict, validator=DETAILS)
    responses: dict[str, list[Any]] = attrs.field(factory=dict, validator=LISTS)
    reason: str | None = attrs.field(default=None, validator=validators.optional(TEXT))


def is_left_out(cell: Cell) -> bool:
    """Return whether a run was not tried."""
    return (cell.reason or "").startswith(LEFT_OUT)


def _key(method: Method) -> str:
    """Return a digest of all that a method's results depend on besides data, splits and seed."""
    text = f"{method.spec}|{method.version}"
    return sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


class Results:
    """Finished cells, in memory and, if a path is given, in a file of JSON lines.

    The first line is the plan; runs in one file must agree in its ``COMPARED`` parts. Each later
    line is a cell, written as soon as it is finished, or the methods of a later run with other
    ones. Entering the block reads the file (or raises a DataError) and locks it until the end of
    the block. ``n_new`` counts the cells that were added; ``had_other_methods`` tells whether the
    file held scores before a run with other methods, as the present one or an earlier one.
    """

    def __init__(self, path: Path | None, plan: dict[str, Any], methods: Sequence[Method]) -> None:
        self.path = path
        self.n_new = 0
        self.had_other_methods = False
        self._cells: dict[tuple[str, int, str], Cell] = {}
        self._file: BinaryIO | None = None
        self._plan = json_ready(plan)
        self._methods = [{**method.metadata(), "key": _key(method)} for method in methods]
        self._written_methods: Any = None

    def __enter__(self) -> Self:
        """Open and lock the file, and read its cells."""
        if self.path is None:
            return self
        self._file = _opened(self.path)
        try:
            self._go_on(self.path, self._file)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            # Errors of writing have been reported by then.
            with suppress(OSError):
                self._file.close()

    def known(self, data: str, place: int, method: Method) -> Cell | None:
        """Return the cell of an earlier run, under the current name of the method."""
        cell = self._cells.get((data, place, _key(method)))
        return None if cell is None else attrs.evolve(cell, **method.in_runs())

    def n_known(self, data: str, method: Method, most: int = LARGEST) -> int:
        """Return the number of cells of a method, of the first ``most`` places."""
        wanted = data, _key(method)
        return sum((name, key) == wanted and place < most for name, place, key in self._cells)

    def add(self, place: int, method: Method, cell: Cell) -> Cell:
        """Store a cell, also in the file, and return it as it will be read from there."""
        key = (cell.data, place, _key(method))
        if key in self._cells:
            return cell
        self.n_new += 1
        if is_left_out(cell):
            return cell
        values = json_ready(attrs.asdict(cell))
        self._write({"split": place, "key": key[2], **values})
        self._cells[key] = Cell(**values)
        return self._cells[key]

    def _write(self, values: dict[str, Any]) -> None:
        if self._file is None or self.path is None:
            return
        line = json.dumps(values, ensure_ascii=False, allow_nan=False)
        with _refusing(self.path, "written"):
            # Lone surrogates, of names that are not UTF-8, are written as JSON escapes.
            self._file.write(f"{line}\n".encode(errors="backslashreplace"))
            self._file.flush()

    def _go_on(self, path: Path, file: BinaryIO) -> None:
        """Read the complete lines of a file, and leave it positioned after them."""
        with _refusing(path, "read"):
            file.seek(0)
            content = file.read()
        is_cut = len(content) >= SURE and HEAD.startswith(content)
        if content and not content.startswith(HEAD) and not is_cut:
            raise DataError(
                f"{path} is not a file of results of a comparison; choose another name."
            )
        # A line without an end was interrupted when the run was killed.
        n_bytes = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:n_bytes].splitlines(), start=1):
            try:
                self._take(number, json.loads(line))
            except DataError:
                raise
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                advice = "delete this line to repeat its run"
                if number == 1:
                    advice = "this line identifies the results, so choose another file for them"
                raise DataError(f"{path} is damaged in line {number}; {advice}.") from error
        with _refusing(path, "written"):
            file.truncate(n_bytes)
        if n_bytes == 0:
            self._write({"mklkit_comparison": 1, **self._plan, "methods": self._methods})
        elif self._methods != self._written_methods:
            self.had_other_methods |= bool(self._cells)
            self._write({"methods": self._methods})

    @property
    def _task(self) -> Task:
        return task_named(self._plan["task"])

    def _n_classes(self, place: int) -> int | None:
        """Return the number of classes of a data set, None for other targets."""
        return len(self._plan["data"][place]["classes"]) if self._task.has_classes else None

    def _take(self, number: int, values: dict[str, Any]) -> None:
        """Read a line: the plan, the methods of a later run, or a cell."""
        if number == 1:
            for key, part in COMPARED.items():
                before, now = values[key], self._plan[key]
                if before != now:
                    raise DataError(
                        f"{self.path} has the results of another comparison: {part} differ,"
                        f" {quoted(before)} there, {quoted(now)} now. Choose another file for the"
                        " results, or the same plan as before."
                    )
        if number == 1 or values.keys() == {"methods"}:
            self.had_other_methods |= bool(self._cells)
            self._written_methods = values["methods"]
            if not isinstance(values["methods"], list):
                raise ValueError("methods")
            return
        split, key = values.pop("split"), values.pop("key")
        cell = Cell(**values)
        place = [data["name"] for data in self._plan["data"]].index(cell.data)
        task = self._task
        task.check_details(cell.details, self._plan["data"][place])
        read_responses(cell.responses, cell.n_test, self._n_classes(place))
        measured = {score.key: score for score in task.measured}
        possible = (
            values.keys() == attrs.fields_dict(Cell).keys(),
            isinstance(split, int) and 0 <= split < self._plan["splits"][place]["number"],
            all(key in measured and measured[key].possible(n) for key, n in cell.scores.items()),
            # A run has a score or a reason why there is none.
            (cell.reason is None) == (values["score"] is not None),
            not cell.responses or self._plan["splits"][place]["number"] == 1,
        )
        if not all(possible):
            raise ValueError("a value is impossible for a run")
        self._cells[cell.data, split, str(key)] = cell


@contextmanager
def _refusing(path: Path, done: str) -> Iterator[None]:
    """Turn a system error on reading or writing a file into one that names the file."""
    try:
        yield
    except OSError as error:
        raise DataError(refused(path, done, error)) from error


def _opened(path: Path) -> BinaryIO:
    """Return a file open for reading and for writing at its end, new or not, and locked."""
    check_writable(path)
    known = status(path)
    if known is not None and not stat.S_ISREG(known.st_mode):
        raise DataError(
            f"{path} is a device or a pipe, from which results can't be read again: give the name"
            " of a file."
        )
    with _refusing(path, "written"):
        file = path.open("a+b")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise DataError(
            f"{path} is being written by another comparison, such as another mklkit compare; wait"
            " until it has ended, or choose another file for the results."
        ) from error
    except (ImportError, OSError):  # Windows and some network file systems have no locks
        pass
    return file
