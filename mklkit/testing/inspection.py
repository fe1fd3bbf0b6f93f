"""All checks of all components of an installed distribution."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Literal

import attrs

from mklkit.errors import UnknownNameError, quoted, suggest
from mklkit.registry.discovery import canonical
from mklkit.registry.registry import Registry
from mklkit.testing.cases import KINDS, Case
from mklkit.testing.checks import Check, component_checks
from mklkit.testing.expectations import CheckFailure, NotApplicable

__all__ = ["Finding", "Outcome", "can_be_made_by_name", "checks_of", "findings"]

Outcome = Literal["passed", "failed", "not applicable"]


@attrs.frozen
class Finding:
    """The outcome of one check."""

    kind: str
    component: str
    check: str
    outcome: Outcome
    message: str


def can_be_made_by_name(case: Case) -> None:
    """It can be made from its name alone; if not, this is its only check."""
    raise NotApplicable(
        f"{case.label} has a parameter without a default, and can be checked by"
        f" check_component({case.source.__name__}(...)) only."
    )


def checks_of(registry: Registry, package: str, others: Collection[str] = ()) -> list[Check]:
    """Return the checks of every component that a distribution provides.

    Parameters
    ----------
    registry : Registry
    package : str
        The distribution's name.
    others : collection of str
        Distributions that need no component, as they provide commands, say.

    Raises
    ------
    UnknownNameError
        If there is no such distribution, or it provides no component and is none of the others.
    """
    entries = [entry for kind in KINDS for entry in registry.entries(kind)]
    provided = [entry for entry in entries if canonical(entry.distribution) == canonical(package)]
    if not provided and canonical(package) not in map(canonical, others):
        known = sorted({entry.distribution for entry in entries} | {*others})
        listing = f" Packages with components or commands: {', '.join(known)}."
        try:
            distribution(package)
        except (PackageNotFoundError, ValueError):  # the latter for no name at all
            raise UnknownNameError(
                f"No package {quoted(package)} is installed.{suggest(package, known)}{listing}"
            ) from None
        raise UnknownNameError(
            f"{package} is installed, but provides no component and no command: it needs an entry"
            f" point of the group 'mklkit', a module with hooks.{listing}"
        )
    checks: list[Check] = []
    for entry in provided:
        if _needs_arguments(entry.target):
            case = Case(entry.target, entry.kind)
            checks.append(Check(entry.kind, entry.name, can_be_made_by_name, case))
        else:
            checks += component_checks(entry.target, entry.kind)
    return checks


def findings(checks: Iterable[Check]) -> Iterator[Finding]:
    """Run checks one after the other, and yield their outcomes."""
    for check in checks:
        outcome: Outcome = "passed"
        message = ""
        try:
            check()
        except CheckFailure as failure:
            outcome, message = "failed", str(failure)
        except NotApplicable as reason:
            outcome, message = "not applicable", str(reason)
        yield Finding(check.kind, check.component, check.name, outcome, message)


def _needs_arguments(cls: Any) -> bool:
    """Return whether a class has a parameter without a default, such as a matrix."""
    if not isinstance(cls, type) or not attrs.has(cls):
        return False
    return any(field.init and field.default is attrs.NOTHING for field in attrs.fields(cls))
