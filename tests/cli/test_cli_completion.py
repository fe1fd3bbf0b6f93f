"""What the TAB key offers, what the shells' scripts make of it, and how they are installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
import shellingham
from processes import Run

from mklkit.cli.completion import columns, names
from mklkit.cli.completion.install import SHELLS
from mklkit.cli.completion.words import read_line
from mklkit.datasets import BUILTIN_NAMES, load_table
from mklkit.datasets.csv_file import read_csv
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import get_registry

SCRIPTS = files("mklkit.cli.completion") / "scripts"
KNOWN = {
    "kernel": {"rbf": "Gaussian similarity. More.", "linear": "Inner product."},
    "feature_map": {"implicit": "Similarities."},
    "combiner": {"dimkl3": "Overlaps", "ifsl": "Coupled"},
    "learner": {"svm": "Support vectors"},
    "preset": {"plain": "Even sum"},
    "data": {"breast_cancer": ["mean radius", "target"], "iris": ["petal", "target"]},
    "package": {"mklkit": "", "mklkit-views": ""},
}
Ask = Callable[..., dict[str, str]]


@pytest.fixture
def ask(mklkit: Run, tmp_path: Path) -> Iterator[Ask]:
    """Return what asks for the completions of a line, by word, with their remarks."""

    def asked(line: str, adds: str = "nothing", shell: str = "fish") -> dict[str, str]:
        asking = {"_MKLKIT_COMPLETE": shell, "_MKLKIT_LINE": f"mklkit {line}"}
        done = mklkit(cwd=tmp_path, **asking)
        assert (done.code, done.err) == (0, "")
        first, *found = done.out.splitlines()
        assert first == adds
        return dict(one.split("\t") for one in found) if shell != "bash" else dict.fromkeys(found)

    with (
        mock.patch.object(names, "known_names", return_value=KNOWN),
        mock.patch.object(columns, "known_names", return_value=KNOWN),
    ):
        yield asked


@pytest.mark.parametrize(
    ("line", "adds", "found"),
    [
        ("f", "nothing", ["fit"]),
        ("plugin ", "nothing", ["new", "check"]),
        ("frobnicate ", "nothing", []),
        ("--inst", "nothing", ["--install-completion"]),
        ("fit --plo", "nothing", ["--plot"]),
        ("fit iris --json --js", "nothing", []),
        ("fit ir", "files", ["iris"]),
        ("compare iris ir", "files", ["iris"]),
        ("predict model.mkl ir", "files", ["iris"]),
        ("fit -o ", "files", []),
        ("fit --output=", "files", []),
        ("plugin new x --into ", "folders", []),
        ("fit --max-memory ", "nothing", []),
        ("fit -k ", "nothing", ["rbf", "linear", "auto"]),
        ("fit -k r", "nothing", ["rbf"]),
        ("fit -kr", "nothing", ["-krbf"]),
        ("fit --kernel=r", "nothing", ["--kernel=rbf"]),
        ("fit -k rbf -k fou:l", "nothing", ["fou:linear"]),
        ("fit -k 'my own:r", "nothing", ["my own:rbf"]),
        ("fit -c d", "nothing", ["dimkl3"]),
        ("compare -c ifsl -c d", "nothing", ["dimkl3"]),
        ("fit -l s", "nothing", ["svm"]),
        ("fit -m im", "nothing", ["implicit"]),
        ("fit -p pl", "nothing", ["plain"]),
        ("compare -l s", "nothing", ["svm"]),
        ("describe i", "nothing", ["implicit", "ifsl"]),
        ("fit --task c", "nothing", ["classification"]),
        ("fit --scale=min", "nothing", ["--scale=minmax"]),
        ("fit --tune ", "nothing", ["fast", "thorough"]),
        ("fit --class-weight b", "nothing", ["balanced"]),
        ("list c", "nothing", ["combiners", "commands"]),
        ("plugin check mklkit-", "nothing", ["mklkit-views"]),
        ("fit -t ", "nothing", ["mean radius", "target"]),
        ("explain model.mkl iris -t p", "nothing", ["petal"]),
        ("fit -- ir", "files", ["iris"]),
    ],
)
def test_completions(ask: Ask, line: str, adds: str, found: list[str]) -> None:
    assert list(ask(line, adds)) == found


def test_options_are_offered_once_nothing_else_is_missing(ask: Ask) -> None:
    offered = ask("fit iris --seed 3 -k rbf ")
    assert {"--kernel", "--combiner", "--json", "--help"} <= set(offered)
    assert "--seed" not in offered
    assert offered["--scale"] == "How features are scaled"


def test_remarks_are_the_first_sentences_of_summaries(ask: Ask) -> None:
    assert ask("fit -k r") == {"rbf": "Gaussian similarity"}


def test_columns_of_the_table_on_the_line(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "my table.csv").write_text("pulse (rest),fever,target\n1,2,a\n", encoding="utf-8")
    assert list(ask("fit 'my table.csv' --target ")) == ["pulse (rest)", "fever", "target"]
    assert list(ask("fit my\\ table.csv --weights ")) == ["pulse (rest)", "fever"]
    assert list(ask("fit 'my table.csv' -t fever -k \"a:rbf(sigma='mean')@")) == [
        "a:rbf(sigma='mean')@pulse (rest)",
        "a:rbf(sigma='mean')@target",
    ]
    assert list(ask("fit 'my table.csv' -k 'rbf@fever,")) == ["rbf@fever,pulse (rest)"]
    assert ask("fit 'my table.csv' --drop pu", shell="bash") == {"lse\\ \\(rest\\)": None}
    assert ask("fit 'my table.csv' --drop \"pu", shell="bash") == {"lse (rest)": None}


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_follows_what_a_shell_would_run(ask: Ask, tmp_path: Path, shell: str) -> None:
    (tmp_path / "a.csv").write_text("$(touch b),`touch b`,\\$(touch b),!!,!a\n1,2,3,4,5\n")
    for typed in ('"$', '"`', '"\\', "$", "`", '"$"(', "'$'$"):
        assert ask(f"fit a.csv -t {typed}", shell=shell) == {}, typed
    for typed in ("'$", '"\\$', "\\$", '"\\`', "'`"):
        assert len(ask(f"fit a.csv -t {typed}", shell=shell)) == 1, typed
    for typed in ("!", '"!'):
        assert len(ask(f"fit a.csv -t {typed}", shell=shell)) == (2 if shell == "fish" else 0)
    assert len(ask('fit a.csv -t "', shell=shell)) == (3 if shell == "bash" else 5)
    assert len(ask("fit a.csv -t '!", shell=shell)) == 2


def test_columns_that_cannot_be_read_are_none(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)))
    (tmp_path / "noise.parquet").write_bytes(bytes(range(256)))
    os.mkfifo(tmp_path / "pipe.csv")
    for name in ("empty.csv", "noise.csv", "noise.parquet", "pipe.csv", "missing.csv", "~no/a.csv"):
        assert ask(f"fit {name} --target ") == {}, name


def test_columns_are_those_that_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"width": [1.5, 2.5], "née": [3, 4], "kind": ["a", "b"]})
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";", encoding="latin-1")
    frame.to_csv(tmp_path / "b.csv.gz", index=False)
    frame.to_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.csv").write_text("1,2,a\n3,4,b\n")
    arff = "@relation r\n@attribute 'a b' real\n@attribute kind {x,y}\n@data\n1,x\n"
    (tmp_path / "e.arff").write_text(arff)
    with mock.patch.object(columns, "known_names", return_value=KNOWN):
        for name in ("a.csv", "b.csv.gz", "d.csv"):
            read = read_csv(tmp_path / name).frame
            assert columns.columns_of(str(tmp_path / name)) == list(read.columns), name
        assert columns.columns_of(str(tmp_path / "c.parquet")) == list(frame.columns)
        assert columns.columns_of(str(tmp_path / "e.arff")) == ["a b", "kind"]
        assert columns.columns_of(str(tmp_path)) == list(frame.columns)
        assert columns.columns_of(str(tmp_path / "?.parquet")) == list(frame.columns)


@pytest.mark.parametrize(
    ("line", "words", "last", "quote"),
    [
        ("a b", ["a"], "b", ""),
        ("a b ", ["a", "b"], "", ""),
        ("a 'b c", ["a"], "b c", "'"),
        ('a "b\\"c', ["a"], 'b"c', '"'),
        ("a b\\ c", ["a"], "b c", ""),
        ("a '' ", ["a", ""], "", ""),
        ("", [], "", ""),
        ('a "b"\'', ["a"], "b", "'"),
        ("a # b", ["a", "#"], "b", ""),
        ('a "US\\$ 2\\`\\"\\\\\\a', ["a"], 'US$ 2`"\\\\a', '"'),
        ("a b\\\nc\td", ["a", "bc"], "d", ""),
    ],
)
def test_a_line_is_read_as_a_shell_does(line: str, words: list[str], last: str, quote: str) -> None:
    typed = read_line(line)
    assert (typed.words, typed.last, typed.quote) == (words, last, quote)


@pytest.mark.process
def test_names_are_those_of_the_registry_and_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    found = names.known_names()
    for kind in HOOKS:
        assert set(found[kind]) == {entry.name for entry in get_registry().entries(kind)}
    for name in BUILTIN_NAMES:
        table = load_table(name)
        assert set(found["data"][name]) == {*table.features.columns, "target"}
    kept = json.loads(names.names_file().read_text(encoding="utf-8"))
    assert found.items() <= kept.items()
    with mock.patch.object(names, "_find", side_effect=AssertionError):
        assert names.known_names() == kept
    # What was found in another state, or is no list of names, is found again.
    for other in (json.dumps({**kept, "kernel": {}, "state": {}}), "{", "[]", "null"):
        names.names_file().write_text(other, encoding="utf-8")
        assert names.known_names()["kernel"] == found["kernel"], other
    # Without a file there is an answer too.
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert names.known_names() == found


@pytest.mark.process
def test_the_second_tab_imports_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys; from mklkit.__main__ import main; main();"
        "print(*{'numpy', 'numba', 'scipy', 'sklearn', 'pandas'} & set(sys.modules))"
    )
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path),
        "_MKLKIT_COMPLETE": "zsh",
        "_MKLKIT_LINE": "mklkit fit a.csv -k 'rbf@",
    }
    (tmp_path / "a.csv").write_text("fever,target\n1,a\n")
    for loaded in (None, ""):
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
        assert answer == ["nothing", "rbf@fever\t"]
        assert loaded is None or imported == loaded


# Words as bash cuts them, with what it will replace ($2) and what stands before it ($3).
BASH = """
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
compopt() { echo "compopt $2"; }
_mklkit_complete "$3" "$4" ''
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_replaces_the_part_of_the_word_that_it_knows(tmp_path: Path) -> None:
    command = tmp_path / "mklkit"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mklkit "$@"\n')
    command.chmod(0o755)
    (tmp_path / "irregular.csv").write_text("a b,~root,target\n1,3,2\n")

    def completed(line: str, current: str) -> list[str]:
        arguments = [str(SCRIPTS / "mklkit.bash"), f"mklkit {line}", str(command), current]
        done = subprocess.run(
            ["bash", "-c", BASH, "bash", *arguments],
            cwd=tmp_path,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "caches")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.splitlines()

    assert completed("fit --kernel=lap", "lap") == ["laplacian"]
    assert completed("fit -k fou:lap", "lap") == ["laplacian"]
    assert completed("fit -k 'fou:lap", "fou:lap") == ["fou:laplacian"]
    assert completed("fit irregular.csv -k rbf@", "@") == ["@a\\ b", "@\\~root"]
    assert completed('fit irregular.csv -k "rbf@', "rbf@") == ["rbf@a b", "rbf@~root"]
    assert completed("fit irregular.csv -t ~", "~") == ["\\~root"]
    assert completed('fit irregular.csv -t "~', "~") == ["~root"]
    assert completed("fit ir", "ir") == ["compopt filenames", "iris", "irregular.csv"]
    assert completed("fit irre", "irre") == ["compopt default", ""]
    assert completed("plugin new x --into=", "") == ["compopt dirnames", ""]


