"""Methods from names, globs and spec strings, and the baselines beside them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mklkit.comparison.baselines import baselines
from mklkit.comparison.design import Design
from mklkit.comparison.line_up import methods_to_compare
from mklkit.comparison.methods import make_methods, unique_names
from mklkit.errors import IncompatibleError, SpecError, UnknownNameError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.kernels.distances import RBF

TWO = Design(settings=ModelSettings(kernels=["linear", ("wide", RBF(sigma=3.0), None)]))


def names_of(asked: object, presets: tuple[str, ...] = (), design: Design = TWO) -> list:
    methods, _, _ = methods_to_compare(asked, presets, design)
    return [(method.name, method.kind) for method in methods]


def test_baselines_are_always_there() -> None:
    assert names_of(["dimkl[34]", "best-single"]) == [
        ("dimkl3", "method"),
        ("dimkl4", "method"),
        ("best-single", "one kernel"),
        ("uniform", "method"),
        ("linear", "one kernel"),
        ("wide", "one kernel"),
        ("logistic regression", "baseline"),
        ("random forest", "baseline"),
        ("gradient boosting", "baseline"),
    ]


def test_a_given_classifier_is_a_kind_of_its_own() -> None:
    names = names_of([("neighbours", KNeighborsClassifier())])
    assert names[0] == ("neighbours", "classifier")


def test_each_learner_goes_with_each_combiner() -> None:
    settings = ModelSettings(kernels=["linear", "rbf"])
    design = Design(settings=settings, learners=("svm", "mhks(alpha=2.0)"))
    methods, _ = make_methods(["uniform", "alignment"], [], design)
    assert [method.name for method in methods] == [
        "uniform + svm",
        "uniform + mhks(alpha=2.0)",
        "alignment + svm",
        "alignment + mhks(alpha=2.0)",
    ]
    assert all(method.pipeline[-1].kernels == ["linear", "rbf"] for method in methods)


def test_presets_alone_bring_their_kernels_and_scaling() -> None:
    names = names_of(None, ("paper-dimkl[12]",), Design())
    kernels = [name for name, kind in names if kind == "one kernel"]
    assert kernels == ["k1", "k2", "k3", "k4", "k5", "best-single"]
    methods, _, _ = methods_to_compare(None, ("paper-dimkl1",), Design())
    steps = [method.pipeline for method in methods]
    scales = [
        (s["scale"].feature_range if "scale" in s.named_steps else s[-1].scale) for s in steps
    ]
    assert scales[0] == "minmax"
    assert set(scales) == {"minmax", (-1, 1)}


def test_the_same_twice_is_one_and_names_are_unique() -> None:
    methods, _ = make_methods(
        ["uniform", "uniform", " uniform", "dimkl6", "dimkl6(rank=5)"], [], TWO
    )
    assert [method.name for method in unique_names(methods)[0]] == ["uniform", "dimkl6"]
    knn = KNeighborsClassifier()
    methods, _ = make_methods([("uniform", knn), "uniform"], [], TWO)
    assert [method.name for method in unique_names(methods)[0]] == ["uniform", "uniform #2"]


def test_what_is_the_same_by_another_name_is_told() -> None:
    _, _, notes = methods_to_compare(["uniform"], ["plain"], TWO)
    assert notes == ["plain left out: it is the same as uniform"]


def test_tuned_baselines_bear_a_class_of_one_row() -> None:
    first = baselines(Design(settings=ModelSettings(tune="fast")))[0].pipeline
    y = np.repeat(["a", "b", "c"], [12, 12, 1])
    X = np.random.default_rng(0).normal(size=(25, 2)) + (y == "a")[:, None]
    assert set(first.fit(X, y)[-1].best_params_) == {"C"}


def test_a_spec_does_not_depend_on_jobs() -> None:
    serial, more = (
        methods_to_compare(["dimkl3"], (), Design(settings=ModelSettings(n_jobs=jobs)))[0]
        for jobs in (None, 2)
    )
    assert [method.spec for method in serial] == [method.spec for method in more]


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"No combiner matches 'dinkl\*'.*'dimkl"):
        names_of(["dinkl*"])
    with pytest.raises(UnknownNameError, match="Did you mean 'dimkl3'"):
        names_of(["dimk3"])
    settings = ModelSettings(feature_map="implicit")
    implicit = Design(settings=settings, learners=("mhks",))
    with pytest.raises(IncompatibleError):
        names_of(["dimkl3"], (), implicit)
    with pytest.raises(SpecError, match="scikit-learn classifier"):
        names_of([("mine", 3)])
