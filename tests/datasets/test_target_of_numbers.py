"""Targets that look like numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mklkit.datasets.target import warn_of_numbers
from mklkit.errors import MKLKitWarning


def test_a_target_of_many_numbers_is_warned_of() -> None:
    with pytest.warns(MKLKitWarning, match="looks like a number: it has 52 different values"):
        warn_of_numbers(pd.Series(np.arange(520) % 52, name="age"))
    warn_of_numbers(pd.Series(np.arange(60) % 10, name="digit"))
    warn_of_numbers(pd.Series([f"kind {place % 40}" for place in range(400)], name="kind"))
