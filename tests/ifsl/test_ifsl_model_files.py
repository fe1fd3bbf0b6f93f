"""Model files of the whole family: the same predictions after reload, also in a fresh process."""

from __future__ import annotations

import numpy as np
from builders import ifsl_search

from mklkit import (
    MKLClassifier,
    load_model,
    save_model,
)


def test_what_a_search_found_is_kept(two_classes, tmp_path):
    X, y = two_classes
    search = ifsl_search(ridges=(0.5, 4.0), lams=(0.5, 4.0), cv=2, random_state=0)
    save_model(search.fit(X, y), tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    assert restored.best_params_ == search.best_params_
    assert list(restored.cv_results_) == list(search.cv_results_)
    for key, values in search.cv_results_.items():
        np.testing.assert_array_equal(restored.cv_results_[key], values)
    np.testing.assert_array_equal(restored.weights_, search.weights_)


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
