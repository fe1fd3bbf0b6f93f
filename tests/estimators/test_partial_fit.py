"""Parts of the rows one after another give the model of all rows on the same maps."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mklkit import DataError, IncompatibleError, MKLClassifier
from mklkit.estimators.partial_fits import PartialSums
from mklkit.learners import KDA
from mklkit.numerics.graph_embedding import discriminant_graphs
from mklkit.persistence import load_model, save_model
from mklkit.plugin import Target
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.view_set import ViewSet

COMBINERS = ["uniform", "dimkl2", "dimkl5", "dimkl6", "alignment", "centered-alignment"]


def problem(rng, n_rows=300, n_classes=2):
    codes = rng.integers(0, n_classes, n_rows)
    rows = rng.normal(size=(n_rows, 3)) + 2 * np.eye(3)[codes] + 5
    return rows, np.array(["a", "b", "c"])[codes]


def model_of(combiner="alignment", **settings):
    return MKLClassifier(
        ["linear", "rbf"],
        feature_map="empirical(subset=9)",
        combiner=combiner,
        learner="kda(alpha=0.1)",
        random_state=0,
        **settings,
    )


@pytest.mark.parametrize("combiner", COMBINERS)
def test_parts_give_the_weights_and_decisions_of_all_rows(rng, combiner):
    rows, y = problem(rng)
    model = model_of(combiner)
    for part in (slice(0, 120), slice(120, 121), slice(121, 300)):
        model.partial_fit(rows[part], y[part], classes=["a", "b"])
    sums: PartialSums = model.partial_sums_
    whole = ViewSet.of_blocks(sums.kernels, FeatureBlocks(sums.projectors, rows))
    target = Target.two_classes(np.where(y == "b", 1.0, -1.0))
    decision = model.combiner_.fit(whole, target, model.learner_, np.random.RandomState(0))
    np.testing.assert_allclose(model.weights_[0], decision.weights, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(rows), decision.decide(rows), atol=1e-8)
    assert model.score(rows, y) > 0.8


@pytest.mark.parametrize("multiclass", ["ovo", "ovr", "native"])
def test_one_part_of_all_rows_is_a_fit(rng, multiclass):
    rows, y = problem(rng, n_classes=3)
    combiner = "uniform" if multiclass == "native" else "dimkl5"
    settings = {"multiclass": multiclass, "bandwidths": "all-rows"}
    expected = model_of(combiner, **settings).fit(rows, y)
    fitted = model_of(combiner, **settings).partial_fit(rows, y, classes=np.unique(y))
    np.testing.assert_allclose(fitted.weights_, expected.weights_, rtol=1e-9)
    np.testing.assert_allclose(
        fitted.decision_function(rows), expected.decision_function(rows), rtol=1e-7, atol=1e-8
    )


def test_a_model_goes_on_learning_after_it_was_saved(rng, tmp_path):
    rows, y = problem(rng)
    model = model_of().partial_fit(rows[:200], y[:200], ["a", "b"])
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl").partial_fit(rows[200:], y[200:])
    model.partial_fit(rows[200:], y[200:])
    np.testing.assert_allclose(again.weights_, model.weights_, rtol=1e-12)
    assert not hasattr(model.fit(rows, y), "partial_sums_")


def test_a_class_may_come_later(rng):
    rows, y = problem(rng)
    order = np.argsort(y, kind="stable")
    model = model_of().partial_fit(rows[order[:50]], y[order[:50]], ["a", "b"])
    with pytest.raises(NotFittedError):
        model.predict(rows)
    assert model.partial_fit(rows[order[50:]], y[order[50:]]).score(rows, y) > 0.8


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"learner": "mhks"}, "learner 'mhks' needs the samples themselves; .* kda"),
        ({"learner": "svm"}, "learner 'svm' needs the samples themselves; .* kda"),
        ({"combiner": "dimkl3"}, "combiner 'dimkl3' needs .* alignment, .*dimkl2"),
        ({"feature_map": "implicit"}, "feature map 'implicit'"),
        ({"class_weight": "balanced"}, "set class_weight=None"),
        ({"probability": True}, "probabilities need the samples.*Calibrated"),
        ({"learner": KDA(graphs=discriminant_graphs)}, "partial_fit keeps none"),
    ],
)
def test_what_needs_every_row_is_refused(rng, settings, said):
    rows, y = problem(rng)
    assert hasattr(model_of(), "partial_fit")
    model = model_of().set_params(**settings)
    assert hasattr(model, "partial_fit") == isinstance(settings.get("learner"), KDA)
    with pytest.raises(IncompatibleError, match=said):
        model.partial_fit(rows, y, ["a", "b"])


def test_classes_come_first_and_labels_are_among_them(rng):
    rows, y = problem(rng)
    with pytest.raises(DataError, match="first call of partial_fit needs all class labels"):
        model_of().partial_fit(rows, y)
    with pytest.raises(DataError, match="'b' is none of the classes"):
        model_of().partial_fit(rows, y, ["a", "c"])
