"""Components: frozen configuration with parameters by name, and presets, which name them."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import attrs

from mklkit.errors import MKLKitError, SpecError, plain_message, quoted, suggest

__all__ = [
    "AUTO",
    "Component",
    "Preset",
    "as_int",
    "auto_or_number",
    "finite_number",
    "is_whole",
    "parameter_names",
]

LARGEST_COUNT = 2**31 - 1
AUTO = "auto"
"""The value of a parameter that a fit chooses by itself."""


def finite_number(instance: object, attribute: Any, value: float) -> None:
    """Validate an attrs field: refuse infinity and NaN."""
    if not math.isfinite(value):
        raise ValueError(f"{attribute.name!r} must be a finite number, got {value}")


def as_int(value: Any) -> Any:
    """Convert an integer of any type to a Python int, as a converter of an attrs field.

    Grids made by ``numpy.arange`` hold NumPy integers. Other values are left to the validators;
    booleans, which are integers to Python, and integers too large for the compiled code of NumPy
    and libsvm are refused.
    """
    if isinstance(value, bool):
        raise ValueError(f"a whole number is expected; got {value}")
    if not isinstance(value, Integral):
        return value
    if abs(int(value)) > LARGEST_COUNT:
        raise ValueError(f"whole numbers must be at most {LARGEST_COUNT}; got {quoted(int(value))}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer of any type; booleans do not count."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def auto_or_number(zero: bool = False) -> Any:
    """Return the attrs field of a finite number above zero, or ``"auto"``, which is its default.

    ``zero`` says that zero is allowed too.
    """

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


class Component:
    """Configuration that scikit-learn's tools can read and vary.

    A subclass is an ``@attrs.frozen`` class with a ``name``, which users type. It never
    changes: ``fit`` returns a separate fitted object, ``with_params`` a changed copy. Values are
    checked by attrs validators, so that a component that exists is a valid one.

    Optional: ``searched_as = {"word": "spec"}``, other names under which users may look for it,
    each with the spec string to suggest.

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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; those of nested components as ``outer__inner``."""
        params = {key: getattr(self, key) for key in parameter_names(self)}
        if deep:
            for key, value in list(params.items()):
                if isinstance(value, Component):
                    params |= {f"{key}__{inner}": v for inner, v in value.get_params().items()}
        return params

    def with_params(self, **params: Any) -> Self:
        """Return a copy with some parameters changed (the component itself is frozen)."""
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
        """Clone for scikit-learn: an immutable component can be shared."""
        return self


@attrs.frozen
class Preset:
    """A named system.

    Attributes
    ----------
    name : str
        The name that users type.
    help : str
        One line of description with its source.
    combiner : str
    kernels : tuple of str, optional
        Spec strings; the library's default trio where not given.
    feature_map, learner : str, optional
        Spec strings; the combiner's own pair where not given.
    members : int, default=1
        The number of classifiers that vote, each with its own random maps.
    scale : {"standard", "minmax", "none"}, optional
        How ``mklkit.preset_pipeline`` and the command line scale the features;
        ``"standard"`` where not given.

    Examples
    --------
    >>> Preset("two-widths", "Two Gaussians, even.", "uniform", ("rbf", "rbf(sigma=1)")).combiner
    'uniform'
    """

    name: str
    help: str
    combiner: str
    kernels: tuple[str, ...] | None = None
    feature_map: str | None = None
    learner: str | None = None
    members: int = 1
    scale: str | None = None
