"""The checks of each kind of component, separately or all together."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import attrs

from mklkit.errors import plain_message
from mklkit.protocols import Array
from mklkit.testing.cases import Case, ComponentKind, kind_of
from mklkit.testing.combiners import COMBINER_CHECKS
from mklkit.testing.common import COMPONENT_CHECKS
from mklkit.testing.expectations import CheckFailure, NotApplicable
from mklkit.testing.feature_maps import FEATURE_MAP_CHECKS
from mklkit.testing.in_classifier import CLASSIFIER_CHECKS
from mklkit.testing.kernels import KERNEL_CHECKS
from mklkit.testing.learners import LEARNER_CHECKS
from mklkit.testing.places import place_of
from mklkit.testing.presets import PRESET_CHECKS

__all__ = [
    "Check",
    "check_combiner",
    "check_feature_map",
    "check_kernel",
    "check_learner",
    "check_preset",
    "component_checks",
]

CheckFunction = Callable[[Case], None]

# In the order of likely causes: first the checks of the kind itself, beginning with the one for
# writing into the input, which would make the others fail too.
CHECKS: dict[ComponentKind, tuple[CheckFunction, ...]] = {
    "kernel": (*KERNEL_CHECKS, *COMPONENT_CHECKS, *CLASSIFIER_CHECKS),
    "feature_map": (*FEATURE_MAP_CHECKS, *COMPONENT_CHECKS, *CLASSIFIER_CHECKS),
    "learner": (*LEARNER_CHECKS, *COMPONENT_CHECKS, *CLASSIFIER_CHECKS),
    "combiner": (*COMBINER_CHECKS, *COMPONENT_CHECKS, *CLASSIFIER_CHECKS),
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
    name : str
        The check's name.
    help : str
        What is checked, as a sentence.
    """

    kind: ComponentKind
    component: str
    name: str
    help: str
    _function: CheckFunction
    _given: Any
    _rows: Array | None
    _fits: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)

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
                self._function(Case(self._given, self.kind, self._rows, self._fits))
            except CheckFailure as failure:
                raise CheckFailure(f"{self}: {failure}") from failure.__cause__
            except NotApplicable:
                raise
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                reason = plain_message(error).rstrip(".")
                raise CheckFailure(
                    f"{self}: {self.help} Expected no error; got {type(error).__name__}: {reason},"
                    f" at {place_of(error, self._given)}."
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
        If the object is not a component.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> first = component_checks(Linear)[0]
    >>> print(first)
    kernel linear, rows_are_left_as_they_are
    >>> first()
    """
    kind = kind_of(component) if kind is None else kind
    label = Case(component, kind, rows).label
    fits: dict[str, Any] = {}
    return [
        Check(kind, label, function.__name__, _sentence(function), function, component, rows, fits)
        for function in CHECKS[kind]
    ]


def check_kernel(kernel: Any, rows: Array | None = None) -> None:
    """Check a kernel, or its class.

    Parameters
    ----------
    kernel : Kernel or class
    rows : ndarray of shape (T, d), optional
        Rows for a kernel that needs particular ones; 12 or more.

    Raises
    ------
    CheckFailure
        Lists every check that failed.

    Examples
    --------
    >>> from mklkit.kernels import RBF, Precomputed
    >>> check_kernel(RBF(gamma=0.5))
    >>> import numpy as np
    >>> check_kernel(Precomputed(np.eye(20)), rows=np.arange(20.0)[:, None])
    """
    _check_all(kernel, "kernel", rows)


def check_feature_map(feature_map: Any) -> None:
    """Check a feature map, or its class; see :func:`check_kernel`."""
    _check_all(feature_map, "feature_map")


def check_learner(learner: Any) -> None:
    """Check a learner, or its class; see :func:`check_kernel`."""
    _check_all(learner, "learner")


def check_combiner(combiner: Any) -> None:
    """Check a combiner, or its class.

    Parameters
    ----------
    combiner : Combiner or class

    Raises
    ------
    CheckFailure
        Lists every check that failed.

    Examples
    --------
    >>> from mklkit.plugin import weighting_rule
    >>> @weighting_rule("nameless-file")
    ... def rule(view, y):
    ...     '''Weight each kernel by minus one.'''
    ...     return -1.0
    >>> check_combiner(rule)
    Traceback (most recent call last):
        ...
    mklkit.testing.expectations.CheckFailure: ... nameless-file returned a negative weight: ...
    """
    _check_all(combiner, "combiner")


def check_preset(preset: Any) -> None:
    """Check a preset: that its components exist, and that the system learns and can be saved.

    Parameters
    ----------
    preset : Preset

    Raises
    ------
    CheckFailure
        Lists every check that failed.

    Examples
    --------
    >>> from mklkit.plugin import Preset
    >>> check_preset(Preset("two-widths", "Two Gaussians.", "uniform", ("rbf", "rbf(sigma=1)")))
    """
    _check_all(preset, "preset")


def _check_all(component: Any, kind: ComponentKind, rows: Array | None = None) -> None:
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


def _sentence(function: CheckFunction) -> str:
    return " ".join((inspect.getdoc(function) or "").split())
