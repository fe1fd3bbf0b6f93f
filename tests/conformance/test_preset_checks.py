"""The checks of presets find what is wrong with one, and preset_classifier makes what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mklkit_authors.testing import CheckFailure, check_component
from sklearn.datasets import load_iris

from mklkit import MKLClassifier, MKLVotingClassifier, SpecError, preset_classifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.plugin import Preset

VALID: dict[str, Any] = {"name": "even", "help": "Help.", "combiner": "uniform"}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"name": None}, "name"),
        ({"help": None}, "help"),
        ({"combiner": None}, "combiner"),
        ({"kernels": ()}, "kernels"),
        ({"kernels": "rbf"}, "kernels"),
        ({"members": 0}, "members"),
        ({"scale": ""}, "scale"),
    ],
)
def test_a_preset_refuses_what_none_can_have(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        Preset(**{**VALID, **parameters})


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"name": "two words"}, "a name of letters"),
        ({"help": " "}, "one line of help"),
        ({"combiner": "unheard-of"}, "unheard-of"),
        ({"kernels": ("rbg",)}, "rbf"),
        ({"learner": "svm(D=1)"}, "'D'"),
        ({"scale": "log"}, "scale.* must be one of none, standard"),
        ({"kernels": ("linear[log]",)}, "scale.* must be one of none, standard"),
        ({"kernels": ("rbf(gamma=1e9)",)}, "held-out samples right"),
    ],
)
def test_a_faulty_preset_is_told_of(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(CheckFailure, match=said):
        check_component(Preset(**{**VALID, **parts}))


def test_the_parts_of_a_preset_are_those_given_by_hand() -> None:
    X, y = load_iris(return_X_y=True)
    preset = Preset("three", "Help.", "dimkl3", ("rbf", "linear"), "implicit", "svm(C=5)")
    by_hand = MKLClassifier(
        ["rbf", "linear"], feature_map="implicit", combiner="dimkl3", learner="svm(C=5)"
    ).fit(X, y)
    made = preset_classifier(preset).fit(X, y)
    np.testing.assert_array_equal(made.decision_function(X), by_hand.decision_function(X))
    softer = preset_classifier(preset, learner="svm(C=0.1)", kernels=["rbf"])
    assert softer.get_params()["learner"] == "svm(C=0.1)"
    assert softer.get_params()["kernels"] == ["rbf"]
    assert softer.get_params()["combiner"] == "dimkl3"


def test_members_vote_and_coupled_learners_can_be_tuned() -> None:
    voting = preset_classifier("rpemekl", random_state=3)
    assert isinstance(voting, MKLVotingClassifier)
    assert (voting.n_members, voting.random_state) == (3, 3)
    assert isinstance(preset_classifier("multik-mhks", tune="fast"), MKLSearchCV)


@pytest.mark.parametrize(
    ("preset", "parameters", "said"),
    [
        ("paper-dimkl", {}, "paper-dimkl1"),
        ("nu-mkl", {"learners": "svm"}, r"no parameter 'learners'.*'learner'"),
        (None, {}, r"Expected the name of a preset.*got "),
        (["paper-dimkl1"], {}, r"Expected the name of a preset.*got "),
        ("paper-dimkl1", {"tune": "quick"}, r"'fast', 'thorough' or a number.*got 'quick'"),
    ],
)
def test_what_is_no_preset_is_refused(preset: Any, parameters: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        preset_classifier(preset, **parameters)
