"""MKLSearchCV for every combiner and learner, against scikit-learn's search over single fits."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.datasets import make_classification
from sklearn.metrics import get_scorer, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold

from mklkit import MKLClassifier, MKLOneClass, MKLRegressor, MKLSearchCV
from mklkit.combiners.uniform import Uniform
from mklkit.errors import DataError, MKLKitWarning, SpecError
from mklkit.estimators.grids import declared_space
from mklkit.estimators.variants import fits_grids
from mklkit.kernels import RBF
from mklkit.learners import SVM
from mklkit.plugin import Target, WeightingCombiner

FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)


def some_rows(n_classes: int = 2) -> tuple[Any, Any]:
    X, y = make_classification(
        90, 6, n_informative=4, n_classes=n_classes, class_sep=0.8, flip_y=0.2, random_state=3
    )
    return X, np.array(["elm", "ash", "oak"])[y]


def assert_as_by_single_fits(model: MKLClassifier, grid: Any, n_classes: int = 2) -> None:
    X, y = some_rows(n_classes)
    ours = MKLSearchCV(model, grid, cv=FOLDS).fit(X, y)
    reference = GridSearchCV(model, grid, cv=FOLDS, error_score="raise").fit(X, y)
    results, plain = ours.cv_results_, reference.cv_results_
    order = [plain["params"].index(params) for params in results["params"]]
    for fold in range(3):
        key = f"split{fold}_test_score"
        np.testing.assert_allclose(results[key], plain[key][order], atol=1e-12)
    assert len(set(plain["mean_test_score"])) > 1  # or agreement says nothing
    assert ours.best_score_ == pytest.approx(reference.best_score_)


MACHINE = {"learner": "svm"}
WIDTHS = {"kernels__rbf__sigma": ["mean", "mean/4"], "learner__C": [0.1, 10.0]}
GATES = {"combiner": "cluster-gating(n_clusters=2)", "learner": "kda"}


@pytest.mark.parametrize(
    ("n_classes", "settings", "grid"),
    [
        (2, MACHINE, {"combiner": ["uniform", "dimkl3", "best-single(cv=2)"], **WIDTHS}),
        (3, MACHINE, {"combiner": ["dimkl3"], **WIDTHS}),
        (2, GATES, {"learner__alpha": [1e-3, 10.0]}),
        (
            3,
            {"feature_map": "empirical(subset=20)", "learner": "mhks", "multiclass": "ovr"},
            {"learner__alpha": [0.1, 100.0], "combiner": ["uniform", "dimkl5"]},
        ),
        (3, {"learner": "kda", "multiclass": "native"}, {"learner__alpha": [1e-3, 10.0]}),
        (
            3,
            {"learner": "ridge"},
            {"combiner": ["uniform", "dimkl3"], "learner__alpha": [1e-3, 10.0, 1e3]},
        ),
        (
            3,
            {"learner": "ridge", "feature_map": "empirical(subset=20)"},
            {"learner__alpha": ["auto", 1e3], "kernels__rbf__sigma": ["mean", "mean/4"]},
        ),
        (3, {**GATES, "learner": "ridge"}, {"learner__alpha": [1e-3, 1e3]}),
        (3, MACHINE, [{"learner__C": [1.0]}, {"learner__C": [100.0], "kernels": ["rbf"]}]),
    ],
    ids=[
        "weightings",
        "classes",
        "gates",
        "features",
        "native",
        "one-hot",
        "one-hot features",
        "one-hot gates",
        "kernels",
    ],
)
def test_points_score_as_single_fits(n_classes: int, settings: Any, grid: Any) -> None:
    model = MKLClassifier(["rbf", "linear"], **settings, random_state=0)
    assert_as_by_single_fits(model, grid, n_classes)


def test_another_score_is_that_of_scikit_learns_scorer() -> None:
    X, y = some_rows()
    model, grid = MKLClassifier(learner="svm"), {"learner__C": [0.01, 1.0, 100.0]}
    for scoring in ("roc_auc", "balanced_accuracy"):
        ours = MKLSearchCV(model, grid, cv=FOLDS, scoring=scoring).fit(X, y).cv_results_
        reference = GridSearchCV(model, grid, cv=FOLDS, scoring=scoring).fit(X, y).cv_results_
        np.testing.assert_allclose(ours["mean_test_score"], reference["mean_test_score"])


@pytest.mark.process
def test_how_long_to_look() -> None:
    X, y = some_rows()
    model = MKLClassifier(["rbf", "linear"], learner="svm", random_state=0)

    def tried(effort: Any) -> list[Any]:
        fitted = MKLSearchCV(model, effort=effort, cv=2).fit(X, y)
        return list(fitted.cv_results_["params"])

    assert tried("fast") == [{"learner__C": C} for C in (1.0, 10.0, 100.0)]
    thorough = tried("thorough")
    prices = SVM.traits.search_space["C"]
    assert thorough[:7] == [{"learner__C": C} for C in prices]
    widths = {params["kernels__rbf__sigma"] for params in thorough[7:]}
    assert widths == {"2.0*mean".replace(".0", ""), "0.5*mean", "0.25*mean"}
    assert len(thorough) == 7 * 4
    drawn = tried("5")
    assert len(drawn) == 5
    assert drawn == tried(5)
    assert all(set(params) == {"learner__C", "kernels__rbf__sigma"} for params in drawn)
    with pytest.raises(SpecError, match="'fast', 'thorough' or a number"):
        tried("quick")


def test_a_value_of_the_users_own_is_tried_too() -> None:
    model = MKLClassifier([RBF(sigma=3.0)], learner="svm(C=5)")
    space = declared_space(model)
    assert space["learner__C"][0] == 5.0
    assert space["kernels__rbf__sigma"] == (6.0, 3.0, 1.5, 0.75)


def test_among_equals_the_simplest_model_is_taken() -> None:
    X = np.repeat([[0.0], [10.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    y = np.repeat([0, 1], 20)
    for prices in ([0.1, 1.0, 10.0], [10.0, 0.1, 1.0]):
        grid = {"learner__C": prices}
        search = MKLSearchCV(MKLClassifier("rbf", learner="svm"), grid, cv=2).fit(X, y)
        assert search.cv_results_["mean_test_score"].tolist() == [1.0, 1.0, 1.0]
        assert search.best_params_ == {"learner__C": 0.1}


@attrs.frozen
class Counting(WeightingCombiner):
    """Even weights, and how often they were asked for."""

    name: ClassVar[str] = "counting"
    calls: ClassVar[list[int]] = []

    def weights(self, views: Any, y: Any) -> Any:
        self.calls.append(len(y))
        return np.ones(len(views))


@attrs.frozen
class CountingGaussian(RBF):
    """A Gaussian kernel, and how many rows it was fitted to each time."""

    name: ClassVar[str] = "counting-gaussian"
    fits: ClassVar[list[int]] = []

    def fit(self, rows: Any) -> Any:
        self.fits.append(len(rows))
        return RBF.fit(self, rows)


def test_weights_and_kernels_are_computed_once_per_fold() -> None:
    X, y = some_rows()
    Counting.calls.clear()
    CountingGaussian.fits.clear()
    grid = {"combiner": [Counting(), "dimkl2"], "learner__C": [0.1, 1.0, 10.0]}
    model = MKLClassifier([CountingGaussian(), "linear"], learner="svm")
    MKLSearchCV(model, grid, cv=FOLDS).fit(X, y)
    assert Counting.calls[:3] == [60, 60, 60]
    assert len(Counting.calls) <= 4
    assert CountingGaussian.fits == [60, 60, 60, 90]


@attrs.frozen
class Changed(Uniform):
    """A combiner that changes what fit does and knows nothing of grids."""

    name: ClassVar[str] = "changed"

    def fit(self, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
        return super(Changed, self).fit(  # noqa: UP008
            views, Target.two_classes(-target.values), learner, random_state
        )


def test_a_changed_fit_is_not_left_out() -> None:
    assert fits_grids(Uniform())
    assert not fits_grids(Changed())
    grid = {"combiner": [Uniform(), Changed()], "learner__C": [0.1, 10.0]}
    assert_as_by_single_fits(MKLClassifier(learner="svm"), grid)


def test_a_point_that_fails_is_left_out() -> None:
    X, y = some_rows()
    grid = {"kernels": [["rbf"], ["polynomial(degree=300)"]], "learner__C": [1.0]}
    with pytest.warns(MKLKitWarning, match="A point failed and is dropped: .*polynomial"):
        search = MKLSearchCV(MKLClassifier(learner="svm"), grid, cv=2).fit(X * 1e3, y)
    assert search.best_params_["kernels"] == ["rbf"]
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]


def test_folds_of_wide_rows_score_as_single_fits() -> None:
    """Their distances are taken from one matrix of all pairs."""
    X, y = some_rows()
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(90, 40))])
    model = MKLClassifier(["rbf(gamma=0.01)", "rbf(gamma=0.1)"], learner="svm", random_state=0)
    grid = {"combiner": ["uniform", "dimkl2"], "learner__C": [1.0, 10.0]}
    expected = GridSearchCV(model, grid, cv=FOLDS).fit(wide, y).cv_results_["mean_test_score"]
    results = MKLSearchCV(model, grid, cv=FOLDS).fit(wide, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(results, expected)


def test_views_are_shared_by_the_same_rows_alone() -> None:
    from mklkit.views.cache import Cache

    random = np.random.default_rng(0)
    first = random.normal(size=(60, 40))
    y = (first[:, 0] + random.normal(size=60) > 0).astype(int)
    # The same training rows, others held out, and enough columns for a matrix of all pairs.
    second = np.vstack([first[:40], random.normal(size=(20, 40))])
    splits = [(np.arange(40), np.arange(40, 60))]
    model = MKLClassifier(["linear", "rbf"], learner="svm", random_state=0)

    def scores(X: Any, shared: Any = None) -> Any:
        search = MKLSearchCV(model, {"learner__C": [0.01, 1.0]}, cv=splits)
        search.fit_sharing(shared, X, y)
        return search.cv_results_["mean_test_score"].tolist()

    alone = scores(first), scores(second)
    assert alone[0] != alone[1]
    shared = Cache()
    assert (scores(first, shared), scores(second, shared)) == alone


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"param_grid": {3: [1]}}, "names of parameters to sequences .*got {3: "),
        ({"effort": np.array([1, 2])}, "'fast', 'thorough' or a number"),
        ({"param_grid": {"combiner": ["ifsl"], "combiner__lam": [0.5, 1.0]}}, "couples learners"),
        ({"scoring": lambda *_: np.nan}, "the scorer returned NaN"),
        ({"scoring": "neg_log_loss"}, "'neg_log_loss' needs more than predictions"),
    ],
    ids=["names", "effort", "learner", "scorer", "probabilities"],
)
def test_mistakes_are_named(given: dict[str, Any], words: str) -> None:
    X, y = some_rows()
    with pytest.raises(ValueError, match=words):
        MKLSearchCV(MKLClassifier(learner="svm(C=1)"), cv=2, **given).fit(X, y)


@pytest.mark.process
def test_numbers_are_searched_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.column_stack([X[:, 0], X[:, 1] ** 2]) + 0.1 * rng.normal(size=(60, 2))
    weights, patients = rng.integers(0, 3, 60).astype(float), np.repeat(np.arange(20), 3)
    folds = list(GroupKFold(3).split(X, y, patients))
    scored = [(train, test[weights[test] > 0]) for train, test in folds]
    grid = {"combiner": ["uniform", "centered-alignment"], "learner__alpha": [1e-3, 1.0, 1e3]}
    model = MKLRegressor(["rbf", "linear"], learner="ridge", random_state=0)
    for targets, scoring in ((y, "r2"), (y[:, 0], "neg_mean_absolute_error")):
        ours = MKLSearchCV(model, grid, cv=folds, scoring=scoring)
        ours.fit(X, targets, weights, patients)
        by_hand = []
        for params in ours.cv_results_["params"]:
            fits = [
                clone(model).set_params(**params).fit(X[train], targets[train], weights[train])
                for train, _ in folds
            ]
            pairs = zip(fits, scored, strict=True)
            by_hand.append([get_scorer(scoring)(f, X[t], targets[t]) for f, (_, t) in pairs])
        means = np.mean(by_hand, axis=1)
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], means)
        assert ours.best_index_ == means.argmax()
        best = clone(model).set_params(**ours.best_params_).fit(X, targets, weights)
        np.testing.assert_allclose(ours.predict(X), best.predict(X))
        assert ours.score(X, targets) == pytest.approx(r2_score(targets, best.predict(X)))
    assert (is_regressor(ours), is_classifier(ours)) == (True, False)
    assert ours.n_features_in_ == 3


def test_of_one_class_known_outliers_choose_and_are_not_learned_from() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) % 4 == 0, -1, 1)
    X = rng.normal(size=(80, 2)) * np.where(y < 0, 3.0, 1.0)[:, None]
    model = MKLOneClass("rbf", learner="one-class-svm")
    grid = {"learner__nu": [0.01, 0.2, 0.9]}
    ours = MKLSearchCV(model, grid, cv=FOLDS).fit(X, y)
    reference = GridSearchCV(model, grid, cv=FOLDS, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"]
    )
    unsupervised = MKLOneClass("rbf", learner=ours.learner_).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), unsupervised.decision_function(X))
    assert is_outlier_detector(ours)
    for wrong in (None, np.ones(80), np.arange(80)):
        with pytest.raises(DataError, match="outliers"):
            MKLSearchCV(model, grid).fit(X, wrong)
