"""The table of checks, and those of a component or of an installed distribution."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Literal

import attrs
import numpy as np

from mklkit.errors import MKLKitError, UnknownNameError, plain_message, quoted, suggest
from mklkit.protocols import Array
from mklkit.protocols.component import Preset
from mklkit.registry.discovery import canonical
from mklkit.registry.entries import BASES, HOOKS, Kind
from mklkit.registry.registry import Registry
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.combiners import COMBINER_CHECKS, LEARNER_CHECKS
from mklkit_authors.testing.common import COMPONENT_CHECKS
from mklkit_authors.testing.estimators import ESTIMATOR_CHECKS, PRESET_CHECKS
from mklkit_authors.testing.expectations import CheckFailure, NotApplicable, place_of
from mklkit_authors.testing.fits import (
    DECISION_CHECKS,
    FIT_CHECKS,
    inputs_are_left_as_they_are,
    weights_of_rows_count,
)
from mklkit_authors.testing.kernels import KERNEL_CHECKS, MAP_CHECKS
from mklkit_authors.testing.missing import MISSING_CHECKS
from mklkit_authors.testing.tasks import TASK_CHECKS

Outcome = Literal["passed", "failed", "not applicable"]

CheckFunction = Callable[[Case], None]

# In the order of likely causes; writing into the input would make the others fail too.
CHECKS: dict[Kind, tuple[CheckFunction, ...]] = {
    "kernel": (inputs_are_left_as_they_are, *KERNEL_CHECKS, *FIT_CHECKS),
    "feature_map": (inputs_are_left_as_they_are, *MAP_CHECKS, *FIT_CHECKS),
    "learner": (
        inputs_are_left_as_they_are,
        *DECISION_CHECKS,
        *FIT_CHECKS,
        weights_of_rows_count,
        *LEARNER_CHECKS,
    ),
    "combiner": (
        inputs_are_left_as_they_are,
        *COMBINER_CHECKS,
        *DECISION_CHECKS,
        *FIT_CHECKS,
        weights_of_rows_count,
    ),
    "missing": MISSING_CHECKS,
    "task": TASK_CHECKS,
    "preset": PRESET_CHECKS,
}

EXAMPLES = (
    " If it does not take every value, add some that it takes to the class: traits ="
    " KernelTraits(examples=(...))."
)
TEXTS = " Its examples are texts: state what its columns hold too, KernelTraits(reads='text', ...)."
ARGUMENTS = (
    " With row_weights='throughout' in the traits, sample weights are a further argument: see its"
    " base class in mklkit.plugin."
)


@attrs.frozen
class Check:
    """One check of one component; a call runs it.

    Parameters
    ----------
    kind : str
        The kind of the component, such as ``"kernel"``.
    component : str
        Its name, with its parameters.
    function : callable
        The check.
    case : Case
        The component with the data of its checks.

    Attributes
    ----------
    name : str
        The check's name.
    help : str
        A sentence on what is checked.

    See Also
    --------
    component_checks : The checks of a component.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> component_checks(Linear)[0].name
    'inputs_are_left_as_they_are'
    """

    kind: Kind
    component: str
    function: CheckFunction
    _case: Case = attrs.field(eq=False, repr=False)

    @property
    def name(self) -> str:
        """The check's name."""
        return self.function.__name__

    @property
    def help(self) -> str:
        """A sentence on what is checked."""
        return " ".join((inspect.getdoc(self.function) or "").split())

    def __call__(self) -> None:
        """Run the check.

        Raises
        ------
        CheckFailure
            If the component fails; the message has the expected and actual result and a remedy.
        NotApplicable
            If the check does not concern the component.
        """
        # Warnings are meant for users and are not checked.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                # Another case with the same fits, since a check may change its samples.
                self.function(attrs.evolve(self._case))
            except CheckFailure as failure:
                raise CheckFailure(f"{self}: {failure}") from failure.__cause__
            except (NotApplicable, KeyboardInterrupt):
                raise
            except BaseException as error:
                reason = plain_message(error).rstrip(".")
                raise CheckFailure(
                    f"{self}: {self.help} Expected no error; got {type(error).__name__}: {reason},"
                    f" at {place_of(error, self._case.source)}.{_remedy(self._case, error)}"
                ) from error

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} {self.component}, {self.name}"


