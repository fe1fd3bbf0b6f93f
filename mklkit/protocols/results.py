"""Results of components, checked where the library takes them.

A component may come from another package or a notebook. Its mistakes are told here, by name, and
not where a wrong result first does harm.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from mklkit.errors import ComponentError, quoted, type_name
from mklkit.protocols.component import Component
from mklkit.protocols.kernel import FeatureMap, FittedKernel, FittedMap
from mklkit.protocols.learner import FittedLearner, Learner
from mklkit.protocols.rows import Array
from mklkit.protocols.target import Target
from mklkit.protocols.views import TrainingView

__all__ = ["array_of", "check_kernel", "check_map", "component_error", "fit_learner", "result_of"]

Result = TypeVar("Result")

ARRAY = np.ndarray, "a NumPy array"
TRIAL_ROWS = 3
"""The number of samples on which a fitted kernel, map or learner is tried."""


def component_error(component: Component, fault: str) -> ComponentError:
    """Return the error of a component at fault, which names its class."""
    cls = type(component)
    where = f"{cls.__module__}.{cls.__qualname__}"
    return ComponentError(f"{component.name} ({where}): {fault}", (where,))


def result_of(
    component: Component, method: str, result: object, base: type[Result], wanted: str = ""
) -> Result:
    """Return what a method of a component returned if it is of a class, else raise an error.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> result_of(Linear(), "fit", None, FittedKernel)
    Traceback (most recent call last):
        ...
    mklkit.errors.ComponentError: linear (mklkit.kernels.inner_products.Linear): fit must return \
an object derived from FittedKernel; it returned None.
    """
    if isinstance(result, base):
        return result
    wanted = wanted or f"an object derived from {base.__name__}"
    came = "None" if result is None else f"a value of type {type_name(result)}"
    raise component_error(component, f"{method} must return {wanted}; it returned {came}.")


def array_of(
    component: Component, method: str, values: object, shape: tuple[int | str, ...]
) -> Array:
    """Return what a method returned as an array if it has numbers and a shape, else raise an error.

    Lengths that are given as a letter are free.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> array_of(Linear(), "diagonal", [1, 2], ("n",)).tolist()
    [1, 2]
    >>> array_of(Linear(), "diagonal", np.eye(2), (2,))
    Traceback (most recent call last):
        ...
    mklkit.errors.ComponentError: linear (mklkit.kernels.inner_products.Linear): diagonal must \
return numbers of shape (2,) here; it returned shape (2, 2).
    """
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.empty((), dtype=object)
    numbers = f"numbers of shape ({', '.join(map(str, shape))}{',' * (len(shape) == 1)}) here"
    fault = f"{method} must return {numbers if shape else 'a number'}; it returned"
    if array.dtype.kind not in "biuf":
        raise component_error(component, f"{fault} {quoted(values)}.")
    known = zip(shape, array.shape, strict=False)
    if array.ndim != len(shape) or any(isinstance(n, int) and n != m for n, m in known):
        raise component_error(component, f"{fault} shape {array.shape}.")
    return array


def check_kernel(component: Component, kernel: FittedKernel, rows: Any) -> None:
    """Raise an error if a fitted kernel's values for a few samples (N, d) have another shape."""
    some = rows[:TRIAL_ROWS]
    fewer = some[: max(1, some.shape[0] - 1)]
    values = result_of(component, "the fitted kernel", kernel(some, fewer), *ARRAY)
    array_of(component, "the fitted kernel", values, (some.shape[0], fewer.shape[0]))
    array_of(component, "diagonal", kernel.diagonal(some), (some.shape[0],))


def check_map(component: FeatureMap, fitted: FittedMap, rows: Any) -> None:
    """Raise an error if a fitted map's columns of a few samples (N, d) have another shape."""
    some = rows[:TRIAL_ROWS]
    columns = result_of(component, "transform", fitted.transform(some), *ARRAY)
    array_of(component, "transform", columns, (some.shape[0], "p" if fitted.explicit else "N"))


def fit_learner(learner: Learner, side: TrainingView, target: Target) -> FittedLearner:
    """Return a learner fitted to a training side, whose result has the shape that it must have.

    A linear function has as many coefficients as columns; another one is tried on columns of zeros.
    """
    fitted = result_of(learner, "fit", learner.fit(side, target), FittedLearner)
    n_columns = side.n_features if side.explicit else side.n_rows
    of_targets = ("T",) * target.is_several
    coefficients = fitted.coefficients
    if coefficients is not None:
        array_of(learner, "coefficients", coefficients, (n_columns, *of_targets))
        return fitted
    columns = np.zeros((TRIAL_ROWS, n_columns))
    with np.errstate(all="ignore"):
        values = result_of(learner, "decide", fitted.decide(columns), *ARRAY)
    array_of(learner, "decide", values, (len(columns), *of_targets))
    return fitted