# What zsh's own part of a completion would do with what was found.
ZSH = """
compdef() { }; compset() { }; _files() { }
_describe() { print -l -- $found; }
source "$1"
words=("$2" pred) CURRENT=2 PREFIX=pred IPREFIX= QIPREFIX=
_mklkit
"""


@pytest.mark.process
@pytest.mark.parametrize("typed", ["sp\\ [dir/mklkit", "'sp [dir'/mklkit", '~/"sp [dir"/mklkit'])
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_path_of_the_command_may_be_quoted(tmp_path: Path, shell: str, typed: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    folder = tmp_path / "sp [dir"
    folder.mkdir()
    command = folder / "mklkit"
    command.write_text("#!/bin/sh\nprintf 'nothing\\nict\\n'\n")
    command.chmod(0o755)
    arguments = [str(SCRIPTS / f"mklkit.{shell}"), "mklkit pred", typed, "pred"]
    if shell == "zsh":
        arguments = [arguments[0], typed]
    done = subprocess.run(
        [shell, "-c", BASH if shell == "bash" else ZSH, shell, *arguments],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.split(), done.stderr) == (["predict" if shell == "bash" else "ict:ict"], "")


@pytest.mark.process
@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_valid(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    subprocess.run([shell, "-n", str(SCRIPTS / f"mklkit.{shell}")], check=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_installing_twice_is_installing_once(
    mklkit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    start_file = tmp_path / f".{shell}rc"
    start_file.write_text("alias ll='ls -l'")
    with (
        mock.patch.object(shellingham, "detect_shell", return_value=(shell, f"/bin/{shell}")),
        mock.patch.object(names, "known_names", return_value=KNOWN),
    ):
        first = mklkit("--install-completion", HOME=str(tmp_path))
        told = start_file.read_text()
        second = mklkit("--install-completion", HOME=str(tmp_path))
        shown = mklkit("--show-completion").out
    assert (first.code, second.code) == (0, 0)
    assert f"next {shell}" in first.err
    assert start_file.read_text() == told
    assert told.startswith("alias ll='ls -l'")
    assert len(told.splitlines()) == (1 if shell == "fish" else 2)
    written = [path for path in tmp_path.rglob("*mklkit*") if path.is_file()]
    assert [path.read_text(encoding="utf-8") for path in written] == [shown]


def test_other_shells_and_unwritable_homes_are_refused(mklkit: Run, tmp_path: Path) -> None:
    with mock.patch.object(shellingham, "detect_shell", return_value=("tcsh", "/bin/tcsh")):
        mklkit("--install-completion").refused("bash, zsh, fish", "'tcsh'")
    with mock.patch.object(
        shellingham, "detect_shell", side_effect=shellingham.ShellDetectionFailure
    ):
        mklkit("--show-completion", SHELL="").refused("not known")
        assert "compdef" in mklkit("--show-completion", SHELL="/usr/bin/zsh").out
        (tmp_path / "home").touch()
        home = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": ""}
        done = mklkit("--install-completion", SHELL="/usr/bin/fish", **home)
        done.refused("can't be written", "--show-completion")


@pytest.fixture
def in_bash() -> Iterator[None]:
    """Have bash be the shell, and the names known."""
    with (
        mock.patch.object(shellingham, "detect_shell", return_value=("bash", "/bin/bash")),
        mock.patch.object(names, "known_names", return_value=KNOWN),
    ):
        yield


@pytest.mark.usefixtures("in_bash")
def test_a_home_that_cannot_be_used_is_refused(mklkit: Run, tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/h\xff")
    done = mklkit("--install-completion", HOME=odd, XDG_DATA_HOME="")
    done.refused("is not in UTF-8", "Set HOME", "--show-completion")
    assert list(tmp_path.iterdir()) == []
    with mock.patch.object(Path, "home", side_effect=RuntimeError("no home")):
        mklkit("--install-completion").refused("home folder is not known", "Set HOME")


@pytest.mark.usefixtures("in_bash")
def test_no_script_is_left_where_the_start_file_cannot_be_written(
    mklkit: Run, tmp_path: Path
) -> None:
    (tmp_path / ".bashrc").mkdir()
    done = mklkit("--install-completion", HOME=str(tmp_path), XDG_DATA_HOME="")
    done.refused(".bashrc can't be written", "--show-completion")
    assert [path.name for path in tmp_path.rglob("*mklkit*")] == []


@pytest.mark.usefixtures("in_bash")
def test_a_relative_folder_of_data_is_ignored(mklkit: Run, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": "data"}
    assert mklkit("--install-completion", cwd=tmp_path, **home).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    script = tmp_path / "home" / ".local/share/bash-completion/completions/mklkit"
    assert str(script) in (tmp_path / "home" / ".bashrc").read_text()


def test_names_are_known_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with (
        mock.patch.object(Path, "home", side_effect=RuntimeError("no home")),
        mock.patch.object(names, "_find", return_value=KNOWN),
    ):
        assert names.known_names() == KNOWN


def test_a_damaged_file_of_names_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with mock.patch.object(names, "_find", return_value=KNOWN) as find:
        names.known_names()
        file = names.names_file()
        whole = file.read_text(encoding="utf-8")
        kept = json.loads(whole)
        damaged = [
            json.dumps({kind: kept[kind] for kind in kept if kind != "combiner"}),
            json.dumps({**kept, "combiner": ["dimkl3"]}),
            json.dumps({**kept, "combiner": {"dimkl3": 3}}),
            whole.replace('{"dimkl3"', "[" * 100_000 + '{"dimkl3"'),
            "[" * 100_000,
            "[]",
        ]
        for place, text in enumerate(damaged, start=2):
            file.write_text(text, encoding="utf-8")
            assert names.known_names()["combiner"] == KNOWN["combiner"]
            assert file.read_text(encoding="utf-8") == whole
            assert find.call_count == place
        assert names.known_names() == kept
        assert find.call_count == len(damaged) + 1
        # A folder in the place of the file is left alone, and nothing is left beside it.
        file.unlink()
        file.mkdir()
        assert names.known_names() == KNOWN
        assert list(file.parent.iterdir()) == [file]
