"""Voting ensembles on random-subset maps, against a naive iteration and votes by hand."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import ifsl_search
from oracles.coupled import multik_mhks, start_of

from mklkit import MKLClassifier, MKLVotingClassifier, RPEMEKLClassifier, get_registry
from mklkit.feature_maps import Empirical
from mklkit.learners.ho_kashyap.rules import PAPER_GRID


@pytest.mark.parametrize("initial", ["unit", "zeros"])
def test_members_follow_the_equations(two_classes, rng, initial):
    X, y = two_classes
    member = MKLClassifier(
        ["cosine(linear)", "rbf", "rbf(sigma='mean/10')"],
        feature_map="empirical(subset=0.3)",
        combiner=f"ifsl(lam=0.25, initial={initial!r})",
        learner="mhks(alpha=2.0)",
    )
    model = MKLVotingClassifier(member, n_members=3, random_state=0).fit(X, y)
    new = rng.normal(size=(60, 4))
    votes = []
    for voter in model.members_:
        maps = [projector.map for projector in voter.decisions_[0].projectors]
        features = [fitted.transform(X) for fitted in maps]
        start = start_of(initial, [f.shape[1] + 1 for f in features])
        naive = multik_mhks(features, y, 2.0, 0.25, start=start)
        views = [
            np.column_stack([fitted.transform(new), np.ones(60)]) @ omega
            for fitted, omega in zip(maps, naive.coefficients, strict=True)
        ]
        mean = np.mean(views, axis=0)
        np.testing.assert_allclose(
            voter.decision_function(new), mean, atol=1e-6 * np.abs(mean).max()
        )
        votes.append(np.sign(mean))
    np.testing.assert_array_equal(model.predict(new), np.sign(np.sum(votes, axis=0)))


@pytest.mark.parametrize(("subset", "count"), [(0.1, 9), (0.5, 45), (13, 13), (1.0, 90)])
def test_members_see_all_rows_and_draw_their_own_landmarks(three_classes, subset, count):
    X, y = three_classes
    model = RPEMEKLClassifier(subset=subset, random_state=0).fit(X, y)
    drawn = [member.decisions_[0].projectors[0].map.landmarks for member in model.members_]
    known = {row.tobytes() for row in X}
    for landmarks in drawn:
        assert len(landmarks) == count
        assert len({row.tobytes() for row in landmarks} & known) == count
    if count < 90:
        assert not np.array_equal(drawn[0], drawn[1])
    assert model.best_params_ == {"subset": subset, "alpha": 1.0, "lam": 1.0}


def test_the_default_kernels_are_the_papers(two_classes):
    X, y = two_classes
    model = RPEMEKLClassifier(subset=10, random_state=0).fit(X, y)
    assert model.kernel_names_ == ["cosine", "rbf", "rbf_narrow"]
    preset = get_registry().lookup("preset", "rpemekl").target
    for member in model.members_:
        assert member.kernels == list(preset.kernels)


@pytest.mark.parametrize("subset", [(0.1, 0.3), [6, 0.25, 30], np.array([0.2, 0.4])], ids=str)
def test_the_subset_is_the_best_of_the_choices(two_classes, subset):
    X, y = two_classes
    model = RPEMEKLClassifier(subset=subset, alpha=0.5, lam=2.0, cv=3, random_state=0).fit(X, y)
    scores = [
        ifsl_search(
            ["cosine(linear)", "rbf", "rbf(sigma='mean/10')"],
            feature_map=Empirical(subset=choice),
            ridges=[0.5],
            lams=[2.0],
            cv=3,
            random_state=0,
        )
        .fit(X, y)
        .best_score_
        for choice in subset
    ]
    best = model.best_params_
    assert best["subset"] == list(subset)[int(np.argmax(scores))]
    assert (best["alpha"], best["lam"]) == (0.5, 2.0)
    assert model.members_[0].feature_map_ == Empirical(subset=best["subset"])


def test_c_and_lam_are_tuned_where_asked(two_classes):
    X, y = two_classes
    model = RPEMEKLClassifier(subset=0.3, tune=True, cv=2, random_state=0).fit(X, y)
    search = ifsl_search(
        model.members_[0].kernels, Empirical(subset=0.3), cv=2, random_state=0
    ).fit(X, y)
    assert model.best_params_ == {
        "subset": 0.3,
        "alpha": search.best_params_["learner__alpha"],
        "lam": search.best_params_["combiner__lam"],
    }
    assert model.best_params_["alpha"] in PAPER_GRID
    assert model.members_[0].combiner_.lam == model.best_params_["lam"]
