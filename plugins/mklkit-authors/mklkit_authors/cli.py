"""``mklkit plugin``: start a plugin package, and check an installed one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer
from rich.table import Table as Grid

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import counting, say, show, show_json
from mklkit.cli.examples import epilog
from mklkit.cli.package_commands import BrokenCommandError, PackageCommand, package_commands
from mklkit.display.numbers import whole
from mklkit.display.table import Column, ResultTable
from mklkit.display.terminal import terminal_table
from mklkit.errors import MKLKitError, SpecError, counted, quoted, suggest
from mklkit_authors import Template

if TYPE_CHECKING:
    from mklkit_authors.testing.checks import Finding, Outcome

EXAMPLES = {
    "mklkit plugin": (
        ("Start a package with a kernel:", "mklkit plugin new my-kernel --template kernel"),
    ),
    "mklkit plugin new": (
        (
            "A combiner with one weight per kernel, in the folder mklkit-nearest-mean:",
            "mklkit plugin new nearest-mean --template weighting",
        ),
    ),
    "mklkit plugin check": (
        ("Check it, once it is installed:", "mklkit plugin check mklkit-nearest-mean"),
    ),
}

app = typer.Typer(
    help="Start a plugin package, and check an installed one.",
    epilog=epilog(*EXAMPLES["mklkit plugin"]),
    no_args_is_help=True,
    add_completion=False,
)


@app.command("new", epilog=epilog(*EXAMPLES["mklkit plugin new"]))
def new(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name of the component or command, such as nearest-mean; the package is"
            " mklkit-NAME.",
        ),
    ],
    kind: Annotated[str | None, typer.Argument(metavar="KIND", hidden=True)] = None,
    *,
    template: Annotated[
        Template,
        typer.Option(
            help="A combiner (one weight per kernel; weights that depend on the sample; learners"
            " fitted jointly; decisions joined), a kernel, a feature map, a learner, a strategy for"
            " missing sources, a task, or a command.",
        ),
    ] = Template.weighting,
    into: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            parser=opt.file_path,
            help="The folder in which the package's folder is created.",
        ),
    ] = Path(),
) -> None:
    """Write a working package with a test; once it is installed, 'mklkit list' shows it.

    Nothing is overwritten.
    """
    from mklkit_authors.writing import NewPlugin, write_plugin

    if kind is not None:
        known = kind in Template.__members__
        raise SpecError(
            f"Expected only a name, got {quoted(name)} and {quoted(kind)}: the kind of component is"
            f" an option, as in --template {kind if known else template.value}."
            f"{'' if known else suggest(kind, Template.__members__)}"
        )
    root: Any = context.find_root().command
    package = NewPlugin.called(name, template, root.list_commands(context))
    folder = write_plugin(package, into)
    show(f"wrote {folder}: {', '.join(sorted(package.contents()))}")
    say(
        f'Now: pip install -e "{folder}[test]"; pytest {folder}; {package.use}.'
        f" The {package.noun} to change is in {package.module}/__init__.py."
    )


@app.command("check", epilog=epilog(*EXAMPLES["mklkit plugin check"]))
def check(
    context: typer.Context,
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
    """Check the components of an installed package, and its commands.

    Exit code 0: all checks passed; 1: a check failed, no check applied, or the package cannot be
    loaded; 2: the package does not exist or has neither components nor commands.
    """
    from mklkit.registry.discovery import canonical
    from mklkit.registry.registry import get_registry
    from mklkit_authors.testing.checks import checks_of, findings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registry = get_registry()
    wanted = canonical(package)
    failures = (fault for fault in registry.failures if canonical(fault.distribution) == wanted)
    broken = [str(failure) for failure in failures]
    for warning in caught:
        if str(warning.message) not in broken:  # which is a result, shown with the others
            warnings.warn(warning.message, warning.category, stacklevel=2)
    commands = package_commands(context).values()
    done = _findings_of(commands, package)
    others = {plugin.distribution for command in commands for plugin in command.plugins}
    others |= {failure.distribution for failure in registry.failures}
    checks = checks_of(registry, package, others)
    with counting("checking") as progress:
        for finding in findings(checks):
            done.append(finding)
            progress(len(done), len(checks))
    if as_json:
        facts = [attrs.asdict(finding) for finding in done]
        show_json({"package": package, "not_loaded": broken, "checks": facts})
    else:
        _report(done, broken)
    outcomes = {finding.outcome for finding in done}
    if broken or "failed" in outcomes or "passed" not in outcomes:
        raise typer.Exit(1)


def _findings_of(commands: Iterable[PackageCommand], package: str) -> list[Finding]:
    """Return, for each command of a package, whether it can be loaded and has help."""
    from mklkit.registry.discovery import canonical
    from mklkit_authors.testing.checks import Finding

    findings = []
    for command in commands:
        if canonical(package) in (canonical(plugin.distribution) for plugin in command.plugins):
            message = ""
            try:
                if not command.load().help:
                    message = f"The command {command.name!r} has no docstring for its help."
            except (BrokenCommandError, MKLKitError) as error:
                message = str(error)
            outcome: Outcome = "failed" if message else "passed"
            name = str(command.name)
            findings.append(Finding("command", name, "loads_and_has_help", outcome, message))
    return findings


def _report(findings: list[Finding], broken: list[str]) -> None:
    from mklkit_authors.testing.checks import can_be_made_by_name

    for failure in broken:
        show(failure)
    if findings:
        show(_table(findings))
    faults: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.outcome == "failed":
            # The check's name and description come before the fault.
            fault = finding.message.partition("Expected ")[2] or finding.message
            faults.setdefault(fault, []).append(finding)
        elif finding.check == can_be_made_by_name.__name__:
            show(f"not checked: {finding.message}")
    for first, *rest in faults.values():
        again = f"  (the same in {counted(len(rest), 'other check')})" if rest else ""
        show(f"failed: {first.message}{again}")


def _table(findings: list[Finding]) -> Grid:
    """Return how many checks each component passed."""
    outcomes: tuple[Outcome, ...] = ("passed", "failed", "not applicable")
    rows = []
    for kind, name in dict.fromkeys((finding.kind, finding.component) for finding in findings):
        results = [f.outcome for f in findings if (f.kind, f.component) == (kind, name)]
        counts: dict[str, Any] = {outcome: results.count(outcome) for outcome in outcomes}
        rows.append({"kind": kind.replace("_", " "), "component": name, **counts})
    words = Column("kind", "kind"), Column("component", "component")
    numbers = [Column(outcome, outcome, whole) for outcome in outcomes]
    table = ResultTable([*words, *numbers], rows)
    return terminal_table(table, lambda row: "red" if row["failed"] else "")
