"""Commands beside what plugins and Python's own options do to the whole process."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from processes import Fitted, Run, on_path, run_mklkit, write_plugin


@pytest.mark.process
def test_what_a_plugin_prints_at_the_end_is_no_result(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "site", "late", "import atexit\natexit.register(print, 'bye')")
    done = run_mklkit("list", "--json", **on_path(folder), PYTHONWARNINGS="error")
    assert done.code == 0
    assert json.loads(done.out)
    assert "bye" in done.err
    # It gives nothing, which is a warning also where warnings are to be raised.
    assert "warning: plugin 'late' of mklkit-late is left out" in done.err


def test_a_model_that_could_not_be_tried_is_refused_in_words(
    mklkit: Run, fitted: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mklkit.persistence import load_model, model_file, save_model

    model = load_model(fitted.model)
    model.steps[-1][1].n_features_in_ += 1
    monkeypatch.setattr(model_file, "find_trial", lambda _: None)
    shutil.copy(fitted.data, tmp_path / "rows.csv")
    save_model(model, tmp_path / "odd.mkl")
    mklkit("predict", tmp_path / "odd.mkl", tmp_path / "rows.csv").refused(
        "can't decide these rows", "save the model again"
    )
