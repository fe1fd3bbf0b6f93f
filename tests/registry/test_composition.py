"""Components that fit together: what is filled in, and what is refused with advice."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit import MKLClassifier
from mklkit.combiners import Uniform
from mklkit.errors import IncompatibleError, SpecError
from mklkit.feature_maps import Empirical, Implicit
from mklkit.kernels import RBF, Polynomial
from mklkit.learners import KMHKS, SVM
from mklkit.plugin import CombinerTraits
from mklkit.registry.columns import bind_kernels
from mklkit.registry.composing import choose_components


def test_the_combiners_own_pair_is_used_and_said():
    choice = choose_components("dimkl3", None, None)
    assert (choice.feature_map, choice.learner) == (Implicit(), SVM())
    assert choice.notes == (
        "learner svm: the default with dimkl3",
        "feature map implicit: the default with dimkl3",
    )
    assert choose_components("uniform", "empirical", "svm").notes == ()


@pytest.mark.parametrize(
    ("learner", "feature_map"), [("mhks", Empirical()), ("kmhks", Implicit()), ("svm", Implicit())]
)
def test_a_learner_brings_the_map_it_can_learn_from(learner, feature_map):
    choice = choose_components("uniform", None, learner)
    assert choice.feature_map == feature_map
    (note,) = choice.notes
    if learner == "mhks":
        assert "feature map empirical: mhks learns from features, so not implicit" in note


def test_the_estimator_says_what_was_filled_in():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    model = MKLClassifier("linear", learner="mhks").fit(X, y)
    assert len(model.choices_) == 1
    assert "empirical" in model.choices_[0]
    assert (model.feature_map_, model.learner_.name) == (Empirical(), "mhks")
    assert model.combiner_.name == "uniform"


@pytest.mark.parametrize(
    ("feature_map", "learner", "parts"),
    [
        (
            "implicit",
            "mhks",
            [
                "'mhks' needs features",
                "'implicit' gives rows of Gram matrices",
                "with mhks: empirical",
            ],
        ),
        (
            "empirical(subset=0.1)",
            KMHKS(),
            ["'kmhks' needs a Gram matrix", "'empirical' gives features", "with kmhks: implicit"],
        ),
    ],
)
def test_a_pair_that_can_not_work_says_which_would(feature_map, learner, parts):
    with pytest.raises(IncompatibleError) as caught:
        choose_components("uniform", feature_map, learner)
    message = str(caught.value)
    for part in parts:
        assert part in message
    offered = message.rpartition(":")[2]
    assert "svm" in offered
    assert ("kmhks" in offered) == (feature_map == "implicit")
    assert (" mhks" in offered) == (feature_map != "implicit")


class ByMargin(Uniform):
    name = "by-margin"
    traits = CombinerTraits(for_learners=("svm",))


def test_a_combiner_refuses_other_learners_by_name():
    assert choose_components(ByMargin(), None, "svm(C=2)").learner.C == 2
    with pytest.raises(IncompatibleError, match=r"'by-margin' .* 'kmhks'\. .* by-margin: svm\.$"):
        choose_components(ByMargin(), None, "kmhks")


def test_labels_are_unique():
    kernels = ["tanh", "tanh", "a:linear", "a:rbf", "tanh", ("tanh #2", "linear")]
    labels = [kernel.label for kernel in bind_kernels(kernels)]
    assert labels[:5] == ["tanh", "tanh #2", "a", "a #2", "tanh #3"]
    assert len(set(labels)) == 6


def test_labels_are_what_was_typed_or_all_that_an_object_is():
    kernels = ["polynomial(degree=2)", "rbf(sigma=mean/4)", "rbf@a,b", Polynomial(), RBF(gamma=2)]
    assert [kernel.label for kernel in bind_kernels(kernels)] == [
        "polynomial(degree=2)",
        "rbf(sigma=mean/4)",
        "rbf@a,b",
        "polynomial(degree=2, coef0=1.0, gamma=1.0)",
        "rbf(gamma=2)",
    ]


@pytest.mark.parametrize("form", [list, tuple])
def test_a_tuple_of_kernels_is_a_list_of_them(form):
    assert len(bind_kernels(form(["linear", "rbf", "tanh"]))) == 3
    (bound,) = bind_kernels(form([("linear", "rbf", "tanh")]))
    assert (bound.label, bound.kernel, bound.columns) == ("linear", RBF(), "tanh")


@pytest.mark.parametrize("kernels", [[], (), [()], [("a",)], [(1, "rbf", None)], [None], 7, b"rbf"])
def test_what_is_no_kernel_is_refused(kernels):
    with pytest.raises(SpecError):
        bind_kernels(kernels)
