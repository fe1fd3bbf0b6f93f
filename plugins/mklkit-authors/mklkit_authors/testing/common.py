"""Checks of every component before it is fitted: names, parameters, no state."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from mklkit.errors import MKLKitError, quoted
from mklkit.protocols import is_name, traits_of
from mklkit.protocols.component import Component
from mklkit.registry.docstrings import documented_parameters
from mklkit.registry.entries import TRAITS
from mklkit.registry.specs import parse_spec, to_spec
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.expectations import CheckFailure, NotApplicable, expect, same, state_of


def declares_its_traits(case: Case) -> None:
    """Its traits are of the right kind; a search space in them has values that it accepts."""
    assert case.kind != "preset", "presets have other checks"
    try:
        space = traits_of(case.component, TRAITS[case.kind]).search_space
    except MKLKitError as error:
        raise CheckFailure(f"{error} Write it in the class, as a class attribute.") from error
    for name, values in space.items():
        for value in values:
            try:
                _with_parameters(case).with_params(**{name: value})
            except MKLKitError as error:
                raise CheckFailure(
                    f"Expected every value of the search space to be accepted; {name}={value!r} was"
                    f" refused: {error} Correct search_space in the traits."
                ) from error


def name_and_description(case: Case) -> None:
    """The class has a valid name, and a docstring with a first line and existing parameters."""
    cls = type(case.component)
    known = inspect.signature(cls).parameters
    advice = "Write name: ClassVar[str] = 'my-name' in the class."
    valid = is_name(case.label)
    expect(valid, "a 'name' of letters, digits, '_', '.', '-'", quoted(case.label), advice)
    # attrs adds no docstring, but object has one.
    first, *_ = (cls.__doc__ or "").splitlines() or [""]
    advice = "Describe it directly after the opening quotes; 'mklkit list' shows that line."
    expect(bool(first.strip()), "a docstring with a first line", repr(first), advice)
    strangers = [name for name in documented_parameters(cls.__doc__ or "") if name not in known]
    expect(
        not strangers,
        f"no parameters in the docstring but {', '.join(known) or 'none'}",
        ", ".join(strangers),
        "Correct the section Parameters, or the class.",
    )


def parameters_round_trip(case: Case) -> None:
    """The same component comes from its parameters, spec string, clone and pickle."""
    component = case.component
    cls, state, spec = type(component), state_of(component), to_spec(component)
    advice = "The spec must consist of the name and parameters of the class."
    named = spec.partition("(")[0] == case.label
    expect(named, "a spec string that starts with the name", spec, advice)
    ways: dict[str, Callable[[], Any]] = {
        "its pickle": lambda: pickle.loads(pickle.dumps(component))
    }
    if isinstance(component, Component):
        params = component.get_params(deep=False)
        ways["with_params"] = lambda: component.with_params(**params)
        ways["the class"] = lambda: cls(**params)
        ways["clone"] = lambda: clone(component)
    if all(map(_is_literal, state.values())):
        parsed = parse_spec(spec)
        ways[spec] = lambda: cls(*parsed.args, **parsed.kwargs)
    for way, make in ways.items():
        try:
            again = make()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CheckFailure(
                f"Expected the same component from {way}; got {type(error).__name__}: {error}."
                " Define the class at the top of its module, with no functions among its values."
            ) from error
        advice = "Store parameters under their own names; converters must be idempotent."
        alike = same(state_of(again), state)
        expect(alike, f"the same component from {way}", repr(again), advice)


def values_that_are_no_numbers_are_refused(case: Case) -> None:
    """A parameter whose default is a number accepts neither text nor NaN."""
    component = _with_parameters(case)
    cls: Any = type(component)
    numeric = [f.name for f in attrs.fields(cls) if f.init and type(f.default) in (int, float)]
    if not numeric:
        raise NotApplicable(f"{case.label} has no parameter whose default is a number")
    for name in numeric:
        for value in ("no-number", float("nan")):
            try:
                component.with_params(**{name: value})
            except (TypeError, ValueError):
                continue
            raise CheckFailure(
                f"Expected {name}={value!r} to raise a ValueError or TypeError; it was"
                " accepted. Add a converter and a validator, as in attrs.field(default=1.0,"
                " converter=float, validator=[gt(0), mklkit.plugin.finite_number])."
            )


def fit_changes_nothing(case: Case) -> None:
    """Fitting returns a separate object; the component does not change, and cannot be changed."""
    component = case.component
    before = copy.deepcopy(state_of(component))
    fitted = case.fit().fitted
    advice = "Return a fitted object from fit, and store nothing on the component."
    expect(fitted is not None, "fit to return a fitted object", "None", advice)
    after = state_of(component)
    expect(same(before, after), f"the state {before} after fit", after, advice)
    component = copy.copy(component)
    for name, value in before.items():
        try:
            setattr(component, name, value)
        except AttributeError:  # attrs.FrozenInstanceError is one
            continue
        raise CheckFailure(
            f"Expected an assignment to {name!r} to raise an error; it was accepted, but folds and"
            " threads share components. Decorate the class with @attrs.frozen."
        )


def global_random_state_has_no_say(case: Case) -> None:
    """No random numbers are drawn from the global states of NumPy and Python."""
    before = _global_random_states()
    case.fit().results(case.new_rows)
    expect(
        same(_global_random_states(), before),
        "the global random states of NumPy and Python to be unchanged",
        "others after fitting",
        "Draw from the random_state that fit gets, and pass it on.",
    )


def _global_random_states() -> list[Any]:
    return [np.random.get_state(), random.getstate()]  # noqa: NPY002


def _with_parameters(case: Case) -> Component:
    if isinstance(case.component, Component):
        return case.component
    raise NotApplicable(f"{case.label} has no get_params, which the bases in mklkit.plugin provide")


def _is_literal(value: Any) -> bool:
    if value is None or isinstance(value, (str, int, float)):
        return True
    return isinstance(value, (list, tuple)) and all(_is_literal(part) for part in value)


COMPONENT_CHECKS = (
    declares_its_traits,
    name_and_description,
    parameters_round_trip,
    values_that_are_no_numbers_are_refused,
    fit_changes_nothing,
    global_random_state_has_no_say,
)
