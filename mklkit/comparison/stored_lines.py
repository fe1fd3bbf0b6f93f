"""What the lines of a file of results must have, as files are edited, joined and cut."""

from __future__ import annotations

import json
import math
from typing import Any

import attrs

from mklkit.comparison.measures import BINS
from mklkit.comparison.running import Cell

__all__ = ["cell_of", "check_cell_line", "check_head", "parsed"]

NAMES = {field.name for field in attrs.fields(Cell)}
SHARES = ("accuracy", "balanced_accuracy", "auc")
AMOUNTS = ("seconds", "predict_seconds", "refit_seconds", "memory")
FLOATS = (*SHARES, "log_loss", *AMOUNTS)
CALIBRATION = {"rows", "probability", "hits"}
LARGEST = 2**63
"""Above any count, time or memory; integers of JSON have no bound."""


def parsed(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises
    ------
    ValueError
        If it is none, or has numbers that are not finite.
    """
    values = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    _need(isinstance(values, dict))
    return dict(values)


def cell_of(values: dict[str, Any]) -> Cell:
    """Return the cell of plain values; JSON has no NaN."""
    missing = {name: math.nan for name in FLOATS if values[name] is None}
    return Cell(**{**values, **missing})


def check_head(values: dict[str, Any]) -> None:
    """Check the parts of a first line that are looked into.

    Raises
    ------
    ValueError
        If data, splits or methods are not lists of objects.
    """
    for key in ("data", "splits", "methods"):
        part = values.get(key)
        _need(isinstance(part, list) and all(isinstance(one, dict) for one in part))


def check_cell_line(values: dict[str, Any], plan: dict[str, Any]) -> None:
    """Check the line of a cell.

    Parameters
    ----------
    values : dict
        All of the line.
    plan : dict
        The plan of the comparison, to which the cell must belong.

    Raises
    ------
    ValueError
        If a key is missing or unknown, or a value can't be that of a run.
    """
    _need(set(values) == NAMES | {"split", "key"})
    _need(all(isinstance(values[name], str) for name in ("data", "method", "kind", "key")))
    places = [one["name"] for one in plan["data"]]
    _need(values["data"] in places)
    place = places.index(values["data"])
    _need(_is_count(values["split"]) and values["split"] < plan["splits"][place]["number"])
    _need(all(_is_count(values[name]) for name in ("repeat", "fold", "n_train", "n_test")))
    _need(all(_is_float(values[name]) for name in FLOATS))
    _need(all((values[name] or 0) >= 0 for name in AMOUNTS))
    _need(all(0 <= (values[name] or 0) <= 1 for name in SHARES))
    reason = values["reason"]
    _need(reason is None or isinstance(reason, str))
    # A run has a score or a reason why it has none.
    _need((reason is None) == (values["accuracy"] is not None))
    _need(values["params"] is None or isinstance(values["params"], dict))
    _check_weights(values["weights"])
    _check_confusion(values["confusion"], len(plan["data"][place]["classes"]))
    _check_calibration(values["calibration"])


def _check_weights(weights: Any) -> None:
    if weights is not None:
        _need(isinstance(weights, dict))
        _need(all(_is_float(weight) for weight in weights.values()))


def _check_confusion(rows: Any, n_classes: int) -> None:
    if rows is not None:
        _need(isinstance(rows, list) and len(rows) == n_classes)
        for row in rows:
            _need(isinstance(row, list) and len(row) == n_classes and all(map(_is_count, row)))


def _check_calibration(found: Any) -> None:
    if found is not None:
        _need(isinstance(found, dict) and set(found) == CALIBRATION)
        for key, bins in found.items():
            fits = _is_float if key == "probability" else _is_count
            _need(isinstance(bins, list) and len(bins) == BINS)
            _need(all(fits(one) and one is not None for one in bins))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def _is_float(value: Any) -> bool:
    """Return whether a value is a number, or null, as which NaN is written."""
    if value is None:
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST


def _finite(text: str) -> float:
    number = float(text)
    _need(math.isfinite(number))
    return number


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _need(holds: bool) -> None:
    if not holds:
        raise ValueError("a value can't be that of a run")
