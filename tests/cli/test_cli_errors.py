"""What becomes of errors that no command foresees: whose fault they are, and in how many words."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from mklkit.cli import app


def ended(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[object, str]:
    """Return the exit code and the words with which a command ends that raises an error."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(app, "_run", fail)
    with pytest.raises(SystemExit) as leaving:
        app.main()
    return leaving.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    "number", [errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR]
)
def test_a_path_that_may_not_be_used_is_the_users(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError(number, os.strerror(number), "/data/locked.csv")
    said = f"error: /data/locked.csv can't be read or written: {os.strerror(number)}.\n"
    assert ended(error, monkeypatch, capsys) == (2, said)


def test_other_errors_of_the_system_are_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(OSError(errno.ESRCH, "No such process"), monkeypatch, capsys)
    assert code == 1
    assert said.startswith("error: This is a bug in mklkit")


@pytest.mark.skipif(os.name == "nt", reason="shells there don't close streams")
@pytest.mark.process
def test_closed_streams_are_no_fault_of_ours() -> None:
    def run(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = f'exec "{sys.executable}" -m mklkit {" ".join(arguments)} {redirection}'
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    closed = run(">&-", "list")
    assert (closed.returncode, closed.stdout) == (2, "")
    assert closed.stderr.startswith("error: The output can't be written: stdout is closed.")
    silent = run("2>&-", "--version")
    assert (silent.returncode, silent.stdout[:7]) == (0, "mklkit ")
    assert run(">&- 2>&-", "list").returncode == 2
    assert run("2>&-", "nonsense").returncode == 2


def test_an_interruption_at_the_start_leaves_no_traceback() -> None:
    script = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
from mklkit.__main__ import main
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
main()
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("command", ["fit", "list"])
def test_a_help_whose_reader_has_gone_ends_in_silence(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(sys, "argv", ["mklkit", command, "--help"])
    with open(writer, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(SystemExit) as leaving:
            app.main()
    assert (leaving.value.code, capsys.readouterr().err) == (1, "")
