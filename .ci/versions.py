"""Run tests with another Python, and with the oldest or newest dependencies that are allowed.

    python .ci/versions.py python3.11 oldest --all
    python .ci/versions.py python3.13 newest

``oldest`` turns every lower bound of the ``pyproject.toml`` files into a constraint, so that bounds
stand in one place; ``newest`` takes what pip finds. Without ``--all`` the tests are those that
depend most on other packages' versions.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from steps import PLUGINS, ROOT, Environment, project_of, say

EXTRAS = ".[cones,dask,parquet,plot,test]"
QUICK = [
    *("tests/registry", "tests/kernels", "tests/feature_maps", "tests/combiners", "tests/learners"),
    *("tests/cli", "tests/datasets", "tests/persistence"),
    *("tests/plotting", "tests/estimators/test_sklearn_contract.py"),
]
IMPORT_ALL = """
import importlib, pkgutil, mklkit
for module in pkgutil.walk_packages(mklkit.__path__, "mklkit."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def main() -> None:
    """Install mklkit and its plugins as asked for, and test them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python", help="the interpreter, such as python3.12")
    parser.add_argument("dependencies", choices=["oldest", "newest"])
    parser.add_argument("--all", action="store_true", help="the whole suite instead of a part")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        environment = Environment.fresh(Path(scratch) / "venv", options.python)
        constraints = Path(scratch) / "constraints.txt"

        def install(*packages: str, projects: list[Path]) -> None:
            oldest = options.dependencies == "oldest"
            constraints.write_text("\n".join(oldest_of(projects)) if oldest else "")
            environment.install("--constraint", constraints, *packages)

        say(f"{options.python}, {options.dependencies} dependencies of mklkit")
        install(EXTRAS, projects=[ROOT])
        print(environment.run("python", "-m", "pip", "freeze"))
        environment.run("python", "-W", "error", "-c", IMPORT_ALL)
        environment.test(*([] if options.all else QUICK), cwd=ROOT)
        for plugin in PLUGINS:
            say(plugin.name)
            install(str(plugin), projects=[ROOT, plugin])
            environment.test(cwd=plugin)
    say("done")


def oldest_of(projects: Iterable[Path]) -> list[str]:
    """Return constraints that allow lower bounds of projects only, the highest of each name."""
    bounds: dict[str, str] = {}
    for name, bound in lower_bounds(projects):
        bounds[name] = max(bound, bounds.get(name, "0"), key=parts)
    return [f"{name}=={bound}" for name, bound in sorted(bounds.items())]


def lower_bounds(projects: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield names and lower bounds of what projects and their extras need, but for mklkit."""
    for folder in projects:
        project = project_of(folder)["project"]
        extras = project["optional-dependencies"]
        needed = [extra for name in extras if name != "docs" for extra in extras[name]]
        for requirement in [*project["dependencies"], *needed]:
            name, _, bound = requirement.partition(";")[0].strip().partition(">=")
            if name != "mklkit":
                yield name.partition("[")[0], bound


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


if __name__ == "__main__":
    main()
