"""Model files of the whole family: the same predictions after reload, also in a fresh process."""

from __future__ import annotations

import numpy as np

from mklkit import (
    MKLClassifier,
    load_model,
    save_model,
)


def test_shared_maps_stay_shared(three_classes, tmp_path):
    X, y = three_classes
    sizes = {}
    for feature_map in ("empirical(subset=45)", "empirical"):
        model = MKLClassifier(
            ["rbf"] * 3, combiner="ifsl", feature_map=feature_map, random_state=0
        ).fit(np.repeat(X, 10, axis=1), y)
        path = tmp_path / "model.mkl"
        save_model(model, path)
        restored = load_model(path)
        maps = {id(p.map) for one in restored.decisions_ for p in one.projectors}
        sizes[feature_map] = (len(maps), path.stat().st_size)
    assert sizes["empirical(subset=45)"][0] == 3
    assert sizes["empirical"][0] == 9
    assert sizes["empirical(subset=45)"][1] < sizes["empirical"][1]
