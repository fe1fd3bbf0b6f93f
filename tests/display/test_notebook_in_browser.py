"""What notebooks are shown is legible in Chromium, in light and dark themes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.browser import Page

from mklkit import MKLClassifier

pytestmark = pytest.mark.browser

# Rules like those of JupyterLab, whose tables are made for the theme's own background.
THEMES = {
    "light": "body { background: white; color: #222; } table { color: #222; }"
    " tbody tr:nth-child(odd) { background: #f5f5f5; } td, th { text-align: right; border: 0; }",
    "dark": "body { background: #111; color: #eee; } table { color: #eee; }"
    " tbody tr:nth-child(odd) { background: #222; } td, th { text-align: right; border: 0; }",
}
OPEN_BOXES = "document.querySelectorAll('input[type=checkbox]').forEach(one => one.checked = true)"


@pytest.mark.parametrize("scheme", THEMES)
@pytest.mark.parametrize("learnt", [False, True])
def test_every_text_is_legible(page: Page, tmp_path: Path, scheme: str, learnt: bool) -> None:
    rows, labels = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    kernels = [f"rbf(sigma={place + 1})" for place in range(23)]
    model = MKLClassifier(kernels, combiner="alignment")
    html = (model.fit(rows, labels) if learnt else model)._repr_html_()
    file = tmp_path / "cell.html"
    head = f"<!DOCTYPE html><meta charset=utf-8><style>{THEMES[scheme]}</style>"
    file.write_text(head + html, encoding="utf-8")
    page.size(1000)
    page.colors(scheme)
    page.open(file)
    page.run(OPEN_BOXES)
    cells = ".mklkit-shown :is(td, th, dt, dd)"
    assert page.run(f"document.querySelectorAll('{cells}').length") > 60
    assert page.faint_text(cells) == []
    asked = [event["request"]["url"] for event in page.told("Network.requestWillBeSent")]
    assert all(url.startswith(("file:", "data:")) for url in asked)
    assert page.run("document.body.scrollWidth") <= 1000
