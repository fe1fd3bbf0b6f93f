"""Weights that are not learned: equal ones, or those that the user gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.combiners.templates.weighting import LearnedWeighting, WeightingCombiner
from mklkit.errors import SpecError
from mklkit.protocols import Array, CombinerTraits, Learner, Projector, Target, Views
from mklkit.registry.hookspecs import hookimpl, register


@register
@attrs.frozen
class Uniform(WeightingCombiner):
    """Every kernel has the same weight, 1/M.

    See Also
    --------
    Given : User-supplied weights.
    BestSingle : The best kernel alone.

    Notes
    -----
    Cost: O(M), besides that of the learner.

    Source: M. Gönen, E. Alpaydın: Multiple kernel learning algorithms. Journal of Machine Learning
    Research 12 (2011).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MKLClassifier(["linear", "rbf"], combiner="uniform").fit(X, y).weights_[0]
    array([0.5, 0.5])
    """

    name: ClassVar[str] = "uniform"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "several classes", "numbers", "none", "any"),
        several_targets=True,
        row_weights="throughout",
        from_moments=True,
        weights_are="fixed",
    )

    def weights(self, views: Views, y: Array, row_weights: Array | None = None) -> Array:
        """Return ones."""
        return np.ones(len(views))


def per_view(
    expected: str = "non-negative numbers, not all zero",
    fits: Callable[[Array], bool] = lambda mu: mu.min() >= 0 and 0 < mu.sum() < np.inf,
) -> Any:
    """Return the attrs field for optional finite numbers, one per view; by default weights."""

    def convert(value: Any) -> tuple[float, ...] | None:
        if value is None:
            return None
        # A text or a set has no order of kernels.
        if not np.iterable(value) or isinstance(value, (str, bytes, set, frozenset)):
            raise ValueError(f"expected one number per kernel, such as (1, 2); got {value!r}")
        return tuple(float(number) for number in value)

    def check(instance: object, attribute: Any, value: tuple[float, ...] | None) -> None:
        if value is not None and not (value and np.isfinite(value).all() and fits(np.array(value))):
            raise ValueError(f"{attribute.name} must be {expected}, one per kernel; got {value!r}")

    return attrs.field(default=None, converter=convert, validator=check)


def one_per_view(whose: str, name: str, values: Sequence[float] | None, n_views: int) -> Array:
    """Return values (M,), ones by default, or raise SpecError if there is not one for each view."""
    if values is None:
        return np.ones(n_views)
    if len(values) != n_views:
        raise SpecError(f"{whose} has {len(values)} {name} for {n_views} kernels; give one each.")
    return np.array(values)


@register
@attrs.frozen
class Given(LearnedWeighting):
    """Every kernel has the weight that you give, divided by the sum of all.

    Parameters
    ----------
    weights : sequence of float, optional
        One per kernel, 0 or above; by default equal.

    See Also
    --------
    Uniform : The same weight for every kernel.

    Notes
    -----
    Cost: O(M), besides that of the learner.

    Source: M. Gönen, E. Alpaydın: Multiple kernel learning algorithms. Journal of Machine Learning
    Research 12 (2011).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MKLClassifier(["linear", "rbf"], combiner="given(weights=[1, 3])").fit(X, y).weights_[0]
    array([0.25, 0.75])
    """

    name: ClassVar[str] = "given"
    traits: ClassVar[CombinerTraits] = Uniform.traits
    by_learner: ClassVar[bool] = False

    weights: tuple[float, ...] | None = per_view()

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the weights, or ones."""
        return one_per_view(self.name, "weights", self.weights, len(views))


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the types that weighting combiners store in a model file."""
    return [Projector]
