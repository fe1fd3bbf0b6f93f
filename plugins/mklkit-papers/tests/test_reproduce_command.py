"""``mklkit reproduce``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import pytest
from helpers.processes import ENVIRONMENT, Outcome, Run, run_in_process, run_mklkit
from mklkit_papers import entries as listing
from small_paper import ENTRIES, Counted

from mklkit.datasets import load_table
from mklkit.errors import DataError, UnknownNameError

TABLE = ("reproduce", "wang-2008-table1", "--set", "Iris", "--repeats", "2")


@pytest.fixture(scope="session")
def mklkit() -> Run:
    """Return what runs a command inside this process."""
    return run_in_process


@pytest.fixture(autouse=True)
def paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have one small paper instead of the five."""
    monkeypatch.delenv("MKLKIT_DATA", raising=False)
    monkeypatch.setattr(listing, "entries", lambda: list(ENTRIES))
    Counted.fits.clear()


def test_the_list(mklkit: Run) -> None:
    done = mklkit("reproduce", "list")
    assert done.code == 0
    assert done.err == ""
    assert [f"wang-2008-table{n}" in done.out for n in (1, 2, 3, 4)] == [True] * 4
    assert "without Water: nobody has it." in done.out
    assert "<1 min" in done.out
    assert done.out.count("Wang, Chen and Sun 2008") == 1
    (metadata,) = mklkit("reproduce", "list", "wang-2008-table1", "--json").json
    assert metadata == ENTRIES[0].metadata()
    shown = mklkit("reproduce", "wang-2008", "list", "--set", "wine of two", "--json")
    shown.refused("no data set 'wine of two'")
    shown = mklkit("reproduce", "wang-2008", "list", "--set", "two of wine", "--json")
    assert [entry["name"] for entry in shown.json] == ["wang-2008-table1", "wang-2008-figure1"]


def test_a_table_on_stdout_and_talk_on_stderr(mklkit: Run) -> None:
    done = mklkit(*TABLE, COLUMNS="80")
    assert done.code == 0, done
    assert re.fullmatch(r"wang-2008-table1: \d+ s\n", done.err)
    assert max(map(len, done.out.splitlines()[:10])) <= 80
    for text in (
        "diff.",
        "corrected",
        "Title of wang-2008-table1",
        "95.00 ± 1.00",
        "test accuracy, %: ",
        "; 2 repeats",
    ):
        assert text in done.out
    assert "Water" not in done.out  # as only one set is asked for
    assert "missed: Iris, smooth: explained after the full run: it is too smooth\n" in done.out
    assert "\x1b" not in done.out + done.err


def test_json(mklkit: Run) -> None:
    answer = mklkit("reproduce", "wang-2008-table1", "wang-2008-table3", "--quick", "--json").json
    assert answer["complete"] is True
    table, weights = answer["reproductions"]
    assert table["quick"] is True
    assert table["left_out"]["Two of Wine"] == "not part of quick runs, because it takes long"
    columns = {line["column"]: line for line in table["lines"]}
    assert columns["absent"]["ours"] is None
    assert columns["sharp"]["repeats"] == 2
    assert [line["row"] for line in weights["lines"]] == ["κ1"] * 2 + ["κ2"] * 2


