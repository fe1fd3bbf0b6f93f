"""The support vector machine of scikit-learn (libsvm)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of
from sklearn.svm import SVC

from mklkit.components import Component, whole
from mklkit.errors import MKLKitWarning
from mklkit.hookspecs import hookimpl
from mklkit.learners.base import LinearDecision
from mklkit.protocols import Array, TrainingSide

__all__ = ["SVM"]


@attrs.frozen
class SVM(Component):
    """Soft-margin support vector machine on a Gram matrix or on features.

    Parameters
    ----------
    C : float, default=1.0
        Price of a row on the wrong side of its margin.
    tol : float, default=1e-3
        libsvm's stopping tolerance.
    max_iter : int, default=1_000_000
        libsvm's steps, O(N) each, after which it stops. Kernels of very large values, such as a
        polynomial of features that were not scaled, would else keep it for hours.

    Warns
    -----
    ConvergenceWarning, MKLKitWarning
        If it was stopped.

    Notes
    -----
    Between O(N²) and O(N³) on a Gram matrix. Only support vectors stay in the fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.sides import GramSide
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fitted = SVM().fit(GramSide(rows @ rows.T), np.sign(rows[:, 0]))
    >>> fitted.decide(np.array([[3.0]]) @ rows.T) > 0
    array([ True])
    """

    name: ClassVar[str] = "svm"
    on_features: ClassVar[bool] = True
    on_gram: ClassVar[bool] = True

    C: float = attrs.field(default=1.0, converter=float, validator=gt(0))
    tol: float = attrs.field(default=1e-3, converter=float, validator=gt(0))
    max_iter: int = attrs.field(
        default=1_000_000, converter=whole, validator=[instance_of(int), ge(1)]
    )

    def fit(self, side: TrainingSide, y: Array) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1."""
        kernel = "linear" if side.explicit else "precomputed"
        # libsvm uses no seed here, but scikit-learn would draw one from NumPy's global state.
        machine = SVC(C=self.C, tol=self.tol, max_iter=self.max_iter, kernel=kernel, random_state=0)
        given = side.features() if side.explicit else side.gram()
        machine.fit(given, y)
        if machine.n_iter_[0] >= self.max_iter:
            sizes = (given**2).sum(axis=1) if side.explicit else np.diagonal(given)
            self._say_what_helps(float(sizes.mean()))
        bias = float(machine.intercept_[0])
        if side.explicit:
            return LinearDecision(machine.coef_[0], bias)
        coefficients = np.zeros(len(y))
        coefficients[machine.support_] = machine.dual_coef_[0]
        return LinearDecision(coefficients, bias)

    def _say_what_helps(self, size: float) -> None:
        # scikit-learn has warned already, and thinks of features only.
        warnings.warn(
            f"svm was stopped after {self.max_iter} steps. Kernel values are about {size:.2g} here;"
            " where that is far above 1, scaled features or kernels like 'cosine(polynomial)' (the"
            " preset 'normalised') help, and else a smaller C or a larger max_iter.",
            MKLKitWarning,
            stacklevel=3,
        )


@hookimpl
def mklkit_learners() -> Iterable[type]:
    """Register the learner."""
    return [SVM]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register what learners leave in a model file."""
    return [LinearDecision]
