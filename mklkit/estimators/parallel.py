"""Binary problems in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from mklkit.errors import (
    SpecError,
)
from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols.component import is_whole

__all__ = ["in_threads"]

Result = TypeVar("Result")

SMALL_ROWS = 2000
"""Below, a second BLAS thread saves less than a second, and costs several beside a busy process."""


def in_threads(
    tasks: Sequence[Callable[[], Result]], n_jobs: int | None, n_rows: int
) -> Iterator[Result]:
    """Yield each task's result, in order, from ``n_jobs`` threads.

    One thread per task, BLAS's included, where there are several, or where matrices of ``n_rows``
    rows are too small to split: two thread pools on the same cores slow each other down, and on a
    busy computer two threads of one small product mostly wait for each other.

    Raises
    ------
    SpecError
        If ``n_jobs`` is not a whole number, or zero.
    """
    jobs = min(_effective_jobs(n_jobs), len(tasks))
    with one_blas_thread(jobs > 1 or n_rows < SMALL_ROWS):
        if jobs == 1:
            for task in tasks:
                yield task()
        else:
            # Threads even where joblib's backend is a cluster: tasks share features.
            yield from Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")(
                delayed(task)() for task in tasks
            )


def _effective_jobs(n_jobs: Any) -> int:
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise SpecError(
            "n_jobs must be None or a whole number other than 0 (-1: one per processor);"
            f" got {n_jobs!r:.80}."
        )
    return int(effective_n_jobs(n_jobs))
