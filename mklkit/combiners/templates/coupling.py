"""The coupling template: one subproblem per view, solved together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.learners.linear_decision import LinearDecision
from mklkit.protocols import (
    Array,
    ColumnSelector,
    Combiner,
    CombinerTraits,
    FittedLearner,
    KernelView,
    Learner,
    Projector,
    Subproblem,
    Target,
    Views,
    array_of,
    result_of,
    traits_of,
)
from mklkit.protocols.component import COUPLED_LEARNER, COUPLED_MAP
from mklkit.registry.hookspecs import register
from mklkit.views.deciding import FEW_ROWS, BlockDecision, RowBlock
from mklkit.views.feature_moments import Projection


@attrs.frozen(eq=False)
class CoupledSolution:
    """The decision functions of a coupled fit, one per view, and how its iteration went.

    Parameters
    ----------
    learners : list of FittedLearner
        The results of the subproblems' ``finish``, in the order of the views.
    weights : ndarray of shape (M,)
        The weight of each view in the mean of the decision values.
    history : tuple of float, default=()
        The joint objective after each iteration.

    See Also
    --------
    CouplingCombiner.couple : The method that returns it.

    Examples
    --------
    >>> learners = [LinearDecision(np.ones(2), 0.0), LinearDecision(np.ones(3), 1.0)]
    >>> CoupledSolution(learners, np.array([0.5, 0.5])).history
    ()
    """

    learners: list[Any]
    weights: Array
    history: tuple[float, ...] = ()


@register
@attrs.frozen(eq=False)
class CoupledDecision(BlockDecision):
    """The mean of the views' decision functions; ``history`` is the joint objective's."""

    weights: Array
    projectors: list[Projector]
    learners: list[Any]
    history: tuple[float, ...]

    def with_projectors(self, projectors: Sequence[Projector]) -> Self:
        """Return the decision with other projectors of the same columns."""
        return attrs.evolve(self, projectors=list(projectors))

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values, (n,) or (n, G), of one block of samples."""
        shares: Any = block.present_weights(self.projectors, self.weights)
        linear = all(learner.coefficients is not None for learner in self.learners)
        if shares is None and linear and len(block) > FEW_ROWS and not block.keep:
            pairs = list(zip(self.weights, self.learners, strict=True))
            scaled = [weight * learner.coefficients for weight, learner in pairs]
            bias = sum(weight * learner.bias for weight, learner in pairs)
            return Projection.of(self.projectors, scaled)(block) + bias
        total: Any = 0.0
        for index, values in block.columns_of(self.projectors):
            share = self.weights[index] if shares is None else shares[:, index]
            total = total + (share * self.learners[index].decide(values).T).T
        return np.asarray(total)

    def split_block(self, block: RowBlock) -> Array:
        """Return the part of each view and the weighted biases, (n, M + 1)."""
        parts = np.zeros((len(block), len(self.learners) + 1))
        for index, values in block.columns_of(self.projectors):
            weight, learner = self.weights[index], self.learners[index]
            parts[:, index] = weight * (learner.decide(values) - learner.bias)
            parts[:, -1] += weight * learner.bias
        return parts


@attrs.frozen(eq=False)
class CoupledGrid(CoupledDecision):
    """The decision functions of the points of a grid, side by side, for linear learners."""

    n_iter: Array
    """The number of objective evaluations until each point converged (G,)."""

    @classmethod
    def of(cls, projectors: list[Projector], solutions: Sequence[CoupledSolution]) -> CoupledGrid:
        """Return the decisions of each point's solution, with the same weights of views."""
        learners = []
        for of_points in zip(*(solution.learners for solution in solutions), strict=True):
            coefficients = np.column_stack([learner.coefficients for learner in of_points])
            biases = np.array([learner.bias for learner in of_points])
            learners.append(LinearDecision(coefficients, biases))
        n_iter = np.array([len(solution.history) for solution in solutions])
        return cls(solutions[0].weights, projectors, learners, (), n_iter)


