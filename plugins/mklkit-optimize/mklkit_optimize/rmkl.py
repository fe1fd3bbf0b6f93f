"""R-MKL: kernel weights from margin and radius."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.plugin import Array, CombinerTraits, Learner, Target, Views, register
from mklkit_optimize.class_hulls import HARD_MARGIN
from mklkit_optimize.gram_sums import gram_stack
from mklkit_optimize.saddle import SaddleProblem
from mklkit_optimize.simplemkl import SimpleMKL


@register
@attrs.frozen
class RMKL(SimpleMKL):
    """Minimise the margin term plus squared errors, which cost less for a large radius.

    min over w on the simplex, f_m and b of ½ Σ ‖f_m‖²/w_m + C/(2 Σ w_m R_m²) Σ ξ_i², with y_i(Σ
    f_m(x_i) + b) ≥ 1 − ξ_i and R_m the radius of the smallest ball around the samples under K_m.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative duality gap at which the iteration ends.
    max_iter : int, default=1000
        The most support vector machines to solve.
    C : float, optional
        C; by default the learner's (1 if it has none).

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` support vector machines.

    Notes
    -----
    Cost: one support vector machine per step, one program per kernel, and M Gram matrices of
    memory.

    The dual has the kernels K_m + (R_m²/C)I and no bound on α: it is SimpleMKL's problem, which is
    convex, with a hard margin, and is solved in the same way. Σ w_m R_m² bounds the squared radius
    of the sum. The learner is fitted on plain Σ w_m K_m. M Gram matrices of memory, one program per
    kernel for its radius. Sample weights multiply C. Source: Do, Kalousis, Woznica and Hilario
    (2009).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=RMKL(tol=1e-3)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "rmkl"
    searched_as: ClassVar[dict[str, str]] = {"r-mkl": "rmkl"}
    traits: ClassVar[CombinerTraits] = CombinerTraits(row_weights="throughout")

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the optimal weights for labels −1 and +1."""
        if len(views) == 1:
            return np.ones(1)
        from mklkit.evaluation import radius  # slow to import

        C = self.C or learner.fixed_C or 1.0
        grams = gram_stack(views)
        for gram in grams:
            gram.flat[:: len(gram) + 1] += radius(gram) ** 2 / (C * target.counts)
        size = float(np.trace(grams.mean(axis=0))) / len(target)
        labels, inner = target.values.astype(np.float64), float(np.clip(0.1 * self.tol, 1e-9, 1e-3))
        return self.solve(SaddleProblem(grams, labels, HARD_MARGIN / size, inner))
