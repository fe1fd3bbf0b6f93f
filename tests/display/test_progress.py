"""Progress: a bar in a notebook by itself, and nothing in scripts and pipes."""

from __future__ import annotations

import builtins
import io
import itertools
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from mklkit import DataError, MKLClassifier, MKLSearchCV, SpecError, compare
from mklkit.display import progress
from mklkit.display.progress import reported, reporting_to, terminal_bar
from mklkit.evaluation import cross_validate


class ZMQInteractiveShell:
    """A notebook's shell by its name, by which it is recognised; each has cells of its own."""

    cells = itertools.count()

    def __init__(self) -> None:
        self.run_cell()

    def run_cell(self) -> None:
        self.execution_count = next(self.cells)


class Handle:
    def __init__(self, pictures: list[str]) -> None:
        self.pictures = pictures

    def update(self, content: dict[str, str], raw: bool) -> None:
        assert raw
        self.pictures.append(content["text/plain"])


class Notebook:
    """Displays of a notebook: the texts that each of them showed, one after another."""

    def __init__(self) -> None:
        self.displays: list[list[str]] = []
        self.shell = ZMQInteractiveShell()

    def display(self, content: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        assert "<progress" in content["text/html"]
        self.displays.append([content["text/plain"]])
        return Handle(self.displays[-1])


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    """Return a notebook in which a second passes between any two looks at the clock."""
    notebook, clock = Notebook(), itertools.count()
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: notebook.shell  # type: ignore[attr-defined]
    display.display = notebook.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(builtins, "get_ipython", ipython.get_ipython, raising=False)
    monkeypatch.setattr(progress, "monotonic", lambda: float(next(clock)))
    return notebook


def counted(number: int, given: Any = None, **more: Any) -> None:
    with reported(given, "counting", **more) as tell:
        for done in range(number + 1):
            tell(done, number, f"part {done}")


def test_a_notebook_has_a_bar_that_goes_away(notebook: Notebook) -> None:
    counted(2)
    (pictures,) = notebook.displays
    assert pictures[0].startswith("counting: 0 of 2, part 0, 0:0")
    assert pictures[2].startswith("counting: 2 of 2, part 2, 0:0")
    assert pictures[3:] == [""]


def test_a_cell_has_one_bar_however_much_it_does(notebook: Notebook) -> None:
    for _ in range(3):
        counted(1)
    assert len(notebook.displays) == 1
    notebook.shell.run_cell()
    counted(1)
    assert len(notebook.displays) == 2


def test_work_inside_other_work_has_no_bar(notebook: Notebook) -> None:
    with reported(False, "all") as tell:
        counted(1)
        counted(1, True)
        tell(1, 1)
    assert notebook.displays == []
    counted(1)
    assert len(notebook.displays) == 1


def test_quick_work_leaves_nothing(notebook: Notebook) -> None:
    counted(5, after=60.0)
    assert notebook.displays == []


def test_the_bar_goes_away_when_work_fails(notebook: Notebook) -> None:
    def failing() -> None:
        with reported(None, "failing") as tell:
            tell(0, 2)
            raise DataError("no")

    with pytest.raises(DataError):
        failing()
    assert notebook.displays[0][-1] == ""
    counted(1)
    assert notebook.displays[0][-2].startswith("counting: 1 of 1")


@pytest.mark.parametrize("given", [None, True, False])
def test_scripts_and_pipes_are_quiet(given: Any, capsys: pytest.CaptureFixture[str]) -> None:
    counted(2, given)
    said = capsys.readouterr()
    assert said.out + said.err == ""


def test_a_terminal_has_a_bar_where_it_is_asked_for() -> None:
    file = io.StringIO()
    with terminal_bar("counting", Console(file=file, force_terminal=True, width=100)) as tell:
        tell(3, 7, "part 3")
    assert "part 3" in file.getvalue()
    assert "3/7" in file.getvalue()


def test_it_is_none_true_false_or_a_function() -> None:
    X, y = np.eye(8), np.arange(8) % 2
    for work in (
        lambda: MKLSearchCV(MKLClassifier(), progress="yes").fit(X, y),  # type: ignore[arg-type]
        lambda: cross_validate(MKLClassifier(), X, y, progress="yes"),  # type: ignore[arg-type]
        lambda: compare(X, y, progress="yes"),  # type: ignore[arg-type]
    ):
        with pytest.raises(SpecError, match=r"progress .* 'yes'"):
            work()


def test_long_work_of_the_library_has_a_bar(notebook: Notebook) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    MKLClassifier("linear").fit(X, y)
    assert [display.partition(",")[0] for display in notebook.displays[0]] == [
        "fitting: 1 of 3", "fitting: 2 of 3", "fitting: 3 of 3", ""
    ]  # fmt: skip
    notebook.shell.run_cell()
    MKLSearchCV(MKLClassifier("linear"), {"learner__C": [1.0]}, cv=2, n_jobs=2).fit(X, y)
    pictures = notebook.displays[1]
    assert {picture.partition(":")[0] for picture in pictures} == {"searching", ""}
    assert sum(picture.startswith("searching: 6 of 6") for picture in pictures) == 1


def test_a_search_reports_to_its_surroundings_and_stores_nothing() -> None:
    calls: list[tuple[int, int]] = []
    features = np.random.default_rng(0).normal(size=(30, 3))
    search = MKLSearchCV(MKLClassifier("linear"), {"learner__C": [1.0, 2.0]}, cv=2)
    with pytest.raises(ValueError, match="0 sample"), reporting_to(lambda *_: calls.append((0, 0))):
        search.fit(features[:0], [])
    assert calls == []
    with reporting_to(lambda done, total, *_: calls.append((done, total))):
        search.fit(features, features[:, 0] > 0)
    assert calls[-1][0] == calls[-1][1] > 1
    n_calls = len(calls)
    search.fit(features, features[:, 0] > 0)
    assert len(calls) == n_calls
    assert search.progress is None


def test_only_the_outermost_work_reports_to_its_surroundings() -> None:
    calls: list[str] = []
    with reporting_to(lambda *_: calls.append("outside")), reported(None, "work") as outer:
        outer(1, 2)
        with reported(None, "part") as inner:
            inner(1, 2)
    assert calls == ["outside"]