@attrs.frozen
class CouplingCombiner(Combiner):
    """Template: the views' learners are fitted jointly, each depending on the others' outputs.

    A subclass implements :meth:`couple`. It repeatedly calls ``solve`` of every view's subproblem
    and never reads the coefficients, so any learner that has ``subproblem`` can be coupled. The
    decision is the weighted mean of the views' decision values.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        By default with the feature map ``"empirical"`` and the learner ``"mhks"``.

    See Also
    --------
    Subproblem : A view's share of the fit.
    CoupledSolution : What :meth:`couple` returns.

    References
    ----------
    .. [1] Z. Wang, S. Chen and T. Sun, "MultiK-MHKS: a novel multiple kernel learning algorithm",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 30 (2008), 348–353.

    Examples
    --------
    Each view in turn fits what the sum of the others leaves of the labels (backfitting):

    >>> from mklkit import MKLClassifier
    >>> @attrs.frozen
    ... class Backfitting(CouplingCombiner):
    ...     name = "backfitting"
    ...     def couple(self, problems, target, learner, random_state):
    ...         outputs = np.zeros((len(problems), len(target), 1))
    ...         solved = [None] * len(problems)
    ...         for _ in range(20):
    ...             for place, problem in enumerate(problems):
    ...                 rest = outputs.sum(axis=0) - outputs[place]
    ...                 solved[place] = problem.solve(target.values[:, None] - rest, np.ones(1))
    ...                 outputs[place] = problem.outputs(solved[place])
    ...         parts = [p.finish(c) for p, c in zip(problems, solved)]
    ...         return CoupledSolution(parts, np.ones(len(parts)))
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 2.0], [4.0, 2.0]]), [0, 0, 1, 1]
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> model = MKLClassifier(kernels, combiner=Backfitting(), learner="ridge").fit(X, y)
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    traits: ClassVar[CombinerTraits] = CombinerTraits(
        feature_map=COUPLED_MAP, learner=COUPLED_LEARNER
    )

    @abstractmethod
    def couple(
        self,
        problems: Sequence[Subproblem],
        target: Target,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> CoupledSolution:
        """Return the joint solution of the views' subproblems.

        Parameters
        ----------
        problems : sequence of Subproblem
            The subproblem of each of M views, with one column.
        target : Target
            What to learn.
        learner : Learner
            The learner, whose ``coupling`` has the step of the margins and the criterion that ends
            the iteration.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        CoupledSolution
            The decision function of each view, and their weights.
        """

    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> CoupledDecision:
        """Return the decision of the jointly fitted learners.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn.
        learner : Learner
            A learner with ``coupling``.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        CoupledDecision
            The weighted mean of the views' decision functions.

        Raises
        ------
        IncompatibleError
            If the learner can't be coupled.
        ComponentError
            If :meth:`couple` returned something else.
        """
        coupled = self.coupled(learner)
        problems = self.subproblems(views, target, coupled, [coupled])
        solved = self.couple(problems, target, coupled, random_state)
        solution = result_of(self, "couple", solved, CoupledSolution)
        for part in solution.learners:
            result_of(self, "couple, for each view,", part, FittedLearner)
        array_of(self, "couple, as weights,", solution.weights, (len(solution.learners),))
        projectors = [view.present.projector for view in views]
        return CoupledDecision(solution.weights, projectors, solution.learners, solution.history)

    def coupled(self, learner: Learner) -> Learner:
        """Return the learner if it can be coupled.

        Parameters
        ----------
        learner : Learner
            The learner to fit.

        Returns
        -------
        Learner
            The same.

        Raises
        ------
        IncompatibleError
            If it has no ``coupling``.
        """
        if learner.coupling is not None:
            return learner
        raise IncompatibleError(
            f"{self.name} couples learners through their subproblems, which {learner.name} does not"
            f" offer: use a learner that does, such as {traits_of(self, CombinerTraits).learner!r}."
        )

    def subproblems(
        self, views: Views, target: Target, learner: Learner, variants: Sequence[Any]
    ) -> list[Subproblem]:
        """Return each view's subproblem, with one column per variant of the learner.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn; its weights count.
        learner : Learner
            A learner with ``coupling``.
        variants : sequence of Learner
            Copies of the learner that differ only in ``coupling.variants``.

        Returns
        -------
        list of Subproblem
            M subproblems. A view's squares are those of the samples that have its source.
        """
        return [subproblem_of(learner, view, target, variants) for view in views]


def subproblem_of(
    learner: Learner, view: KernelView, target: Target, variants: Sequence[Any]
) -> Subproblem:
    """Return a view's subproblem, with squares over the samples that have its source."""
    members = view.members
    if members is None:
        problem = learner.subproblem(view, target, variants)
        return result_of(learner, "subproblem", problem, Subproblem)
    problem = learner.subproblem(view.present, target.take(members), variants)
    problem = result_of(learner, "subproblem", problem, Subproblem)
    return SubproblemOfMembers(problem, members, len(target))


@attrs.frozen(eq=False)
class SubproblemOfMembers(Subproblem):
    """A subproblem on some of N samples in the form of one on all; the others have outputs of 0."""

    problem: Subproblem
    members: NDArray[np.intp]
    n_rows: int

    @property
    def n_coefficients(self) -> int | None:
        """The number of coefficients per column."""
        return self.problem.n_coefficients

    @property
    def ridges(self) -> Array | None:
        """The ridges (G,), if the problem of the members is linear."""
        return self.problem.ridges

    @property
    def row_ridges(self) -> Array | None:
        """The ridges (G,), if the members' functions are combinations of their similarities."""
        return self.problem.row_ridges

    def row_function(self, coefficients: Any) -> tuple[Array, Array, Array]:
        """Return weights and outputs of the members (n, G), and biases (G,)."""
        return self.problem.row_function(coefficients)

    def finish_rows(self, weights: Array, bias: float) -> FittedLearner:
        """Return the decision function of a combination of the members' similarities."""
        return self.problem.finish_rows(weights, bias)

    def products(self, values: Array) -> tuple[Array, Array]:
        """Return the members' products with values (N, G), and their sums."""
        return self.problem.products(values[self.members])

    def solve_projected(
        self,
        projected: Array,
        means: Array,
        data_weights: Array,
        columns: ColumnSelector = slice(None),
    ) -> Any:
        """Return the coefficients for known products."""
        return self.problem.solve_projected(projected, means, data_weights, columns)

    def function(self, coefficients: Any) -> tuple[Array, Array]:
        """Return the weights (p, G) and biases (G,)."""
        return self.problem.function(coefficients)

    def prepare(self, data_weights: Array) -> None:
        """Compute what solves with these data weights share."""
        self.problem.prepare(data_weights)

    def filled(self, values: Array) -> Any:
        """Return coefficients with these values in every column."""
        return self.problem.filled(values)

    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> Any:
        """Return the coefficients for targets (N, G), of which only the members' count."""
        return self.problem.solve(targets[self.members], data_weights, columns)

    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values (N, G)."""
        outputs = self.problem.outputs(coefficients)
        values = np.zeros((self.n_rows, *outputs.shape[1:]), outputs.dtype)
        values[self.members] = outputs
        return values

    def penalty(self, coefficients: Any, columns: ColumnSelector = slice(None)) -> Array:
        """Return the regularisation terms (G,)."""
        return self.problem.penalty(coefficients, columns)

    def finish(self, coefficients: Any, column: int = 0) -> FittedLearner:
        """Return the decision function of one column."""
        return self.problem.finish(coefficients, column)
