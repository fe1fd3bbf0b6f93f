"""What the TAB key offers, how Typer's scripts are answered, and the names that are kept."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
import shellingham
import typer
from processes import Run, run_completion

from mklkit.cli.app import ASKED, app
from mklkit.cli.completion import completers, names, shells
from mklkit.cli.completion.line import candidates, read_line
from mklkit.datasets import BUILTIN_NAMES, load_table
from mklkit.datasets.files import read_whole
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import get_registry

KNOWN = {
    "kernel": {"rbf": "Gaussian similarity. More.", "linear": "Inner product."},
    "feature_map": {"implicit": "Similarities."},
    "combiner": {"dimkl3": "Overlaps", "ifsl": "Coupled"},
    "learner": {"svm": "Support vectors"},
    "preset": {"plain": "Even sum"},
    "data": {"breast_cancer": ["mean radius", "target"], "iris": ["petal", "target"]},
    "package": {"mklkit": "", "mklkit-views": ""},
}


@pytest.fixture
def known() -> Iterator[None]:
    with mock.patch.object(names, "known_names", return_value=KNOWN):
        yield


def offered(line: str, adds: str = "nothing") -> dict[str, str]:
    """Return the candidates for a line with their remarks."""
    paths, words = candidates(typer.main.get_command(app), read_line(f"mklkit {line}"))
    assert paths == adds
    return dict(words)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("line", "adds", "words"),
    [
        ("f", "nothing", ["fit"]),
        ("frobnicate ", "nothing", []),
        ("--inst", "nothing", ["--install-completion"]),
        ("fit --plo", "nothing", ["--plot"]),
        ("fit iris --json --js", "nothing", []),
        ("fit ir", "files", ["iris"]),
        ("compare iris ir", "files", ["iris"]),
        ("predict model.mkl ir", "files", ["iris"]),
        ("fit -o ", "files", []),
        ("fit --output=", "files", []),
        ("fit --max-memory ", "nothing", []),
        ("fit -k ", "nothing", ["rbf", "linear", "auto"]),
        ("fit -k r", "nothing", ["rbf"]),
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
        ("fit -t ", "nothing", ["mean radius", "target"]),
        ("explain model.mkl iris -t p", "nothing", ["petal"]),
        ("fit -- ir", "files", ["iris"]),
    ],
)
def test_completions(line: str, adds: str, words: list[str]) -> None:
    assert list(offered(line, adds)) == words


@pytest.mark.usefixtures("known")
def test_options_are_offered_once_nothing_else_is_missing() -> None:
    options = offered("fit iris --seed 3 -k rbf ")
    assert {"--kernel", "--combiner", "--json", "--help"} <= set(options)
    assert "--seed" not in options
    assert options["--scale"] == "How features are scaled"
    assert offered("fit -k r") == {"rbf": "Gaussian similarity"}


@pytest.mark.usefixtures("known")
def test_columns_of_the_table_on_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my table.csv").write_text("pulse (rest),fever,target\n1,2,a\n", encoding="utf-8")
    assert list(offered("fit 'my table.csv' --target ")) == ["pulse (rest)", "fever", "target"]
    assert list(offered("fit my\\ table.csv --weights ")) == ["pulse (rest)", "fever"]
    assert list(offered("fit 'my table.csv' -t fever -k \"a:rbf(sigma='mean')@")) == [
        "a:rbf(sigma='mean')@pulse (rest)",
        "a:rbf(sigma='mean')@target",
    ]
    assert list(offered("fit 'my table.csv' -k 'rbf@fever,")) == ["rbf@fever,pulse (rest)"]


# A line as bash cuts it into words, and what is to stand in place of the last of them.
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["fit", "--kernel", "=", "r"], ["rbf"]),
        (["fit", "--kernel", "="], ["rbf", "linear", "auto"]),
        (["fit", "-k", "fou", ":", "r"], ["rbf"]),
        (["fit", "-k", "fou", ":"], ["rbf", "linear"]),
        (["fit", "-k", "'fou:r"], ["fou:rbf"]),
        (["fit", "a.csv", "-k", "x", ":", "rbf", "@", "fev"], ["@fever"]),
        (["fit", "a.csv", "-k", "rbf", "@"], ["@fever", "@pulse\\ \\(rest\\)", "@\\~"]),
        (["fit", "a.csv", "-t", '"pu'], ["pulse (rest)"]),
        (["fit", "a.csv", "-t", "~"], ["\\~"]),
        (["fit", "i"], ["iris", "irregular.csv"]),
        (["fit", "irr"], []),
    ],
)
def test_bash_replaces_the_part_of_the_word_that_it_knows(
    words: list[str], answer: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("fever,pulse (rest),~,target\n1,2,3,a\n", encoding="utf-8")
    (tmp_path / "irregular.csv").touch()
    done = run_completion("bash", *words, cwd=tmp_path)
    assert done.out.split("\n")[:-1] == (answer or [""])


EVIL = ["$(touch b)", "`touch b`", "\\$(touch b)", "!!", "!a", "a*", "'; touch b; '"]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("shell", shells.ANSWERS)
def test_nothing_that_a_shell_would_run_is_answered(shell: str, tmp_path: Path) -> None:
    pd.DataFrame([range(7)], columns=EVIL).to_csv(tmp_path / "a.csv", index=False)

    def answer(typed: str) -> str:
        return run_completion(shell, "fit", "a.csv", "-t", typed, cwd=tmp_path).out.strip("\n")

    nothing = shells.ZSH.format(names="", files="true") if shell == "zsh" else ""
    for typed in ('"$', '"`', '"\\', "$", "`", '"$"(', "'$'$"):
        assert answer(typed) == nothing, typed
    assert "touch" in answer("'$")
    if shell == "bash":
        assert shlex.split(answer("")) == EVIL
        assert answer('"!') == answer("!") == ""
        assert answer("'a") == ""
    elif shell == "zsh":
        assert set(answer("").partition("=(")[2].partition(");")[0]) & set("`()!;* ") <= {" "}


# What eval is given by Typer's script for zsh; the words are kept as zsh reads them.
ZSH = "_describe() { print -rl -- ${(P)4}; }; eval $(print -r -- $1)"


@pytest.mark.process
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_reads_the_names_as_they_are(tmp_path: Path) -> None:
    words = [shells._for_zsh(word, "remark: a") for word in EVIL]
    command = shells.ZSH.format(names=" ".join(words), files="true")
    command = command.replace("-V mklkit", "1 2 3")
    done = subprocess.run(
        ["zsh", "-fc", ZSH, "zsh", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    escaped = [word.replace("\\", "\\\\").replace(":", "\\:") for word in EVIL]
    assert done.stdout.splitlines() == [f"{word}:remark: a" for word in escaped]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("line", "code"), [("fit -k r", 0), ("fit --seed ", 0), ("fit -o ", 1), ("fit ir", 0)]
)
def test_fish_offers_files_where_there_are_no_names(line: str, code: int) -> None:
    assert run_completion("fish", line, action="is-args").code == code
    assert run_completion("fish", "fit -k r").out == "rbf\tGaussian similarity\n"


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


@pytest.mark.parametrize(
    ("line", "words", "last", "quote"),
    [
        ("a b", ["a"], "b", ""),
        ("a 'b c", ["a"], "b c", "'"),
        ('a "b\\"c', ["a"], 'b"c', '"'),
        ("a b\\ c", ["a"], "b c", ""),
        ("a '' ", ["a", ""], "", ""),
        ("", [], "", ""),
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
        other = {**kept, "names": {**KNOWN, "combiner": ["dimkl3"]}}
        damaged = [json.dumps(other), json.dumps({**kept, "state": ""}), "{", "[]", "[" * 100_000]
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
        "import sys; from mklkit.__main__ import main; main();"
        "print(*{'numpy', 'numba', 'scipy', 'sklearn', 'pandas', 'jinja2'} & set(sys.modules))"
    )
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path),
        "_MKLKIT_COMPLETE": "complete_fish",
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
    assert (answer, imported) == (["rbf@fever\t"], "")
    assert first.out == "rbf@fever\t\n"


@pytest.mark.parametrize("shell", shells.ANSWERS)
def test_typer_installs_the_script(mklkit: Run, tmp_path: Path, shell: str) -> None:
    with mock.patch.object(shellingham, "detect_shell", return_value=(shell, f"/bin/{shell}")):
        assert mklkit("--install-completion", HOME=str(tmp_path)).code == 0
        shown = mklkit("--show-completion").out
    written = [path for path in tmp_path.rglob("*mklkit*") if path.is_file()]
    assert [path.read_text(encoding="utf-8").strip() for path in written] == [shown.strip()]
    assert f"{ASKED}=complete_{shell}" in shown


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_a_shell_without_completion_is_refused(mklkit: Run, option: str) -> None:
    with mock.patch.object(shellingham, "detect_shell", return_value=("nushell", "/bin/nu")):
        mklkit(option).refused("'nushell'", "bash, ")
    failed = shellingham.ShellDetectionFailure
    with mock.patch.object(shellingham, "detect_shell", side_effect=failed):
        mklkit(option).refused("none that is known")
