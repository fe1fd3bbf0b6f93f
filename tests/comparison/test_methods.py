"""Methods from names, globs and spec strings, and the baselines beside them."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from sklearn.neighbors import KNeighborsClassifier

from mklkit.comparison.baselines import baselines
from mklkit.comparison.design import Design
from mklkit.comparison.line_up import methods_to_compare
from mklkit.comparison.methods import make_methods, unique_names
from mklkit.errors import IncompatibleError, SpecError, UnknownNameError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.kernels.distances import RBF
from mklkit.registry.columns import bind_kernels

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
    assert notes == ["plain omitted: it is the same as uniform"]


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


def planned(asked: object, **design: object) -> dict[str, list[tuple[str, list[str]]]]:
    """Return the methods and references of the questions, by their titles."""
    _, questions, _ = methods_to_compare(asked, (), evolve(TWO, **design))
    by_title: dict[str, list[tuple[str, list[str]]]] = {}
    for each in questions:
        by_title.setdefault(each["question"], []).append((each["method"], each["references"]))
    return by_title


@pytest.mark.parametrize(
    ("without", "gone", "lost"),
    [
        (["best-single"], ["best-single"], "All kernels or the best one"),
        (["alone", "Random-Forest"], ["linear", "wide", "random forest"], None),
        (["uniform"], ["uniform"], "Learned weights"),
        ("baselines", ["logistic regression", "random forest", "gradient boosting"], "Kernels or"),
    ],
)
def test_any_method_can_be_left_out(without: object, gone: list[str], lost: str | None) -> None:
    design = Design.of(TWO.settings, (), (), None, without)
    every = [name for name, _ in names_of(["dimkl3"])]
    kept = [name for name, _ in names_of(["dimkl3"], design=design)]
    assert kept == [name for name in every if name not in gone]
    titles = planned(["dimkl3"], without=design.without)
    assert not any(title.startswith(lost) for title in titles) if lost else len(titles) == 3
    for pairs in titles.values():
        assert not {name for method, beside in pairs for name in (method, *beside)} & {*gone}


def test_the_rivals_that_are_left_are_still_asked_about() -> None:
    (pair,) = planned(["dimkl3"], without=("random forest",))["Kernels or other classifiers"]
    assert pair == ("dimkl3", ["logistic regression", "gradient boosting"])
    # The next learned methods take the places of those that are left out.
    asked = planned(["dimkl[1-6]"], without=("dimkl1",))["Learned weights"]
    assert [method for method, _ in asked] == ["dimkl2", "dimkl3", "dimkl4", "dimkl5"]


def test_a_name_stands_for_the_method_with_each_learner() -> None:
    design = Design(settings=TWO.settings, learners=("svm", "ridge"), without=("best-single",))
    assert not any(name.startswith("best-single") for name, _ in names_of(None, design=design))


def test_nothing_unknown_and_not_everything_can_be_left_out() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'best-single'"):
        planned(None, without=("best-singel",))
    with pytest.raises(UnknownNameError, match="no method 'u\\*' to leave out"):
        planned(None, without=("linear", "u*"))
    with pytest.raises(SpecError, match="All methods are omitted"):
        planned(["uniform"], baselines=(), without=("alone", "uniform", "best-single"))


def test_removed_covariates_are_compared_with_both_together() -> None:
    settings = ModelSettings(kernels=["a:rbf@a_*", "b:rbf@b_*"], covariates="age,sex")
    design = Design(settings=settings, baselines=())
    methods, questions, _ = methods_to_compare(["alignment"], (), design)
    (about,) = (q for q in questions if "covariates" in q["question"])
    assert (about["method"], about["references"]) == ("uniform with covariates", ["covariates"])
    by_name = {method.name: method.pipeline for method in methods}
    for name, labels in (
        ("uniform with covariates", ["a", "b", "covariates"]),
        ("covariates", ["covariates"]),
    ):
        pipeline = by_name[name]
        assert "covariates" not in pipeline.named_steps
        assert [kernel.label for kernel in bind_kernels(pipeline[-1].kernels)] == labels
    assert "covariates" in by_name["uniform"].named_steps
    kept = ModelSettings(kernels=["a:rbf@a_*", "covariates:fixed-share(rbf)@age"])
    _, questions, _ = methods_to_compare(["alignment"], (), Design(settings=kept, baselines=()))
    (about,) = (q for q in questions if "covariates" in q["question"])
    assert (about["method"], about["references"]) == ("uniform", ["covariates"])
