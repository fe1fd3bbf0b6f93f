"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from helpers.browser import Page, find_browser
from helpers.installed_plugins import leave_out_others
from hypothesis import settings
from threadpoolctl import threadpool_limits

# OpenMP's threads wait for each other actively: where every core has a worker of pytest already, a
# second thread makes scikit-learn's trees ten times as slow. OpenMP is loaded later and reads this,
# as do the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

leave_out_others()

# The same examples on every run, without a clock: a slow machine must not fail a test.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=10, database=None)
# Other and more examples on every run: pytest --hypothesis-profile=long
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("ci")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the packages alone: there are none here, and looking takes seconds."""
    collectors = yield
    if Path(__file__).parent not in file_path.parents:
        return collectors
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of tests/fuzz; pytest asks for options here only, before it collects."""
    group = parser.getgroup("fuzz", "the fuzzers in tests/fuzz")
    group.addoption("--fuzz-cases", type=int, default=8, help="cases that each fuzzer tries")
    group.addoption("--fuzz-seed", type=int, default=1, help="seed of the cases")
    group.addoption("--fuzz-case", type=int, help="the number of a single case, to see it again")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return a page of a headless Chromium; without one its tests are skipped."""
    program = find_browser()
    if program is None:
        pytest.skip("there is no Chromium to look at pages with")
    with Page(program, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: on small matrices, more of them cost more than they save."""
    import_module("scipy.linalg")  # brings a BLAS of its own, which must be loaded to be limited
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a seeded source of random numbers."""
    return np.random.default_rng(20260711)


@pytest.fixture
def two_classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 70 rows of 4 features in two overlapping classes of unequal size, labels −1, +1."""
    y = np.where(np.arange(70) % 5 < 2, 1.0, -1.0)
    rows = rng.normal(size=(70, 4))
    rows[:, :2] += 0.7 * y[:, None]
    return rows, y


@pytest.fixture
def three_classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 90 rows of 4 features in three overlapping classes of unequal size, labels 0, 1, 2."""
    labels = np.repeat([0, 1, 2], [20, 30, 40])
    rows = rng.normal(size=(90, 4))
    rows[:, :2] += 1.6 * np.array([[0, 0], [1, 0], [0.3, 1]])[labels]
    shuffled = rng.permutation(90)
    return rows[shuffled], labels[shuffled]
