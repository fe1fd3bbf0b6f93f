"""What Typer's scripts for the shells ask and are answered.

A script calls ``mklkit`` with ``complete_bash``, ``complete_zsh`` or ``complete_fish`` in
``_MKLKIT_COMPLETE``, and the words or the line that is typed in other variables. bash and fish read
a candidate a line; zsh runs the answer as a command, in which names are therefore written so that
nothing in them is run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from glob import escape, glob
from pathlib import Path
from typing import Any

from mklkit.cli.completion.line import Candidate, TypedLine, candidates, read_line
from mklkit.cli.package_commands import BrokenCommandError
from mklkit.errors import IncompatibleError, MKLKitError, quoted

# The shells that Typer answers itself.
OF_TYPER = ("powershell", "pwsh")
# bash cuts words there, and takes the last of these letters with the word that follows.
BREAKS = re.compile(r"[:=@]+")
# bash would replace a word with these by names of files.
PATTERNS = re.compile(r"[*?\[]")
# What may be a space, a quote or a command somewhere in zsh.
UNSAFE = re.compile(r"[^\w\-.,/@+%\x80-\U0010ffff]")
ZSH = (
    "local -a mklkit_names; mklkit_names=({names});"
    " (( $#mklkit_names )) && _describe -V mklkit mklkit_names; {files}"
)
FILES = {
    "nothing": "true",
    "files": "compset -P '--[^=]#='; _files",
    "folders": "compset -P '--[^=]#='; _files -/",
}


def check_shell() -> None:
    """Refuse to set up completion for a shell that has none, before Typer does so as a fault."""
    import shellingham  # type: ignore[import-untyped]

    try:
        shell, _ = shellingham.detect_shell()
    except shellingham.ShellDetectionFailure:
        shell = ""
    known = [*ANSWERS, *OF_TYPER]
    if shell not in known:
        raise IncompatibleError(
            f"The TAB key can complete commands in {', '.join(known)}; this shell is"
            f" {quoted(shell) if shell else 'none that is known'}."
        )


def answer(command: Any, shell: str) -> None:
    """Print the completions of the line that a shell's script gives, and nothing else."""
    line = _line_of_bash() if shell == "bash" else os.environ.get("_TYPER_COMPLETE_ARGS", "")
    typed = read_line(line)
    # A terminal where somebody types is no place for warnings, such as those of plugins.
    paths: str = "nothing"
    names: list[Candidate] = []
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stderr(nowhere),
        suppress(BrokenCommandError, MKLKitError),
    ):
        paths, names = candidates(command, typed)
    if set(typed.live) - set("!" if shell == "fish" else ""):
        # After these a completion would be run or expanded, rather than be taken as a name.
        names = []
    ANSWERS[shell](typed, names, paths)


def _line_of_bash() -> str:
    """Return the line as it was typed, of words that bash has cut at its breaks."""
    line = ""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    joined = True
    for word in words[: int(os.environ.get("COMP_CWORD", "0")) + 1]:
        cut = BREAKS.fullmatch(word) is not None
        line += word if joined or cut else f" {word}"
        joined = cut
    return line


def _answer_bash(typed: TypedLine, names: list[Candidate], paths: str) -> None:
    """Print what is to stand in place of the word as bash cuts it."""
    start = typed.opened
    if not typed.quote:
        start = max(typed.last.rfind(":") + 1, typed.last.rfind("=") + 1, typed.last.rfind("@"), 0)
    words = [word for word, _ in names]
    if typed.quote:
        words = [word for word in words if not PATTERNS.search(word[start:])]
    if typed.quote == '"':
        words = [word for word in words if "!" not in word]
    # Where there is nothing, bash offers files itself.
    words += _files(typed.last) if words and paths == "files" else []
    print("\n".join(typed.quoted(word[start:]) for word in words))


def _answer_fish(typed: TypedLine, names: list[Candidate], paths: str) -> None:
    """Print names with remarks; at first, exit by 1 where fish is to offer files itself."""
    if os.environ.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        sys.exit(1 if not names and paths != "nothing" else 0)
    files = [(name, "") for name in _files(typed.last)] if paths == "files" else []
    print("\n".join(f"{word}\t{remark}" for word, remark in [*names, *files]))


def _answer_zsh(typed: TypedLine, names: list[Candidate], paths: str) -> None:
    words = [_for_zsh(word, remark) for word, remark in names]
    print(ZSH.format(names=" ".join(words), files=FILES[paths]))


def _for_zsh(word: str, remark: str) -> str:
    r"""Return a name with a remark as one word of zsh, without a letter that it would act on.

    Examples
    --------
    >>> print(_for_zsh("$(rm)", "a b"))
    $'\x24\x28rm\x29:a\x20b'
    """
    name = re.sub(r"[\\:]", r"\\\g<0>", word)
    parts = (UNSAFE.sub(_code, part) for part in (name, remark) if part)
    return f"$'{':'.join(parts)}'"


def _code(letter: re.Match[str]) -> str:
    return rf"\x{ord(letter[0]):02x}"


def _files(start: str) -> list[str]:
    """Return the files, and with a slash the folders, whose paths begin so."""
    paths = sorted(glob(f"{escape(start)}*"))
    return [f"{path}{os.sep * Path(path).is_dir()}" for path in paths if path.isprintable()]


ANSWERS: dict[str, Callable[[TypedLine, list[Candidate], str], None]] = {
    "bash": _answer_bash,
    "fish": _answer_fish,
    "zsh": _answer_zsh,
}