def _remedy(case: Case, error: BaseException) -> str:
    """Return what helps against an error that a component raised, where that is known."""
    if case.kind == "combiner" and isinstance(error, TypeError):
        return ARGUMENTS * (case.component.traits.row_weights == "throughout")
    if case.kind != "kernel" or not isinstance(error, ValueError):
        return ""
    texts = any(isinstance(value, str) for value in case.kernel_traits.examples)
    return TEXTS if texts and case.kernel_traits.reads in ("numbers", "amounts") else EXAMPLES


def component_checks(
    component: Any, kind: Kind | None = None, rows: Array | None = None
) -> list[Check]:
    """Return the checks of a component.

    Parameters
    ----------
    component : component, component class or preset
        A class is instantiated with its defaults.
    kind : {"kernel", "feature_map", "learner", "combiner", "missing", "task", "preset"}, optional
        By default it is inferred.
    rows : ndarray of shape (T, d), optional
        Samples for a kernel that needs particular ones; 12 or more.

    Returns
    -------
    list of Check
        The checks; a call of one runs it.

    Raises
    ------
    MKLKitError
        If the object is not a component, or the samples are too few.

    See Also
    --------
    check_component : Run them all.
    parametrize_with_component_checks : A test for each.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> first = component_checks(Linear)[0]
    >>> print(first)
    kernel linear, inputs_are_left_as_they_are
    >>> first()
    """
    kind = _kind_of(component) if kind is None else kind
    if rows is not None and (np.ndim(rows) != 2 or len(rows) < 12):
        raise MKLKitError(
            f"Expected samples as an array of shape (12 or more, d), got shape {np.shape(rows)}."
        )
    case = Case(component, kind, None if rows is None else np.asarray(rows))
    functions = CHECKS[kind]
    if kind not in ("preset", "missing", "task"):
        functions += (*COMPONENT_CHECKS, *ESTIMATOR_CHECKS)
    return [Check(kind, case.label, function, case) for function in functions]


def check_component(component: Any, kind: Kind | None = None, rows: Array | None = None) -> None:
    """Run all checks of a component.

    Parameters
    ----------
    component : component, component class or preset
        A class is instantiated with its defaults.
    kind : {"kernel", "feature_map", "learner", "combiner", "missing", "task", "preset"}, optional
        By default it is inferred.
    rows : ndarray of shape (T, d), optional
        Samples for a kernel that needs particular ones; 12 or more.

    Raises
    ------
    CheckFailure
        If a check failed. It lists every one that did: the expected and the actual result, and a
        remedy.
    MKLKitError
        If the object is not a component, or the samples are too few.

    See Also
    --------
    component_checks : The checks one by one.

    Examples
    --------
    >>> from mklkit.kernels import RBF, Precomputed
    >>> from mklkit.plugin import Preset, weighting_rule
    >>> check_component(RBF(gamma=0.5))
    >>> import numpy as np
    >>> check_component(Precomputed(np.eye(20)), rows=np.arange(20.0)[:, None])
    >>> check_component(Preset("wide", "Two Gaussians.", "uniform", ("rbf", "rbf(sigma=1)")))
    >>> @weighting_rule("nameless-file")
    ... def rule(view, y):
    ...     '''Weight each kernel by minus one.'''
    ...     return -1.0
    >>> check_component(rule)
    Traceback (most recent call last):
        ...
    mklkit_authors.testing.expectations.CheckFailure: ... must be zero or above; it returned −1...
    """
    checks = component_checks(component, kind, rows)
    failures = [each.message for each in findings(checks) if each.outcome == "failed"]
    if failures:
        head = f"{len(failures)} of {len(checks)} checks failed.\n"
        raise CheckFailure(head + "\n".join(failures))


