"""Compiling by numba: the one place that determines where compiled code is cached."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Literal

import numba
from numba.core.caching import FunctionCache

__all__ = ["compiled", "private_folder"]


def compiled(
    inline: Literal["never", "always"] = "never", inexact: Collection[str] = ()
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator: ``numba.njit`` without the interpreter's lock, cached where possible.

    Compiled code is cached in ``NUMBA_CACHE_DIR``, in the package, in the user's cache, or else in
    a private temporary folder. If none of them is writable, functions are compiled again in every
    process, which takes seconds and changes nothing else.

    Parameters
    ----------
    inline : {"never", "always"}, default="never"
    inexact : collection of str, default=()
        LLVM's names of what it may do to floating point: ``"contract"`` (fuse a product and a sum),
        ``"reassoc"`` (sum in another order, several values at once).

    Examples
    --------
    >>> @compiled()
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """

    def compile_lazily(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(nogil=True, inline=inline, fastmath=set(inexact))(function)
        # numba raises RuntimeError if it finds no writable folder.
        try:
            dispatcher._cache = _Cache(function)
        except RuntimeError:
            folder = private_folder()
            if folder is not None:
                with _numba_keeping_in(folder), contextlib.suppress(RuntimeError):
                    dispatcher._cache = _Cache(function)
        return dispatcher

    return compile_lazily


class _Cache(FunctionCache):
    """numba's cache, which does not fail on a full disk or an unreadable file.

    ``enable_caching`` of a function sets the attribute that is set here.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(OSError):
            return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def private_folder() -> Path | None:
    """Return a temporary folder that nobody else can write to; None where there is none.

    Cached code is executed when read, and anyone may have created a folder of this name before: a
    folder that is a link, another user's, or open to others is not used.
    """
    if not hasattr(os, "getuid"):
        return None  # on Windows this would be the user's cache, which numba has tried already
    with contextlib.suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"mklkit-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if (
            stat.S_ISDIR(found.st_mode)
            and found.st_uid == os.getuid()
            and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        ):
            return folder
    return None


@contextlib.contextmanager
def _numba_keeping_in(folder: Path) -> Iterator[None]:
    """Let numba cache functions in a folder; each keeps its own, so others are unaffected."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before
