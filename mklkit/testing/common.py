"""Checks of every component before it is fitted: names, parameters, no state."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from mklkit.errors import MKLKitError, quoted
from mklkit.protocols import facts_of
from mklkit.protocols.component import Component, parameter_names
from mklkit.registry.entries import FACTS
from mklkit.registry.specs import is_name, parse_spec, to_spec
from mklkit.testing.cases import Case
from mklkit.testing.docstrings import documented_parameters
from mklkit.testing.expectations import CheckFailure, NotApplicable, expect, same
from mklkit.testing.states import state_of

__all__ = ["COMPONENT_CHECKS"]

DERIVE = "Derive the class from mklkit.protocols.Component and decorate it with @attrs.frozen."


def name_and_description(case: Case) -> None:
    """The class has a valid name, and a docstring whose first line describes it."""
    cls = type(case.component)
    name = getattr(cls, "name", None)
    valid = isinstance(name, str) and is_name(name)
    advice = "Write name: ClassVar[str] = 'my-name' in the class."
    expect(valid, "a 'name' of letters, digits, '_', '.', '-'", quoted(name), advice)
    # attrs writes no docstring, but object has one.
    lines = (cls.__doc__ or "").splitlines()
    advice = "Write a docstring; 'mklkit list' shows its first line."
    expect(any(line.strip() for line in lines), "a docstring", "none", advice)
    advice = "Describe it directly after the opening quotes; 'mklkit list' shows that line."
    expect(bool(lines[0].strip()), "a docstring with a first line", "an empty line", advice)


def states_its_facts(case: Case) -> None:
    """The component's properties are declared in its facts, an object of its kind."""
    assert case.kind != "preset", "presets have other checks"
    expected = FACTS[case.kind]
    try:
        facts_of(case.component, expected)
    except MKLKitError as error:
        raise CheckFailure(f"{error} Write it in the class, as a class attribute.") from error


def search_space_can_be_tried(case: Case) -> None:
    """A search space in the facts names parameters of the component, with values that it takes."""
    assert case.kind != "preset", "presets have other checks"
    space = facts_of(case.component, FACTS[case.kind]).search_space
    if not space:
        raise NotApplicable(f"{case.label} declares no search space")
    component = _with_parameters(case)
    for name, values in space.items():
        for value in values:
            try:
                component.with_params(**{name: value})
            except MKLKitError as error:
                raise CheckFailure(
                    f"Expected every value of the search space to be accepted; {name}={value!r} was"
                    f" refused: {error} Correct search_space in the facts."
                ) from error


def docstring_has_its_parameters(case: Case) -> None:
    """The docstring documents no parameter that the class does not have."""
    cls = type(case.component)
    known = inspect.signature(cls).parameters
    strangers = [name for name in documented_parameters(cls.__doc__ or "") if name not in known]
    expect(
        not strangers,
        f"no parameters in the docstring but {', '.join(known) or 'none'}",
        ", ".join(strangers),
        "Correct the section Parameters, or the class.",
    )


def parameters_round_trip(case: Case) -> None:
    """with_params and the class itself make the same component from the result of get_params."""
    component = _with_parameters(case)
    params = component.get_params(deep=False)
    again = component.with_params(**params)
    made = type(component)(**params)
    copied = clone(component)
    for other, maker in ((again, "with_params"), (made, "the class"), (copied, "clone")):
        expect(
            same(state_of(other), state_of(component)),
            f"{maker} to give the same component back",
            repr(other),
            "Store parameters under their own names; converters must be idempotent.",
        )


def unknown_parameters_are_refused(case: Case) -> None:
    """A parameter that does not exist is refused by an MKLKitError."""
    component = _with_parameters(case)
    component.with_params()
    try:
        component.with_params(no_such_parameter=1)
    except MKLKitError:
        return
    raise CheckFailure(
        "Expected with_params(no_such_parameter=1) to raise an MKLKitError; it was accepted."
        f" {DERIVE}"
    )


