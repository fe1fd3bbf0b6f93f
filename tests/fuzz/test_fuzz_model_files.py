"""Changed model files: refused in our words, or models that work; and nothing in one is run."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from drawing import Draw
from guards import is_told, memory_limit, tripwire
from model_files import MODELS, altered, new_rows, whole_file

from mklkit import load_model
from mklkit.errors import MKLKitError, ModelFileError

MEGABYTES = 200
MESSAGE = 2000


def test_a_changed_file_is_refused_or_works(draw: Draw, tmp_path: Path) -> None:
    path = tmp_path / "model.mkl"
    path.write_bytes(altered(draw, whole_file(draw.one_of(list(MODELS)))))
    with memory_limit(MEGABYTES), tripwire(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            decisions = _decisions(path)
        except Exception as error:
            if not is_told(error):
                raise
            decisions = np.zeros(0)
    assert np.isfinite(decisions).all()


def _decisions(path: Path) -> np.ndarray:
    """Return what the model in a file decides; a vote gives classes, which are no numbers."""
    try:
        model = load_model(path)
    except MKLKitError as error:
        if not isinstance(error, ModelFileError) or len(str(error)) > MESSAGE:
            raise AssertionError(f"{type(error).__name__}: {error}") from error
        raise
    model.predict(new_rows())
    if not hasattr(model, "decision_function"):
        return np.zeros(0)
    return np.asarray(model.decision_function(new_rows()), dtype=float)
