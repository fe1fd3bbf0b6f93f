"""Nested parameters: grids over spec strings and over what is inside them."""

from __future__ import annotations

import pytest

from mklkit import MKLClassifier
from mklkit.errors import SpecError
from mklkit.kernels import RBF, Cosine, Linear, Polynomial
from mklkit.learners import SVM
from mklkit.registry.columns import bind_kernels


def test_nested_parameters_are_named_by_what_is_there():
    model = MKLClassifier(["linear", "wide:rbf(sigma=3)", "cosine(rbf)"], learner="svm(C=2)")
    params = model.get_params()
    assert params["kernels__wide__sigma"] == 3
    assert params["kernels__cosine__kernel__gamma"] is None
    assert params["learner__C"] == 2.0
    assert params["combiner"] == "uniform"
    assert "kernels__rbf__sigma" not in params


def test_setting_a_nested_parameter_leaves_the_rest_alone():
    kernels = ["linear@0:2", "wide:rbf(sigma=3)[roots]", Polynomial(degree=3), "lab:auto@3:"]
    learner = SVM(C=2)
    model = MKLClassifier(kernels, learner=learner)
    model.set_params(kernels__wide__sigma=0.5, learner__tol=1e-4, combiner="dimkl6")
    assert model.get_params()["kernels__wide__sigma"] == 0.5
    assert model.get_params()["kernels__polynomial__degree"] == 3
    assert (learner, model.learner) == (SVM(C=2), SVM(C=2, tol=1e-4))
    assert model.get_params()["combiner__rank"] == 5
    # A component and its parameter at once; and a kernel inside a kernel.
    model = MKLClassifier([Cosine(RBF(sigma=1.0)), Linear()])
    model.set_params(combiner__rank=2, combiner="dimkl6", kernels__cosine__kernel__sigma=4.0)
    assert model.get_params()["combiner__rank"] == 2
    assert model.get_params()["kernels__cosine__kernel"] == RBF(sigma=4.0)


def test_the_kernels_given_stay_as_they_are():
    kernels = ["linear@0:2", "wide:rbf(sigma=3)[roots]", Polynomial(degree=3), "lab:auto@3:"]
    model = MKLClassifier(kernels).set_params(kernels__wide__sigma=0.5)
    assert kernels[1] == "wide:rbf(sigma=3)[roots]"  # the list given is the caller's
    assert [(bound.label, bound.columns, bound.scale) for bound in bind_kernels(model.kernels)] == [
        ("linear@0:2", "0:2", None),
        ("wide", None, "roots"),
        ("polynomial(degree=3, coef0=1.0, gamma=1.0)", None, None),
        ("lab", "3:", "standard"),  # How it is read until it is chosen.
    ]
    assert [bound.auto for bound in bind_kernels(model.kernels)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"learner__c": 1}, r"no parameter 'c'; it takes C, tol, max_iter\. Did you mean 'C'\?"),
        ({"feature_map__rank": 1}, r"'feature_map__rank'.*Give feature_map='implicit'"),
        (
            {"kernels__tanh__beta": 1},
            r"'kernels__tanh__beta'.*learner, kernels__linear, kernels__rbf",
        ),
        ({"kernels__rbf": RBF()}, "Invalid parameter 'kernels__rbf'"),
        ({"nonesuch": 1}, "Invalid parameter 'nonesuch'"),
        ({"nonesuch__c": 1}, "Invalid parameter 'nonesuch__c' for MKLClassifier"),
        ({"learner__C": -1}, "C"),
    ],
)
def test_parameters_that_are_not_there_are_refused(params, message):
    with pytest.raises((SpecError, ValueError), match=message):
        MKLClassifier(["linear", "rbf"], learner="svm").set_params(**params)


@pytest.mark.parametrize(
    ("given", "params", "message"),
    [
        (
            {"kernels": ["rbf(sigma=1)", "rbf(sigma=2)"]},
            {"kernels__rbf__sigma": 2.0},
            "2 kernels have the name 'rbf'",
        ),
        ({}, {"learner__C": 3}, r"'learner__C'.*learner is None, so it is chosen"),
        ({"combiner": "dimkl3"}, {"learner__C": 3}, r"learner is None\. Give learner='svm'"),
        ({"combiner": "ifsl"}, {"learner__alpha": 3}, r"learner is None\. Give learner='mhks'"),
        ({"kernels": "rbg"}, {"kernels__rbg__sigma": 3}, r"Did you mean 'rbf'"),
        ({"combiner": "dimkl33"}, {"combiner__lam": 3}, r"Did you mean 'dimkl3'"),
    ],
)
def test_what_keeps_a_nested_parameter_from_being_set_is_told(given, params, message):
    with pytest.raises(SpecError, match=message):
        MKLClassifier(**given).set_params(**params)


def test_specs_that_can_not_be_resolved_have_no_nested_parameters():
    params = MKLClassifier("nonesuch", combiner="neither").get_params()
    assert params["kernels"] == "nonesuch"
    assert not any("__" in name for name in params)
