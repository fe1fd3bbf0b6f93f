"""Runs are made once, kept, and left out with a reason."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from mklkit_papers import protocol
from mklkit_papers.entries import find_entries
from mklkit_papers.protocol import DataUse, Division, System
from mklkit_papers.scores import accuracy_lines
from mklkit_papers.session import LeftOut, Session
from small_paper import ENTRIES, EXPERIMENT, MORE, TABLE, USES, Counted, known, table, with_columns

from mklkit.errors import DataError
from mklkit.persistence.metadata import json_ready


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MKLKIT_DATA", raising=False)
    Counted.fits.clear()


def fits(session: Session, *lines: Any) -> int:
    """Run lines and return how many fits that took."""
    before = len(Counted.fits)
    for line in lines:
        list(line(session))
    return len(Counted.fits) - before


def plain(lines: Any) -> list[Any]:
    """Return lines as plain values, in which NaN equals NaN."""
    return [json_ready(line.as_dict()) for line in lines]


FIRST = accuracy_lines(EXPERIMENT, TABLE)
SECOND = accuracy_lines(EXPERIMENT, MORE, extra=["smooth"])


def test_tables_share_runs():
    session = Session(only=["iris"])
    # Two systems of the table can be run, three times.
    assert fits(session, FIRST) == 2 * 3
    assert fits(session, FIRST) == 0
    # Of flat and smooth only the first is new.
    assert fits(session, SECOND) == 3


def test_a_folder_of_results_is_taken_again(tmp_path):
    first = Session(only=["iris"], results=tmp_path)
    lines = plain(FIRST(first))
    assert fits(first, SECOND) == 3
    again = Session(only=["Iris"], results=tmp_path)
    assert fits(again, SECOND, FIRST) == 0
    assert plain(FIRST(again)) == lines
    assert [path.name for path in (tmp_path / "small").iterdir()] == ["iris-3.jsonl"]


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    fit = Counted.fit

    def interrupted(self: Counted, X: Any, y: Any) -> Counted:
        if len(Counted.fits) == 4:
            raise KeyboardInterrupt
        return fit(self, X, y)

    monkeypatch.setattr(Counted, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fits(Session(only=["iris"], results=tmp_path), FIRST)
    monkeypatch.setattr(Counted, "fit", fit)
    assert fits(Session(only=["iris"], results=tmp_path), FIRST) == 2


def test_other_columns_and_repeats_have_files_of_their_own(tmp_path):
    fewer = accuracy_lines(with_columns(2), MORE)
    session = Session(only=["iris"], results=tmp_path)
    assert fits(session, SECOND, fewer) == 2 * 3 + 3
    assert fits(Session(only=["iris"], repeats=2, results=tmp_path), fewer) == 2
    names = sorted(path.name for path in (tmp_path / "small").iterdir())
    assert names == ["iris-2-2.jsonl", "iris-2-3.jsonl", "iris-3.jsonl"]


def test_runs_of_another_version_are_made_again(tmp_path, monkeypatch):
    number = fits(Session(only=["iris"], results=tmp_path), SECOND)
    monkeypatch.setattr(protocol, "__version__", "99.0")
    assert fits(Session(only=["iris"], results=tmp_path), SECOND) == number
    assert fits(Session(only=["iris"], results=tmp_path), SECOND) == 0


def test_a_package_is_part_of_the_version():
    system = System("any", Counted(), package="attrs")
    assert re.fullmatch(r"mklkit [\d.]+, attrs [\d.]+", EXPERIMENT.method(system).version)


def test_results_of_other_data_are_refused(tmp_path):
    frame = Session().data(USES[0]).features
    target = Session().data(USES[0]).target
    frame.assign(target=target).iloc[:-1].to_csv(tmp_path / "iris.csv", index=False)
    results = tmp_path / "results"
    fits(Session(only=["iris"], results=results), FIRST)
    with pytest.raises(DataError, match=r"iris-3\.jsonl has the results of another comparison"):
        fits(Session(tmp_path, only=["iris"], results=results), FIRST)


def test_a_folder_of_results_that_can_not_be_made(tmp_path):
    (tmp_path / "small").touch()
    with pytest.raises(DataError, match=r"small can't be written: (File exists|Not a dir)"):
        fits(Session(only=["iris"], results=tmp_path), FIRST)


def test_a_missing_plugin_is_named():
    (line,) = (
        candidate for candidate in FIRST(Session(only=["iris"])) if candidate.column == "absent"
    )
    assert line.reason == "it needs the package mklkit-absent: pip install ./plugins/mklkit-absent"
    assert line.printed.value == 99
    assert line.holds is None


def test_a_plugin_that_is_not_loaded_leaves_no_failed_runs(tmp_path):
    # The package is installed and registers no component, as where plugins are switched off.
    switched_off = System("off", Counted(), package="attrs")
    experiment = attrs.evolve(EXPERIMENT, systems=lambda _: [switched_off])
    ((cell, *_),) = Session(results=tmp_path).cells(experiment, USES[0], ["off"])
    assert cell.reason == "it needs the package attrs, which is installed but not loaded"
    assert list(tmp_path.iterdir()) == []
    assert Counted.fits == []


def test_missing_data_are_named_with_the_places(tmp_path, monkeypatch):
    (line,) = FIRST(Session(tmp_path, only=["nowhere"]))
    assert line.row == "Nowhere"
    assert line.reason == f"there is no nowhere.csv or nowhere.csv.gz in {tmp_path}"
    monkeypatch.setenv("MKLKIT_DATA", str(tmp_path / "data"))
    (line,) = FIRST(Session(only=["nowhere"]))
    assert line.reason.endswith(f"in {tmp_path / 'data'}")


@pytest.mark.parametrize(
    "content", ["a,target\n", "a,target\n1,x\n2,x\n", "a,target\n1,x\n2,y\n3,y\n", "\x00\xff"]
)
def test_data_that_can_not_be_used_are_left_out(tmp_path, content):
    (tmp_path / "nowhere.csv").write_bytes(content.encode("latin-1"))
    (line,) = FIRST(Session(tmp_path, only=["nowhere"]))
    assert line.reason
    assert "Traceback" not in line.reason


@pytest.mark.parametrize(
    ("settings", "iris", "wine"),
    [
        ({}, 3, 3),
        ({"quick": True}, 2, None),
        ({"repeats": 5}, 5, 5),
        ({"quick": True, "repeats": 5}, 5, None),
    ],
)
def test_quick_and_repeats(settings, iris, wine):
    session = Session(**settings)
    assert session.number(USES[0]) == iris
    if wine is None:
        with pytest.raises(LeftOut, match="not part of quick runs"):
            session.number(USES[1])
    else:
        assert session.number(USES[1]) == wine


def test_progress_counts_the_runs_of_a_set():
    told = []
    fits(Session(only=["iris"], progress=lambda *counts: told.append(counts)), FIRST)
    assert told[0] == (0, 6, "Iris: sharp")
    assert [done for done, *_ in told] == list(range(6))


def test_remarks_on_data_are_of_the_entry_that_runs_them(tmp_path):
    data = Session().data(USES[0])
    frame = data.features.assign(target=data.target)
    frame.iloc[1:].to_csv(tmp_path / "iris.csv", index=False)
    session = Session(tmp_path, repeats=1, only=["iris"])
    remark = "CSV file iris.csv has 149 rows, 4 features, 3 classes instead of 150, 4, 3"
    assert table().run(session).notes == {"Iris": remark}
    assert attrs.evolve(ENTRIES[1], lines=known([])).run(session).notes == {}
    shutil.rmtree(tmp_path)
    # Data are read once.
    assert ENTRIES[1].run(session).notes == {"Iris": remark}


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("train", [0.3, 0.5, 0.7, 0.8])
def test_divisions(train: float, stratified: bool):
    labels = ["a"] * 100 + ["b"] * 50
    division = Division(train, stratified)
    splits = division.splits(labels, 4).splits
    for split in splits:
        assert len(split.train) == 150 * train
        assert sorted([*split.train, *split.test]) == list(range(150))
        if stratified:
            assert sum(row < 100 for row in split.train) == pytest.approx(100 * train)
    fewer = division.splits(labels, 2).splits
    assert [split.test.tolist() for split in fewer] == [split.test.tolist() for split in splits[:2]]
    assert len({tuple(split.test) for split in splits}) == 4


def test_rows_that_can_not_be_divided(tmp_path: Path):
    (tmp_path / "one.csv").write_text("a,target\n1,x\n2,y\n3,y\n4,y\n")
    use = DataUse("One", "one")
    with pytest.raises(LeftOut, match="least populated class"):
        Session(tmp_path).cells(EXPERIMENT, use, ["sharp"])


@pytest.mark.parametrize("counts", [(50, 40), (50, 51, 1), (60,)])
def test_rows_that_do_not_fit_the_counts(counts: tuple[int, ...]) -> None:
    # A class without test rows would be one that no system can miss.
    division = Division((50, 40))
    labels = np.repeat(range(len(counts)), counts)
    shown = ", ".join(map(str, counts))
    with pytest.raises(
        DataError, match=f"its classes have {shown} samples; expected more than 50, 40,"
    ):
        division.splits(labels, 1)


@pytest.mark.parametrize("name", ["wang-2009-fig1", "wang-2013-fig1"])
def test_a_figure_of_rows_that_can_not_be_divided(tmp_path: Path, name: str) -> None:
    rows = "".join(f"{row},R\n" for row in range(9))
    (tmp_path / "sonar.csv").write_text(f"a,target\n9,M\n{rows}")
    (entry,) = find_entries([name])
    (line,) = entry.run(Session(tmp_path, only=["Sonar"])).lines
    assert "least populated class" in line.reason
