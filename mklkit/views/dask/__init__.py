"""Rows on a cluster: calls to Dask for tasks, their results, and the available workers.

They go to the cluster of the ``distributed.Client`` in use, or else to threads of this process.
No module here imports Dask before it is used, so that the package works without it.
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
"""The user's data travels within tasks, so that it can be restored if a worker is lost."""


def lazily(function: Callable[..., Any]) -> Any:
    """Return a function whose calls are tasks, each with its own key."""
    import dask

    return dask.delayed(function, pure=False, traverse=True)


def unchanged(value: Any) -> Any:
    """Return a value as a task, which is sent to the workers once."""
    return value


def computed(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of tasks."""
    return kept_and_computed([], tasks)[1]


def persisted(tasks: Sequence[Any]) -> list[Any]:
    """Return references to the results of tasks, which stay on the workers."""
    return kept_and_computed(tasks, [])[0]


def kept_and_computed(tasks: Sequence[Any], wanted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return references to the results of some tasks, and the results of others."""
    import dask

    client = _client()
    if client is None:
        every = dask.persist(*tasks, *wanted)
        return list(every[: len(tasks)]), list(dask.compute(*every[len(tasks) :]))
    from distributed import futures_of, wait

    with _explained(), dask.config.set(SETTINGS):
        every = dask.persist(*tasks, *wanted)
        kept, others = every[: len(tasks)], every[len(tasks) :]
        # A graph that uses these must not reach the scheduler before they are known there, and
        # the scheduler does not keep the order: so the caller waits until one is computed.
        waited_for = futures_of([*(others or kept)])
        wait(waited_for)
        for future in waited_for:
            if future.status == "error":
                raise future.exception()
        return list(kept), client.gather([futures_of(task)[0] for task in others])


@contextmanager
def _explained() -> Iterator[None]:
    """Turn errors of workers into explanations."""
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise MKLKitError(
            "Dask's workers died several times on the same part of the rows: they have too little"
            " memory for it, or can't load a library; see their logs. Use smaller chunks"
            " or more memory."
        ) from error
    except FutureCancelledError as error:
        raise MKLKitError(
            "Dask's scheduler or the workers that held the rows are gone: connect and fit again."
        ) from error


@attrs.frozen
class Workers:
    """The workers' threads, and their memory in bytes if known."""

    threads: int
    memory: int | None


def workers_in_use() -> Workers:
    """Return the workers' threads and memory, after a check that they can run mklkit.

    Raises a MKLKitError if there are none, or one has another Python, or no or another mklkit.
    """
    client = _client()
    if client is None:
        import joblib

        return Workers(int(joblib.cpu_count()), available_memory())
    versions = client.get_versions(packages=["mklkit"])
    here = versions["client"]["packages"]
    if not versions["workers"]:
        address = client.scheduler.address
        raise MKLKitError(
            f"The Dask scheduler {address} has no workers: start some (dask worker {address})."
        )
    for address, answer in versions["workers"].items():
        there = answer["packages"]
        if there["mklkit"] != here["mklkit"] or _minor(there["python"]) != _minor(here["python"]):
            raise MKLKitError(
                f"Dask's worker {address} has mklkit {there['mklkit']} on Python {there['python']},"
                f" and this process {here['mklkit']} on {here['python']}: install the same versions"
                " on both."
            )
    resources = client.run(_resources).values()
    limits = [memory for _, memory in resources]
    return Workers(sum(threads for threads, _ in resources), sum(limits) if all(limits) else None)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _resources(dask_worker: Any) -> tuple[int, int | None]:
    return dask_worker.state.nthreads, dask_worker.memory_manager.memory_limit


def connected(address: str) -> Any:
    """Return a client of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    It has five seconds to answer.
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
