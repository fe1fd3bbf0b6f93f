"""``mklkit plugin``: start a plugin package, and check an installed one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import counting, plain, say, show, show_json
from mklkit.cli.examples import epilog
from mklkit.errors import counted
from mklkit.scaffold import Template

if TYPE_CHECKING:
    from mklkit.registry.registry import Registry
    from mklkit.testing.inspection import Finding, Outcome

__all__ = ["plugin"]

plugin = typer.Typer(
    help="Start a plugin package, and check an installed one.",
    epilog=epilog("mklkit plugin"),
    no_args_is_help=True,
)


@plugin.command("new", epilog=epilog("mklkit plugin new"))
def new(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The component's name, such as nearest-mean; the package is mklkit-NAME.",
        ),
    ],
    template: Annotated[
        Template,
        typer.Option(
            "--template",
            help="A combiner (one weight per kernel; weights that depend on the row; learners"
            " fitted jointly; decisions joined), or a kernel, a feature map or a learner.",
        ),
    ] = Template.weighting,
    into: Annotated[
        Path,
        typer.Option(
            "--into",
            metavar="DIR",
            parser=opt.file_path,
            help="The folder in which the package's folder is created.",
        ),
    ] = Path(),
) -> None:
    """Write a working package with a test; once installed, 'mklkit list' shows it.

    Nothing is overwritten.
    """
    from mklkit.scaffold.writing import NewPlugin, write_plugin

    package = NewPlugin.called(name, template)
    folder = write_plugin(package, into)
    show(f"wrote {folder}: {', '.join(sorted(package.contents()))}")
    say(
        f'Now: pip install -e "{folder}[test]"; pytest {folder}; {package.use}.'
        f" The {template.value} to change is in {package.module}/__init__.py."
    )


@plugin.command("check", epilog=epilog("mklkit plugin check"))
def check(
    package: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE",
            autocompletion=complete.packages,
            help="An installed package, such as mklkit-nearest.",
        ),
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Check the components of an installed package, as mklkit.testing does.

    Exit code 0: all checks passed; 1: a check failed, no check applied, or the package cannot be
    loaded; 2: the package does not exist or has no components.
    """
    from mklkit.registry.registry import get_registry
    from mklkit.testing.inspection import checks_of, findings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registry = get_registry()
    broken = _failures(registry, package)
    for warning in caught:
        if str(warning.message) not in broken:  # which is a result, to be shown with the others
            warnings.warn(warning.message, warning.category, stacklevel=2)
    checks = checks_of(registry, package, required=not broken)
    found = []
    with counting("checking") as progress:
        for finding in findings(checks):
            found.append(finding)
            progress(len(found), len(checks))
    if as_json:
        show_json(_as_facts(package, found, broken))
    else:
        _report(found, broken)
    outcomes = {finding.outcome for finding in found}
    if broken or "failed" in outcomes or "passed" not in outcomes:
        raise typer.Exit(1)


def _failures(registry: Registry, package: str) -> list[str]:
    from mklkit.registry.discovery import canonical

    wanted = canonical(package)
    return [str(each) for each in registry.failures if canonical(each.distribution) == wanted]


def _as_facts(package: str, found: list[Finding], broken: list[str]) -> dict[str, Any]:
    return {
        "package": package,
        "not_loaded": broken,
        "checks": [
            {
                "kind": finding.kind,
                "component": finding.component,
                "check": finding.check,
                "outcome": finding.outcome,
                "message": finding.message,
            }
            for finding in found
        ],
    }


def _report(found: list[Finding], broken: list[str]) -> None:
    from mklkit.testing.inspection import can_be_made_by_name

    for failure in broken:
        show(failure)
    if found:
        show(_table(found))
    alike: dict[str, list[Finding]] = {}
    for finding in found:
        if finding.outcome == "failed":
            # The check's name and description come before it.
            fault = finding.message.partition("Expected ")[2] or finding.message
            alike.setdefault(fault, []).append(finding)
        elif finding.check == can_be_made_by_name.__name__:
            show(f"not checked: {finding.message}")
    for first, *others in alike.values():
        show(f"failed: {first.message}")
        if others:
            names = ", ".join(dict.fromkeys(finding.check for finding in others))
            show(f"  The same in {counted(len(others), 'other check')}: {names}.")


def _table(found: list[Finding]) -> Any:
    """Return how many checks each component passed."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    outcomes: tuple[Outcome, ...] = ("passed", "failed", "not applicable")
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("kind", "component"):
        grid.add_column(head, overflow="fold")
    for head in outcomes:
        grid.add_column(head, justify="right")
    for kind, name in dict.fromkeys((finding.kind, finding.component) for finding in found):
        own = [f.outcome for f in found if (f.kind, f.component) == (kind, name)]
        counts = [own.count(outcome) for outcome in outcomes]
        style = "red" if "failed" in own else ""
        cells = [kind.replace("_", " "), plain(name), *map(str, counts)]
        grid.add_row(*(Text(cell) for cell in cells), style=style)
    return grid
