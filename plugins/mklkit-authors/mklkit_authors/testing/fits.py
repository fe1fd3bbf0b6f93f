"""Checks of the requirements on fits of every kind of component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.display.numbers import percentage, significant
from mklkit.protocols import Array, FittedLearner, LearnerTraits, traits_of
from mklkit.registry.entries import TRAITS
from mklkit_authors.testing.cases import Case, Fit
from mklkit_authors.testing.expectations import (
    CheckFailure,
    NotApplicable,
    expect,
    expect_array,
    expect_close,
    expect_untouched,
)

# Iterations end at a tolerance, which reordered or repeated samples may reach at another point.
ORDER_TOLERANCE = {"kernel": 1e-6, "feature_map": 1e-6, "learner": 0.02, "combiner": 0.005}
WEIGHT_TOLERANCE = 0.02

# Fixed widths, because some of the samples are repeated.
FIXED_KERNELS = ("linear", "rbf(gamma=0.1)", "rbf(gamma=0.5)")


def inputs_are_left_as_they_are(case: Case) -> None:
    """Nothing is written into samples, labels, features or Gram matrices, which are shared."""
    for variant in case.variants():
        arrays, use = _work(variant)
        expect_untouched(arrays, use, case.component)


def _work(case: Case) -> tuple[dict[str, Array], Callable[[], object]]:
    """Return the arrays that a component gets, and a call of everything that it does with them."""
    rows, new_rows, y = case.rows.copy(), case.new_rows.copy(), case.y.copy()
    if case.kind in ("kernel", "feature_map"):
        arrays = {"training rows": rows, "new rows": new_rows}
        return arrays, lambda: case.fit_rows(rows).results(new_rows)
    views = case.views()
    arrays = {"the labels y": y, "the rows": np.asarray(views.rows)}
    for view in views:
        if view.explicit:
            arrays[f"the features of {view.label}"] = view.features()
        else:
            arrays[f"the Gram matrix of {view.label}"] = view.gram()
    return arrays, lambda: case.fit_views(views, case.target(y))


def decides_one_number_a_row(case: Case) -> None:
    """Decisions are one finite number per sample, for one sample or many."""
    for variant in case.variants():
        fit = variant.fitted()
        expect(
            case.kind == "combiner" or isinstance(fit.fitted, FittedLearner),
            "fit to return an object with a 'decide' method",
            repr(fit.fitted),
            "mklkit.plugin.LinearDecision(coefficients, bias) is one.",
        )
        for n in (1, len(case.new_rows)):
            decisions = fit.results(case.new_rows[:n])["decisions"]
            expect_array(decisions, (n,), "decide(rows)")


def learns_what_is_plain(case: Case) -> None:
    """It separates distinct classes, predicts numbers, and recognises samples far away."""
    for variant in case.variants():
        results, wanted = variant.fitted().results, variant.new_y
        values = results(case.new_rows)["decisions"]
        if variant.task == "none" and case.kind == "combiner":
            continue  # Far samples are not outliers to some kernels.
        if variant.task == "none":
            far = results(case.new_rows + 100.0)["decisions"]  # Far beyond their spread.
            expect(
                bool((far < np.median(values)).all()),
                "lower values of samples far from the training samples",
                f"values up to {significant(far.max(), 3)} beside a median of"
                f" {significant(float(np.median(values)), 3)}",
                "Samples like the training samples get values above zero, others below.",
            )
        elif variant.packages_task is not None:
            scores = variant.packages_task.score(wanted, values, variant.y)
            expect(
                scores["better_than_baseline"],
                f"new samples to be predicted better than by {variant.packages_task.guess}",
                scores,
                "Learn from the values of the target, as the task's kind reads them.",
            )
        elif variant.task == "numbers":
            error = np.square(values - wanted).mean() / wanted.var()
            expect(
                error <= 0.3,
                "training numbers to be predicted, with at most 30 % of their variance left",
                percentage(error, 0),
                "Learn from the values of the target, whose mean may be far from zero.",
            )
        else:
            right = float(((values > 0) == (wanted > 0)).mean())
            expect(
                right >= 0.85,
                "at least 85 % of new samples with the correct sign",
                percentage(right, 0),
                "Samples labelled +1 get decision values above zero, the others below.",
            )


def one_seed_gives_one_result(case: Case) -> None:
    """Fitted twice to the same samples with the same seed, it has the same results."""
    advice = "Draw from the random_state that fit gets; a learner gets none, but has parameters."
    for variant in case.variants():
        first, again = variant.fitted(), variant.fit()
        _expect_same(case, again, first, "the same {} from one seed", advice, 1e-12)


def each_row_by_itself(case: Case) -> None:
    """A sample's results do not depend on the other samples in the call, few or many."""
    advice = "Compute statistics of samples in fit, not in a call."
    new_rows = case.new_rows
    for variant in case.variants():
        results = variant.fitted().results
        together, large = results(new_rows), results(np.concatenate([new_rows] * 40))
        alone = [results(row[None]) for row in new_rows]
        for name in together.keys() - {"weights"}:
            single = np.concatenate([values[name] for values in alone])
            expect_close(single, together[name], f"the same {name} of one sample", advice, 1e-8)
            block = large[name][: len(new_rows)]
            expect_close(block, together[name], f"the same {name} among many samples", advice, 1e-8)


