"""The pages do what they say: their commands and listings run in turn, and print what is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest
from following import accuracies, follow, same_but_for_rounding


def nothing(folder: Path) -> None:
    """Leave the folder empty."""


@attrs.frozen
class Followed:
    """How a page is followed here.

    ``bring`` writes the files that its reader is taken to have. ``instead`` has parts of commands
    and listings, and what stands there in the test, so that it is quick; what these print is not
    compared. ``left_out`` has the beginnings of what is not run, each with the reason.
    """

    bring: Callable[[Path], None] = nothing
    instead: Mapping[str, str] = attrs.field(factory=dict)
    left_out: Mapping[str, str] = attrs.field(factory=dict)


INSTALLS = "the environment that runs the tests has it"


def patients(folder: Path) -> None:
    """Write a table whose sources are groups of columns, and rows to predict."""
    draw = np.random.default_rng(0)
    ill = draw.random(160) < 0.5
    table = pd.DataFrame(
        {
            "lab_iron": draw.normal(size=160) + 1.2 * ill,
            "lab_zinc": np.where(draw.random(160) < 0.05, np.nan, draw.normal(size=160)),
            "image_area": draw.gamma(2 + 1.0 * ill),
            "image_edge": draw.normal(size=160),
            "answer_pain": draw.choice(["none", "some", "much"], size=160),
            "answer_smoker": np.where(draw.random(160) < 0.3 + 0.3 * ill, "yes", "no"),
            "diagnosis": np.where(ill, "ill", "well"),
        }
    )
    table[:120].to_csv(folder / "patients.csv", index=False)
    table[120:].drop(columns="diagnosis").to_csv(folder / "new_patients.csv", index=False)


FOLLOWED = {
    "docs/get-started.md": Followed(
        bring=patients,
        instead={"--mccv 5": "--mccv 2", "mccv=5": "mccv=2"},
        left_out={"pip install .": INSTALLS},
    ),
    "docs/guides/several-sources.md": Followed(),
}


@pytest.mark.process
@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    way = FOLLOWED[page]
    way.bring(tmp_path)
    for step in follow(page, tmp_path, way.instead, way.left_out):
        if step.shown is not None and step.as_shown:
            same_but_for_rounding(step.shown, step.printed)
        elif step.shown is not None and accuracies(step.shown):
            # On other splits, accuracies differ by a few points.
            shown, found = accuracies(step.shown), accuracies(step.printed)
            assert shown.keys() == found.keys()
            np.testing.assert_allclose(list(found.values()), list(shown.values()), atol=4)
