"""What all fuzzers draw from: values right and wrong, spec strings, rows and labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Any, TypeVar

import attrs
import numpy as np

from mklkit import get_registry

T = TypeVar("T")

ODD_TEXTS = (
    *("", " ", "é", "名", "\x1b[31mred", "\u202e", "\udcff", "a\nb", "a\tb", "'", '"', "%s", "{}"),
    *("nan", "inf", "-1", "−1", "1e400", "9" * 400, "0x10", "1,200", "1_0", "٣", "True", "None"),
    *("(", "rbf(", "rbf()", "@", ":", "=", "a=b", "*", "[0-", "..", "~nosuchuser", "x" * 300),
    *("x" * 5000, "linear@nothing", "cosine(" * 40 + "linear" + ")" * 40),
)
ODD_NUMBERS = (
    *(0, -1, 1, 2, 5, 0.5, -0.5, 1e-300, 1e300, -1e300, 5e-324, float("nan"), float("inf")),
    *(2**31, 2**32, 2**63, -(2**63), 10**400),
)
WRONG_TYPES = (None, True, 5, -1.5, "", "x", b"x", (), [], {}, object(), int, [None], {"a": 1})

WIDTHS = ("mean", "0.1*mean", "median", "scale", "auto", "5*auto", "neighbors", 0.05, 0.7, 3)
SHARES = (None, None, 0.1, 0.5, 1.0, 1, 3, 30)
# What validators do not list, by the name of the parameter.
OPTIONS = {"sigma": WIDTHS, "gamma": WIDTHS, "subset": SHARES, "rank": SHARES}
SMALL_COUNTS = (-1, 0, 1, 1, 2, 2, 3, 7)
LARGEST = np.finfo(np.float64).max
SCALES = (0, 0, 0, 0, 0, 0, -300, -150, -30, -8, 8, 30, 150, 300)


class Draw:
    """A seeded source of choices; the same seed and number draw the same case anywhere."""

    def __init__(self, seed: int, number: int) -> None:
        self._random = Random(f"{seed}/{number}")
        self.numpy = np.random.default_rng([seed, number])

    def chance(self, share: float) -> bool:
        """Return True in that share of calls."""
        return self._random.random() < share

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return self._random.randint(low, high)

    def real(self, low: float, high: float) -> float:
        """Return a number between low and high."""
        return self._random.uniform(low, high)

    def one_of(self, choices: Sequence[T]) -> T:
        """Return one of the choices."""
        return self._random.choice(choices)

    def some_of(self, choices: Sequence[T], least: int = 0, most: int = 3) -> list[T]:
        """Return several choices, perhaps the same one twice."""
        return [self.one_of(choices) for _ in range(self.whole(least, most))]

    def odd_value(self) -> Any:
        """Return a value of any type, most likely a wrong one."""
        return self.one_of([*ODD_NUMBERS, *ODD_TEXTS, *WRONG_TYPES])


def component(draw: Draw, kind: Any, wrong: float = 0.1) -> str:
    """Return the spec string of a registered component, now and then with a wrong parameter."""
    if draw.chance(wrong / 4):
        return draw.one_of(ODD_TEXTS)
    entry = draw.one_of(_entries(kind))
    if draw.chance(0.5):
        return str(entry.name)
    params = {}
    for field in attrs.fields(entry.target):
        if draw.chance(0.5) and field.default is not attrs.NOTHING:
            params[field.name] = _value(draw, field, wrong)
    if draw.chance(wrong / 4):
        params[draw.one_of(["gama", "C", "x", "self"])] = draw.one_of(ODD_NUMBERS)
    values = ", ".join(f"{key}={value!r}" for key, value in params.items())
    return f"{entry.name}({values})"


@lru_cache
def _entries(kind: Any) -> list[Any]:
    return get_registry().entries(kind)


def _value(draw: Draw, field: Any, wrong: float) -> Any:
    if draw.chance(wrong):
        return draw.one_of([*ODD_NUMBERS, "x", None, True, [1, 2], {}, ""])
    if isinstance(field.default, attrs.Factory):
        return component(draw, "kernel", wrong)
    if isinstance(field.default, float):
        return field.default * 10 ** draw.real(-3, 3)
    return draw.one_of(_options_of(field) or (field.default,))


def _options_of(field: Any) -> tuple[Any, ...]:
    """Return values that a field takes: those its validator lists, or some of its type."""
    validator = getattr(field.validator, "validator", field.validator)
    listed = tuple(getattr(validator, "options", ()))
    if listed or field.name in OPTIONS:
        return listed or OPTIONS[field.name]
    if isinstance(field.default, bool):
        return (False, True)
    return SMALL_COUNTS if isinstance(field.default, int) else ()


def kernel_list(draw: Draw, columns: Sequence[str] = (), wrong: float = 0.1) -> list[str]:
    """Return one to four spec strings of kernels, some with a label and columns."""
    specs = []
    for _ in range(draw.whole(1, 4)):
        spec = component(draw, "kernel", wrong)
        label = f"{draw.one_of(['a', 'b', 'shape'])}:" if draw.chance(0.2) else ""
        wanted = f"@{draw.one_of([*columns, '*', '0:1', '-1'])}" if draw.chance(0.2) else ""
        specs.append(f"{label}{spec}{wanted}")
    return specs


def rows_of(draw: Draw, labels: np.ndarray) -> np.ndarray:
    """Return rows (N, d) in which the labels can be found, of any scale and with odd columns."""
    n_features = draw.one_of([1, 1, 2, 3, 3, 5, 12])
    codes = np.unique(labels.astype(str), return_inverse=True)[1]
    rows = draw.numpy.normal(size=(len(labels), n_features)) + draw.real(0, 3) * codes[:, None]
    with np.errstate(over="ignore", under="ignore"):
        scale = 10.0 ** draw.one_of(SCALES)
        rows = rows * scale
        if draw.chance(0.2):
            rows += scale * 10.0 ** draw.one_of([1, 5, 8, 12])
        for odd in draw.some_of([_constant, _copied, _rounded, _wide_column, _one_row], most=2):
            rows = odd(draw, rows)
        rows = np.clip(rows, -LARGEST, LARGEST)
        if draw.chance(0.04):
            rows.flat[draw.whole(0, rows.size - 1)] = draw.one_of([np.nan, np.inf, -np.inf])
        fits = np.abs(rows).max() < np.finfo(np.float32).max
        return rows.astype(np.float32) if fits and draw.chance(0.3) else rows


def _constant(draw: Draw, rows: np.ndarray) -> np.ndarray:
    rows[:, draw.whole(0, rows.shape[1] - 1)] = draw.one_of([0.0, 1.0, -1e5, rows.flat[0]])
    return rows


def _copied(draw: Draw, rows: np.ndarray) -> np.ndarray:
    return np.column_stack([rows, rows[:, draw.whole(0, rows.shape[1] - 1)]])


def _rounded(draw: Draw, rows: np.ndarray) -> np.ndarray:
    return np.round(rows)


def _wide_column(draw: Draw, rows: np.ndarray) -> np.ndarray:
    rows[:, 0] *= 10.0 ** draw.one_of([-9, 9, 100, -100])
    return rows


def _one_row(draw: Draw, rows: np.ndarray) -> np.ndarray:
    return np.repeat(rows[:1], len(rows), axis=0)


def labels_for(draw: Draw) -> np.ndarray:
    """Return labels (N,) of any type, of one to six classes, even or not."""
    n_rows = draw.one_of([1, 2, 3, 4, 5, 8, 12, 20, 30, 40])
    n_classes = draw.one_of([1, 2, 2, 2, 2, 2, 3, 3, 4, 6])
    if draw.chance(0.3):
        codes = np.minimum(np.arange(n_rows), n_classes - 1)[::-1]
    else:
        codes = np.arange(n_rows) % n_classes
    names: Any = draw.one_of(
        [
            np.arange(6),
            np.array(["no", "yes", "perhaps", "", "é", "x" * 40]),
            np.array(["a", "b", "c", "d", "e", "f"], dtype=object),
            np.array([-1, 1, 2**62, 7, 0, 3]),
            np.arange(6) * 1.0,
            np.array([False, True, False, True, False, True]),
        ]
    )
    labels = names[codes]
    return labels[draw.numpy.permutation(n_rows)] if draw.chance(0.7) else labels
