"""The table of checks, and the checks of one component."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from mklkit.errors import MKLKitError, plain_message
from mklkit.protocols import Array
from mklkit.protocols.component import Preset
from mklkit.registry.registry import get_registry
from mklkit.testing import combiners, feature_maps, fits, kernels, learners
from mklkit.testing.cases import KINDS, Case, ComponentKind
from mklkit.testing.common import COMPONENT_CHECKS
from mklkit.testing.estimators import ESTIMATOR_CHECKS
from mklkit.testing.expectations import CheckFailure, NotApplicable, place_of
from mklkit.testing.presets import PRESET_CHECKS
from mklkit.testing.rows import as_rows

__all__ = ["Check", "check_component", "component_checks", "parametrize_with_component_checks"]

CheckFunction = Callable[[Case], None]

# In the order of likely causes: first the checks of the kind itself, beginning with the one for
# writing into the input, which would make the others fail too.
CHECKS: dict[ComponentKind, tuple[CheckFunction, ...]] = {
    "kernel": (
        fits.inputs_are_left_as_they_are,
        kernels.values_have_their_shapes,
        kernels.symmetric,
        kernels.diagonal_is_that_of_the_matrix,
        kernels.positive_semi_definite,
        kernels.gaps_are_left_out,
        fits.each_row_by_itself,
        fits.one_seed_gives_one_result,
        fits.training_order_does_not_matter,
        kernels.shared_base_is_honest,
    ),
    "feature_map": (
        fits.inputs_are_left_as_they_are,
        feature_maps.says_whether_it_is_explicit,
        feature_maps.columns_have_their_shapes,
        fits.each_row_by_itself,
        fits.one_seed_gives_one_result,
        fits.training_order_does_not_matter,
        feature_maps.implicit_columns_are_similarities,
        feature_maps.shortcuts_agree_with_transform,
    ),
    "learner": (
        fits.inputs_are_left_as_they_are,
        fits.decides_one_number_a_row,
        fits.learns_what_is_plain,
        fits.each_row_by_itself,
        fits.one_seed_gives_one_result,
        fits.training_order_does_not_matter,
        fits.weights_of_rows_count,
        learners.support_carries_the_decision,
        learners.subproblem_finds_the_minimum,
    ),
    "combiner": (
        fits.inputs_are_left_as_they_are,
        combiners.declares_its_partners,
        combiners.weights_are_on_the_simplex,
        combiners.weights_are_used_as_they_are,
        fits.decides_one_number_a_row,
        combiners.kept_columns_decide_the_same,
        fits.learns_what_is_plain,
        fits.each_row_by_itself,
        fits.one_seed_gives_one_result,
        fits.training_order_does_not_matter,
        combiners.useless_kernels_do_no_harm,
        fits.weights_of_rows_count,
    ),
    "preset": PRESET_CHECKS,
}


@attrs.frozen
class Check:
    """One check of one component; call it to run the check.

    Attributes
    ----------
    kind : str
        The component's kind.
    component : str
        The component's name.
    function : callable
        The check, named as :attr:`name` says.
    """

    kind: ComponentKind
    component: str
    function: CheckFunction
    _case: Case = attrs.field(eq=False, repr=False)

    @property
    def name(self) -> str:
        """The check's name."""
        return self.function.__name__

    @property
    def help(self) -> str:
        """What is checked, as a sentence."""
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
                # Another case with the same fits, since a check may change its rows.
                self.function(attrs.evolve(self._case))
            except CheckFailure as failure:
                raise CheckFailure(f"{self}: {failure}") from failure.__cause__
            except (NotApplicable, KeyboardInterrupt):
                raise
            except BaseException as error:
                reason = plain_message(error).rstrip(".")
                raise CheckFailure(
                    f"{self}: {self.help} Expected no error; got {type(error).__name__}: {reason},"
                    f" at {place_of(error, self._case.source)}."
                ) from error

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} {self.component}, {self.name}"


def component_checks(
    component: Any, kind: ComponentKind | None = None, rows: Array | None = None
) -> list[Check]:
    """Return the checks of a component.

    Parameters
    ----------
    component : component, component class or preset
        A class is instantiated with its defaults.
    kind : {"kernel", "feature_map", "learner", "combiner", "preset"}, optional
        By default it is inferred.
    rows : ndarray of shape (T, d), optional
        Rows for a kernel that needs particular ones; 12 or more.

    Returns
    -------
    list of Check

    Raises
    ------
    MKLKitError
        If the object is not a component, or the rows are too few.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> first = component_checks(Linear)[0]
    >>> print(first)
    kernel linear, inputs_are_left_as_they_are
    >>> first()
    """
    kind = _kind_of(component) if kind is None else kind
    case = Case(component, kind, None if rows is None else as_rows(rows))
    functions = CHECKS[kind]
    if kind != "preset":
        functions += (*COMPONENT_CHECKS, *ESTIMATOR_CHECKS)
    return [Check(kind, case.label, function, case) for function in functions]


def check_component(
    component: Any, kind: ComponentKind | None = None, rows: Array | None = None
) -> None:
    """Run all checks of a component; the parameters are those of :func:`component_checks`.

    Raises
    ------
    CheckFailure
        Lists every check that failed: the expected and the actual result, and a remedy.

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
    mklkit.testing.expectations.CheckFailure: ... nameless-file returned a negative weight: ...
    """
    failures = []
    checks = component_checks(component, kind, rows)
    for check in checks:
        try:
            check()
        except NotApplicable:
            continue
        except CheckFailure as failure:
            failures.append(str(failure))
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
        Rows for kernels that need particular ones; 12 or more.

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


def _kind_of(component: Any) -> ComponentKind:
    """Return a component's kind: as registered, else by the arguments of its fit."""
    if isinstance(component, Preset):
        return "preset"
    cls: Any = component if isinstance(component, type) else type(component)
    registry = get_registry()
    for kind in KINDS:
        if any(entry.target is cls for entry in registry.entries(kind)):
            return kind
    if not callable(getattr(cls, "fit", None)):
        raise MKLKitError(
            f"Expected a component or its class, with a 'fit' method; got {component!r}."
        )
    arguments = inspect.signature(cls.fit).parameters
    by_argument: dict[str, ComponentKind] = {
        "views": "combiner",
        "side": "learner",
        "kernel": "feature_map",
    }
    return next((kind for name, kind in by_argument.items() if name in arguments), "kernel")
