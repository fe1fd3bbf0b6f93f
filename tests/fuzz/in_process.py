"""The command line in this process: the same entry point, other arguments and streams."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence

import attrs
import pytest

from mklkit.cli.app import main

__all__ = ["Outcome", "run"]


@attrs.frozen
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(arguments: Sequence[str]) -> Outcome:
    """Run ``mklkit`` with some arguments, with the warnings that a process of its own shows."""
    out, err = _stream(), _stream()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
            warnings.simplefilter("ignore", category)
        patch.setattr(sys, "argv", ["mklkit", *arguments])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setenv("COLUMNS", "160")
        patch.delenv("MKLKIT_DEBUG", raising=False)
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    assert isinstance(code, int), f"exit code {code!r}"
    return Outcome(code, _text(out), _text(err))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]
