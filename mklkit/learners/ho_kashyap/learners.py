"""MHKS and KMHKS: the modified Ho–Kashyap classifier on features and on Gram matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, in_, instance_of, le, optional

from mklkit.learners.ho_kashyap.feature_problem import FeatureProblem
from mklkit.learners.ho_kashyap.iteration import iterate
from mklkit.learners.ho_kashyap.problems import ridge_problem
from mklkit.learners.ho_kashyap.rules import FIXED_MEAN, GRADIENT, SIMPLEST_FIRST, Columns, Rule
from mklkit.learners.ho_kashyap.smooth import is_smooth, minimize
from mklkit.learners.linear_decision import LinearDecision
from mklkit.protocols import (
    CouplingTraits,
    Learner,
    LearnerTraits,
    Solver,
    Stopping,
    Subproblem,
    Target,
    TrainingView,
)
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register


@attrs.frozen
class _HoKashyap(Learner):
    """Least squares to labels with margins that may grow: ‖φ∘f − 1 − b‖² + α‖w‖², b ≥ 0.

    Sample weights multiply the squares, also in the objective of the stopping rule.
    """

    rule: ClassVar[Rule]
    """The iteration of the paper, here with one view."""
    relative: ClassVar[bool]
    """Whether ``tol`` is relative to the objective."""

    alpha: float = attrs.field(default=1.0, converter=float, validator=[ge(0), finite_number])
    rho: float = attrs.field(default=0.99, converter=float, validator=and_(gt(0), le(1)))
    tol: float = attrs.field(default=1e-3, converter=float, validator=gt(0))
    max_iter: int = attrs.field(default=1000, converter=as_int, validator=[instance_of(int), ge(2)])
    b0: float = attrs.field(default=1e-6, converter=float, validator=[ge(0), finite_number])

    @property
    def coupling(self) -> CouplingTraits:
        """ρ, b₀ and ξ; variants may differ in α."""
        stopping = Stopping(self.tol, self.relative, self.max_iter)
        return CouplingTraits(self.rho, self.b0, stopping, "printed", ("alpha",), on_kernels=True)

    def subproblem(
        self, side: TrainingView, target: Target, variants: Sequence[_HoKashyap]
    ) -> Subproblem:
        """Return the least-squares problem of one view, one column per variant's ``alpha``."""
        alphas = np.array([variant.alpha for variant in variants])
        return ridge_problem(side, alphas, target.row_weights)

    def fit(self, side: TrainingView, target: Target) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1; ``history`` is its loss."""
        columns = Columns(np.zeros(1), np.ones(1), self.coupling)
        problem = self.subproblem(side, target, [self])
        if is_smooth([problem], target, self.coupling.solver):
            (solution,) = minimize([problem], target, columns)
        else:
            (solution,) = iterate(self.rule, [problem], target, columns, [None])
        (fitted,) = solution.learners
        return LinearDecision(fitted.coefficients, fitted.bias, solution.history)


@register
@attrs.frozen
class MHKS(_HoKashyap):
    """Ho–Kashyap classifier with squared approximation of the errors, on explicit features.

    Minimises ‖φ∘f − 1 − b‖² + α‖w‖² over f = Φw + w₀ and margins b ≥ 0 alternately: a ridge
    regression towards the margins, then b ← b + ρ(e + |e|) with the error e.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge α (the papers' c) on the weights, not on the bias, in the units of the squared
        error; 0 or above.
    rho : float, default=0.99
        The step ρ by which the margins grow towards the outputs; above 0, at most 1.
    tol : float, default=1e-3
        Stop when the objective changes by at most this ξ (absolute; above 1,000 samples, per 1,000
        samples).
    max_iter : int, default=1000
        Stop with a ``ConvergenceWarning`` after this many solves.
    b0 : float, default=1e-6
        The initial margins.
    solver : {"smooth", "printed"}, optional
        ``"smooth"`` minimises Σ max(0, 1 − φf)² + α‖w‖², which the objective is at the best
        margins, by L-BFGS; ``rho`` and ``b0`` are then not used. ``"printed"`` is the iteration of
        the papers, whose margins never shrink, so that it may stop above the minimum. Default:
        ``"smooth"`` for more than 10,000 samples, else ``"printed"``, from which a coupled fit that
        needs more than 30 passes goes on with ``"smooth"``.

    See Also
    --------
    KMHKS : The same on Gram matrices.

    Notes
    -----
    Cost: O(Np² + p³) once on p features, then O(Np) per iteration.

    On a full empirical map the normal matrix is diagonal and each solve O(p); on other maps it is
    decomposed once, O(Np² + p³), and each iteration reads the features twice, O(Np). With fewer
    samples than features it takes O(N²p + N³) once and O(N²) per iteration. The classifier is that
    of Łęski 2003 [1]_, as in section 2.1 of Wang, Chen and Sun 2008 [2]_.

    References
    ----------
    .. [1] J. Łęski, "Ho–Kashyap classifier with generalization control", Pattern Recognition
       Letters 24 (2003), 2281–2290.
    .. [2] Z. Wang, S. Chen and T. Sun, "MultiK-MHKS: a novel multiple kernel learning algorithm",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 30 (2008), 348–353.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier("rbf", feature_map="empirical", learner=MHKS(alpha=0.5)).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "mhks"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_features=True, takes_row_weights=True, search_space={"alpha": SIMPLEST_FIRST}
    )
    rule: ClassVar[Rule] = GRADIENT
    relative: ClassVar[bool] = False

    solver: Solver | None = attrs.field(
        default=None,
        validator=optional(in_(Solver.__args__)),  # type: ignore[attr-defined]
        kw_only=True,
    )

    @property
    def coupling(self) -> CouplingTraits:
        """ρ, b₀, ξ and the solver; variants may differ in α."""
        on_kernels = self.solver != "smooth"
        return attrs.evolve(super().coupling, solver=self.solver, on_kernels=on_kernels)

    def subproblem(
        self, side: TrainingView, target: Target, variants: Sequence[_HoKashyap]
    ) -> Subproblem:
        """Return the least-squares problem of one view, one column per variant's ``alpha``."""
        if self.solver != "smooth":
            return super().subproblem(side, target, variants)
        # Over coefficients of features, however many there are.
        alphas = np.array([variant.alpha for variant in variants])
        return FeatureProblem(side, alphas, target.row_weights)


