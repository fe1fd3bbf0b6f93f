"""Components: frozen configuration, its parameters and traits; presets and defaults name several.

A component's traits are its properties, one small object per kind, mostly with defaults. They are a
class attribute, ``traits = LearnerTraits(...)``, or a property if they depend on parameters, and
are checked when the component is registered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

import attrs
from attrs.validators import (
    and_,
    deep_iterable,
    deep_mapping,
    ge,
    instance_of,
    min_len,
    optional,
)

from mklkit.errors import MKLKitError, SpecError, plain_message, quoted, suggest

__all__ = [
    "AUTO",
    "Component",
    "Facts",
    "Preset",
    "as_int",
    "auto_or_number",
    "finite_number",
    "is_name",
    "is_whole",
    "parameter_names",
    "traits_of",
]

LARGEST_COUNT = 2**31 - 1

AUTO = "auto"
"""The value of a parameter that a fit chooses automatically."""

# The default and recommended components; only this module refers to components by name.
COMBINER, FEATURE_MAP, LEARNER = "uniform", "implicit", "svm"
COUPLED_MAP, COUPLED_LEARNER, RIDGE = "empirical", "mhks", "ridge"
AUTO_TASK = AUTO
TASK = "classification"
MISSING_STRATEGY, FILLED = "present", "impute"

KERNELS = (
    "cosine_linear:cosine(linear)",
    "rbf:rbf(sigma='mean')",
    "cosine_polynomial:cosine(polynomial(degree=2))",
)
"""The kernels of Wang, Chen and Sun 2008, normalised: k(x, x) = 1."""

USUAL_KERNEL = "rbf(sigma='mean')[standard]"
"""How a source of numbers is represented unless another way is clearly better."""

LANDMARK_MAP = "empirical(subset=1000)"
"""The map for more rows than a Gram matrix should have."""

LARGE_LEARNER = "learner='mhks'"
"""A learner that reads samples in parts."""

FOR_LARGE_DATA = f"feature_map={LANDMARK_MAP!r}, {LARGE_LEARNER}"
"""A map and a learner that need no Gram matrix."""

LARGE_DATA_OPTIONS = f"--map '{LANDMARK_MAP}' --learner mhks"
"""The same on the command line."""

FLAG = instance_of(bool)
NAMES = deep_iterable(instance_of(str), instance_of(tuple))
SPEC = and_(instance_of(str), min_len(1))
SPECS = deep_iterable(SPEC, instance_of(tuple))
SOME_SPECS: Any = and_(SPECS, min_len(1))
"""Validators of traits and presets."""


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a component or preset."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}", text) is not None


def finite_number(instance: object, attribute: Any, value: float) -> None:
    """Validate a field of an ``attrs`` class: raise an error for infinity and NaN.

    Parameters
    ----------
    instance : object
        The component.
    attribute : attrs.Attribute
        The field.
    value : float
        Its value.

    Raises
    ------
    ValueError
        If the value is not finite. The error is shown to the user as a :class:`mklkit.SpecError`.

    See Also
    --------
    as_int : A converter of fields.

    Examples
    --------
    >>> @attrs.frozen
    ... class Width:
    ...     sigma: float = attrs.field(converter=float, validator=finite_number)
    >>> Width(float("inf"))
    Traceback (most recent call last):
        ...
    ValueError: 'sigma' must be a finite number, got inf
    """
    if not math.isfinite(value):
        raise ValueError(f"{attribute.name!r} must be a finite number, got {value}")


def as_int(value: Any) -> Any:
    """Convert an integer of any type to a Python int, as a converter of an ``attrs`` field.

    Grids made by ``numpy.arange`` hold NumPy integers.

    Parameters
    ----------
    value : object
        The value of the field.

    Returns
    -------
    object
        The integer; any other value unchanged, which the field's validators then check.

    Raises
    ------
    ValueError
        For booleans, which are integers to Python, and for integers beyond ±(2³¹ − 1), which are
        too large for the compiled code of NumPy and libsvm.

    See Also
    --------
    finite_number : A validator of fields.

    Examples
    --------
    >>> import numpy as np
    >>> as_int(np.int64(3)), as_int("auto")
    (3, 'auto')
    """
    if isinstance(value, bool):
        raise ValueError(f"expected a whole number; got {value}")
    if not isinstance(value, Integral):
        return value
    if abs(int(value)) > LARGEST_COUNT:
        raise ValueError(f"whole numbers must be at most {LARGEST_COUNT}; got {quoted(int(value))}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer of any type; booleans do not count."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise a SpecError that names a value if it is not a whole number from ``least`` up."""
    if not is_whole(value) or value < least:
        raise SpecError(f"{name} must be a whole number, {least} or above; got {quoted(value)}.")


def auto_or_number(zero: bool = False) -> Any:
    """Return the attrs field of a finite number above (or at) zero, or ``"auto"``, its default."""

    def check(instance: object, attribute: Any, value: float | str) -> None:
        number = value if isinstance(value, float) else math.nan
        if value != AUTO and not (0 < number < math.inf or (zero and number == 0)):
            least = ">= 0" if zero else "> 0"
            raise ValueError(
                f"{attribute.name!r} must be {AUTO!r} or a finite number {least}; got"
                f" {quoted(value)}"
            )

    return attrs.field(
        default=AUTO,
        converter=lambda value: float(value) if isinstance(value, Real) else value,
        validator=check,
    )


def parameter_names(component: object) -> tuple[str, ...]:
    """Return the names of a component's parameters, in the order of its definition."""
    cls = component if isinstance(component, type) else type(component)
    return tuple(field.name for field in attrs.fields(cls) if field.init)


