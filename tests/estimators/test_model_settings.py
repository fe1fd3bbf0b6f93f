"""The settings of a model: one declaration, which estimators, options and comparisons follow."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from mklkit import (
    IncompatibleError,
    MKLClassifier,
    MKLKitError,
    MKLVotingClassifier,
    ModelSettings,
    SpecError,
    build_pipeline,
    compare,
)
from mklkit.datasets.pipeline import model_pipeline
from mklkit.estimators.model_settings import declared_settings
from mklkit.protocols import Task
from mklkit.registry.tasks import all_tasks

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.where(X[:, 0] > 0, "a", "b")


def test_settings_have_the_defaults_of_what_they_set() -> None:
    of_estimator = inspect.signature(MKLClassifier).parameters
    of_steps = inspect.signature(build_pipeline).parameters
    for name, setting in declared_settings().items():
        parameters = of_steps if setting.part == "steps" else of_estimator
        if setting.part in ("steps", "components", "estimator") and setting.default is not None:
            assert parameters[name].default == setting.default, name
    names = ModelSettings(kernels="rbf", learner="svm", max_memory="1GB", n_jobs=2).parameters()
    assert names.keys() <= of_estimator.keys()
    assert {*ModelSettings().of("steps")} <= of_steps.keys()


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_every_setting_of_estimators_is_a_parameter_of_each(task: type[Task]) -> None:
    parameters = {*inspect.signature(task.estimator).parameters}
    of_classes = any(kind.of_classes for kind in task.kinds)
    missing = [
        name
        for name in ModelSettings().of("components", "estimator", "run").keys() - {"seed"}
        if name not in parameters and (of_classes or not declared_settings()[name].for_classes)
    ]
    assert not missing, f"{task.estimator.__name__} lacks the parameters {missing}"
    assert "random_state" in parameters, "the seed"


def test_every_setting_reaches_the_pipeline() -> None:
    chosen: dict[str, Any] = {
        "scale": "minmax",
        "covariates": "age",
        "missing_value": -9,
        "max_memory": "1GB",
        "kernels": ["linear", "rbf"],
        "feature_map": "fourier",
        "combiner": "dimkl3",
        "learner": "mhks",
        "missing": "impute",
        "multiclass": "ovr",
        "bandwidths": "all-rows",
        "tune": "7",
        "class_weight": "balanced",
        "probability": True,
        "seed": 3,
        "n_jobs": 2,
    }
    assert {*chosen, "preset"} == {*declared_settings()}
    pipeline = model_pipeline(ModelSettings(**chosen), scoring="roc_auc")
    search = pipeline[-1]
    assert (search.effort, search.scoring) == (7, "roc_auc")
    of_estimator = search.estimator.get_params(deep=False)
    for name in chosen.keys() - {"scale", "covariates", "missing_value", "tune", "seed"}:
        assert of_estimator[name] == chosen[name], name
    assert of_estimator["random_state"] == 3
    assert pipeline["scale"].feature_range == (-1, 1)
    assert pipeline["covariates"].covariates == "age"
    assert pipeline["encode"].schema.missing_value == -9


def test_a_preset_gives_what_is_not_set() -> None:
    model = model_pipeline(ModelSettings(preset="paper-dimkl1", combiner="dimkl4"))
    assert model[-1].combiner == "dimkl4"
    assert next(iter(model[-1].kernels)).startswith("k1:")
    assert model["scale"].feature_range == (-1, 1)
    assert isinstance(model_pipeline(ModelSettings(preset="rpemekl"))[-1], MKLVotingClassifier)


@pytest.mark.parametrize("name", ["multiclass", "bandwidths", "class_weight", "probability"])
def test_settings_for_classes_are_not_for_numbers(name: str) -> None:
    other = {"multiclass": "ovr", "bandwidths": "all-rows", "class_weight": "balanced"}
    settings = {name: other.get(name, True)}
    with pytest.raises(IncompatibleError, match=f"--{name.replace('_', '-')} is for classes, and"):
        compare(X, X[:, 0], methods="uniform", task="regression", **settings)
    plain = ModelSettings().without_classes("these are numbers")
    assert name not in plain
    assert plain["random_state"] == 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kernel": "rbf"}, "no setting 'kernel'.*Did you mean 'kernels'"),
        ({"learner": "svm"}, "no setting 'learner'. Use the argument 'learners'.$"),
        ({"combiners": ["dimkl3"]}, "no setting 'combiners'. Use the argument 'methods'.$"),
        ({"tune": "quick"}, "'fast', 'thorough' or a number"),
        ({"max_memory": "much"}, "much"),
    ],
)
def test_wrong_settings_of_a_comparison_are_errors(values: dict[str, Any], words: str) -> None:
    with pytest.raises((SpecError, MKLKitError), match=words):
        compare(X, Y, methods="uniform", **values)


def test_settings_that_differ_from_their_defaults() -> None:
    settings = ModelSettings(scale="none", multiclass="auto", probability=True, seed=5)
    assert settings.changed("steps", "estimator") == {"scale": "none", "probability": True}
    assert settings.changed("run") == {"seed": 5}
