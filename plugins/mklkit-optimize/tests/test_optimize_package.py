"""What holds for every combiner of the package."""

from __future__ import annotations

import mklkit_optimize
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from mklkit import MKLClassifier

NAMES = ("cka", "easymkl", "gamkl", "mklgl", "silp", "simplemkl")


@pytest.mark.parametrize("name", NAMES)
def test_one_kernel_has_all_the_weight(name):
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(kernels=["rbf"], combiner=name).fit(X[50:], y[50:])
    np.testing.assert_allclose(model.weights_, [[1.0]])


def test_parameters_are_searched():
    X, y = load_iris(return_X_y=True)
    model = clone(MKLClassifier(combiner=mklkit_optimize.EasyMKL()))
    search = GridSearchCV(model, {"combiner__alpha": [0.1, 0.9]}, cv=2).fit(X[50:], y[50:])
    assert search.best_params_["combiner__alpha"] in (0.1, 0.9)
