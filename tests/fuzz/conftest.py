"""One test a case: ``--fuzz-cases`` says how many, ``--fuzz-case`` names a single one."""

from __future__ import annotations

import pytest
from drawing import Draw
from guards import time_limit

# Far more than any case takes on a quiet machine.
SECONDS = 180


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "draw" not in metafunc.fixturenames:
        return
    option = metafunc.config.getoption
    seed, single = option("fuzz_seed"), option("fuzz_case")
    numbers = range(option("fuzz_cases")) if single is None else [single]
    cases = [(seed, number) for number in numbers]
    metafunc.parametrize("draw", cases, ids=[f"{s}-{n}" for s, n in cases], indirect=True)


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Draw:
    """Return the source of one case's choices; a failure shows how to have the case again."""
    seed, number = request.param
    file = request.node.path.relative_to(request.config.rootpath)
    print(f"reproduce: pytest {file} --fuzz-seed {seed} --fuzz-case {number}")
    return Draw(seed, number)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> object:
    """End a case that does not end."""
    with time_limit(SECONDS):
        return (yield)