def values_that_are_no_numbers_are_refused(case: Case) -> None:
    """A parameter whose default is a number accepts neither text nor NaN."""
    component = _with_parameters(case)
    fields = attrs.fields_dict(type(component))
    numeric = [name for name in parameter_names(component) if _is_number(fields[name].default)]
    if not numeric:
        raise NotApplicable(f"{case.label} has no parameter whose default is a number")
    for name in numeric:
        component.with_params(**{name: fields[name].default})
        for value in ("no-number", float("nan")):
            try:
                component.with_params(**{name: value})
            except (TypeError, ValueError):
                continue
            raise CheckFailure(
                f"Expected {name}={value!r} to be refused by a ValueError or TypeError; it was"
                " accepted. Add a converter and a validator, as in attrs.field(default=1.0,"
                " converter=float, validator=[gt(0), mklkit.plugin.finite_number])."
            )


def spec_round_trip(case: Case) -> None:
    """The spec string that to_spec returns makes the same component again."""
    component = case.component
    spec = to_spec(component)
    name = getattr(component, "name", "")
    advice = "The spec must consist of the name and parameters of the class."
    expect(spec.partition("(")[0] == name, f"a spec that starts with {name!r}", spec, advice)
    state = state_of(component)
    if not all(_is_literal(value) for value in state.values()):
        raise NotApplicable(f"{case.label} has a parameter that a spec string cannot contain")
    parsed = parse_spec(spec)
    again = type(component)(*parsed.args, **parsed.kwargs)
    expect(
        same(state_of(again), state),
        f"{spec} to make the same component again",
        repr(again),
        "Converters must accept the repr() of a parameter.",
    )


def frozen(case: Case) -> None:
    """A component is immutable: its parameters cannot be assigned to."""
    component = copy.copy(case.component)
    for name, value in state_of(component).items():
        try:
            setattr(component, name, value)
        except AttributeError:  # attrs.FrozenInstanceError is one
            continue
        raise CheckFailure(
            f"Expected an assignment to {name!r} to be refused; it was accepted, but folds and"
            " threads share components. Decorate the class with @attrs.frozen."
        )


def fit_changes_nothing(case: Case) -> None:
    """Fitting returns a separate object and does not change the component."""
    before = copy.deepcopy(state_of(case.component))
    fitted = case.fit()
    advice = "Return a fitted object from fit, and store nothing on the component."
    expect(fitted is not None, "fit to return a fitted object", "None", advice)
    after = state_of(case.component)
    expect(same(before, after), f"the state {before} after fit", after, advice)


def pickles(case: Case) -> None:
    """The component can be pickled, so that grid searches can run in several processes."""
    try:
        again = pickle.loads(pickle.dumps(case.component))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CheckFailure(
            f"Expected a component that can be pickled; got {type(error).__name__}: {error}."
            " Define the class at the top of its module, with no functions among its values."
        ) from error
    expect(
        same(state_of(again), state_of(case.component)),
        "the same component from its pickle",
        repr(again),
        "Leave pickling to attrs.",
    )


def global_random_state_has_no_say(case: Case) -> None:
    """No random numbers are drawn from the global states of NumPy and Python."""
    before = _global_random_states()
    case.answer(case.fit())
    for library, state in _global_random_states().items():
        expect(
            same(state, before[library]),
            f"{library}'s global random state to be unchanged",
            "another one after fitting",
            "Draw from the random_state that fit gets, and pass it on, as in"
            " SVC(random_state=...).",
        )


def _global_random_states() -> dict[str, Any]:
    return {"NumPy": np.random.get_state(), "Python": random.getstate()}  # noqa: NPY002


def _with_parameters(case: Case) -> Any:
    if isinstance(case.component, Component):
        return case.component
    if callable(getattr(case.component, "get_params", None)) and attrs.has(type(case.component)):
        return case.component
    raise NotApplicable(f"{case.label} has no get_params, which the bases in mklkit.plugin provide")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_literal(value: Any) -> bool:
    if value is None or isinstance(value, (str, int, float)):
        return True
    return isinstance(value, (list, tuple)) and all(_is_literal(part) for part in value)


COMPONENT_CHECKS = (
    states_its_facts,
    search_space_can_be_tried,
    name_and_description,
    docstring_has_its_parameters,
    parameters_round_trip,
    unknown_parameters_are_refused,
    values_that_are_no_numbers_are_refused,
    spec_round_trip,
    frozen,
    fit_changes_nothing,
    global_random_state_has_no_say,
    pickles,
)
