"""Errors of a method's own code are the reason of its row, and do not end a comparison."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mklkit import compare
from mklkit.errors import DataError, SpecError


class Odd(GaussianNB):
    """Does in one step what a classifier must not."""


def reason(monkeypatch: pytest.MonkeyPatch, step: str, does: Any) -> str:
    """Return why the odd method failed, having checked that another did not."""
    monkeypatch.setattr(Odd, step, does)
    X, y = np.arange(20.0).reshape(-1, 1), np.repeat(["n", "y"], 10)
    methods = [("odd", Odd()), ("bayes", GaussianNB())]
    settings: dict[str, Any] = {"kernels": "linear", "learners": ["ridge"], "baselines": "none"}
    table = compare(X, y, methods=methods, cv="2x1", **settings).table().set_index("method")
    failures = table["failures"].to_dict()
    assert failures.pop("odd") == 2
    assert failures == {"bayes": 0, "linear": 0}
    return str(table.loc["odd", "reason"])


@pytest.mark.parametrize(
    ("step", "does", "culprit"),
    [
        ("fit", Mock(side_effect=TypeError("odd")), "TypeError: odd"),
        ("fit", Mock(side_effect=Warning("odd")), "Warning: odd"),
        ("predict", Mock(side_effect=AttributeError("odd")), "AttributeError: odd"),
        ("predict_proba", Mock(side_effect=ZeroDivisionError("odd")), "ZeroDivisionError: odd"),
        ("predict_proba", Mock(side_effect=AttributeError("odd")), "AttributeError: odd"),
        ("predict", Mock(return_value=np.repeat("z", 10)), "not in the data"),
        ("predict", Mock(return_value=np.array("y")), "of shape"),
        ("predict", Mock(return_value=None), "of shape"),
    ],
)
def test_any_error_and_any_answer(
    monkeypatch: pytest.MonkeyPatch, step: str, does: Any, culprit: str
) -> None:
    assert culprit in reason(monkeypatch, step, does)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    with pytest.raises(error):
        reason(monkeypatch, "fit", Mock(side_effect=error))


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [({"z": 2}, DataError, "the class 'z'"), ({"n": -1}, SpecError, "above 0")],
)
def test_class_weights_that_every_fit_would_refuse_end_a_comparison_before_its_fits(
    weights: dict[str, float], error: type[Exception], text: str
) -> None:
    X, y = np.arange(20.0).reshape(-1, 1), np.repeat(["n", "y"], 10)
    progress = Mock()
    with pytest.raises(error, match=text):
        compare(X, y, kernels="linear", cv="2x1", class_weight=weights, progress=progress)
    progress.assert_not_called()
