"""A fitted model's decisions on its training rows are finite, or fit says what to do."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from mklkit import DataError, MKLClassifier, MKLKitWarning, preset_classifier
from mklkit.errors import ComponentError
from mklkit.protocols import Combiner, FixedKernel


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(40, 3))
    return X, (X[:, 0] > 0).astype(int)


@attrs.frozen(eq=False)
class Given:
    """Decision values that were given beforehand."""

    weights: np.ndarray
    values: np.ndarray

    def decide(self, rows):
        return self.values[: len(rows)]


@attrs.frozen(eq=False)
class Leaves(Combiner):
    """A combiner that leaves a decision, or ends in an error."""

    name: ClassVar[str] = "leaves"

    outcome: Any = None

    def fit(self, views, target, learner, random_state):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    ("weight", "place", "value"),
    [(0.5, 0, np.nan), (0.5, 17, np.inf), (0.5, 39, -np.inf), (np.nan, 0, 1.0)],
)
def test_a_number_that_is_not_finite_is_refused(problem, weight, place, value):
    X, y = problem
    outcome = Given(np.array([weight, 0.5]), np.where(np.arange(40) == place, value, 1.0))
    model = MKLClassifier(["linear", "polynomial(degree=5)"], combiner=Leaves(outcome))
    with pytest.raises(DataError, match=r"'polynomial\(degree=5\)' has the most extreme values"):
        model.fit(X * 100, y)


@pytest.mark.parametrize(
    "outcome", [object(), None, Given(np.ones(3) / 3, np.ones(40)), Given(None, np.ones(40))]
)
def test_what_is_no_decision_is_refused(problem, outcome):
    with pytest.raises(ComponentError, match="leaves"):
        MKLClassifier(["linear", "rbf"], combiner=Leaves(outcome)).fit(*problem)


@pytest.mark.parametrize(
    "error", [np.linalg.LinAlgError("singular"), FloatingPointError("overflow"), ValueError("NaN")]
)
def test_a_solvers_own_error_ends_in_one_that_names_the_kernel(problem, error):
    X, y = problem
    model = MKLClassifier(["rbf", "linear"], combiner=Leaves(error))
    with pytest.raises(
        DataError, match=rf"\({error}\).*Kernel 'linear' has .* values up to 1e\+20"
    ):
        model.fit(X * 1e10 / np.sqrt((X**2).sum(axis=1).max()), y)


def test_a_mistake_in_a_combiner_on_ordinary_data_stays_what_it_is(problem):
    with pytest.raises(ValueError, match=r"^shapes do not match$"):
        MKLClassifier("rbf", combiner=Leaves(ValueError("shapes do not match"))).fit(*problem)


@pytest.mark.filterwarnings("ignore::mklkit.errors.MKLKitWarning")
@pytest.mark.parametrize(
    ("system", "dtype", "scale", "offset"),
    [
        ("kmhks", np.float32, 1e30, 0),
        ("paper-dimkl4", np.float64, 1e300, 0),
        ("dimkl6", np.float64, 1e70, 0),
        ("ifsl", np.float64, 1e30, 0),
        ("ifsl", np.float64, 1, 1e8),
        ("ifsl", np.float32, 1e9, 0),
        ("centered-alignment", np.float32, 1e18, 0),
        ("cluster-gating", np.float64, 1e100, 0),
    ],
)
def test_far_from_one_a_fit_is_finite_or_refused_in_our_words(
    problem, system, dtype, scale, offset
):
    X, y = problem
    X = (X * scale + offset).astype(dtype)
    preset = system in ("kmhks", "paper-dimkl4")
    model = preset_classifier(system) if preset else MKLClassifier(combiner=system)
    try:
        model.fit(X, y)
    except DataError as error:
        assert "scale the data" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(model.decision_function(X)).all()


@attrs.frozen
class NoNumbers(FixedKernel):
    """A kernel that is finite for a row and itself only."""

    name: ClassVar[str] = "no-numbers"

    def __call__(self, a, b):
        return np.where((a[:, None] == b).all(axis=2), 1.0, np.nan)

    def diagonal(self, rows):
        return np.ones(len(rows))


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=9)"])
def test_a_map_of_a_kernel_without_finite_values_names_it(problem, feature_map):
    X, y = problem
    with pytest.raises(
        DataError, match="'no-numbers' has values on these data that are not finite"
    ):
        MKLClassifier(["tanh", NoNumbers()], feature_map=feature_map, learner="mhks").fit(X, y)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_rows_that_overflow_are_apart_in_every_map(problem):
    X, y = problem
    for feature_map in ("empirical", "empirical(subset=9)"):
        model = MKLClassifier(["tanh", "rbf(gamma=1)"], feature_map=feature_map, learner="mhks")
        assert np.isfinite(model.fit(X * 1e200, y).decision_function(X * 1e200)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("kind", "size"), [("f8", 1e154), ("f8", 1e200), ("f4", 1e19), ("f4", 1e37)]
)
def test_gating_refuses_data_whose_squares_overflow(problem, kind, size):
    X, y = problem
    X = (X * size).astype(kind)
    with pytest.raises(DataError, match=r"neighbors'\) has a width .* scale the data"):
        preset_classifier("nu-mkl").fit(X, y)
    with pytest.raises(DataError, match=r"cluster-gating can't separate .* Scale the data"):
        MKLClassifier(["laplacian"], combiner="cluster-gating").fit(X, y)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_that_no_float64_holds_are_refused_in_silence(problem):
    X, y = problem
    large = X.astype(np.longdouble) * np.longdouble("1e1000")
    model = MKLClassifier("linear").fit(X, y)
    for refused in (lambda: model.fit(large, y), lambda: model.decision_function(large)):
        with pytest.raises(ValueError, match="infinity or a value too large"):
            refused()


def test_inner_products_of_rows_far_from_zero_are_worth_a_word(problem):
    X, y = problem
    model = MKLClassifier(["linear", "rbf"])
    with pytest.warns(MKLKitWarning, match=r"'linear' multiplies samples .* Scale the data"):
        model.fit(X + 1e5, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MKLKitWarning)
        model.fit(X + 100, y)
        MKLClassifier("rbf").fit(X + 1e5, y)
