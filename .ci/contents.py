"""What wheels and source distributions must contain, and that they contain nothing else."""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from steps import ROOT, project_of, run

__all__ = ["Built", "check_contents", "same", "unpacked"]

# The build adds these to what a project lists.
ADDED = {"PKG-INFO", ".gitignore", "pyproject.toml"}
# Of the package itself, what only a checkout needs.
NOT_IN_WHEELS = {"mklkit_authors/templates/ruff.toml"}
NEEDED = {"LICENSE", "README.md", "pyproject.toml"}
NEEDED_OF_MKLKIT = {
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("docs/index.md", "examples/own_rule.py", "tests/conftest.py"),
    *("mklkit/comparison/report/page.js", "mklkit/comparison/report/style.css"),
}


class Built(NamedTuple):
    """The files of one project."""

    name: str
    wheel: Path
    sdist: Path

    @property
    def package(self) -> str:
        return self.name.replace("-", "_")

    @property
    def folder(self) -> Path:
        return ROOT if self.name == "mklkit" else ROOT / "plugins" / self.name


def check_contents(project: Built) -> None:
    """Leave with the names of files that are missing in what was built, or additional."""
    with tarfile.open(project.sdist) as archive:
        members = [member.name for member in archive.getmembers() if member.isfile()]
    shipped = {name.partition("/")[2] for name in members}
    needed = NEEDED | (NEEDED_OF_MKLKIT if project.folder == ROOT else set())
    same(f"the source distribution of {project.name}", shipped & needed, "what it needs", needed)
    if (ROOT / ".git").exists() and shutil.which("git"):
        same(
            f"the source distribution of {project.name}",
            shipped - ADDED,
            "git",
            listed(project.folder),
        )

    names = zipfile.ZipFile(project.wheel).namelist()
    installed = {name for name in names if ".dist-info/" not in name}
    metadata = {name.partition(".dist-info/")[2] for name in names}
    code = {name for name in shipped if name.startswith(f"{project.package}/")} - NOT_IN_WHEELS
    same(f"the wheel of {project.name}", installed, "its package", code)
    typed_and_licensed = {f"{project.package}/py.typed", "licenses/LICENSE"}
    present = typed_and_licensed & (installed | metadata)
    same(f"the wheel of {project.name}", present, "what it needs", typed_and_licensed)
    check_readme(project)


def listed(folder: Path) -> set[str]:
    """Return what git knows, or would add, below the paths that a project lists for its sources."""
    included = project_of(folder)["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    paths = [path.lstrip("/") for path in included]
    # Whoever owns the checkout.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard", "--", *paths]
    names = run(*command, cwd=folder).split("\0")
    return {name for name in names if name and (folder / name).exists()}


def check_readme(project: Built) -> None:
    """Leave if the page that an index shows has links that lead nowhere there."""
    with zipfile.ZipFile(project.wheel) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        links = {part.partition(")")[0] for part in wheel.read(name).decode().split("](")[1:]}
    absolute = {link for link in links if link.startswith("https://")}
    same(f"the description of {project.name}", links, "its absolute links", absolute)


def same(subject: str, names: set[str], reference: str, wanted: set[str]) -> None:
    """Leave with the names that two sets do not share."""
    if names != wanted:
        more, less = (", ".join(sorted(a - b)) for a, b in ((names, wanted), (wanted, names)))
        sys.exit(
            f"{subject} differs from {reference}: it also has {more or '-'}, lacks {less or '-'}."
        )


def unpacked(project: Built, scratch: Path) -> Path:
    """Unpack a source distribution, and make its package one that cannot be imported."""
    with tarfile.open(project.sdist) as archive:
        archive.extractall(scratch / "unpacked", filter="data")
    folder = scratch / "unpacked" / project.sdist.name.removesuffix(".tar.gz")
    message = "raise ImportError('these are the sources instead of the installed package')\n"
    (folder / project.package / "__init__.py").write_text(message)
    return folder
