from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    """Draw into memory only, and close all figures."""
    mpl.use("Agg")
    yield
    pyplot.close("all")
