"""Weights of rows and of classes in estimators."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import _SigmoidCalibration
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import (
    MKLClassifier,
    MKLSearchCV,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    preset_classifier,
)
from mklkit.errors import DataError, IncompatibleError, SpecError
from mklkit.estimators.predicting import cross_fitted
from mklkit.views.cache import Cache
from mklkit.views.stored_rows import StoredRows

EXACT_SVM = "svm(C=2, tol=1e-10)"

SETTINGS = [
    {"learner": EXACT_SVM},
    {"learner": "svm(tol=1e-10)"},
    {"learner": EXACT_SVM, "multiclass": "ovr"},
    {"learner": EXACT_SVM, "bandwidths": "all-rows"},
    {"learner": "kda", "multiclass": "native"},
    {"learner": "kda", "feature_map": "empirical"},
    {"combiner": "ifsl", "learner": "kmhks"},
]


def three_classes(seed, n_rows=36):
    draw = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n_rows) % 3]
    X = draw.normal(size=(n_rows, 3)) + (np.arange(n_rows) % 3)[:, None] * [1.0, 0.5, 0.0]
    return X, y, draw.integers(0, 4, n_rows)


@pytest.mark.parametrize("given_settings", SETTINGS, ids=str)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_rows_occur_as_often_as_their_weights_say(given_settings, seed):
    X, y, often = three_classes(seed)
    model = MKLClassifier(**given_settings, random_state=0)
    order = np.random.default_rng(seed).permutation(len(y))
    weighted = model.fit(X[order], y[order], sample_weight=often[order]).decision_function(X)
    repeated = model.fit(X.repeat(often, axis=0), y.repeat(often)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3, "c": 0.5}])
def test_weights_of_classes_multiply_those_of_rows(class_weight):
    X, y, often = three_classes(1)
    often = often + 0.5
    model = MKLClassifier(learner=EXACT_SVM, class_weight=class_weight, multiclass="ovr")
    fitted = model.fit(X, y, sample_weight=often)
    expected = dict(class_weight) if isinstance(class_weight, dict) else None
    if expected is None:
        totals = {label: often[y == label].sum() for label in "abc"}
        expected = {label: often.sum() / (3 * total) for label, total in totals.items()}
    np.testing.assert_allclose(fitted.class_weight_, [expected.get(label, 1) for label in "abc"])
    each = often * np.array([expected.get(label, 1) for label in y])
    values = fitted.decision_function(X)
    other = MKLClassifier(learner=EXACT_SVM, multiclass="ovr").fit(X, y, sample_weight=each)
    np.testing.assert_allclose(values, other.decision_function(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("class_weight", "error", "message"),
    [
        ({"wel": 2}, DataError, "names the class 'wel'.*Did you mean 'well'"),
        ({"well": -1}, SpecError, "The weight of class 'well' must be a finite number above 0"),
        ({"well": np.nan}, SpecError, "must be a finite number above 0; got nan"),
        ({"well": "2"}, SpecError, "must be a finite number above 0; got '2'"),
        (2.0, SpecError, "class_weight must be None, 'balanced', or a dict"),
    ],
)
def test_wrong_weights_of_classes_are_refused(class_weight, error, message):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.repeat(["sick", "well"], 10)
    with pytest.raises(error, match=message):
        MKLClassifier(class_weight=class_weight).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "one weight per sample; got 3 weights for 20 samples"),
        (np.full(20, -1.0), "must be finite and not negative; that of sample 0"),
        (np.full(20, np.inf), "must be finite"),
        (np.zeros(20), "All sample weights are zero"),
        (np.ones((20, 2)), "one number per sample"),
        (["often"] * 20, "one number per sample"),
        (np.repeat([1.0, 0.0], 10), "only one class, 'sick' .samples of weight 0 do not count"),
    ],
)
def test_wrong_weights_of_rows_are_refused(weights, message):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.repeat(["sick", "well"], 10)
    with pytest.raises(DataError, match=message):
        MKLClassifier().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(("rows", "classes"), [(np.full(20, 1e308), None), (None, {1: 1e308})])
def test_weights_whose_sum_is_infinite_are_refused(rows, classes):
    """Each of them is finite; ridge and kda would decide by 0 for every row."""
    model = MKLClassifier("linear", learner="ridge", class_weight=classes)
    with pytest.raises(DataError, match=r"1e\+308"):
        model.fit(np.arange(20.0)[:, None], np.arange(20) % 2, sample_weight=rows)


def test_components_that_cannot_weigh_rows_are_refused():
    from helpers.builders import Silent

    X, y, often = three_classes(0)
    refusal = "The learner 'silent' can't take sample weights or classes; learners that can: "
    for model in (MKLClassifier(learner=Silent()), MKLSearchCV(MKLClassifier(learner=Silent()))):
        with pytest.raises(IncompatibleError, match=refusal + ".*svm"):
            model.fit(X, y, sample_weight=often)
    with pytest.raises(IncompatibleError, match=refusal):
        MKLClassifier(learner=Silent(), class_weight="balanced").fit(X, y)
    MKLClassifier(learner=Silent()).fit(X, y, sample_weight=np.ones(len(y)))


def test_rules_that_take_all_rows_alike_say_so():
    X, y, often = three_classes(0)
    note = "kernel weights of dimkl3 count all samples equally; sample weights count in the learner"
    model = MKLClassifier(combiner="dimkl3")
    assert note in model.fit(X, y, sample_weight=often).choices_
    assert note not in model.fit(X, y).choices_
    assert note in MKLClassifier(combiner="dimkl3", class_weight="balanced").fit(X, y).choices_


def test_probabilities_are_calibrated_on_weighted_rows():
    draw = np.random.default_rng(0)
    codes, values = np.arange(40) % 2, draw.normal(size=40) + np.arange(40) % 2
    weights = draw.uniform(0.1, 3, 40)
    calibrated, _, _ = cross_fitted(codes, 0, lambda _, held_out: values[held_out], weights)
    expected = _SigmoidCalibration().fit(values, codes, sample_weight=weights).predict(values)
    np.testing.assert_allclose(calibrated.predict_proba(values)[:, 1], expected, rtol=1e-6)


def test_probabilities_know_weights_of_classes_and_rows():
    X, y, _ = three_classes(3, n_rows=60)
    model = MKLClassifier("rbf", learner="svm(C=1)", probability=True, random_state=0)
    plain = model.fit(X, y).predict_proba(X)
    weighted = model.fit(X, y, sample_weight=1 + 3.0 * (y == "a")).predict_proba(X)
    assert weighted[:, 0].mean() > plain[:, 0].mean() + 0.1
    classes = model.set_params(class_weight={"a": 4}).fit(X, y).predict_proba(X)
    # Sigmoids bring the classes back to how frequent they are.
    assert abs(classes[:, 0].mean() - 1 / 3) < 0.1


def test_a_search_weighs_rows_in_every_fit():
    X, y, often = three_classes(4)
    splits = [(np.arange(0, 36, 2), np.arange(1, 36, 2)), (np.arange(1, 36, 2), np.arange(18))]
    weights = often + 0.5
    grid = {"learner__C": [0.1, 10.0], "class_weight": [None, "balanced"]}
    search = MKLSearchCV(MKLClassifier(learner="svm(tol=1e-8)"), grid, cv=splits, random_state=0)
    search.fit(X, y, sample_weight=weights)
    for place, point in enumerate(search.cv_results_["params"]):
        model = MKLClassifier(learner="svm(tol=1e-8)").set_params(**point)
        for fold, (training, scored) in enumerate(splits):
            model.fit(X[training], y[training], sample_weight=weights[training])
            expected = model.score(X[scored], y[scored])
            assert search.cv_results_[f"split{fold}_test_score"][place] == expected
    alone = MKLClassifier(learner="svm(tol=1e-8)").set_params(**search.best_params_)
    alone.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), rtol=1e-5)
    left = often > 0
    places = np.cumsum(left) - 1
    kept = [tuple(places[rows[left[rows]]] for rows in split) for split in splits]
    scores = search.fit(X, y, sample_weight=often).cv_results_["mean_test_score"]
    search.set_params(cv=kept).fit(X[left], y[left], sample_weight=often[left])
    np.testing.assert_allclose(scores, search.cv_results_["mean_test_score"])


def test_votes_weigh_rows_in_every_member():
    X, y, often = three_classes(5)
    member = MKLClassifier(["linear", "rbf"], learner="kda")
    weighted = MKLVotingClassifier(member, n_members=2).fit(X, y, sample_weight=often)
    repeated = MKLVotingClassifier(member, n_members=2).fit(
        X.repeat(often, axis=0), y.repeat(often)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-8
    )
    fitted = RPEMEKLClassifier(subset=8, class_weight="balanced", n_members=1).fit(X[:31], y[:31])
    np.testing.assert_allclose(fitted.class_weight_, [31 / 33, 31 / 30, 31 / 30])
    assert preset_classifier("paper-dimkl3", class_weight="balanced").class_weight == "balanced"


def test_views_of_other_weights_are_other_views():
    X, y, often = three_classes(6)
    model = MKLClassifier("rbf(sigma='mean')", learner="kda", bandwidths="all-rows")
    alone = [
        model.fit(X, y, sample_weight=weights).decision_function(X) for weights in (often, None)
    ]
    shared = Cache()
    for weights, expected in zip((often, None), alone, strict=True):
        values = model.fit_sharing(shared, X, y, sample_weight=weights).decision_function(X)
        np.testing.assert_allclose(values, expected, rtol=1e-9)


@pytest.mark.parametrize("learner", ["mhks", "kda"])
def test_rows_read_in_parts_have_weights(tmp_path, learner):
    X, y, often = three_classes(7)
    np.save(tmp_path / "rows.npy", X)
    stored = StoredRows.of_memmap(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    model = MKLClassifier(feature_map="empirical(subset=9)", learner=learner, random_state=0)
    values = model.fit(stored, y, sample_weight=often).decision_function(X)
    expected = model.fit(X, y, sample_weight=often).decision_function(X)
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-8)


def test_weights_are_routed_by_scikit_learn():
    X, y, often = three_classes(8)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MKLClassifier(learner="kda").set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        search = GridSearchCV(steps, {"mklclassifier__learner__alpha": [0.1, 1.0]}, cv=3)
        search.fit(X, y, sample_weight=often)
        best = search.best_estimator_
        rows = StandardScaler().fit_transform(X)
        alone = MKLClassifier(learner=best[-1].learner).fit(rows, y, sample_weight=often)
        np.testing.assert_allclose(best.decision_function(X), alone.decision_function(rows))
        scores = cross_validate(model, X, y, params={"sample_weight": often}, cv=3)
        assert np.isfinite(scores["test_score"]).all()


def test_the_page_names_those_that_weigh_rows():
    from pathlib import Path

    from mklkit.protocols import CombinerTraits, LearnerTraits, traits_of
    from mklkit.registry.composing import default_instances
    from mklkit.registry.registry import get_registry

    page = Path(__file__).parents[2] / "docs" / "guides" / "imbalance.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    learners, combiners = (
        next(line for line in lines if line.startswith(f"| {start} |"))
        for start in ("learners", "kernel weights")
    )
    for kind, kind_of_traits, named in (
        ("learner", LearnerTraits, learners),
        ("combiner", CombinerTraits, combiners),
    ):
        for part in default_instances(get_registry(), kind):
            traits = traits_of(part, kind_of_traits)
            ours = type(part).__module__.startswith(("mklkit.", "mklkit_optimize."))
            if ours and "two classes" in traits.learns:
                weighs = (
                    traits.takes_row_weights
                    if kind == "learner"
                    else traits.row_weights == "throughout"
                )
                assert (f"`{part.name}`" in named) == weighs, part.name
