"""All checks of all components of an installed distribution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Literal

import attrs

from mklkit.errors import UnknownNameError, quoted, suggest
from mklkit.registry.discovery import canonical
from mklkit.registry.registry import Entry, Registry
from mklkit.testing.cases import KINDS, Case
from mklkit.testing.checks import Check, component_checks
from mklkit.testing.expectations import CheckFailure, NotApplicable

__all__ = ["NEEDS_PYTHON", "Finding", "Outcome", "checks_of", "findings"]

NEEDS_PYTHON = "can_be_made_by_name"
"""The only check of a component that cannot be made from its name alone."""

Outcome = Literal["passed", "failed", "not applicable"]


@attrs.frozen
class Finding:
    """The outcome of one check."""

    kind: str
    component: str
    check: str
    outcome: Outcome
    message: str


def checks_of(registry: Registry, package: str, required: bool = True) -> list[Check]:
    """Return the checks of every component that a distribution provides.

    Parameters
    ----------
    registry : Registry
    package : str
        The distribution's name.
    required : bool
        Whether a package without components is an error.

    Raises
    ------
    UnknownNameError
        If there is no such distribution, or it provides no component.
    """
    entries = [entry for kind in KINDS for entry in registry.entries(kind)]
    wanted = canonical(package)
    own = [entry for entry in entries if canonical(entry.distribution) == wanted]
    if not own and required:
        known = sorted({entry.distribution for entry in entries})
        try:
            distribution(package)
        except (PackageNotFoundError, ValueError):  # the latter for no name at all
            raise UnknownNameError(
                f"No package {quoted(package)} is installed.{suggest(package, known)}"
                f" Packages with components: {', '.join(known)}."
            ) from None
        raise UnknownNameError(
            f"{package} is installed, but provides no kernel, map, learner, combiner, preset or"
            " command: it needs an entry point of the group 'mklkit', a module with hooks."
            f" Packages with components: {', '.join(known)}."
        )
    ordered = [entry for kind in KINDS for entry in own if entry.kind == kind]
    return [
        check
        for entry in ordered
        for check in (
            [_needs_python(entry)]
            if _only_from_python(entry.target)
            else component_checks(entry.target, entry.kind)
        )
    ]


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


def _needs_python(entry: Entry) -> Check:
    """Return the only check of a component with a parameter that has no default."""
    call = f"check_{entry.kind}({entry.target.__name__}(...))"

    def explain(case: Case) -> None:
        raise NotApplicable(
            f"{entry.name} has a parameter without a default, and can be checked by {call} only."
        )

    sentence = "It can be made from its name alone."
    return Check(entry.kind, entry.name, NEEDS_PYTHON, sentence, explain, entry.target, None)


def _only_from_python(cls: Any) -> bool:
    """Return whether a class has a parameter without a default, such as a matrix."""
    if not isinstance(cls, type) or not attrs.has(cls):
        return False
    return any(field.init and field.default is attrs.NOTHING for field in attrs.fields(cls))
