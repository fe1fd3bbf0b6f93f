"""Dask's own calls: tasks, their results, and the workers that are there.

They go to the cluster of the ``distributed.Client`` in use, or else to threads of this process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from mklkit.errors import DataError, MKLKitError
from mklkit.views.memory import available_memory

__all__ = [
    "Workers",
    "computed",
    "connected",
    "kept_and_computed",
    "lazily",
    "persisted",
    "unchanged",
    "workers_in_use",
]

CONNECT_SECONDS = 5
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1 TB"}
"""Data given by the user travels within tasks, so that it is there again if a worker is lost."""


def lazily(function: Callable[..., Any]) -> Any:
    """Return a function whose calls are tasks; each has a key of its own."""
    import dask

    return dask.delayed(function, pure=False, traverse=True)


def unchanged(value: Any) -> Any:
    """Return a value, which as a task is sent to the workers once."""
    return value


def computed(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of tasks.

    Raises
    ------
    MKLKitError
        If workers die of a task again and again, or the cluster is gone.
    """
    import dask

    with _explained():
        return list(dask.compute(*tasks))


def persisted(tasks: Sequence[Any]) -> list[Any]:
    """Return tasks that stand for the results of tasks, which stay on the workers."""
    return kept_and_computed(tasks, [])[0]


def kept_and_computed(tasks: Sequence[Any], wanted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return tasks that stand for the results of some, and the results of others."""
    import dask

    with _explained():
        every = dask.persist(*tasks, *wanted)
        kept, others = every[: len(tasks)], every[len(tasks) :]
        client = _client()
        if client is None:
            return list(kept), list(dask.compute(*others))
        from distributed import futures_of, wait

        # A graph that uses these must not arrive at the scheduler before they are known there,
        # and it does not keep the order: so the caller goes on when something has been computed.
        wait(futures_of([*(others or kept)]))
        for future in futures_of([*(others or kept)]):
            if future.status == "error":
                raise future.exception()
        return list(kept), [client.gather(futures_of(task)[0]) for task in others]


@contextmanager
def _explained() -> Iterator[None]:
    """Submit graphs without warnings of their size, and explain what goes wrong with workers."""
    import dask

    if _client() is None:
        yield
        return
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        with dask.config.set(SETTINGS):
            yield
    except KilledWorker as error:
        raise MKLKitError(
            "Dask's workers died several times of the same part of the rows: they have too little"
            " memory for it, or can't load a library; their logs say more. Use smaller chunks"
            " or more memory."
        ) from error
    except FutureCancelledError as error:
        raise MKLKitError(
            "Dask's scheduler or the workers that held the rows are gone: connect and fit again."
        ) from error


@attrs.frozen
class Workers:
    """What there is to compute with.

    Attributes
    ----------
    threads : int
    memory : int or None
        Bytes, if known.
    """

    threads: int
    memory: int | None


def workers_in_use() -> Workers:
    """Return the workers' threads and memory, after a check that they can run mklkit.

    Raises
    ------
    MKLKitError
        If there are no workers, or one of them has another Python, no mklkit, or another version
        of it.
    """
    client = _client()
    if client is None:
        import joblib

        return Workers(int(joblib.cpu_count()), available_memory())
    answers = client.run(_about_worker(), on_error="return")
    if not answers:
        raise MKLKitError(
            f"The Dask scheduler {client.scheduler.address} has no workers: start some"
            f" (dask worker {client.scheduler.address})."
        )
    here = _about_worker()()[:2]
    for address, there in answers.items():
        if isinstance(there, BaseException):
            raise MKLKitError(f"Dask's worker {address} does not answer: {there}") from there
        _check_versions(address, here, there[:2])
    limits = [memory for _, _, _, memory in answers.values()]
    known = sum(limits) if all(limits) else None
    return Workers(sum(threads for _, _, threads, _ in answers.values()), known)


def connected(address: str) -> Any:
    """Return a client of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    MKLKitError
        If Dask is not installed, or nothing answers there within five seconds.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MKLKitError(
            "A scheduler needs Dask: pip install 'dask[array,dataframe,distributed]'."
        ) from None
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise DataError(
            f"No Dask scheduler answers at {address}: start one (dask scheduler), or give the"
            " address that it prints, such as tcp://10.0.0.1:8786."
        ) from error


def _client() -> Any:
    """Return the client in use, if there is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _about_worker() -> Callable[..., tuple[str | None, str, int, int | None]]:
    # A function in a function is sent by value: a worker without mklkit can run it.
    def about(dask_worker: Any = None) -> tuple[str | None, str, int, int | None]:
        import sys

        version: str | None
        try:
            from mklkit import __version__

            version = __version__
        except ImportError:
            version = None
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        if dask_worker is None:
            return version, python, 0, None
        memory = dask_worker.memory_manager.memory_limit
        return version, python, dask_worker.state.nthreads, memory

    return about


def _check_versions(
    address: str, here: tuple[str | None, str], there: tuple[str | None, str]
) -> None:
    names = ("mklkit", "Python")
    for name, local, remote in zip(names, here, there, strict=True):
        if remote is None:
            raise MKLKitError(
                f"Dask's worker {address} has no {name}: install {name} {local} there."
            )
        if local != remote:
            raise MKLKitError(
                f"Dask's worker {address} has {name} {remote}, and this process {local}: install"
                " the same version on both."
            )
