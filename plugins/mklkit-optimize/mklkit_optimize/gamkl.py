"""GAMKL: kernel weights on the ℓp ball by an evolutionary search."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, in_, instance_of, optional
from numpy.typing import NDArray
from scipy.optimize import differential_evolution

from mklkit.plugin import Array, Learner, Target, Views, as_int, finite_number, register, solve_dual
from mklkit_optimize.base import NormBallWeighting
from mklkit_optimize.gram_sums import gram_stack
from mklkit_optimize.saddle import SaddleProblem

Fitness = Literal["accuracy", "objective"]
INNER_TOLERANCE = 1e-3
PATIENCE = 1000
"""libsvm's step limit per sample; more steps hardly change a solution's error rate."""


@register
@attrs.frozen
class GAMKL(NormBallWeighting):
    """Search kernel weights with ‖σ‖_p = 1 by evolution, for accuracy or for the objective J(σ).

    Parameters
    ----------
    p : float, default=1.0
        1 or above.
    fitness : {"accuracy", "objective"}, default="accuracy"
        The cross-validated accuracy of the support vector machine on the weighted sum, or J(σ),
        the objective that ``mklgl`` minimises.
    population : int, default=20
        Weight vectors per generation, 5 or more. The first ones are uniform and each kernel alone.
    generations : int, default=15
    cv : int, default=3
        Folds of the cross-validation; fewer if a class has fewer samples.
    C : float, optional
        C of the inner support vector machines; by default the learner's C (1 if it has none).

    Notes
    -----
    Cost: ``population * (generations + 1) * cv`` support vector machines, and M Gram matrices of
    memory.

    M Gram matrices of memory and ``population * (generations + 1) * cv`` support vector
    machines (without ``cv`` for the objective). The search is SciPy's differential evolution, made
    for a box of M numbers: accuracy is piecewise constant, which rules out methods that use
    gradients or a smooth model. The same seed gives the same weights. Source: Pinar et al. (2016),
    as summarised by Price et al. 2022 (section 2.3.2). Accuracy as the default fitness is our
    reading: that paper finds GAMKL's solutions better than MKLGL's, and MKLGL already minimises the
    objective, which is convex.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=GAMKL(generations=3), random_state=0).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "gamkl"

    p: float = attrs.field(default=1.0, converter=float, validator=and_(ge(1), finite_number))
    fitness: Fitness = attrs.field(
        default="accuracy",
        validator=in_(Fitness.__args__),  # type: ignore[attr-defined]
    )
    population: int = attrs.field(
        default=20, converter=as_int, validator=and_(instance_of(int), ge(5))
    )
    generations: int = attrs.field(
        default=15, converter=as_int, validator=and_(instance_of(int), ge(1))
    )
    cv: int = attrs.field(default=3, converter=as_int, validator=and_(instance_of(int), ge(2)))
    C: float | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(float),
        validator=optional([gt(0), finite_number]),
    )

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return σ (M,), ‖σ‖_p = 1, for labels −1 and +1."""
        if len(views) == 1:
            return np.ones(1)
        generator = np.random.default_rng(random_state.randint(2**31 - 1))
        C = self.C or learner.fixed_C or 1.0
        labels = target.values.astype(np.float64)
        problem = SaddleProblem(gram_stack(views), labels, C, INNER_TOLERANCE)
        cost = self._cost(problem, target, generator)
        try:
            outcome = differential_evolution(
                lambda genes: cost(self._on_ball(genes)),
                bounds=[(0.0, 1.0)] * len(views),
                init=self._first_generation(len(views), generator),
                maxiter=self.generations,
                polish=False,
                # Equal accuracies throughout a population do not mean that the search converged.
                tol=0.0,
                atol=-1.0,
                rng=generator,
            )
        except RuntimeError as error:
            # SciPy reports any ValueError as a cost function of the wrong form.
            raise (error.__cause__ or error) from None
        return self._on_ball(outcome.x)

    def _on_ball(self, genes: Array) -> Array:
        if not genes.any():
            genes = np.ones(len(genes))
        return genes / np.linalg.norm(genes, self.p)

    def _first_generation(self, n_kernels: int, generator: np.random.Generator) -> Array:
        founders = np.vstack([np.full(n_kernels, 0.5), np.eye(n_kernels)])[: self.population]
        others = generator.random((max(self.population - len(founders), 0), n_kernels))
        return np.vstack([founders, others])

    def _cost(
        self, problem: SaddleProblem, target: Target, generator: np.random.Generator
    ) -> Callable[[Array], float]:
        if self.fitness == "objective":
            return lambda weights: problem.at(weights).objective
        seed = int(generator.integers(2**31 - 1))
        every_row = np.arange(len(problem.y))
        # A class of one sample or group cannot be held out: use the training error instead.
        splits = target.folds(self.cv, np.random.RandomState(seed)) or [(every_row, every_row)]
        return lambda weights: _errors(problem, weights, splits)


def _errors(
    problem: SaddleProblem, weights: Array, splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
) -> float:
    """Return the share of held-out samples that the support vector machine misclassifies."""
    gram = problem.combined(weights)
    wrong = 0
    rows = 0
    for training, held_out in splits:
        inner = gram[np.ix_(training, training)]
        steps = PATIENCE * len(training)
        solution = solve_dual(inner, problem.y[training], problem.C, problem.tol, steps)
        outputs = gram[np.ix_(held_out, training)] @ solution.coefficients + solution.bias
        predicted = np.where(outputs > 0, 1.0, -1.0)
        wrong += int((predicted != problem.y[held_out]).sum())
        rows += len(held_out)
    return wrong / rows
