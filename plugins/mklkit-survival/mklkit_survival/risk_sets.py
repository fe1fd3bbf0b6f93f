"""Cox's partial likelihood of times with censoring, its gradient and its Hessian, in O(N)."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import Array

LOG_RANGE = -690.0, 690.0
"""Logarithms of hazards outside of these are cut off: their exponentials would not be numbers."""
LEAST_TOTAL = 1e-290
"""Sums of hazards below this, relative to the largest hazard, are near the least numbers."""
TIES = ("efron", "breslow")
"""The approximations for deaths at the same time."""


def martingale_residuals(target: Array, row_weights: Array | None = None) -> Array:
    """Return event − H(time) of the null model, H the Nelson–Aalen cumulative hazard.

    Parameters
    ----------
    target : ndarray of shape (N, 2)
        Times, and 1 for an event or 0 for censoring.
    row_weights : ndarray of shape (N,), optional
        The sample weights; default: equal.

    Returns
    -------
    ndarray of shape (N,)
        The residuals, whose weighted sum is 0: above 0 for events that came early.
    """
    risk_sets = RiskSets.of(target, "breslow", row_weights)
    return risk_sets.at(np.zeros(len(target))).residuals() / risk_sets.row_weights


@attrs.frozen(eq=False)
class RiskSets:
    """The samples at risk at each event, from times and events.

    A *step* is one term log Σ of the partial likelihood: one for each event. Those of tied events
    have the same samples at risk; with Efron's ties, the l-th of d ties counts the tied samples by
    1 − l/d.

    Attributes
    ----------
    order : ndarray of int of shape (N,)
        The samples by time. All other arrays are in this order.
    times : ndarray of shape (E,)
        The distinct times of events.
    starts : ndarray of int of shape (E,)
        The place of the first sample at risk at each.
    reached : ndarray of int of shape (N,)
        How many distinct times of events each sample reached.
    events : ndarray of bool of shape (N,)
        Which samples had an event.
    row_weights : ndarray of shape (N,)
        The sample weights, in the order of the data.
    step_of : ndarray of int of shape (D,)
        The place in ``times`` of each step.
    share : ndarray of shape (D,)
        The share of the tied samples that no longer count.
    step_weights : ndarray of shape (D,)
        The weight of each step.
    """

    order: NDArray[np.intp]
    times: Array
    starts: NDArray[np.intp]
    reached: NDArray[np.intp]
    events: NDArray[np.bool_]
    row_weights: Array
    step_of: NDArray[np.intp]
    share: Array
    step_weights: Array

    @classmethod
    def of(cls, target: Array, ties: str, row_weights: Array | None = None) -> Self:
        """Return the risk sets of times and events (N, 2)."""
        weights = np.ones(len(target)) if row_weights is None else row_weights
        order = np.argsort(target[:, 0], kind="stable")
        ordered, events = target[order, 0], target[order, 1] > 0
        times = np.unique(ordered[events])
        step_of = np.searchsorted(times, ordered[events])
        tied = np.bincount(step_of, minlength=len(times))
        first = np.cumsum(tied) - tied
        place = np.arange(len(step_of)) - first[step_of]
        share = place / tied[step_of] if ties == "efron" else np.zeros(len(step_of))
        return cls(
            order,
            times,
            np.searchsorted(ordered, times),
            np.searchsorted(times, ordered, side="right"),
            events,
            weights,
            step_of,
            share,
            weights[order][events],
        )

    def at(self, log_hazards: Array) -> PartialLikelihood:
        """Return the partial likelihood at the log-hazards of samples (N,)."""
        values = log_hazards[self.order]
        largest = values.max(initial=0.0)
        masses = self.row_weights[self.order] * np.exp(values - largest)
        totals = self.total_at_risk(masses) - self.share * self.total_tied(masses)
        return PartialLikelihood(self, values - largest, masses, totals)

    def total_at_risk(self, values: Array) -> Array:
        """Return the sum over the samples at risk, for each step."""
        below = np.cumsum(values[::-1])[::-1]
        return below[self.starts][self.step_of]

    def total_tied(self, values: Array) -> Array:
        """Return the sum over the samples with an event at that time, for each step."""
        sums: Array = np.bincount(self.step_of, values[self.events], len(self.times))
        return sums[self.step_of]

    def back(self, steps: Array) -> Array:
        """Return for each sample the sum over the steps at which it is at risk, less its share."""
        sums = np.bincount(self.step_of, steps, len(self.times))
        at_risk = np.concatenate([[0.0], np.cumsum(sums)])[self.reached]
        shared = np.bincount(self.step_of, steps * self.share, len(self.times))
        at_risk[self.events] -= shared[self.step_of]
        return at_risk

    def in_rows(self, ordered: Array) -> Array:
        """Return values of samples in the order of the data."""
        values = np.empty(len(ordered))
        values[self.order] = ordered
        return values


@attrs.frozen(eq=False)
class PartialLikelihood:
    """The partial likelihood at some log-hazards; its methods take and return values by sample."""

    risk_sets: RiskSets
    values: Array
    masses: Array
    totals: Array

    @property
    def log(self) -> float:
        """The logarithm ℓ of the partial likelihood; −∞ where sums have lost their digits."""
        if not self.totals.min() > LEAST_TOTAL:
            return -np.inf
        logs = np.log(self.totals)
        risk_sets = self.risk_sets
        return float(risk_sets.step_weights @ (self.values[risk_sets.events] - logs))

    def losses(self) -> Array:
        """Return what each sample (N,) adds to −ℓ: 0 if it is censored."""
        losses = np.zeros(len(self.values))
        events = self.risk_sets.events
        losses[events] = np.log(self.totals) - self.values[events]
        return self.risk_sets.in_rows(losses)

    def curvatures(self) -> Array:
        """Return the diagonal part u (N,) of the Hessian: the expected events of each sample."""
        return self.risk_sets.in_rows(self._expected())

    def residuals(self) -> Array:
        """Return the gradient of ℓ (N,): events less expected events, times weights."""
        weights = self.risk_sets.row_weights[self.risk_sets.order]
        return self.risk_sets.in_rows(weights * self.risk_sets.events - self._expected())

    def curved(self, direction: Array) -> Array:
        """Return the product of the Hessian of −ℓ with a direction (N,)."""
        risk_sets = self.risk_sets
        along = self.masses * direction[risk_sets.order]
        means = risk_sets.total_at_risk(along) - risk_sets.share * risk_sets.total_tied(along)
        steps = risk_sets.step_weights * (means / self.totals) / self.totals
        moved = self._expected() * direction[risk_sets.order]
        return risk_sets.in_rows(moved - self.masses * risk_sets.back(steps))

    def _expected(self) -> Array:
        steps = self.risk_sets.step_weights / self.totals
        return self.masses * self.risk_sets.back(steps)


def baseline_hazard(target: Array, log_hazards: Array, row_weights: Any = None) -> tuple[Any, Any]:
    """Return Breslow's estimate: distinct times of events (E,), and cumulative hazards (E,) there.

    Parameters
    ----------
    target : ndarray of shape (N, 2)
        Times and events of the training samples.
    log_hazards : ndarray of shape (N,)
        Their log-hazards relative to the baseline; zeros give the Nelson–Aalen estimate.
    row_weights : ndarray of shape (N,), optional
        The sample weights; default: equal.

    Returns
    -------
    times, hazards : ndarray of shape (E,)
        Between two times the hazard is constant.
    """
    risk_sets = RiskSets.of(target, "breslow", row_weights)
    masses = (np.log(risk_sets.row_weights) + log_hazards)[risk_sets.order]
    # Sums of logarithms, because the last samples may have far less hazard than the others.
    totals = np.logaddexp.accumulate(masses[::-1])[::-1][risk_sets.starts]
    events = np.bincount(risk_sets.step_of, risk_sets.step_weights, len(risk_sets.times))
    increments = events * np.exp(np.clip(-totals, *LOG_RANGE))
    return risk_sets.times, np.cumsum(increments)
