"""Samples on a cluster: calls to Dask for tasks, their results, and the available workers.

They go to the cluster of the ``distributed.Client`` in use, or else to threads of this process.
No module here imports Dask before it is used, so that the package works without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import attrs

from mklkit.errors import ClusterError, plain_message
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
ANSWER_SECONDS = 30
"""How long the scheduler may take to answer during a fit."""
LOOK_SECONDS = 2
"""How often to ask the scheduler whether it has workers, while their results are awaited."""
NO_WORKERS = "distributed.scheduler.no-workers-timeout"
"""Dask's setting for how long work may wait for a worker."""
NO_WORKERS_SECONDS = 60
"""Its value if the user sets none: enough for workers that are restarted."""
AGAIN = (
    "Check that the scheduler and its workers run (their logs have the reason), connect again, and"
    " run this again."
)
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
    """Return references to the results of some tasks, and the results of others.

    Raises a ``ClusterError`` if the scheduler or all workers are lost meanwhile.
    """
    import dask

    client = _client()
    if client is None:
        _check_on_no_cluster([*tasks, *wanted])
        every = dask.persist(*tasks, *wanted)
        return list(every[: len(tasks)]), list(dask.compute(*every[len(tasks) :]))
    from distributed import futures_of

    with lost_clusters_explained(), dask.config.set(SETTINGS):
        every = dask.persist(*tasks, *wanted)
        kept, others = every[: len(tasks)], every[len(tasks) :]
        # A graph that uses these must not reach the scheduler before they are known there, and
        # the scheduler does not keep the order: so the caller waits until one is computed.
        waited_for = futures_of([*(others or kept)])
        _wait(client, waited_for)
        failures = [future.exception() for future in waited_for if future.status == "error"]
        results = [] if failures else client.gather([futures_of(task)[0] for task in others])
    if failures:
        with failed_tasks_explained():
            raise failures[0]
    return list(kept), results


def _check_on_no_cluster(tasks: Sequence[Any]) -> None:
    """Raise a ``ClusterError`` if tasks need results of a cluster whose client is closed."""
    if "distributed" in sys.modules:
        from distributed import futures_of

        if futures_of(list(tasks)):
            raise ClusterError(f"The Dask client that held the samples is closed. {AGAIN}")


def _wait(client: Any, futures: Sequence[Any]) -> None:
    """Wait until futures are computed; raise a ``ClusterError`` if nobody is left to do it."""
    import dask
    from dask.utils import parse_timedelta
    from distributed import wait

    patience = parse_timedelta(dask.config.get(NO_WORKERS, None) or NO_WORKERS_SECONDS)
    last_alive = monotonic()
    while True:
        try:
            wait(futures, timeout=LOOK_SECONDS)
        except TimeoutError:
            # Dask itself would wait for ever.
            if client.status != "running":
                raise ClusterError(f"The connection to Dask's scheduler is lost. {AGAIN}") from None
            if client.sync(client.scheduler.ncores, callback_timeout=ANSWER_SECONDS):
                last_alive = monotonic()
            elif monotonic() - last_alive >= patience:
                raise ClusterError(
                    f"All workers of Dask's scheduler {client.scheduler.address} are gone, and none"
                    f" came back within {patience:g} seconds: look at their logs for the reason,"
                    " such as too little memory, start them, and run this again."
                ) from None
        else:
            return


@contextmanager
def failed_tasks_explained() -> Iterator[None]:
    """Turn Dask's own errors about a task into a ``ClusterError``; others are not changed."""
    from distributed.scheduler import KilledWorker, NoValidWorkerError, NoWorkerError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            "Dask's workers died several times on the same part of the data: they have too little"
            " memory for it, or can't load a library; see their logs. Use smaller chunks"
            " or more memory."
        ) from error
    except (NoWorkerError, NoValidWorkerError) as error:
        raise ClusterError(
            "Dask's scheduler has no worker for a part of the samples: start workers, and run this"
            " again."
        ) from error


@contextmanager
def lost_clusters_explained() -> Iterator[None]:
    """Turn errors of the connection to a cluster into a ``ClusterError``."""
    from concurrent.futures import CancelledError

    from distributed.client import ClosedClientError

    try:
        yield
    except TimeoutError as error:
        raise ClusterError(
            f"Dask's scheduler does not answer: {plain_message(error)}. Check that it runs and can"
            " be reached, and run this again."
        ) from error
    except (CancelledError, ClosedClientError, OSError) as error:
        raise ClusterError(
            "Dask's scheduler, or the workers that held the samples, ended or can't be reached any"
            f" more. {AGAIN}"
        ) from error


@attrs.frozen
class Workers:
    """The workers' threads, and their memory in bytes if known."""

    threads: int
    memory: int | None


def workers_in_use() -> Workers:
    """Return the workers' threads and memory, after a check that they can run mklkit.

    Raises a ``ClusterError`` if there are none, or one has another Python, or no or another mklkit.
    """
    client = _client()
    if client is None:
        import joblib

        return Workers(int(joblib.cpu_count()), available_memory())
    with lost_clusters_explained():
        versions = client.get_versions(packages=["mklkit"])
    here = versions["client"]["packages"]
    if not versions["workers"]:
        address = client.scheduler.address
        raise ClusterError(
            f"The Dask scheduler {address} has no workers: start some (dask worker {address})."
        )
    for address, answer in versions["workers"].items():
        there = answer["packages"]
        if there["mklkit"] != here["mklkit"] or _minor(there["python"]) != _minor(here["python"]):
            raise ClusterError(
                f"Dask's worker {address} has mklkit {there['mklkit']} on Python {there['python']},"
                f" and this process {here['mklkit']} on {here['python']}: install the same versions"
                " on both."
            )
    with lost_clusters_explained():
        resources = client.run(_resources).values()
    limits = [memory for _, memory in resources]
    return Workers(sum(threads for threads, _ in resources), sum(limits) if all(limits) else None)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _resources(dask_worker: Any) -> tuple[int, int | None]:
    return dask_worker.state.nthreads, dask_worker.memory_manager.memory_limit


def connected(address: str, seconds: float = CONNECT_SECONDS) -> Any:
    """Return a client of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    It has ``seconds`` to answer.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "A scheduler needs Dask: pip install 'dask[array,dataframe,distributed]'."
        ) from None
    try:
        return Client(address, timeout=seconds)
    except (OSError, ValueError) as error:
        raise ClusterError(
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