def own_fields(fitted: Any) -> dict[str, Any]:
    """Return the fields of an attrs object by name; none for other objects."""
    return attrs.asdict(fitted, recurse=False) if attrs.has(type(fitted)) else {}


class Component:
    """Configuration that scikit-learn's tools can read and vary.

    A subclass is an ``@attrs.frozen`` class with a ``name``, which users type. It never
    changes: ``fit`` returns a separate fitted object, ``with_params`` a changed copy. Attrs
    validators check the values, so that every existing component is valid.

    Examples
    --------
    >>> from mklkit.kernels import Polynomial
    >>> cubic = Polynomial(degree=3)
    >>> cubic.get_params()
    {'degree': 3, 'coef0': 1.0, 'gamma': 1.0}
    >>> cubic.with_params(coef0=0.5)
    Polynomial(degree=3, coef0=0.5, gamma=1.0)
    """

    __slots__ = ()

    name: ClassVar[str]

    searched_as: ClassVar[Mapping[str, str]] = {}
    """Other names that users may search for, each with the spec string to suggest."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include those of nested components, as ``outer__inner``.

        Returns
        -------
        dict of str to object
            The values of the parameters.
        """
        params = {key: getattr(self, key) for key in parameter_names(self)}
        if deep:
            for key, value in list(params.items()):
                if isinstance(value, Component):
                    params |= {f"{key}__{inner}": v for inner, v in value.get_params().items()}
        return params

    def with_params(self, **params: Any) -> Self:
        """Return a copy with some parameters changed; the component itself is frozen.

        Parameters
        ----------
        **params
            New values by name; those of nested components as ``outer__inner``.

        Returns
        -------
        Component
            The changed copy, whose values are validated.

        Raises
        ------
        SpecError
            If there is no parameter of that name, or a value is invalid.
        """
        changed: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            outer, _, inner = key.partition("__")
            if outer not in parameter_names(self):
                raise SpecError(
                    f"{self.name} has no parameter {quoted(outer)};"
                    f" it takes {', '.join(parameter_names(self)) or 'none'}."
                    f"{suggest(outer, parameter_names(self))}"
                )
            if inner:
                nested.setdefault(outer, {})[inner] = value
            else:
                changed[outer] = value
        for outer, inner_params in nested.items():
            part = changed.get(outer, getattr(self, outer))
            changed[outer] = part.with_params(**inner_params)
        # attrs calls the class through its own __init__, so converters and validators run again.
        try:
            return attrs.evolve(self, **changed)  # type: ignore[misc]
        except MKLKitError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise SpecError(f"{self.name}: {plain_message(error)}") from error

    def __sklearn_clone__(self) -> Self:
        """Return the component itself to scikit-learn's clone: an immutable one can be shared."""
        return self


@attrs.frozen(kw_only=True)
class Facts:
    """The properties of a component.

    Attributes
    ----------
    search_space : mapping of str to tuple, optional
        The component's parameters worth tuning, each with the values to try, from the simplest
        model to the most complex: if scores are tied, a search takes the first. A short search
        tries the values in the middle.
    """

    search_space: Mapping[str, tuple[Any, ...]] = attrs.field(
        factory=dict, validator=deep_mapping(instance_of(str), and_(instance_of(tuple), min_len(1)))
    )


Stated = TypeVar("Stated", bound=Facts)


def traits_of(component: Any, expected: type[Stated]) -> Stated:
    """Return the traits that a component or its class states, or else the default traits.

    A SpecError is raised if they have the wrong type, or no defaults.
    """
    stated = getattr(component, "traits", None)
    try:
        traits = expected() if stated is None else stated
    except (TypeError, ValueError):  # attrs requires values that have no default
        traits = None
    if not isinstance(traits, expected):
        raise SpecError(
            f"Expected {quoted(component)} to have traits = {expected.__name__}(...);"
            f" got {quoted(stated)}."
        )
    return traits


@attrs.frozen
class Preset:
    """A complete system under one name: kernels, feature map, combiner and learner.

    Parameters
    ----------
    name : str
        The name that users type.
    help : str
        One line of description with its source.
    combiner : str
        The spec string of the combiner.
    kernels : tuple of str, optional
        Spec strings; by default the library's three kernels.
    feature_map, learner : str, optional
        Spec strings; by default those of the combiner.
    members : int, default=1
        The number of classifiers that vote, each with its own random maps.
    scale : {"standard", "minmax", "none"}, optional
        How :func:`mklkit.preset_pipeline` and the command line scale the features; by default
        ``"standard"``.

    Raises
    ------
    TypeError
        If a value is not of the type above.
    ValueError
        If ``members`` is below 1, ``scale`` is another word, or a spec string is empty.

    See Also
    --------
    mklkit.preset_classifier : The classifier of a preset.
    mklkit.preset_pipeline : The same with the steps before it.
    hookimpl : The decorator of the hook ``mklkit_presets``, which returns a package's presets.

    Examples
    --------
    >>> from mklkit import preset_classifier
    >>> preset = Preset("two-widths", "Two Gaussians.", "uniform", ("rbf", "rbf(sigma=1)"))
    >>> preset_classifier(preset).kernels
    ['rbf', 'rbf(sigma=1)']
    """

    name: str = attrs.field(validator=instance_of(str))
    help: str = attrs.field(validator=instance_of(str))
    combiner: str = attrs.field(validator=SPEC)
    kernels: tuple[str, ...] | None = attrs.field(default=None, validator=optional(SOME_SPECS))
    feature_map: str | None = attrs.field(default=None, validator=optional(SPEC))
    learner: str | None = attrs.field(default=None, validator=optional(SPEC))
    members: int = attrs.field(default=1, validator=[instance_of(int), ge(1)])
    scale: str | None = attrs.field(default=None, validator=optional(SPEC))