@register
@attrs.frozen
class KMHKS(_HoKashyap):
    """Kernel Ho–Kashyap classifier: MHKS in the kernel's feature space.

    Minimises ‖φ∘f − 1 − b‖² + α vᵀKv over f = Kv + w₀ and margins b ≥ 0 alternately. For α > 0 each
    iteration solves an LS-SVM system: [K + αI, 1; 1ᵀ, 0][v; w₀] = [target; 0].

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge α, in the units of the squared error; 0 or above. The papers call it c, and the
        coefficients v of the training samples α.
    rho : float, default=0.99
        The step ρ by which the margins grow towards the outputs; above 0, at most 1.
    tol : float, default=1e-3
        Stop when the objective changes by at most this fraction ξ of itself.
    max_iter : int, default=1000
        Stop with a ``ConvergenceWarning`` after this many solves.
    b0 : float, default=1e-6
        The initial margins.

    See Also
    --------
    MHKS : The same on explicit features.

    Notes
    -----
    Cost: O(N³/3) for one Cholesky factorisation, then O(N²) per iteration.

    One Cholesky factorisation, O(N³/3), then O(N²) per iteration. For α = 0 or an indefinite
    kernel, the eigenpairs of the centred Gram matrix with positive eigenvalues instead, O(N³). The
    classifier is that of Łęski 2004 [1]_, as in section 2.1 of Wang and Chen 2009 [2]_.

    References
    ----------
    .. [1] J. Łęski, "Kernel Ho–Kashyap classifier with generalization control", International
       Journal of Applied Mathematics and Computer Science 14 (2004), 53–61.
    .. [2] Z. Wang and S. Chen, "Multi-view kernel machine on single-view data", Neurocomputing 72
       (2009).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MKLClassifier("rbf", learner=KMHKS(alpha=0.5)).fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "kmhks"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_gram=True, takes_row_weights=True, search_space={"alpha": SIMPLEST_FIRST}
    )
    rule: ClassVar[Rule] = FIXED_MEAN
    relative: ClassVar[bool] = True
