"""What the TAB key offers to Typer's scripts, and the names that are kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
import shellingham
from helpers.processes import Run, run_completion
from typer._completion_shared import get_completion_script

from mklkit.cli.app import ASKED
from mklkit.cli.completion import completers, names
from mklkit.datasets import BUILTIN_NAMES, load_table
from mklkit.datasets.files import read_whole
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import get_registry

KNOWN = {
    "kernel": {"rbf": "Gaussian similarity. More.", "linear": "Inner product."},
    "feature_map": {"implicit": "Similarities."},
    "combiner": {"dimkl3": "Overlaps", "ifsl": "Coupled"},
    "learner": {"svm": "Support vectors"},
    "missing": {"impute": "Medians"},
    "task": {"classification": "Classes"},
    "target": {},
    "preset": {"plain": "Even sum"},
    "data": {"breast_cancer": ["mean radius", "target"], "iris": ["petal", "target"]},
    "package": {"mklkit": "", "mklkit-views": ""},
}


@pytest.fixture
def known() -> Iterator[None]:
    with mock.patch.object(names, "known_names", return_value=KNOWN):
        yield


SHELLS = ("bash", "zsh", "fish")


def offered(line: str, cwd: Path | None = None) -> dict[str, str]:
    """Return what fish is offered for a line, with the remarks."""
    lines = run_completion("fish", line, cwd=cwd).out.splitlines()
    return {word: remark for word, _, remark in (each.partition("\t") for each in lines if each)}


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("f", ["fit"]),
        ("--inst", ["--install-completion"]),
        ("fit --plo", ["--plot"]),
        ("fit ir", ["iris"]),
        ("compare iris ir", ["iris"]),
        ("predict model.mkl ir", ["iris"]),
        ("fit -o ", []),
        ("fit --max-memory ", []),
        ("fit -k ", ["rbf", "linear", "auto"]),
        ("fit -k r", ["rbf"]),
        ("fit -k rbf -k fou:l", ["fou:linear"]),
        ("fit -k 'my own:r", ["my own:rbf"]),
        ("fit -c d", ["dimkl3"]),
        ("compare -c ifsl -c d", ["dimkl3"]),
        ("fit -l s", ["svm"]),
        ("fit -m im", ["implicit"]),
        ("fit -p pl", ["plain"]),
        ("compare -l s", ["svm"]),
        ("describe i", ["implicit", "ifsl", "impute"]),
        ("fit --task c", ["classification"]),
        ("fit --tune ", ["fast", "thorough"]),
        ("fit --class-weight b", ["balanced"]),
        ("list c", ["combiners", "commands"]),
        ("fit -t ", ["target"]),
        ("explain model.mkl iris -t p", ["petal"]),
        ("fit -- ir", ["iris"]),
    ],
)
def test_completions(line: str, words: list[str], tmp_path: Path) -> None:
    assert list(offered(line, tmp_path)) == words


@pytest.mark.usefixtures("known")
def test_columns_of_the_table_on_the_line(tmp_path: Path) -> None:
    (tmp_path / "my table.csv").write_text("pulse (rest),fever,age,target\n1,2,3,a\n")
    assert list(offered("fit 'my table.csv' --target ", tmp_path)) == ["fever", "age", "target"]
    assert list(offered("fit my\\ table.csv --weights ", tmp_path)) == ["fever", "age"]
    assert list(offered("fit 'my table.csv' -t fever -k 'a:rbf(sigma=2)@", tmp_path)) == [
        "a:rbf(sigma=2)@age",
        "a:rbf(sigma=2)@target",
    ]
    assert list(offered("fit 'my table.csv' -k 'rbf@fever,", tmp_path)) == ["rbf@fever,age"]


@pytest.mark.usefixtures("known")
def test_files_are_offered_beside_names(tmp_path: Path) -> None:
    (tmp_path / "irregular.csv").touch()
    (tmp_path / "ir$(rm).csv").touch()
    assert list(offered("fit ir", tmp_path)) == ["iris", "irregular.csv"]
    assert list(offered("fit irr", tmp_path)) == []


EVIL = ["$(touch b)", "`touch b`", "\\$(touch b)", "!!", "!a", "a*", "'; touch b; '"]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_that_a_shell_would_run_is_offered(shell: str, tmp_path: Path) -> None:
    pd.DataFrame([range(8)], columns=[*EVIL, "fever"]).to_csv(tmp_path / "a.csv", index=False)
    answer = run_completion(shell, "fit", "a.csv", "-t", "", cwd=tmp_path).out
    assert "fever" in answer
    assert "touch" not in answer
    assert set("`$!*") & set(answer) <= ({"*"} if shell == "zsh" else set())


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_is_answered(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("fever,pulse,target\n1,2,a\n")
    (tmp_path / "mklkit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mklkit "$@"\n')
    (tmp_path / "mklkit").chmod(0o755)
    script = get_completion_script(prog_name="mklkit", complete_var=ASKED, shell="bash")
    asked = 'COMP_WORDS=(mklkit fit a.csv -k "\'rbf@"); COMP_CWORD=4; _mklkit_completion ./mklkit'
    done = subprocess.run(
        ["bash", "--norc", "-c", f'{script}\n{asked}; echo "${{COMPREPLY[@]}}"'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "rbf@fever rbf@pulse\n"


def test_columns_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)))
    (tmp_path / "noise.parquet").write_bytes(bytes(range(256)))
    os.mkfifo(tmp_path / "pipe.csv")
    for name in ("empty.csv", "noise.csv", "noise.parquet", "pipe.csv", "missing.csv"):
        assert completers.columns_of(str(tmp_path / name)) == [], name


def test_columns_are_those_that_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"width": [1.5, 2.5], "née": [3, 4], "kind": ["a", "b"]})
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";", encoding="latin-1")
    frame.to_csv(tmp_path / "b.csv.gz", index=False)
    frame.to_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.csv").write_text("1,2,a\n3,4,b\n")
    arff = "@relation r\n@attribute 'a b' real\n@attribute kind {x,y}\n@data\n1,x\n"
    (tmp_path / "e.arff").write_text(arff)
    with mock.patch.object(names, "known_names", return_value=KNOWN):
        for name in ("a.csv", "b.csv.gz", "d.csv"):
            read = read_whole(tmp_path / name).frame
            assert completers.columns_of(str(tmp_path / name)) == list(read.columns), name
        assert completers.columns_of(str(tmp_path / "c.parquet")) == list(frame.columns)
        assert completers.columns_of(str(tmp_path / "e.arff")) == ["a b", "kind"]
        assert completers.columns_of(str(tmp_path)) == list(frame.columns)
        assert completers.columns_of(str(tmp_path / "?.parquet")) == list(frame.columns)


@pytest.mark.process
def test_names_are_those_of_the_registry_and_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    known = names.known_names()
    for kind in HOOKS:
        assert set(known[kind]) == {entry.name for entry in get_registry().entries(kind)}
    for name in BUILTIN_NAMES:
        table = load_table(name)
        assert set(known["data"][name]) == {*table.features.columns, "target"}
    with mock.patch.object(names, "_find", side_effect=AssertionError):
        assert names.known_names() == known


def test_a_file_of_names_that_is_damaged_or_of_another_state_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with mock.patch.object(names, "_find", return_value=KNOWN) as find:
        names.known_names()
        file = names.names_file()
        whole = file.read_text(encoding="utf-8")
        kept = json.loads(whole)
        changed = {**kept, "names": {**KNOWN, "combiner": ["dimkl3"]}}
        damaged = [json.dumps(changed), json.dumps({**kept, "state": ""}), "{", "[]", "[" * 100_000]
        for place, text in enumerate(damaged, start=2):
            file.write_text(text, encoding="utf-8")
            assert names.known_names() == KNOWN
            assert file.read_text(encoding="utf-8") == whole
            assert find.call_count == place
        # A folder in the place of the file is left alone, and nothing is left beside it.
        file.unlink()
        file.mkdir()
        assert names.known_names() == KNOWN
        assert list(file.parent.iterdir()) == [file]
        monkeypatch.delenv("XDG_CACHE_HOME")
        with mock.patch.object(Path, "home", side_effect=RuntimeError("no home")):
            assert names.known_names() == KNOWN


@pytest.mark.process
def test_the_second_tab_imports_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys; from mklkit.__main__ import main\n"
        "heavy = {'numpy', 'numba', 'scipy', 'sklearn', 'pandas', 'jinja2'}\n"
        "try: main()\n"
        "finally: print(*heavy & set(sys.modules))"
    )
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path),
        "_MKLKIT_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": "mklkit fit a.csv -k 'rbf@",
    }
    (tmp_path / "a.csv").write_text("fever,target\n1,a\n")
    first = run_completion("fish", "fit a.csv -k 'rbf@", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    *answer, imported = done.stdout.split("\n")[:-1]
    assert (answer, imported) == (["rbf@fever"], "")
    assert first.out == "rbf@fever\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_typer_installs_the_script(mklkit: Run, tmp_path: Path, shell: str) -> None:
    with mock.patch.object(shellingham, "detect_shell", return_value=(shell, f"/bin/{shell}")):
        assert mklkit("--install-completion", HOME=str(tmp_path)).code == 0
        shown = mklkit("--show-completion").out
    written = [path for path in tmp_path.rglob("*mklkit*") if path.is_file()]
    assert [path.read_text(encoding="utf-8").strip() for path in written] == [shown.strip()]
    assert f"{ASKED}=complete_{shell}" in shown
