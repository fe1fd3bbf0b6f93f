"""Build what a release uploads, and check it from the built files alone.

    python .ci/build_and_check.py --keep dist

A wheel and a source distribution of mklkit and of each package in ``plugins/`` are built, and
their metadata and contents checked. Each is installed into a fresh environment of its own, where
tests that the source distribution contains are run: on the wheel all of them; on what the source
distribution installs, which must be the same files, those of the quick form.

``--quick`` is for every change. It takes build, twine and all dependencies from the environment
that runs it, installs the wheels, which are built from the source distributions, and runs tests of
the data files, the command line, the plugins' entry points and some docstrings.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from contents import Built, check_contents, same, unpacked
from steps import PLUGINS, ROOT, Environment, project_of, say

QUICK = [
    *(
        "tests/test_architecture.py",
        "tests/docs/test_citation.py",
        "tests/datasets/test_generated.py",
    ),
    *("tests/cli/test_cli_start.py", "tests/cli/test_cli_describe.py"),
    "tests/comparison/test_report.py",
    *("mklkit.datasets", "mklkit.presets"),
]
QUICK_OF_PLUGINS = ["-k", "pickled_model_decides_the_same or test_listing or test_names"]
# As in the steps of their own that these tests have in .ci/run.
MARKED = ["-m", "(process or packages) and not slow and not benchmark", "--dist", "loadfile"]

# For each installed file of mklkit and its plugins, its name and hash.
INSTALLED_FILES = """
from importlib.metadata import distributions
for found in distributions():
    if found.metadata["Name"].startswith("mklkit"):
        for file in found.files:
            if file.hash and ".dist-info" not in str(file):
                print(file, file.hash.value)
"""


def main() -> None:
    """Build, check, and leave with an error code if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few tests, for every change")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to put what was built")
    options = parser.parse_args()
    if options.keep and options.keep.exists() and any(options.keep.iterdir()):
        sys.exit(f"Expected an empty folder, {options.keep} has files: name another one.")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        built = build(scratch, options.quick)
        for project in built:
            check_contents(project)
        if options.quick:
            check_together(built, scratch)
        else:
            core, authors, *_ = built
            for project in built:
                check_alone(project, core, authors, scratch)
        if options.keep:
            shutil.copytree(scratch / "dist", options.keep, dirs_exist_ok=True)
    say("done")


def build(scratch: Path, quick: bool) -> list[Built]:
    """Build all projects, mklkit first; each wheel is made from the source distribution."""
    if quick:
        tools = Environment(Path(sys.prefix))
    else:
        say("build tools")
        tools = Environment.fresh(scratch / "tools")
        tools.install("build", "twine", "cffconvert")
    built = []
    for project in [ROOT, *PLUGINS]:
        name = project_of(project)["project"]["name"]
        say(f"build {name}")
        folder = scratch / "built" / name
        isolation = ["--no-isolation"] if quick else []
        tools.run("python", "-m", "build", "--outdir", folder, *isolation, project)
        [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
        shutil.copytree(folder, scratch / "dist", dirs_exist_ok=True)
        built.append(Built(name, wheel, sdist))
    files = sorted((scratch / "dist").iterdir())
    print(tools.run("twine", "--no-color", "check", "--strict", *files))
    if not quick:
        print(tools.run("cffconvert", "--validate"))
    return built


def check_together(built: list[Built], scratch: Path) -> None:
    """Install all wheels into one environment and test them there."""
    say("install all wheels")
    environment = Environment.beside_this(scratch, without=[project.name for project in built])
    environment.install("--no-deps", "--no-index", *(project.wheel for project in built))
    check_commands(environment, built, scratch)
    say("quick tests")
    core, *plugins = (unpacked(project, scratch) for project in built)
    environment.test(*QUICK, cwd=core)
    environment.test(*QUICK_OF_PLUGINS, *(plugin / "tests" for plugin in plugins), cwd=scratch)


def check_alone(project: Built, core: Built, authors: Built, scratch: Path) -> None:
    """Install a project's wheel, and in another environment its sources, and test each."""
    # Plugins are tested by the checks of mklkit-authors.
    others = [] if project is core else [other for other in (core, authors) if other is not project]
    both = [*others, project]
    say(f"install the wheel of {project.name}")
    environment = Environment.fresh(scratch / f"wheel-{project.name}")
    environment.install(*with_tests(each.wheel for each in both))
    of_wheel = installed_files(environment)
    check_commands(environment, both, scratch)
    say(f"the tests of {project.name}")
    folder = unpacked(project, scratch)
    environment.test(cwd=folder)
    if project is core:
        environment.test(*MARKED, cwd=folder)

    say(f"install the source distribution of {project.name}")
    environment = Environment.fresh(scratch / f"sdist-{project.name}")
    environment.install(*with_tests(each.sdist for each in both))
    same("what sources install", installed_files(environment), "the wheels", of_wheel)
    check_commands(environment, both, scratch)
    quick_tests(environment, project, scratch)


def with_tests(files: Iterable[Path]) -> list[str]:
    return [f"{file}[test]" for file in files]


def quick_tests(environment: Environment, project: Built, scratch: Path) -> None:
    """Run the quick form's tests of a project."""
    say(f"quick tests of {project.name}")
    chosen = QUICK if project.folder == ROOT else QUICK_OF_PLUGINS
    environment.test(*chosen, cwd=unpacked(project, scratch))


def check_commands(environment: Environment, built: list[Built], scratch: Path) -> None:
    """Check that mklkit fits and predicts, and knows the components of just these packages."""
    known = json.loads(environment.run("mklkit", "list", "--json", cwd=scratch))
    names = {entry["distribution"] for entry in known}
    same("what mklkit lists", names, "what is installed", {project.name for project in built})
    environment.run("mklkit", "fit", "iris", "--combiner", "dimkl3", "-o", "model.mkl", cwd=scratch)
    environment.run("mklkit", "predict", "model.mkl", "iris", cwd=scratch)


def installed_files(environment: Environment) -> set[str]:
    """Return the names and hashes of what mklkit and its plugins have installed."""
    return {*environment.run("python", "-c", INSTALLED_FILES).splitlines()}


if __name__ == "__main__":
    main()
