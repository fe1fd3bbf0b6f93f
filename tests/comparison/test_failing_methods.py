"""Errors of a method's own code are the reason of its row, and do not end a comparison."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mklkit.comparison import comparing


class Odd(GaussianNB):
    """Does in one step what a classifier must not."""


def reason(monkeypatch: pytest.MonkeyPatch, step: str, does: Any) -> str:
    """Return why the odd method failed, having checked that another did not."""
    monkeypatch.setattr(comparing, "baselines", lambda options: [])
    monkeypatch.setattr(comparing, "kernel_baselines", lambda options: [])
    monkeypatch.setattr(Odd, step, does)
    X, y = np.arange(20.0).reshape(-1, 1), np.repeat(["n", "y"], 10)
    methods = [("odd", Odd()), ("bayes", GaussianNB())]
    table = comparing.compare(X, y, methods=methods, cv="2x1").table().set_index("method")
    assert table["failures"].to_dict() == {"odd": 2, "bayes": 0}
    return str(table.loc["odd", "reason"])


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("fit", TypeError("odd")),
        ("fit", RuntimeError("odd")),
        ("fit", Warning("odd")),
        ("predict", AttributeError("odd")),
        ("predict_proba", ZeroDivisionError("odd")),
        ("predict_proba", AttributeError("odd")),
    ],
)
def test_any_error(monkeypatch: pytest.MonkeyPatch, step: str, error: Exception) -> None:
    odd = reason(monkeypatch, step, Mock(side_effect=error))
    assert odd == f"{type(error).__name__}: odd"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    with pytest.raises(error):
        reason(monkeypatch, "fit", Mock(side_effect=error))


@pytest.mark.parametrize(
    ("answer", "culprit"),
    [(np.repeat("z", 10), "not in the data"), (np.array("y"), "of shape"), (None, "of shape")],
)
def test_answers_that_are_no_classes(
    monkeypatch: pytest.MonkeyPatch, answer: Any, culprit: str
) -> None:
    assert culprit in reason(monkeypatch, "predict", Mock(return_value=answer))
