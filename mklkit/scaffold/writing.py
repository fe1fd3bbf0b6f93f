"""A new plugin package from a template."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError
from importlib.metadata import distribution as find_distribution
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from mklkit._version import __version__
from mklkit.datasets.paths import refused, status
from mklkit.errors import DataError, SpecError
from mklkit.scaffold import Template

if TYPE_CHECKING:
    from mklkit.registry.registry import Kind

__all__ = ["NewPlugin", "write_plugin"]


# The suffix of the class's name, the topic of `mklkit list`, and the options of `mklkit fit`.
_FACTS: dict[Template, tuple[str, str, str]] = {
    Template.weighting: ("Weighting", "combiners", "--combiner"),
    Template.gating: ("Gating", "combiners", "--combiner"),
    Template.coupling: ("Coupling", "combiners", "--combiner"),
    Template.fusion: ("Fusion", "combiners", "--combiner"),
    Template.kernel: ("Kernel", "kernels", "--kernel"),
    Template.map: ("Map", "maps", "--learner mhks --map"),
    Template.learner: ("Learner", "learners", "--learner"),
}
_KINDS: dict[str, Kind] = {
    "combiners": "combiner",
    "kernels": "kernel",
    "maps": "feature_map",
    "learners": "learner",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@attrs.frozen
class NewPlugin:
    """The names in a new package, all derived from one."""

    name: str
    template: Template

    @classmethod
    def called(cls, name: str, template: Template) -> NewPlugin:
        """Return the names.

        Parameters
        ----------
        name : str
            The component's name; a prefix ``mklkit-`` is removed.

        Raises
        ------
        SpecError
            If the name is not lower-case words joined by hyphens, or is taken by a component, an
            installed package or the template.
        """
        short = name.removeprefix("mklkit-")
        if not _NAME.fullmatch(short):
            raise SpecError(
                "Expected a name of lower-case letters and digits, words joined by hyphens, such as"
                f" nearest-mean; got {name!r}."
            )
        # Imported late because the registry imports every plugin.
        from mklkit.registry.registry import get_registry

        new = cls(short, template)
        if _is_installed(new.distribution):
            raise SpecError(
                f"{new.distribution} is installed already, and would be replaced by a package of"
                " that name; choose another."
            )
        if re.search(rf"\b{new.class_name}\b", new.template_text(template.value)):
            raise SpecError(
                f"The class of {short!r} would be {new.class_name}, a name that the template uses"
                " already; choose another."
            )
        for entry in get_registry().entries(_KINDS[new.listing]):
            if entry.name == short:
                raise SpecError(
                    f"The name {short!r} is taken by a {entry.kind.replace('_', ' ')} of"
                    f" {entry.distribution}; choose another."
                )
        return new

    @property
    def distribution(self) -> str:
        """The distribution's name, for pip."""
        return f"mklkit-{self.name}"

    @property
    def module(self) -> str:
        """The module's name, for Python."""
        return self.distribution.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The name of the component's class."""
        return "".join(part.capitalize() for part in self.name.split("-")) + self._facts[0]

    @property
    def listing(self) -> str:
        """The topic of ``mklkit list`` that shows it."""
        return self._facts[1]

    @property
    def use(self) -> str:
        """The command that fits a model with it."""
        return f"mklkit fit {self._facts[2]} {self.name}"

    @property
    def _facts(self) -> tuple[str, str, str]:
        return _FACTS[self.template]

    def contents(self) -> dict[str, str]:
        """Return the text of each of the package's files, by path."""
        return {
            "pyproject.toml": self._pyproject(),
            "README.md": self._readme(),
            f"{self.module}/__init__.py": self._from_template(self.template.value),
            f"{self.module}/py.typed": "",
            f"tests/test_{self.name.replace('-', '_')}.py": self._from_template("component_checks"),
        }

    @staticmethod
    def template_text(file: str) -> str:
        """Return a template's text, without replacements."""
        source = files("mklkit.scaffold").joinpath("templates", f"{file}.py")
        return source.read_text(encoding="utf-8")

    def _from_template(self, file: str) -> str:
        text = self.template_text(file)
        text = text.replace('"sketch"', f'"{self.name}"').replace("Sketch", self.class_name)
        ours = "from mklkit.scaffold.templates.weighting import"
        if ours not in text:
            return text
        # Third-party imports are separated from the package's own.
        lines = [line for line in text.splitlines() if not line.startswith(ours)]
        place = max(index for index, line in enumerate(lines) if line.startswith("from mklkit"))
        lines[place + 1 : place + 1] = ["", f"from {self.module} import {self.class_name}"]
        return "\n".join(lines) + "\n"

    def _pyproject(self) -> str:
        scipy = '    "scipy",\n' if self.template is Template.gating else ""
        return f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{self.distribution}"
version = "0.1.0"
description = "The {self.template.value} {self.name} for mklkit"
readme = "README.md"
requires-python = ">=3.11"
dependencies = [
    "attrs",
    "mklkit>={__version__.rpartition(".")[0]}",
    "numpy",
{scipy}]

[project.optional-dependencies]
test = ["pytest"]

[project.entry-points.mklkit]
{self.name} = "{self.module}"
"""

    def _readme(self) -> str:
        return f"""\
# {self.distribution}

The {self.template.value} `{self.name}` for mklkit.

```sh
pip install ".[test]"
pytest
mklkit list {self.listing}
{self.use}
```

The first line installs it with the test dependencies; `pip install .` leaves them out. After that,
`mklkit plugin check {self.distribution}` runs the same checks.
"""


def _is_installed(distribution: str) -> bool:
    try:
        find_distribution(distribution)
    except PackageNotFoundError:
        return False
    return True


def write_plugin(new: NewPlugin, into: Path) -> Path:
    """Write a package's folder completely or not at all, and return it.

    Raises
    ------
    DataError
        If the path exists already, or the folder cannot be written.
    """
    if status(into) is None or not into.is_dir():
        raise DataError(f"There is no folder {into} to write the package into.")
    folder = into / new.distribution
    if status(folder) is not None or folder.is_symlink():
        raise DataError(f"{folder} exists; choose another name or --into another folder.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{new.distribution}-", dir=into) as draft:
            package = Path(draft) / new.distribution
            for path, text in new.contents().items():
                file = package / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            # Unlike a rename, this fails if another process has just created the folder.
            folder.mkdir()
            for part in package.iterdir():
                shutil.move(part, folder / part.name)
    except FileExistsError as error:
        raise DataError(f"{folder} exists; choose another name.") from error
    except OSError as error:
        raise DataError(refused(folder, "written", error)) from error
    return folder