def training_order_does_not_matter(case: Case) -> None:
    """Reordered training samples give the same results, up to the tolerance of iterations."""
    advice = "Remove the dependence on the order; tighten a tolerance that stops too early."
    for variant in case.variants():
        usual = variant.fitted()
        if usual.drawn:
            raise NotApplicable(f"{case.label} draws at random")
        for order in _orders(case):
            again = variant.fit(case.rows[order], variant.y[order])
            expected = "the same {} from reordered training samples"
            _expect_same(case, again, usual, expected, advice, ORDER_TOLERANCE[case.kind])


def weights_of_rows_count(case: Case) -> None:
    """A sample of weight 3 counts as three, or changes the decision, as the traits state."""
    traits: Any = traits_of(case.component, TRAITS[case.kind])
    refused = f"{case.label} does not claim to take sample weights"
    if case.kind == "learner":
        claims = traits.takes_row_weights
        throughout = True
    else:
        claims = traits.row_weights != "refused" and not traits.n_kernels
        throughout = traits.row_weights == "throughout"
    if not claims:
        raise NotApplicable(refused)
    kernels = FIXED_KERNELS[-1:] if case.kind == "learner" else FIXED_KERNELS
    often = np.where(case.labels > 0, 3, 1)
    for variant in case.variants():
        if not traits_of(variant.partners[1], LearnerTraits).takes_row_weights:
            raise NotApplicable(refused)
        advice = "Use target.row_weights, passed on unchanged; or correct the traits."
        usual = variant.fit(kernels=kernels)
        # Light samples count for less even if a margin separates the classes.
        light = np.where(often == 1, 1e-3, 1.0)
        lighter, even = (
            fit.results(case.new_rows)["decisions"]
            for fit in (variant.fit(row_weights=light, kernels=kernels), usual)
        )
        expect(
            not np.allclose(lighter, even, rtol=1e-9, atol=0),
            "other decisions for sample weights, as the traits state",
            "the same",
            advice,
        )
        if throughout and not usual.drawn:
            weighted = variant.fit(row_weights=often.astype(float), kernels=kernels)
            rows, y = case.rows.repeat(often, axis=0), variant.y.repeat(often, axis=0)
            expected = "the same {} for samples of weight 3 as for three copies of them"
            try:
                repeated = variant.fit(rows, y, kernels=kernels)
                _expect_same(case, weighted, repeated, expected, advice, WEIGHT_TOLERANCE)
            except CheckFailure:
                # Holding out a sample holds out all of its weight, so all of its copies.
                copies = np.arange(len(often)).repeat(often)
                repeated = variant.fit(rows, y, kernels=kernels, groups=copies)
                _expect_same(case, weighted, repeated, expected, advice, WEIGHT_TOLERANCE)


def _expect_same(
    case: Case, fit: Fit, usual: Fit, expected: str, advice: str, tolerance: float
) -> None:
    """Expect two fits to have the same results for the new samples."""
    results = usual.results(case.new_rows)
    for name, values in fit.results(case.new_rows).items():
        expect_close(values, results[name], expected.format(name), advice, tolerance)


def _orders(case: Case) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return outlying samples first; and backwards, with samples of another class at both ends.

    A fit that uses only the first few samples, or a single one, gives other results.
    """
    distances = np.square(case.rows - case.rows.mean(axis=0)).sum(axis=1)
    alike = case.labels == case.labels[0]
    first, *others = np.flatnonzero(~alike)
    backwards = np.array([*others[::-1], *np.flatnonzero(alike)[::-1], first])
    return np.argsort(-distances, kind="stable"), backwards


FIT_CHECKS = (each_row_by_itself, one_seed_gives_one_result, training_order_does_not_matter)
DECISION_CHECKS = (decides_one_number_a_row, learns_what_is_plain)
