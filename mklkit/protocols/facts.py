"""What is true of a component: one small object for each kind, with defaults for most of it.

A component states it as a class attribute, ``facts = LearnerFacts(...)``, or as a property where it
depends on parameters. It is checked when the component is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from mklkit.errors import SpecError, quoted

__all__ = [
    "CombinerFacts",
    "Facts",
    "FeatureMapFacts",
    "KernelFacts",
    "LearnerFacts",
    "facts_of",
]

Validator = Callable[[Any, Any, Any], None]


def _must_be(what: str, fits: Callable[[Any], bool]) -> Validator:
    """Return a validator of an attrs field with an error that says what was expected."""

    def check(instance: object, attribute: Any, value: Any) -> None:
        if not fits(value):
            raise ValueError(f"{attribute.name} must be {what}; got {quoted(value)}")

    return check


def _are(kind: type | tuple[type, ...], values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, kind) for value in values)


_FLAG = _must_be("True or False", lambda value: isinstance(value, bool))
_SPEC = _must_be("a spec string", lambda value: isinstance(value, str) and bool(value))
_NAMES = _must_be("a tuple of names", lambda value: _are(str, value))
_RANGE = _must_be(
    "two numbers (low, high)",
    lambda value: value is None or (_are((int, float), value) and len(value) == 2),
)
_COUNT = _must_be(
    "a whole number from 1 up",
    lambda value: value is None or (isinstance(value, int) and value >= 1),
)


@attrs.frozen
class Facts:
    """What is true of a component."""


@attrs.frozen(kw_only=True)
class KernelFacts(Facts):
    """What is true of a kernel.

    Attributes
    ----------
    definite : bool, default=True
        Whether it is positive semi-definite for all rows.
    reads_row_ids : bool, default=False
        Whether rows are no features but ids to look up.
    """

    definite: bool = attrs.field(default=True, validator=_FLAG)
    reads_row_ids: bool = attrs.field(default=False, validator=_FLAG)


@attrs.frozen(kw_only=True)
class FeatureMapFacts(Facts):
    """What is true of a feature map.

    Attributes
    ----------
    explicit : bool
        Whether columns are features; else they are similarities to the training rows.
    shared : bool, default=False
        Whether one map, fitted on all rows, serves all binary problems of a classifier.
    for_kernels : tuple of str, default=()
        The names of the kernels that it can be fitted to, where that is not every one.
    """

    explicit: bool = attrs.field(validator=_FLAG)
    shared: bool = attrs.field(default=False, validator=_FLAG)
    for_kernels: tuple[str, ...] = attrs.field(default=(), validator=_NAMES)


@attrs.frozen(kw_only=True)
class LearnerFacts(Facts):
    """What is true of a learner.

    Attributes
    ----------
    on_features, on_gram : bool, default=False
        From which kinds of view it can learn: one of them at least.
    native_multiclass : bool, default=False
        Whether it tells several classes apart at once.
    takes_indefinite : bool, default=False
        Whether it is made for kernels that are not positive semi-definite too.
    """

    on_features: bool = attrs.field(default=False, validator=_FLAG)
    on_gram: bool = attrs.field(default=False, validator=_FLAG)
    native_multiclass: bool = attrs.field(default=False, validator=_FLAG)
    takes_indefinite: bool = attrs.field(default=False, validator=_FLAG)

    def __attrs_post_init__(self) -> None:
        if not (self.on_features or self.on_gram):
            raise ValueError("on_features or on_gram must be True: it learns from nothing else")

    def learns_from(self, feature_map: FeatureMapFacts) -> bool:
        """Return whether it can learn from what a feature map gives."""
        return self.on_features if feature_map.explicit else self.on_gram


@attrs.frozen(kw_only=True)
class CombinerFacts(Facts):
    """What is true of a combiner.

    Attributes
    ----------
    feature_map, learner : str, default="implicit" and "svm"
        The spec strings used where the user gives none.
    weight_range : (low, high), optional
        Where weights lie that are not on the simplex: not from zero up with sum one.
    n_kernels : int, optional
        How many kernels it takes, neither more nor fewer; any number where not given.
    for_learners : tuple of str, default=()
        The names of the learners that it works with, where that is not every one.
    native_multiclass : bool, default=False
        Whether it takes labels of several classes at once.
    """

    feature_map: str = attrs.field(default="implicit", validator=_SPEC)
    learner: str = attrs.field(default="svm", validator=_SPEC)
    weight_range: tuple[float, float] | None = attrs.field(default=None, validator=_RANGE)
    n_kernels: int | None = attrs.field(default=None, validator=_COUNT)
    for_learners: tuple[str, ...] = attrs.field(default=(), validator=_NAMES)
    native_multiclass: bool = attrs.field(default=False, validator=_FLAG)


Stated = TypeVar("Stated", bound=Facts)


def facts_of(component: Any, expected: type[Stated]) -> Stated:
    """Return the facts that a component or its class states; the defaults where it states none.

    Raises
    ------
    SpecError
        If it states none and the kind has no defaults for all, or states something else.

    Examples
    --------
    >>> from mklkit.kernels.linear import Linear
    >>> facts_of(Linear(), KernelFacts)
    KernelFacts(definite=True, reads_row_ids=False)
    """
    stated = getattr(component, "facts", None)
    try:
        facts = expected() if stated is None else stated
    except (TypeError, ValueError):  # attrs asks for what has no default
        facts = None
    if not isinstance(facts, expected):
        raise SpecError(
            f"Expected {quoted(component)} to have facts = mklkit.{expected.__name__}(...);"
            f" got {quoted(stated)}."
        )
    return facts
