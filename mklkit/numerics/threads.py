"""Blocks of work in our own threads, with one BLAS thread each.

Two BLAS threads that share a small product mostly wait for each other, in busy loops: if another
process takes one of the cores, a fit takes ten times as long. So this module distributes blocks
over threads, each of which calls BLAS with one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import lru_cache
from numbers import Integral
from threading import Lock
from typing import Any, TypeVar

import joblib
import scipy.linalg  # noqa: F401  Its BLAS must be loaded before the controller looks for it.
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mklkit.errors import SpecError

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Blocks submitted per thread before the first is used, which bounds the results in memory."""


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


class _OneThread:
    """BLAS with one thread while at least one computation requests it.

    The setting belongs to the whole process: if two fits in two threads each restored the setting
    that they found, the last one would leave the other's behind.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limit = _controller().limit(limits=1)
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


def one_blas_thread(only: bool = True) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread; no effect if ``only`` is False."""
    return _ONE_THREAD if only else nullcontext()


def n_threads() -> int:
    """Return the number of threads that a computation may use: the current number of BLAS.

    Users set it as for NumPy, with ``OPENBLAS_NUM_THREADS`` or ``threadpoolctl``. It is one within
    :func:`each` and :func:`one_blas_thread`.
    """
    libraries = _controller().info()
    allowed = max((int(library["num_threads"]) for library in libraries), default=1)
    # Counting the processors reads files.
    return 1 if allowed <= 1 else max(1, min(allowed, int(joblib.cpu_count())))


def results_in_flight() -> int:
    """Return how many results of :func:`each` may be in memory at a time."""
    return (AHEAD + 1) * n_threads() + 1


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in order, computed by several threads.

    The function must release the interpreter's lock for most of its time, as NumPy and compiled
    code do. Results come in the order of the items, so that their sum does not depend on the
    threads.
    """
    count = n_threads()
    if count == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with one_blas_thread(), ThreadPoolExecutor(count) as pool:
        try:
            for item in items:
                # NumPy's error settings, for example, belong to the caller's context.
                waiting.append(pool.submit(copy_context().run, function, item))
                if len(waiting) > AHEAD * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


SMALL_ROWS = 2000
"""Below this, a second BLAS thread saves under a second, and costs several on a busy computer."""
TINY_ROWS = 32
"""Up to this size BLAS itself uses one thread."""


def threads_for(matrix: NDArray[Any]) -> AbstractContextManager[Any]:
    """Return a context for decomposing a matrix: BLAS uses one thread if it is small."""
    return one_blas_thread(TINY_ROWS < len(matrix) < SMALL_ROWS)


def in_threads(tasks: Sequence[Callable[[], Result]], n_jobs: Any, n_rows: int) -> Iterator[Result]:
    """Yield each task's result, in order, from ``n_jobs`` threads.

    One thread per task, including BLAS's, if there are several, or if matrices of ``n_rows`` rows
    are too small to split: two thread pools on the same cores slow each other down, and on a
    busy computer two threads of one small product mostly wait for each other.
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise SpecError(
            "n_jobs must be None or a whole number other than 0 (-1: one per processor);"
            f" got {n_jobs!r:.80}."
        )
    jobs = min(int(effective_n_jobs(n_jobs)), len(tasks))
    with one_blas_thread(jobs > 1 or n_rows < SMALL_ROWS):
        if jobs == 1:
            for task in tasks:
                yield task()
        else:
            # Threads even if joblib's backend is a cluster: tasks share features.
            yield from Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")(
                delayed(task)() for task in tasks
            )
