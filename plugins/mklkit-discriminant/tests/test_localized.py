"""Localized MKL against naive transcriptions, finite differences and scikit-learn's machine."""

from __future__ import annotations

import numpy as np
import pytest
from discriminant_problems import SPECS, grams_of, machine_objective, random_problem
from mklkit_discriminant import Localized
from mklkit_discriminant.gate_descent import LocalizedProblem
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklkit import MKLClassifier

GATINGS = ("softmax", "sigmoid")


def naive_gates(vectors, inputs, gating):
    """Return η by the formulas as printed."""
    gates = np.empty((len(inputs), vectors.shape[1]))
    for i, x in enumerate(inputs):
        powers = [np.exp(v[:-1] @ x + v[-1]) for v in vectors.T]
        for m, power in enumerate(powers):
            gates[i, m] = power / sum(powers) if gating == "softmax" else power / (1 + power)
    return gates


def composite(grams, gates, others=None):
    others = gates if others is None else others
    return sum(np.outer(gates[:, m], others[:, m]) * gram for m, gram in enumerate(grams))


def fitted(rows, labels, **settings):
    combiner = Localized(**settings)
    model = MKLClassifier(SPECS, combiner=combiner, learner="svm(C=1.0)", random_state=0)
    return model.fit(rows, labels)


def gates_of(model):
    return model.decisions_[0].gates


@pytest.mark.parametrize("gating", GATINGS)
def test_the_gradient_is_that_of_the_machines_optimum(gating):
    rows, labels = random_problem(0)
    grams = grams_of(rows)
    inputs = np.column_stack([rows, np.ones(len(rows))])
    problem = LocalizedProblem(grams, inputs, labels, 1.0, gating)
    vectors = np.random.default_rng(1).normal(size=(6, 4)) * 0.3
    numeric = np.empty_like(vectors)
    for place in np.ndindex(*vectors.shape):
        ends = []
        for step in (1e-4, -1e-4):
            moved = vectors.copy()
            moved[place] += step
            gram = composite(grams, naive_gates(moved, rows, gating))
            ends.append(machine_objective(gram, labels))
        numeric[place] = (ends[0] - ends[1]) / 2e-4
    gradient = problem.gradient(problem.at(vectors))
    np.testing.assert_allclose(gradient, numeric, atol=2e-3 * np.abs(numeric).max())


@pytest.mark.parametrize("gating", GATINGS)
@pytest.mark.parametrize("seed", range(4))
def test_no_accepted_step_worsens_the_objective(gating, seed):
    """By machines of high precision on naive composites, stopped after each step in turn."""
    rows, labels = random_problem(seed)
    grams, objectives, history = grams_of(rows), [], ()
    for steps in range(1, 9):
        gates = gates_of(fitted(rows, labels, gating=gating, max_iter=steps, tol=1e-9))
        history = gates.history
        objectives.append(machine_objective(composite(grams, gates.gates(rows)), labels))
        assert objectives[-1] == pytest.approx(history[-1], rel=1e-4)
    assert len(history) > 4
    assert (np.diff(history) < 0).all()
    assert (np.diff(objectives) <= 1e-4 * objectives[0]).all()
    assert objectives[-1] < 0.98 * history[0]


@pytest.mark.parametrize("gating", GATINGS)
def test_gates_and_decisions_of_new_rows_are_the_printed_formulas(gating):
    rows, labels = random_problem(2, n_rows=60)
    known, new, told = rows[:40], rows[40:], labels[:40]
    model = fitted(known, told, gating=gating)
    gates = gates_of(model)
    standardized = (new - known.mean(axis=0)) / known.std(axis=0)
    expected = naive_gates(gates.vectors, standardized, gating)
    np.testing.assert_allclose(model.gate_weights(new), expected, rtol=1e-8)
    if gating == "softmax":
        np.testing.assert_allclose(expected.sum(axis=1), 1)
    of_known = gates.gates(known)
    machine = SVC(kernel="precomputed").fit(composite(grams_of(known), of_known), told)
    crossed = np.array(
        [
            new @ known.T,
            rbf_kernel(new, known, gamma=0.05),
            rbf_kernel(new, known, gamma=0.5),
            rbf_kernel(new[:, :3], known[:, :3], gamma=0.4),
        ]
    )
    values = machine.decision_function(composite(crossed, expected, of_known))
    np.testing.assert_allclose(model.decision_function(new), values, atol=1e-8)
    np.testing.assert_allclose(
        model.weights_[0], of_known.mean(axis=0) / of_known.mean(axis=0).sum()
    )


def test_each_region_gets_its_kernel():
    """Left of zero column 1 tells the classes apart, right of it column 2: gates learn which."""
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.choice([-2.0, 2.0], 160), rng.normal(size=(160, 2))])
    labels = np.sign(np.where(rows[:, 0] < 0, rows[:, 1], rows[:, 2]))
    kernels = ["linear@1:2", "linear@2:3"]
    model = MKLClassifier(kernels, combiner="localized", random_state=0).fit(rows, labels)
    gates = model.gate_weights(rows)
    left = rows[:, 0] < 0
    assert gates[left, 0].mean() > 0.8
    assert gates[~left, 1].mean() > 0.8
    uniform = MKLClassifier(kernels, combiner="uniform").fit(rows, labels)
    assert model.score(rows, labels) > uniform.score(rows, labels) + 0.1


def test_restarts_keep_the_best_run():
    rows, labels = random_problem(1)
    ends = [
        gates_of(fitted(rows, labels, gating="sigmoid", n_init=n)).history[-1] for n in (1, 2, 5)
    ]
    # The runs of a smaller n_init are the first of a larger, as the seed is the same.
    assert ends[0] >= ends[1] >= ends[2]
    assert ends[2] < ends[0]


def test_the_price_is_the_learners_unless_given():
    rows, labels = random_problem(0)

    def first(combiner, learner):
        model = MKLClassifier(SPECS, combiner=combiner, learner=learner, random_state=0)
        return gates_of(model.fit(rows, labels)).history[0]

    assert first("localized", "svm(C=0.1)") == first("localized(C=0.1)", "svm(C=5)")
    assert first("localized", "svm(C=0.1)") < first("localized", "svm(C=5)")
    assert first("localized", "kda") == first("localized(C=1)", "kda")


def test_columns_that_are_constant_do_no_harm():
    rows, labels = random_problem(0)
    with_constant = np.column_stack([rows, np.full(len(rows), 0.1)])
    model = fitted(with_constant, labels)
    assert np.isfinite(model.gate_weights(with_constant + 1)).all()
    np.testing.assert_allclose(gates_of(model).spread[-1], 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [("gating='hard'", "'gating' must be in"), ("n_init=0", "'n_init' must be >= 1")],
)
def test_wrong_parameters_are_named(arguments, message):
    rows, labels = random_problem(0)
    with pytest.raises(ValueError, match=message):
        MKLClassifier(SPECS, combiner=f"localized({arguments})").fit(rows, labels)


def test_gates_are_left_alone_where_the_machine_does_not_end():
    rows, labels = random_problem(0)
    combiner = Localized(n_init=2, C=1.0)
    model = MKLClassifier(SPECS, combiner=combiner, learner="kmhks(max_iter=5)", random_state=0)
    with pytest.warns(ConvergenceWarning, match="localized could not learn .* scale the data"):
        model.fit(rows * 1e4, labels)
    assert gates_of(model).history == (np.inf,)
    assert np.isfinite(model.decision_function(rows * 1e4)).all()
