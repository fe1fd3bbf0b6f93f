"""Any command on any file: done, or refused in one message, with all files as they were."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from shlex import join

import pytest
from commands import command
from data_files import write_data, write_odd_path
from drawing import Draw
from helpers.processes import Outcome, run_in_process
from model_files import MODELS, altered, whole_file

MESSAGE = 3000
# Words in what a library says of itself, and mklkit never would but to name a type in a model file.
LEAKS = re.compile(
    r"Traceback|a bug in "
    r"|RuntimeWarning|FutureWarning|DeprecationWarning|(?<!the type ')sklearn|site-packages"
    r"|encountered in|allow_pickle|np\.\w+\(|<class '|object at 0x|division by zero|libsvm's? early"
)


def test_a_command_is_done_or_refused(
    draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = command(draw, *_files(draw, tmp_path), tmp_path)
    before = _contents(tmp_path)
    shown = join(arguments).replace(f"{tmp_path}/", "").encode("utf-8", "backslashreplace")
    print("mklkit", shown.decode()[:2000])
    outcome = run_in_process(*arguments)
    print(f"exit code {outcome.code}\n{outcome.err[:2000]}")
    assert outcome.code in (0, 2)
    assert not LEAKS.search(outcome.err), LEAKS.search(outcome.err)
    if outcome.code == 2 and not _is_help(outcome):
        assert outcome.out == ""
        assert outcome.err.strip()
        assert len(outcome.err) <= MESSAGE
        assert _contents(tmp_path) == before


def _is_help(outcome: Outcome) -> bool:
    """Return whether a command without its arguments was answered with its help."""
    return not outcome.err and "Usage: mklkit" in outcome.out


def _files(draw: Draw, folder: Path) -> tuple[Path, Path]:
    """Put a data file and a model file into the folder, and some other things."""
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    whole = whole_file(draw.one_of(list(MODELS)))
    model = folder / "model.mkl"
    model.write_bytes(whole if draw.chance(0.6) else altered(draw, whole))
    data = write_data(draw, folder)
    if draw.chance(0.05):
        data = write_odd_path(draw, folder)
    elif draw.chance(0.05):
        model = write_odd_path(draw, folder)
    return data, model


def _contents(folder: Path) -> dict[str, str]:
    """Return what each file in the folder holds, by its name."""
    return {
        str(path): sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"
        for path in sorted(folder.rglob("*"))
    }
