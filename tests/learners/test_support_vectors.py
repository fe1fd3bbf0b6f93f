"""liblinear on features reaches libsvm's optimum; no solver touches NumPy's global state."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mklkit import SVM, MKLClassifier, solve_dual
from mklkit.learners import support_vectors
from mklkit.learners.support_vectors import best_bias, solve_primal


def _problem(n_rows: int = 300, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rows, labels = make_classification(
        n_rows, 8, n_informative=5, flip_y=0.1, class_sep=0.7, weights=[0.7], random_state=0
    )
    return rows + offset, 2.0 * labels - 1.0


def _objective(weights, bias, rows, y, C):
    return 0.5 * weights @ weights + C * np.maximum(0, 1 - y * (rows @ weights + bias)).sum()


@pytest.mark.parametrize("C", [0.01, 1.0, 5.0])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1.0, 20.0), (0.01, 0.0)])
def test_liblinear_solves_the_problem_of_libsvm(monkeypatch, C, scale, offset):
    """Features far from zero have a large bias, which liblinear alone would shrink."""
    rows, y = _problem(offset=offset)
    rows, C = rows * scale, C / scale**2
    exact = SVC(kernel="linear", C=C, tol=1e-8).fit(rows, y)
    least = _objective(exact.coef_[0], exact.intercept_[0], rows, y, C)
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", 0)
    plane = solve_primal(rows, y, C)
    assert plane.ended
    reached = _objective(plane.weights, plane.bias, rows, y, C)
    assert least * (1 - 1e-9) <= reached <= least * (1 + 2e-4)
    expected = exact.decision_function(rows)
    np.testing.assert_allclose(rows @ plane.weights + plane.bias, expected, atol=0.05)


def test_many_rows_of_features_are_left_to_liblinear(monkeypatch):
    monkeypatch.setattr(support_vectors, "_libsvm", None)
    rows, y = _problem(support_vectors.LIBSVM_ROWS + 1)
    model = MKLClassifier("linear", feature_map="empirical(subset=8)", learner="svm(C=1.0)")
    assert model.fit(rows, y).score(rows, y) > 0.7


def test_liblinear_too_ends_with_one_warning(monkeypatch):
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", 0)
    rows, y = _problem()
    model = MKLClassifier("linear", feature_map="empirical", learner=SVM(max_iter=200))
    with pytest.warns(ConvergenceWarning, match=r"max_iter=200 steps") as seen:
        model.fit(rows, y)
    assert len(seen) == 1


def test_the_best_bias_has_no_better_one():
    generator = np.random.default_rng(3)
    for _ in range(50):
        y = np.where(generator.random(9) > 0.5, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        outputs = generator.normal(size=9)

        def loss(bias, outputs=outputs, y=y):
            return np.maximum(0, 1 - y * (outputs + bias)).sum()

        others = np.concatenate([np.linspace(-4, 4, 81), y - outputs])
        assert loss(best_bias(outputs, y)) <= min(map(loss, others)) + 1e-12


@pytest.mark.parametrize("rows_of_libsvm", [0, 5000])
def test_numpys_global_state_is_left_alone(monkeypatch, rows_of_libsvm):
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", rows_of_libsvm)
    rows, y = _problem()
    before = np.random.get_state()  # noqa: NPY002
    solve_dual(rows @ rows.T, y)
    solve_primal(rows, y)
    after = np.random.get_state()  # noqa: NPY002
    assert after[2] == before[2]
    np.testing.assert_array_equal(after[1], before[1])


def test_passes_over_the_rows_are_bounded_in_all(monkeypatch):
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", 0)
    liblinear, taken = support_vectors._liblinear, []

    def counted(*arguments):
        machine = liblinear(*arguments)
        taken.append(machine.n_iter_)
        return machine

    monkeypatch.setattr(support_vectors, "_liblinear", counted)
    rows, y = _problem(300)
    plane = solve_primal(1e3 * rows, y, 1.0, 1e-9, 40 * support_vectors.STEPS_A_PASS)
    assert not plane.ended
    assert len(taken) > 1
    assert sum(taken) <= 40
