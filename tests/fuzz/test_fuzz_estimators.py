"""Any data, any components: what fits decides, finitely and the same way each time."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import Draw, component, kernel_list, labels_for, rows_of
from guards import is_told, listened

from mklkit import (
    MKLClassifier,
    MKLSearchCV,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    get_registry,
    preset_classifier,
)
from mklkit.plugin import CombinerTraits
from mklkit.protocols import traits_of

# Of the largest decision value: what may differ when BLAS adds in another order.
TOLERANCE = {np.dtype(np.float64): 1e-5, np.dtype(np.float32): 2e-2}
# Labels are -1 and +1 inside: a decision smaller than this is all rounding.
SMALL = 1e-4
FAR_ROWS = "times as far from zero as from each other"


def test_what_fits_decides(draw: Draw) -> None:
    y = labels_for(draw)
    X = rows_of(draw, y)
    model = _estimator(draw)
    print(f"X of {X.shape} {X.dtype}, to {np.abs(X).max():.3g}; {len(set(y.tolist()))} classes")
    print(model)
    with listened() as said:
        try:
            model.fit(X, y)
        except Exception as error:
            if not is_told(error):
                raise
            return
        _check_weights(model)
        _check_decisions(draw, model, X)
        # Who is told that a kernel's values are all but the same number knows of its lost digits.
        if not any(FAR_ROWS in str(warning.message) for warning in said):
            _check_each_row_is_decided_alone(draw, model, X)


def _check_weights(model: Any) -> None:
    model = getattr(model, "best_estimator_", model)
    weights = np.asarray(model.weights_)
    assert np.isfinite(weights).all()
    stated = traits_of(model.combiner_, CombinerTraits).weight_range
    low, high = stated or (0.0, 1.0)
    assert weights.min() >= low - 1e-9
    assert weights.max() <= high + 1e-9
    if stated is None:
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-8)


def _check_decisions(draw: Draw, model: Any, X: np.ndarray) -> None:
    assert np.isin(model.predict(X), model.classes_).all()
    assert np.isfinite(model.decision_function(X)).all(), "decisions on the training rows"
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        assert (chances >= 0).all(), "negative probabilities"
        np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-8)
    _check_new_rows(draw, model, X)


# What is asked past the estimator overflows as what is asked of it.
@np.errstate(over="ignore", invalid="ignore")
def _check_each_row_is_decided_alone(draw: Draw, model: Any, X: np.ndarray) -> None:
    order = draw.numpy.permutation(len(X))
    place = draw.whole(0, len(X) - 1)
    # Each problem by itself: where two classes are even, rounding says which one is joined first.
    members = getattr(model, "members_", [getattr(model, "best_estimator_", model)])
    for decision in [decided for member in members for decided in member.decisions_]:
        values = decision.decide(X)
        tolerance = _rounding(X) * max(SMALL, float(np.abs(values).max()))
        shuffled, alone = decision.decide(X[order]), decision.decide(X[[place]])
        assert np.abs(shuffled - values[order]).max() <= tolerance, "the order of rows has a say"
        assert np.abs(alone - values[place]).max() <= tolerance, "other rows have a say"


def _rounding(X: np.ndarray) -> float:
    """Return what may differ, as a share: more on data that lie far from zero, close together."""
    with np.errstate(all="ignore"):
        spread = X.max(axis=0) / 2 - X.min(axis=0) / 2
        distance = np.abs(X).max() / np.max(spread)
        lost = float(np.finfo(X.dtype).eps) * distance**2
    return TOLERANCE[X.dtype] + (1e3 * lost if np.isfinite(lost) else 0.0)


def _check_new_rows(draw: Draw, model: Any, X: np.ndarray) -> None:
    with np.errstate(over="ignore"):
        factor = X.dtype.type(draw.one_of([0, 1, 1, -1, 1.1, 100]))
        rows = X[draw.numpy.permutation(len(X))] * factor
    try:
        values = model.decision_function(rows)
    except Exception as error:
        if not is_told(error):
            raise
        return
    assert np.isfinite(values).all(), "decisions on new rows"


def _estimator(draw: Draw) -> Any:
    make = draw.one_of([_parts, _parts, _parts, _parts, _preset, _search, _ensemble, _vote])
    return make(draw)


def _parts(draw: Draw, wrong: float = 0.05) -> MKLClassifier:
    settings: dict[str, Any] = {"random_state": draw.whole(0, 9)}
    if draw.chance(0.7):
        settings["kernels"] = kernel_list(draw, wrong=wrong)
    if draw.chance(0.9):
        settings["combiner"] = component(draw, "combiner", wrong)
    if draw.chance(0.3):
        settings["learner"] = component(draw, "learner", wrong)
    if draw.chance(0.3):
        settings["feature_map"] = component(draw, "feature_map", wrong)
    if draw.chance(0.3):
        settings["multiclass"] = draw.one_of(["ovo", "ovr", "native"])
    if draw.chance(0.1):
        settings["probability"] = True
    if draw.chance(wrong):
        settings[draw.one_of(list(MKLClassifier().get_params(deep=False)))] = draw.odd_value()
    return MKLClassifier(**settings)


def _preset(draw: Draw) -> Any:
    names = [entry.name for entry in get_registry().entries("preset")]
    return preset_classifier(draw.one_of(names), random_state=draw.whole(0, 9))


def _search(draw: Draw) -> MKLSearchCV:
    model = MKLClassifier(combiner="ifsl")
    if draw.chance(0.5):
        model.set_params(kernels=kernel_list(draw, wrong=0.0))
    grid = {"learner__alpha": (0.5, 2.0), "combiner__lam": (1.0,)}
    settings: dict[str, Any] = {"estimator": model, "param_grid": grid, "cv": draw.whole(2, 5)}
    if draw.chance(0.2):
        settings[draw.one_of(list(MKLSearchCV(model).get_params(deep=False)))] = draw.odd_value()
    if callable(settings.get("progress")):  # What a function of the user's own raises is theirs.
        del settings["progress"]
    return MKLSearchCV(**({"random_state": 1} | settings))


def _ensemble(draw: Draw) -> RPEMEKLClassifier:
    settings: dict[str, Any] = {"subset": draw.one_of([0.1, 0.5, 5, (0.2, 0.5)]), "cv": 2}
    if draw.chance(0.2):
        settings[draw.one_of(list(RPEMEKLClassifier().get_params(deep=False)))] = draw.odd_value()
    return RPEMEKLClassifier(**({"random_state": 1} | settings))


def _vote(draw: Draw) -> MKLVotingClassifier:
    return MKLVotingClassifier(
        _parts(draw, 0.02), n_members=draw.one_of([1, 2, 3, 0]), random_state=1
    )
