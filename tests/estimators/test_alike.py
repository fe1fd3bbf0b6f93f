"""Values as few arrays: what comes back is what went in."""

from __future__ import annotations

import pickle
from typing import Any

import attrs
import numpy as np
import pytest

from mklkit.estimators.alike import stacked, unstacked


@attrs.frozen(eq=False)
class Point:
    place: np.ndarray
    name: str | None
    parts: tuple[Any, ...] = ()


@attrs.frozen(eq=False)
class Doubled:
    """A class with a state of its own."""

    number: float

    def __getstate__(self) -> dict[str, float]:
        return {"number": 2 * self.number}

    def __setstate__(self, state: dict[str, float]) -> None:
        object.__setattr__(self, "number", state["number"] / 2)


@attrs.frozen
class Nothing:
    pass


def same(first: Any, second: Any) -> bool:
    """Return whether two values are equal, with their types, compared field by field."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        equal = first.dtype == second.dtype and first.shape == second.shape
        return bool(equal) and first.tolist() == second.tolist()
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if attrs.has(type(first)):
        names = [field.name for field in attrs.fields(type(first))]
        return all(same(getattr(first, name), getattr(second, name)) for name in names)
    return repr(first) == repr(second)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1, True, 1.0, "1", None, np.float64(1), 0.1 + 0.2, -0.0, float("nan"), float("inf")],
        [np.arange(3.0), np.arange(0.0), np.arange(2), np.ones((2, 3)), np.ones((1, 3), "f4")],
        [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(5.0)],
        [np.array(["a", None]), np.array([b"", b"cd"]), np.array(["2000-01-01"], "M8[D]")],
        [[1, [2.0, ()]], (), [], ([], "a"), (1, 2)],
        [Nothing(), Nothing(), Doubled(3.0), Doubled(0.5), np.array(["b", "aa"])],
        [Point(np.ones(2), "a", (Nothing(), 2.0)), Point(np.ones((2, 2)), None), 7],
    ],
)
def test_values_come_back_with_their_types(values: list[Any]) -> None:
    back = unstacked(pickle.loads(pickle.dumps(stacked(values))))
    assert same(values, back)


def test_what_objects_share_they_share_again() -> None:
    place = np.arange(4.0)
    first, second = unstacked(stacked([Point(place, "a", (1.0,)), Point(place, "b", (1.0,))]))
    assert first.place is second.place
    (group,) = stacked([place, place])["groups"]
    assert len(group["arrays"]) == len(place)


def many() -> dict[str, Any]:
    return stacked([Point(np.arange(n + 1.0), str(n), (n,)) for n in range(5)])


def columns_of(packed: dict[str, Any]) -> Any:
    return packed["groups"][0]["like"]


@pytest.mark.parametrize("places", [np.array([-1]), np.array([9]), np.array([0.5]), np.eye(2)])
def test_places_of_nothing_are_refused(places: np.ndarray) -> None:
    with pytest.raises((ValueError, IndexError)):
        unstacked(many() | {"places": places})


@pytest.mark.parametrize("lengths", [[1, 2, 3, 4, 4], [-1, 4, 3, 4, 5], [15], []])
def test_lengths_that_do_not_fit_are_refused(lengths: list[int]) -> None:
    packed = many()
    (group,) = columns_of(packed).place["groups"]
    group["lengths"] = np.array(lengths, np.intp)
    with pytest.raises((ValueError, IndexError)):
        unstacked(packed)


def test_columns_of_different_lengths_are_refused() -> None:
    packed = many()
    columns_of(packed).name["places"] = np.zeros(4, np.intp)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        unstacked(packed)
