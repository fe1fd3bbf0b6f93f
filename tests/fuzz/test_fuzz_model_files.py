"""Changed model files: refused in our words, or models that work; and nothing in one is run."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from drawing import Draw
from guards import is_told, memory_limit, tripwire
from model_files import MODELS, altered, new_rows, whole_file

from mklkit import load_model
from mklkit.errors import ModelFileError

MEGABYTES = 200


def test_a_changed_file_is_refused_or_works(draw: Draw, tmp_path: Path) -> None:
    path = tmp_path / "model.mkl"
    path.write_bytes(altered(draw, whole_file(draw.one_of(list(MODELS)))))
    with memory_limit(MEGABYTES), tripwire(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model, _ = load_model(path)
        except ModelFileError as error:
            assert len(str(error)) < 2000
            return
        try:
            values = model[-1].predict(model[:-1].transform(new_rows()))
            if hasattr(model, "decision_function"):
                values = model.decision_function(new_rows())
        except Exception as error:
            if not is_told(error):
                raise
            return
        assert values.dtype.kind not in "fc" or np.isfinite(values).all()