def parametrize_with_component_checks(components: Iterable[Any], rows: Array | None = None) -> Any:
    """Make a test function of one argument, ``check``, run every check of every component.

    Parameters
    ----------
    components : iterable of components or component classes
        Of any kinds.
    rows : ndarray of shape (T, d), optional
        Samples for kernels that need particular ones; 12 or more.

    Returns
    -------
    decorator
        ``pytest.mark.parametrize`` with one case per check.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> @parametrize_with_component_checks([Linear])
    ... def test_linear(check):
    ...     check()
    """
    import pytest

    checks = [check for component in components for check in component_checks(component, rows=rows)]
    names = [f"{check.component}-{check.name}" for check in checks]
    return pytest.mark.parametrize("check", checks, ids=names)


def _kind_of(component: Any) -> Kind:
    """Return a component's kind: by its base, or else by the arguments of its fit."""
    cls: Any = component if isinstance(component, type) else type(component)
    if cls is Preset:
        return "preset"
    for kind, base in BASES.items():
        if issubclass(cls, base):
            return kind
    names = ", ".join(base.__name__ for base in BASES.values())
    raise MKLKitError(
        f"Expected a component or its class, derived from one of {names} of mklkit.plugin; got"
        f" {component!r}."
    )


@attrs.frozen
class Finding:
    """The outcome of one check."""

    kind: str
    component: str
    check: str
    outcome: Outcome
    message: str


def can_be_made_by_name(case: Case) -> None:
    """It can be created from its name alone; if not, this is its only check."""
    try:
        _ = case.component
    except CheckFailure as failure:
        if isinstance(failure.__cause__, AttributeError):  # no parameter would help
            raise
        raise NotApplicable(
            f"{case.label} can't be created without parameters, and can only be checked"
            f" by check_component({case.source.__name__}(...))."
        ) from failure


def checks_of(registry: Registry, package: str, others: Collection[str] = ()) -> list[Check]:
    """Return the checks of every component that a distribution provides.

    Raises an UnknownNameError if there is no such distribution, or if it provides no component
    and is not among ``others``, which need none because they provide commands, for example.
    """
    entries = [entry for kind in HOOKS for entry in registry.entries(kind)]
    provided = [entry for entry in entries if canonical(entry.distribution) == canonical(package)]
    if not provided and canonical(package) not in map(canonical, others):
        known = sorted({entry.distribution for entry in entries} | {*others})
        listing = f" Packages with components or commands: {', '.join(known)}."
        try:
            distribution(package)
        except (PackageNotFoundError, ValueError):  # the latter for an empty name
            raise UnknownNameError(
                f"No package {quoted(package)} is installed.{suggest(package, known)}{listing}"
            ) from None
        raise UnknownNameError(
            f"{package} is installed, but provides no component and no command: it needs an entry"
            f" point of the group 'mklkit', a module with hooks.{listing}"
        )
    checks: list[Check] = []
    for entry in provided:
        by_name = Check(entry.kind, entry.name, can_be_made_by_name, Case(entry.target, entry.kind))
        [finding] = findings([by_name])
        complete = finding.outcome != "not applicable"
        checks += component_checks(entry.target, entry.kind) if complete else [by_name]
    return checks


def findings(checks: Iterable[Check]) -> Iterator[Finding]:
    """Run checks one after the other, and yield their outcomes."""
    for check in checks:
        outcome: Outcome = "passed"
        message = ""
        try:
            check()
        except CheckFailure as failure:
            outcome = "failed"
            message = str(failure)
        except NotApplicable as reason:
            outcome = "not applicable"
            message = str(reason)
        yield Finding(check.kind, check.component, check.name, outcome, message)
