"""Compilation by numba; only this module determines whether compiled code is cached."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import Any, Literal

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys


def compiled(
    inline: Literal["never", "always"] = "never", inexact: Collection[str] = ()
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator: ``numba.njit`` without the interpreter's lock, cached where possible.

    Compiled code is cached in ``NUMBA_CACHE_DIR``, in the package, or in the user's cache. If none
    of them is writable, functions are compiled in every process, which takes seconds and changes
    nothing else. ``inexact`` names the liberties of LLVM with floating point: ``"contract"`` (fuse
    a product and a sum), ``"reassoc"`` (sum in another order, several values at once).
    """

    def compile_lazily(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(nogil=True, inline=inline, fastmath=set(inexact))(function)
        with contextlib.suppress(RuntimeError):  # no folder is writable
            dispatcher._cache = _Cache(function)
        return dispatcher

    return compile_lazily


class _Cache(FunctionCache):
    """numba's cache, which does not fail on a full disk or an unreadable file."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # numba's own cache first registers everything that it can compile, in a third of a second.
        # Loaded code needs only the runtime; a function outside the cache registers the rest.
        rtsys.initialize(target_context)
        with contextlib.suppress(OSError):
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
