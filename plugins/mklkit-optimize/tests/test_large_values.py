"""Values and prices beyond what the solvers can work with end in one plain error, or a warning."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from mklkit_optimize import MKLGL, SILP, SimpleMKL
from mklkit_optimize.saddle import SaddleProblem
from optimize_problems import grams_of, random_problem

from mklkit import DataError, MKLClassifier

COMBINERS = ("mklgl", "silp", "simplemkl", "easymkl", "gamkl(generations=1, population=5)")


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("n_rows", [4, 20])
def test_kernel_values_too_large_say_what_helps(combiner, n_rows):
    rows, labels = random_problem(0, n_rows=20)
    rows, labels = rows[:n_rows] * 1e60, np.resize([-1.0, 1.0], n_rows)
    model = MKLClassifier(["linear", "linear@0:2"], combiner=combiner, random_state=0)
    with pytest.raises(DataError, match="scale the data"):
        model.fit(rows, labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("price", [1e-300, 1e300])
def test_prices_without_measure_are_lived_with(combiner, price):
    rows, labels = random_problem(1, n_rows=12)
    model = MKLClassifier(["linear", "rbf"], combiner=combiner, learner=f"svm(C={price})")
    assert np.isfinite(model.fit(rows, labels).decision_function(rows)).all()


class Stopped(SaddleProblem):
    """A problem whose support vector machines reach libsvm's limit; it counts them."""

    machines: ClassVar[list[float]] = []

    def inner(self, gram):
        self.machines.append(self.C)
        signed, linear, _ = SaddleProblem.inner(self, gram)
        return signed, linear, False


@pytest.mark.parametrize("combiner", [MKLGL(), SILP(), SimpleMKL()])
def test_a_machine_that_was_stopped_ends_the_search(combiner):
    """Each of a thousand machines might else run to the limit."""
    rows, labels = random_problem(3, n_rows=20)
    Stopped.machines.clear()
    problem = Stopped(grams_of(rows), labels, C=1.0, tol=1e-6)
    with pytest.warns(UserWarning, match=r"did not converge in a million steps: .*scale the"):
        combiner.solve(problem)
    assert len(Stopped.machines) == 1
