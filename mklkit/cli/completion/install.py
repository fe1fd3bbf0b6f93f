"""Putting the completion in place for a shell, or showing its script."""

from __future__ import annotations

import contextlib
import os
import shlex
from importlib.resources import files
from pathlib import Path

import attrs
import shellingham

from mklkit.cli.completion.homes import base_folder, home_folder
from mklkit.errors import DataError

__all__ = ["SHELLS", "Place", "install", "script", "this_shell"]


INSTEAD = "'mklkit --show-completion' prints the script, to put it elsewhere."


@attrs.frozen
class Place:
    """Where a shell looks for completions.

    Attributes
    ----------
    script : pathlib.Path
        The file of the script.
    start_file : pathlib.Path, optional
        The file that the shell reads when it starts, if it has to be told of the script.
    line : str
        What tells it.
    """

    script: Path
    start_file: Path | None = None
    line: str = ""


def _bash() -> Place:
    folder = base_folder("XDG_DATA_HOME", ".local", "share")
    file = folder / "bash-completion" / "completions" / "mklkit"
    # The package bash-completion would find it by itself, but need not be installed.
    return Place(file, home_folder() / ".bashrc", f"source {shlex.quote(str(file))}")


def _zsh() -> Place:
    home = home_folder()
    start_file = Path(os.environ.get("ZDOTDIR") or home, ".zshrc")
    line = "fpath+=~/.zfunc; autoload -Uz compinit; compinit"
    return Place(home / ".zfunc" / "_mklkit", start_file, line)


def _fish() -> Place:
    return Place(base_folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "mklkit.fish")


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def this_shell() -> str:
    """Return the shell from which this program was started, else the user's.

    Raises
    ------
    DataError
        If it is none for which there is a completion.
    """
    try:
        name = str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise DataError(
            f"There is completion for {', '.join(SHELLS)}; this shell is"
            f" {repr(name) if name else 'not known'}. Call mklkit from one of them."
        )
    return name


def script(shell: str) -> str:
    """Return the script by which a shell completes ``mklkit``."""
    return files(__package__).joinpath("scripts", f"mklkit.{shell}").read_text(encoding="utf-8")


def install(shell: str) -> list[str]:
    """Put the script where the shell finds it; what was there of mklkit is replaced.

    Parameters
    ----------
    shell : str
        A key of ``SHELLS``.

    Returns
    -------
    list of str
        What was done, a sentence each.

    Raises
    ------
    DataError
        If a file can't be written, or the user's home is not known.
    """
    place = SHELLS[shell]()
    _check_letters(place)
    new = not place.script.exists()
    try:
        place.script.parent.mkdir(parents=True, exist_ok=True)
        place.script.write_text(script(shell), encoding="utf-8")
        done = [f"wrote {place.script}"]
        if place.start_file is not None and _add_line(place.start_file, place.line):
            done.append(f"added to {place.start_file}: {place.line}")
    except OSError as error:
        if new:
            with contextlib.suppress(OSError):  # It may be what can't be written.
                place.script.unlink()
        raise DataError(
            f"{error.filename or place.script} can't be written: {error.strerror}. {INSTEAD}"
        ) from error
    return done


def _check_letters(place: Place) -> None:
    """Refuse paths whose bytes are no letters, which a line of a file could not name."""
    for file in filter(None, (place.script, place.start_file)):
        try:
            str(file).encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"The name of the file {str(file)!r} is not in UTF-8. Set HOME to a folder whose"
                f" name is. {INSTEAD}"
            ) from error


def _add_line(file: Path, line: str) -> bool:
    """Append a line to a file that lacks it; return whether it did."""
    text = file.read_bytes() if file.exists() else b""
    if line.encode() in text.splitlines():
        return False
    start = b"" if not text or text.endswith(b"\n") else b"\n"
    with file.open("ab") as end:
        end.write(start + line.encode() + b"\n")
    return True
