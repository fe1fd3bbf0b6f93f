"""Rows held out of millions."""

from __future__ import annotations

import numpy as np

from mklkit.evaluation.splits import held_out_mask


def test_labels_of_the_same_seed_do_not_decide_what_is_held_out():
    codes = np.random.default_rng(0).integers(0, 3, 300_000)
    held, kind = held_out_mask(codes, 0.2, seed=0)
    assert kind == "at random"
    shares = np.bincount(codes[held]) / np.bincount(codes)
    np.testing.assert_allclose(shares, 0.2, atol=0.01)
