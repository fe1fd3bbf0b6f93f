"""SVM-2K: two support vector machines, one per kernel, that agree."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky

from mklkit import IncompatibleError
from mklkit.learners import SVM
from mklkit.plugin import (
    BlockDecision,
    Combiner,
    CombinerTraits,
    LinearDecision,
    RowBlock,
    finite_number,
    register,
)
from mklkit_views.svm2k_program import TwoMachines, solve_svm2k


@register
@attrs.frozen(eq=False)
class TwoViewDecision(BlockDecision):
    """The mean of two support vector machines' decision values."""

    weights: NDArray[Any]
    projectors: list[Any]
    learners: list[LinearDecision]

    def scores(self, block: RowBlock) -> NDArray[Any]:
        """Return both support vector machines' decision values (n, 2)."""
        scores = np.empty((len(block), 2))
        for index, values in block.columns_of(self.projectors):
            scores[:, index] = self.learners[index].decide(values)
        return scores

    def decide_block(self, block: RowBlock) -> NDArray[Any]:
        """Return the decision values (n,) of one block of samples."""
        return np.asarray(self.scores(block).mean(axis=1))


@register
@attrs.frozen
class SVM2K(Combiner):
    """SVM-2K: two SVMs, one per kernel, fitted jointly so that they agree; their mean decides.

    Minimises ½‖w_A‖² + ½‖w_B‖² + C Σ (ξ_A + ξ_B) + D Σ η, where the ξ are the SVMs' margin
    errors and η_i is the excess of the difference of their values at sample i over ε.

    Parameters
    ----------
    D : float, default=1.0
        The cost of disagreement, 0 or above; with 0 the two SVMs are independent. C is the
        learner's, ``svm(C=...)``.
    epsilon : float, default=0.0
        ε, the difference of decision values that is not penalised; 0 or above.

    Raises
    ------
    IncompatibleError
        If there are not exactly two kernels, for a learner other than ``svm``, and for a kernel
        whose Gram matrix is not positive semi-definite.

    Notes
    -----
    Cost: O(N³) per iteration of one quadratic program in 4N variables.

    One quadratic program in 4N variables (plus the rank of each nearly singular Gram matrix), about
    O(N³) per iteration of Clarabel's interior-point method: for a few thousand samples at most.
    With kernel values of 10¹² and more the solver may fail; scale the features then. With ε = 0
    nearly every sample is a support vector. Source: J. D. R. Farquhar, D. R. Hardoon, H. Meng, J.
    Shawe-Taylor, S. Szedmak: Two view learning: SVM-2K, theory and practice. NIPS 2005.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(["linear", "rbf"], combiner=SVM2K(D=0.5), learner="svm(C=10)")
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "svm2k"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        n_kernels=2,
        weights_are="fixed",
        search_space={"D": (0.1, 1.0, 10.0)},
        for_learners=("svm",),
    )

    D: float = attrs.field(default=1.0, converter=float, validator=[ge(0), finite_number])
    epsilon: float = attrs.field(default=0.0, converter=float, validator=[ge(0), finite_number])

    def fit(
        self, views: Any, target: Any, learner: Any, random_state: np.random.RandomState
    ) -> Any:
        """Return the mean of the two support vector machines."""
        if not isinstance(learner, SVM):
            raise IncompatibleError(
                "svm2k is a pair of support vector machines and takes C from the learner"
                f" 'svm(C=...)'; the learner is {learner.name}."
            )
        grams = [_definite_gram(view) for view in views]
        labels = np.asarray(target.values, dtype=np.float64)
        C = learner.fixed_C or 1.0
        machines = solve_svm2k((grams[0], grams[1]), labels, C, self.D, self.epsilon)
        projectors = [view.projector for view in views]
        even = np.full(2, 0.5)
        if views.explicit:
            pairs = zip(views, machines.coefficients, machines.biases, strict=True)
            fitted = [LinearDecision(v.project_back(a), bias) for v, a, bias in pairs]
            return TwoViewDecision(even, projectors, fitted)
        return TwoViewDecision(even, *_with_support(projectors, machines))


def _definite_gram(view: Any) -> NDArray[Any]:
    """Return the view's Gram matrix (N, N).

    A kernel with an eigenvalue below zero beyond rounding errors raises an error.
    """
    matrix = view.gram(keep=False)
    gram = np.asarray(matrix, dtype=np.float64)
    rounding = max(1e-10, 4 * float(np.finfo(matrix.dtype).eps))
    lifted = gram.copy()
    lifted[np.diag_indices_from(gram)] += rounding * np.abs(np.diagonal(gram)).sum()
    try:
        cholesky(lifted, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise IncompatibleError(
            f"svm2k needs positive semi-definite kernels, and {view.label!r} is not one on these"
            " samples."
        ) from None
    return gram


def _with_support(
    projectors: list[Any], machines: TwoMachines
) -> tuple[list[Any], list[LinearDecision]]:
    """Return the maps and decision functions, restricted to the union of the support vectors."""
    support = np.flatnonzero(np.logical_or(*machines.coefficients))
    # Projectors that share their training samples share the samples that are kept.
    kept: dict[int, NDArray[Any]] = {}
    trimmed, fitted = [], []
    for index, projector in enumerate(projectors):
        decision = LinearDecision(machines.coefficients[index], machines.biases[index])
        if projector.map.from_landmarks:
            rows = projector.map.landmarks
            landmarks = kept.setdefault(id(rows), rows[support])
            fitted_map = projector.map.with_landmarks(landmarks)
            missing = None if projector.missing is None else projector.missing[support]
            trimmed.append(attrs.evolve(projector, map=fitted_map, missing=missing))
            fitted.append(decision.restricted(support))
        else:
            trimmed.append(projector)
            fitted.append(decision)
    return trimmed, fitted
