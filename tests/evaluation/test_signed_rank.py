"""The Bayesian signed-rank test, against a naive transcription."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit.errors import DataError
from mklkit.evaluation import bayesian_signed_rank
from mklkit.evaluation import rank_tests as module

DIFFERENCES = np.array([0.03, -0.01, 0.012, 0.004, 0.02, -0.002])


def naive(differences, rope, n_samples):
    """Benavoli et al. 2017, section 4.2, one sample and one pair at a time."""
    stream = np.random.default_rng(99)
    z = [0.0, *differences]
    wins = [0, 0, 0]
    for _ in range(n_samples):
        drawn = [stream.gamma(0.5), *(stream.gamma(1) for _ in differences)]
        w = [gamma / sum(drawn) for gamma in drawn]
        theta = [0.0, 0.0, 0.0]
        for i in range(len(z)):
            for j in range(len(z)):
                middle = (z[i] + z[j]) / 2
                part = 0 if middle < -rope else 2 if middle > rope else 1
                theta[part] += w[i] * w[j]
        wins[theta.index(max(theta))] += 1
    return np.array(wins) / n_samples


def as_array(found):
    return np.array([found.worse, found.equivalent, found.better])


def test_naive_transcription():
    found = as_array(bayesian_signed_rank(DIFFERENCES, rope=0.0075))
    assert found.sum() == pytest.approx(1)
    assert 0.1 < found[2] < 0.9
    # Four standard errors of 4,000 samples.
    np.testing.assert_allclose(found, naive(DIFFERENCES, 0.0075, 4000), atol=0.032)


def test_symmetry_scale_and_blocks(monkeypatch):
    found = as_array(bayesian_signed_rank(DIFFERENCES, n_samples=4000))
    assert (as_array(bayesian_signed_rank(-DIFFERENCES, n_samples=4000)) == found[::-1]).all()
    scaled = bayesian_signed_rank(100 * DIFFERENCES, rope=1, n_samples=4000)
    assert (as_array(scaled) == found).all()
    monkeypatch.setattr(module, "BLOCK", 700)
    assert (as_array(bayesian_signed_rank(DIFFERENCES, n_samples=4000)) == found).all()


def test_limits():
    assert bayesian_signed_rank(np.full(30, 0.5)).better > 0.999
    assert bayesian_signed_rank([0, 0, 0], rope=0).equivalent == 1
    # 0.92 − 0.91 is above 0.01 in floating-point numbers, and not above the region.
    assert bayesian_signed_rank([0.92 - 0.91] * 5).equivalent == 1


@pytest.mark.parametrize("arguments", [([],), ([np.nan],), ([0.1], -1), ([0.1], 0.01, 0)])
def test_mistakes(arguments):
    with pytest.raises(DataError):
        bayesian_signed_rank(*arguments)
