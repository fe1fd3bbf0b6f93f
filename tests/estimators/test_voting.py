"""Decision values of votes, against a count of the members' votes by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mklkit import MKLVotingClassifier, RPEMEKLClassifier


class Said:
    """A member that says given decision values."""

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores

    def decision_function(self, X: Any) -> np.ndarray:
        return self.scores


@st.composite
def members_scores(draw: Any) -> np.ndarray:
    """Return decision values of members, (H, n) or (H, n, C), often equal or zero."""
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 6)))
    n_classes = draw(st.integers(2, 4))
    shape += () if n_classes == 2 else (n_classes,)
    return draw(arrays(np.float64, shape, elements=st.sampled_from([-1e9, -1, 0, 0.5, 2, 1e9])))


@given(scores=members_scores())
def test_decision_values_agree_with_the_majority(scores: np.ndarray) -> None:
    n_classes = 2 if scores.ndim == 2 else scores.shape[2]
    vote = MKLVotingClassifier()
    vote.classes_, vote.fitted_ = np.arange(n_classes), None
    vote.members_ = [Said(score) for score in scores]
    rows = np.zeros((scores.shape[1], 1))
    chosen = np.array([score > 0 if score.ndim == 1 else score.argmax(axis=1) for score in scores])
    counts = [[list(column).count(c) for c in range(n_classes)] for column in chosen.T]
    expected = [count.index(max(count)) for count in counts]  # The first of those with most votes.
    assert vote.predict(rows).tolist() == expected
    values = vote.decision_function(rows)
    if n_classes == 2:
        assert (values > 0).tolist() == [label == 1 for label in expected]
    else:
        assert values.argmax(axis=1).tolist() == expected
        assert (np.abs(values - counts) <= 2 / 3).all()


def test_rows_of_equal_votes_are_ranked_by_the_mean(two_classes: Any) -> None:
    X, y = two_classes
    model = RPEMEKLClassifier(subset=12, random_state=0).fit(X, y)
    values = model.decision_function(X)
    mean = np.mean([member.decision_function(X) for member in model.members_], axis=0)
    votes = np.sum([member.decision_function(X) > 0 for member in model.members_], axis=0)
    for count in set(votes.tolist()):
        same = votes == count
        assert (np.argsort(values[same]) == np.argsort(mean[same])).all()
    assert len(set(votes.tolist())) > 2
