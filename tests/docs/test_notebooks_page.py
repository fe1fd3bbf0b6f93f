"""The page on notebooks: its first listing and others as the cells of one."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.documents import listings
from helpers.panels import Panel, panels

PAGE = "docs/guides/notebooks.md"


CELLS = [
    """
import numpy as np
from mklkit import MKLSearchCV, compare, explain
rng = np.random.default_rng(0)
rows, labels = rng.normal(size=(60, 3)), np.arange(60) % 3
frame = MKLClassifier(["linear", "rbf"]).fit(rows, labels)
compare(rows, labels, methods="alignment", kernels=["linear", "rbf"], cv="2x1")
""",
    "explain(frame, rows, labels, cv=2, repeats=1)",
    "MKLSearchCV(frame, {'learner__C': [1, 10]}, cv=2, n_jobs=2).fit(rows, labels)",
    "MKLSearchCV(frame)",
]


@pytest.mark.process
def test_a_notebook_shows_html_and_progress() -> None:
    """Run by Jupyter's own kernel; nbclient and ipykernel are not needed for anything else."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    listing = listings(PAGE, "python")[0]
    cells = [listing, *CELLS]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    pictures: list[tuple[int, str]] = []

    class Client(nbclient.NotebookClient):  # type: ignore[misc, name-defined]
        def process_message(self, message: Any, cell: Any, number: int) -> Any:
            if message["msg_type"] in ("display_data", "update_display_data"):
                pictures.append((number, message["content"]["data"]["text/plain"]))
            return super().process_message(message, cell, number)

    Client(notebook, timeout=150, kernel_name="python3").execute()
    alone, compared, explained, searched, planned = map(shown, notebook.cells)
    assert alone.facts["fitted on"] == "569 samples, 30 columns"
    assert len(compared.tables[0]) == 1 + 8
    assert len(explained.tables) == 2
    assert "search" in searched.facts
    assert "fitted on" not in planned.facts
    for number, word in ((1, "comparing: "), (2, "explaining: ")):
        texts = [text for cell, text in pictures if cell == number]
        assert all(text.startswith(word) for text in texts[:-1])
        assert len(texts) >= 2  # a bar and its end; how many between them depends on the machine
        assert texts[-1] == ""


def shown(cell: Any) -> Panel:
    """Return what a cell shows; a bar that is gone may be before it, and no text."""
    *bars, result = cell.outputs
    assert [bar["data"]["text/html"] for bar in bars] in ([], [""])
    (panel,) = panels(result["data"]["text/html"])
    assert result["data"]["text/plain"]
    return panel
