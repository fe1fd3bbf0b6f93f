"""The page on the architecture: its listings are a fit, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from helpers.documents import listings
from helpers.processes import run_listing

PAGE = "docs/architecture.md"


def test_the_steps_of_a_fit_are_those_of_the_estimator(tmp_path: Path) -> None:
    steps, of_table = listings(PAGE, "python")
    names: dict[str, Any] = {}
    done = run_listing(steps, names, tmp_path)
    assert done.code == 0, done
    fitted, model = names["fitted"], names["estimator"].fit(names["X"], names["y"])
    assert len(fitted.decisions) == len(model.decisions_) == 3
    for ours, theirs in zip(fitted.decisions, model.decisions_, strict=True):
        np.testing.assert_array_equal(ours.weights, theirs.weights)
        rows = names["X"][::9]
        np.testing.assert_allclose(ours.decide(rows), theirs.decide(rows))
    done = run_listing(of_table, names, tmp_path)
    assert done.code == 0, done
    table, pipeline = names["table"], names["pipeline"]
    assert [name for name, _ in pipeline.steps] == ["encode", "classify"]
    assert pipeline.score(table.features, table.target) > 0.5
