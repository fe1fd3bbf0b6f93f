"""A new plugin package from a template."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from importlib.metadata import distributions
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from mklkit._version import __version__
from mklkit.datasets.paths import refused, status
from mklkit.errors import DataError, SpecError
from mklkit_authors import Template

if TYPE_CHECKING:
    from collections.abc import Collection

    from mklkit.registry.entries import Kind

# Templates that are not combiners: the kind, and the options of `mklkit fit` that take it.
_KINDS: dict[Template, tuple[Kind, str]] = {
    Template.kernel: ("kernel", "--kernel"),
    Template.map: ("feature_map", "--learner mhks --map"),
    Template.learner: ("learner", "--learner"),
    Template.missing: ("missing", "--missing"),
    Template.task: (
        "task",
        'breast_cancer --lower "mean radius" --upper "worst radius" --task',
    ),
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_IMPORT = re.compile(r"^(?:from|import) (\w+).*\n", re.MULTILINE)
_RELEASE = __version__.rpartition(".")[0]
# What to require for an import whose distribution has another name, or a least release.
_DISTRIBUTIONS = {"mklkit": f"mklkit>={_RELEASE}", "sklearn": "scikit-learn"}


@attrs.frozen
class NewPlugin:
    """The names in a new package, all derived from one."""

    name: str
    template: Template

    @classmethod
    def called(cls, name: str, template: Template, commands: Collection[str] = ()) -> NewPlugin:
        """Return the names derived from one without ``mklkit-`` that is not taken."""
        new = cls(name.removeprefix("mklkit-"), template)
        if not _NAME.fullmatch(new.name):
            raise SpecError(
                "Expected a name of lower-case letters and digits, words joined by hyphens, such as"
                f" nearest-mean; got {name!r}."
            )
        owner = new._owner(commands)
        if owner:
            raise SpecError(f"The name {new.name!r} is taken: {owner}. Choose another.")
        return new

    def _owner(self, commands: Collection[str]) -> str:
        """Return what already has the name, empty if nothing does."""
        if any(distributions(name=self.distribution)):
            return f"{self.distribution} is installed already"
        if re.search(rf"\b{self.class_name}\b", _template(f"{self.template.value}.py")):
            return f"{self.class_name} is a class in the template"
        if self.template is Template.command:
            return f"mklkit has a command {self.name!r} already" * (self.name in commands)
        # Imported late because the registry imports every plugin.
        from mklkit.registry.entries import spoken
        from mklkit.registry.registry import get_registry

        kind, _ = _KINDS.get(self.template, ("combiner", ""))
        owners = {entry.name: entry.distribution for entry in get_registry().entries(kind)}
        return f"a {spoken(kind)} of {owners[self.name]}" if self.name in owners else ""

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
        words = [*self.name.split("-"), self.template.value]
        return "".join(word.capitalize() for word in words)

    @property
    def noun(self) -> str:
        """What the package contains, in words."""
        is_missing = self.template is Template.missing
        return "strategy for missing sources" if is_missing else self.template.value

    @property
    def listing(self) -> str:
        """The topic of ``mklkit list`` that shows it."""
        if self.template is Template.missing:
            return "missing"
        is_combiner = self.template not in (*_KINDS, Template.command)
        return "combiners" if is_combiner else f"{self.template.value}s"

    @property
    def use(self) -> str:
        """The command that fits a model with it, or the command itself."""
        if self.template is Template.command:
            return f"mklkit {self.name}"
        _, options = _KINDS.get(self.template, ("combiner", "--combiner"))
        return f"mklkit fit {options} {self.name}"

    def contents(self) -> dict[str, str]:
        """Return the text of each of the package's files, by path."""
        is_command = self.template is Template.command
        source = self._named(_template(f"{self.template.value}.py"))
        needs = {*_IMPORT.findall(source)} - sys.stdlib_module_names
        summary = "Count the rows of each class of a table"
        names = {
            "name": self.name,
            "summary": summary if is_command else f"The {self.noun} {self.name} for mklkit",
            "template": self.noun,
            "distribution": self.distribution,
            "listing": self.listing,
            "use": self.use,
            "group": "mklkit_commands" if is_command else "mklkit",
            "tests": '"pytest"' if is_command else f'"mklkit-authors>={_RELEASE}", "pytest"',
            "target": f"{self.module}:app" if is_command else self.module,
            "dependencies": "\n".join(
                f'    "{_DISTRIBUTIONS.get(name, name)}",' for name in sorted(needs)
            ),
        }
        checks = "command_checks.py" if is_command else "component_checks.py"
        return {
            "pyproject.toml": _template("pyproject.toml.txt").format(**names),
            "README.md": _template("README.md.txt").format(**names),
            f"{self.module}/__init__.py": source,
            f"{self.module}/py.typed": "",
            f"tests/test_{self.name.replace('-', '_')}.py": self._named(_template(checks)),
        }

    def _named(self, text: str) -> str:
        """Return a template with the package's names."""
        for draft, name in (
            ('"sketch"', f'"{self.name}"'),
            ("Sketch", self.class_name),
            ("mklkit sketch", f"mklkit {self.name}"),
            ("def sketch", f"def {self.name.replace('-', '_')}"),
        ):
            text = text.replace(draft, name)
        return re.sub(r"mklkit_authors\.templates\.\w+", self.module, text)


def _template(file: str) -> str:
    return files("mklkit_authors").joinpath("templates", file).read_text(encoding="utf-8")


def write_plugin(new: NewPlugin, into: Path) -> Path:
    """Write a package's folder completely or not at all, and return it."""
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