def test_files(mklkit: Run, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "page.md"
    page.parent.mkdir()
    page.write_text("# Paper\n\n<!-- wang-2008-table1 -->\n<!-- end -->\n", encoding="utf-8")
    latex, plots = tmp_path / "all.tex", tmp_path / "new" / "plots"
    files = ("--latex", latex, "--plots", plots, "--pages", page.parent)
    done = mklkit("reproduce", "wang-2008-table1", "wang-2008-figure1", "--repeats", "1", *files)
    assert done.code == 0, done
    picture = plots / "wang-2008-figure1.png"
    for path in (latex, picture, page):
        assert f"wrote {path}\n" in done.err
    assert f"the pages of {page.parent} have no place for wang-2008-figure1" in done.err
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert latex.read_text(encoding="utf-8").count(r"\begin{table}") == 2
    assert "| Iris | sharp |" in page.read_text(encoding="utf-8")


def test_no_picture_of_a_figure_without_numbers(mklkit: Run, tmp_path: Path) -> None:
    chosen = ("--set", "Nowhere", "--plots", tmp_path)
    done = mklkit("reproduce", "wang-2008-figure1", *chosen)
    assert done.code == 2, done
    assert "not run\nomitted: Nowhere: there is no folder to look for nowhere.csv" in done.out
    assert "error: nothing could be run" in done.err
    assert list(tmp_path.iterdir()) == []
    done = mklkit(*TABLE, "--plots", tmp_path)
    assert f"{tmp_path} stays empty: none of these is a figure of curves\n" in done.err


def interrupted(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    fit = Counted.fit

    def failing(self: Counted, X: Any, y: Any) -> Counted:
        if len(Counted.fits) == at:
            raise KeyboardInterrupt
        return fit(self, X, y)

    monkeypatch.setattr(Counted, "fit", failing)


def test_an_interrupted_run_shows_what_is_done(
    mklkit: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    interrupted(monkeypatch, at=5)
    more = ("--set", "iris", "--repeats", "2", "--json", "--results", tmp_path)
    done = mklkit("reproduce", "wang-2008", *more)
    assert done.code == 130
    assert done.json["complete"] is False
    assert [reproduction["name"] for reproduction in done.json["reproductions"]] == [
        "wang-2008-table1"
    ]
    assert f"interrupted after 1 of 5; the same command resumes from {tmp_path}." in done.err
    monkeypatch.undo()
    monkeypatch.setattr(listing, "entries", lambda: list(ENTRIES))
    again = mklkit("reproduce", "wang-2008", *more)
    assert again.code == 0
    # Two of the first table, twice, and one of the second before the interruption.
    assert "5 runs taken from" in again.err
    interrupted(monkeypatch, at=len(Counted.fits))
    done = mklkit(*TABLE)
    assert (done.code, done.out) == (130, "")
    assert "with --results FOLDER the same command resumes where it stopped" in done.err


def test_an_error_on_the_way_comes_after_what_is_done(mklkit: Run, tmp_path: Path) -> None:
    damaged = tmp_path / "small"
    damaged.mkdir()
    (damaged / "iris-1.jsonl").write_text("something else\n")
    chosen = ("wang-2008-figure1", "wang-2008-table1", "--repeats", "1")
    done = mklkit("reproduce", *chosen, "--set", "Iris", "--results", tmp_path)
    assert done.code == 2
    assert "Title of wang-2008-figure1" in done.out
    assert "iris-1.jsonl is not a file of results" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["wang-2008-tabel1"],
            "no table or figure 'wang-2008-tabel1'. Did you mean 'wang-2008-table1'?",
        ),
        (["wang-2008-*", "nothing"], "no table or figure 'nothing'. 'mklkit reproduce list' shows"),
        ([""], "no table or figure ''"),
        ([], "Missing argument"),
        (["wang-2008-table1", "--set", "Irs"], "no data set 'Irs'. Did you mean 'Iris'?"),
        (["wang-2008-table1", "--set", "zzz"], "Known: Iris, Two of Wine, Nowhere."),
        (["wang-2008-table1", "--set", "iris", "--set", "water"], "no data set 'water'"),
        (["wang-2008", "--repeats", "0"], "Invalid value for '--repeats'"),
        (["wang-2008", "--repeats", "many"], "Invalid value for '--repeats'"),
        (["wang-2008", "--data-dir", "FILE"], "file is not a folder; --data-dir takes one"),
        (["wang-2008", "--data-dir", "nowhere"], "nowhere is not a folder"),
        (["wang-2008", "--data-dir", ""], "not an empty text"),
        (["wang-2008", "--results", "FILE"], "file is a file; expected the name of a folder"),
        (["wang-2008", "--results", "FILE/below"], "below can't be written: Not a directory"),
        (["wang-2008", "--plots", "FILE"], "file is a file; expected the name of a folder"),
        (["wang-2008", "--latex", "."], "is a folder; expected the name of a file to write"),
        (["wang-2008", "--latex", "-"], "can't be written to stdout"),
        (["wang-2008", "--pages", "."], "has no page with a place for a table"),
        (["wang-2008", "--pages", "FILE"], "has no page with a place for a table"),
    ],
    ids=str,
)
def test_mistakes(mklkit: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    file = tmp_path / "file"
    file.touch()
    texts = [argument.replace("FILE", str(file)) for argument in arguments]
    mklkit("reproduce", *texts, cwd=tmp_path).refused(message)
    assert Counted.fits == []


@pytest.mark.parametrize("option", ["--data-dir", "--results", "--pages", "MKLKIT_DATA"])
def test_what_is_read_is_not_replaced_by_tables(mklkit: Run, tmp_path: Path, option: str) -> None:
    read = tmp_path / "small" / "iris-2.jsonl"
    read.parent.mkdir()
    read.write_text("runs")
    (tmp_path / "page.md").write_text("<!-- wang-2008-table1 -->\n<!-- end -->\n")
    options, environment = ((option, tmp_path), {})
    if option == "MKLKIT_DATA":
        options, environment = (), {option: str(tmp_path)}
    mklkit(*TABLE, *options, "--latex", read, **environment).refused("is read by this command")
    assert read.read_text() == "runs"


def test_a_picture_that_needs_a_missing_plugin_is_left_out(
    mklkit: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def draw(_: Any) -> Any:
        raise UnknownNameError("No combiner is named 'absent'.", "absent")

    figure = attrs.evolve(ENTRIES[-1], draw=draw)
    monkeypatch.setattr(listing, "entries", lambda: [figure])
    done = mklkit("reproduce", "wang-2008-figure1", "--set", "Iris", "--plots", tmp_path)
    assert done.code == 0
    assert "wang-2008-figure1.png is not drawn: No combiner is named 'absent'." in done.err
    assert "Title of wang-2008-figure1" in done.out


def test_results_are_shown_where_files_can_not_be_written(
    mklkit: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: Any) -> None:
        raise DataError("tables.tex can't be written: No space left on device.")

    monkeypatch.setattr("mklkit_papers.files.write_text", full)
    done = mklkit(*TABLE, "--latex", tmp_path / "tables.tex", "--json")
    assert done.code == 2
    assert done.json["complete"] is True
    assert "error: tables.tex can't be written" in done.err


def test_a_closed_folder(mklkit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests may run as a user whom no permission stops.
    monkeypatch.setattr(os, "access", lambda *_: False)
    mklkit(*TABLE, "--results", tmp_path).refused("can't be written to; choose another folder")


@pytest.mark.process
def test_a_real_interruption(tmp_path: Path) -> None:
    """Of Price et al. 2022, on rows of iris under the name of sonar."""
    table = load_table("iris")
    frame = table.features.assign(target=table.target)[50:]
    frame.to_csv(tmp_path / "sonar.csv", index=False)
    arguments = ["reproduce", "price-2022-table6", "--set", "sonar", "--data-dir", str(tmp_path)]
    arguments += ["--results", str(tmp_path / "runs")]
    runs = tmp_path / "runs" / "price-2022" / "sonar-100.jsonl"
    outcome = _interrupted(arguments, runs)
    assert outcome.code == 130, outcome
    assert outcome.out == ""
    message = f"interrupted after 0 of 1; the same command resumes from {tmp_path / 'runs'}.\n"
    assert outcome.err == message
    assert all(json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines())
    listed = run_mklkit("reproduce", "list")
    assert listed.code == 0
    assert listed.err == ""


def _interrupted(arguments: list[str], path: Path) -> Outcome:
    """Start a command, and interrupt it once a file has ten lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mklkit", *arguments],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Commands in the background may inherit from a shell that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    end = time.monotonic() + 40
    while time.monotonic() < end and (not path.exists() or path.read_bytes().count(b"\n") < 10):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return Outcome(process.returncode, out, err)


@pytest.mark.process
def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from mklkit.cli.app import main\n"
        "try: main()\n"
        "finally: print('LOADED', *{'numpy', 'numba', 'scipy', 'sklearn', 'pandas'} &"
        " set(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "reproduce", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "mklkit reproduce list price-2022" in done.stdout
    assert done.stderr.splitlines()[-1] == "LOADED"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("x --data-dir ", []),
        ("wang-2008-table1 wang-2008-f", ["wang-2008-figure1"]),
        ("a", ["all"]),
        ("all --set 'Two", ["Two of Wine"]),
    ],
)
def test_completions(mklkit: Run, tmp_path: Path, line: str, offered: list[str]) -> None:
    environment = {
        "XDG_CACHE_HOME": str(tmp_path),
        "_MKLKIT_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": f"mklkit reproduce {line}",
    }
    words = mklkit(**environment).out.splitlines()
    assert [word.partition("\t")[0] for word in words if word] == offered
