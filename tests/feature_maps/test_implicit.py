"""The implicit map: columns are similarities to the training rows."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mklkit.feature_maps import Implicit
from mklkit.kernels import RBF


def test_columns_are_similarities_to_the_landmarks(rng):
    rows, new = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    feature_map = Implicit().fit(RBF(gamma=0.4).fit(rows), rows, np.random.RandomState(0))
    np.testing.assert_allclose(feature_map.transform(new), rbf_kernel(new, rows, gamma=0.4))
    assert not feature_map.explicit


def test_fewer_landmarks_leave_their_columns(rng):
    rows, new = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    feature_map = Implicit().fit(RBF(gamma=0.4).fit(rows), rows, np.random.RandomState(0))
    some = feature_map.with_landmarks(rows[[4, 2, 9]])
    np.testing.assert_allclose(
        some.transform(new), feature_map.transform(new)[:, [4, 2, 9]], rtol=1e-12
    )
