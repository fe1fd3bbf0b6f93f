"""The page on the architecture: its listings are a fit, step by step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from helpers.documents import ROOT, listings, needs_checkout
from helpers.processes import run_listing

PAGE = "docs/architecture.md"
PACKAGE = ROOT / "mklkit"
FILE = re.compile(r"(?<![\w/.-])[\w.*/-]+\.(?:py|html|txt|js|css)(?![\w*])")
FOLDER = re.compile(r"(?<![\w/.-])(?:\w+/)+(?![\w*])")


def paths_in(text: str) -> list[str]:
    """Return the paths in the code of a text, except for those of a file NAME to be written."""
    code = "\n".join(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    return [name for name in [*FILE.findall(code), *FOLDER.findall(code)] if "NAME" not in name]


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


@needs_checkout
def test_each_row_of_what_goes_where_names_files_and_tests() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    table = text.partition("| a new |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert len(rows) > 20
    for thing, place, base, tests in rows:
        names = paths_in(tests)
        assert names, thing
        assert base, thing
        assert all((ROOT / "tests" / name).exists() for name in names), thing
        homes = [name for name in re.findall(r"`([A-Z_]{4,})`", place) if name != "NAME"]
        code = " ".join(
            path.read_text(encoding="utf-8")
            for name in paths_in(place)
            if (path := PACKAGE / name).is_file()
        )
        assert all(re.search(rf"^{home}\b", code, re.MULTILINE) for home in homes), thing
