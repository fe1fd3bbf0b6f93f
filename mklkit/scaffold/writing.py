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
    from collections.abc import Collection

    from mklkit.registry.registry import Kind

__all__ = ["NewPlugin", "write_plugin"]


# The suffix of the class's name, the topic of `mklkit list`, and what calls it: options of
# `mklkit fit`, or nothing of a command.
_FACTS: dict[Template, tuple[str, str, str]] = {
    Template.weighting: ("Weighting", "combiners", "--combiner"),
    Template.gating: ("Gating", "combiners", "--combiner"),
    Template.coupling: ("Coupling", "combiners", "--combiner"),
    Template.fusion: ("Fusion", "combiners", "--combiner"),
    Template.kernel: ("Kernel", "kernels", "--kernel"),
    Template.map: ("Map", "maps", "--learner mhks --map"),
    Template.learner: ("Learner", "learners", "--learner"),
    Template.command: ("Command", "commands", ""),
}
_KINDS: dict[str, Kind] = {
    "combiners": "combiner",
    "kernels": "kernel",
    "maps": "feature_map",
    "learners": "learner",
}
_MKLKIT = f"mklkit>={__version__.rpartition('.')[0]}"
_IMPORT = ("import ", "from ")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@attrs.frozen
class NewPlugin:
    """The names in a new package, all derived from one."""

    name: str
    template: Template

    @classmethod
    def called(cls, name: str, template: Template, commands: Collection[str] = ()) -> NewPlugin:
        """Return the names.

        Parameters
        ----------
        name : str
            The name of the component or command; a prefix ``mklkit-`` is removed.
        template : Template
        commands : collection of str
            The commands that there are.

        Raises
        ------
        SpecError
            If the name is not lower-case words joined by hyphens, or is taken by a component, a
            command, an installed package or the template.
        """
        short = name.removeprefix("mklkit-")
        if not _NAME.fullmatch(short):
            raise SpecError(
                "Expected a name of lower-case letters and digits, words joined by hyphens, such as"
                f" nearest-mean; got {name!r}."
            )
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
        if template is Template.command:
            if short in commands:
                raise SpecError(f"mklkit has a command {short!r} already; choose another name.")
            return new
        # Imported late because the registry imports every plugin.
        from mklkit.registry.registry import get_registry

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
        """The command that fits a model with it, or that it is."""
        if self.template is Template.command:
            return f"mklkit {self.name}"
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
            f"tests/test_{self.name.replace('-', '_')}.py": self._from_template(self._checks),
        }

    @property
    def _checks(self) -> str:
        return "command_checks" if self.template is Template.command else "component_checks"

    @staticmethod
    def template_text(file: str) -> str:
        """Return a template's text, without replacements."""
        source = files("mklkit.scaffold").joinpath("templates", f"{file}.py")
        return source.read_text(encoding="utf-8")

    def _from_template(self, file: str) -> str:
        text = self.template_text(file)
        text = text.replace('"sketch"', f'"{self.name}"').replace("Sketch", self.class_name)
        text = text.replace("mklkit sketch", f"mklkit {self.name}")
        text = text.replace("def sketch", f"def {self.name.replace('-', '_')}")
        lines = text.splitlines()
        ours = [line for line in lines if line.startswith("from mklkit.scaffold.templates.")]
        for line in ours:
            lines.remove(line)
            # Third-party imports are separated from the package's own.
            place = max(index for index, line in enumerate(lines) if line.startswith(_IMPORT))
            lines[place + 1 : place + 1] = [
                "",
                f"from {self.module} {line[line.index('import') :]}",
            ]
        return "\n".join(lines) + "\n"

    def _pyproject(self) -> str:
        needs = {
            Template.gating: ("attrs", _MKLKIT, "numpy", "scipy"),
            Template.command: (_MKLKIT, "typer"),
        }.get(self.template, ("attrs", _MKLKIT, "numpy"))
        dependencies = "".join(f'    "{name}",\n' for name in needs)
        group, target = "mklkit", self.module
        if self.template is Template.command:
            group, target = "mklkit_commands", f"{self.module}:app"
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
{dependencies}]

[project.optional-dependencies]
test = ["pytest"]

[project.entry-points.{group}]
{self.name} = "{target}"
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
`mklkit plugin check {self.distribution}` checks it.
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
