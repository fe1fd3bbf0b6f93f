"""Strategies: only present sources, plain or centred; medians; only complete samples."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of

from mklkit.protocols import Array, FittedKernel, Missing
from mklkit.protocols.component import as_int
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class Present(Missing):
    """Compare samples by the sources that both have, scaled by the weight of these sources.

    K(x, z) = Σ w_m a_m(x) a_m(z) k_m(x, z) / √(s(x) s(z)), with a_m(x) = 1 where sample x has
    source m, else 0, and s(x) = Σ w_m a_m(x). It is positive semi-definite, as each a_m a_mᵀ ∘ K_m
    is, 1 on the diagonal where all k_m are, and the plain sum if nothing is missing. Bandwidths and
    weighting rules get each kernel on the samples that have its source.

    See Also
    --------
    PresentCentered : The same on centred kernels.

    Notes
    -----
    Cost: O(N²) per kernel for the shares, besides the fit.

    Source: this project; we know of no publication.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X = np.array([[0.0, 0.0], [1.0, np.nan], [3.0, 3.0], [np.nan, 4.0]])
    >>> kernels = ["first:rbf@0:1", "second:rbf@1:2"]
    >>> model = MKLClassifier(kernels, missing=Present()).fit(X, [0, 0, 1, 1])
    >>> model.predict([[np.nan, 0.0], [4.0, np.nan]]).tolist()
    [0, 1]
    """

    name: ClassVar[str] = "present"


@register
@attrs.frozen
class PresentCentered(Missing):
    """Like ``present``, on centred kernels: a missing source counts as the mean of that source.

    k̃(x, z) = ⟨φ(x) − μ, φ(z) − μ⟩, where μ is the mean of φ over the samples that have the source.

    Parameters
    ----------
    most : int, default=500
        The most samples in the mean; of more, evenly spaced ones. At least 1.

    See Also
    --------
    Present : The same without centring.

    Notes
    -----
    Cost: O(N²) per kernel for the means, besides the fit.

    Source: this project; we know of no publication.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X = np.array([[0.0, 0.0], [1.0, np.nan], [3.0, 3.0], [np.nan, 4.0]])
    >>> kernels = ["first:rbf@0:1", "second:rbf@1:2"]
    >>> model = MKLClassifier(kernels, missing="present-centered").fit(X, [0, 0, 1, 1])
    >>> model.predict([[np.nan, 0.0], [4.0, np.nan]]).tolist()
    [0, 1]
    """

    name: ClassVar[str] = "present-centered"
    searched_as: ClassVar[dict[str, str]] = {"present-centered": "present-centered"}

    most: int = attrs.field(default=500, converter=as_int, validator=[instance_of(int), ge(1)])

    def fit(self, kernel: FittedKernel, rows: Array) -> FittedKernel:
        """Return the kernel, centred on some of the samples (n, d)."""
        some = rows[:: -(-len(rows) // self.most)]
        return CenteredKernel(kernel, some, float(np.mean(kernel(some, some), dtype=np.float64)))


@register
@attrs.frozen(eq=False)
class CenteredKernel(FittedKernel):
    """⟨φ(x) − μ, φ(z) − μ⟩, where μ is the mean of φ over some samples, and ``mean`` is ‖μ‖²."""

    kernel: FittedKernel
    rows: Array
    mean: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities (n, m)."""
        values = self.kernel(a, b) - self.kernel(a, self.rows).mean(axis=1)[:, None]
        values -= self.kernel(b, self.rows).mean(axis=1) - values.dtype.type(self.mean)
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself (n,)."""
        values = self.kernel.diagonal(a)
        beside = self.kernel(a, self.rows).mean(axis=1)
        return np.asarray(values - 2 * beside + values.dtype.type(self.mean))


@register
@attrs.frozen
class Impute(Missing):
    """Fill missing sources with the medians of their columns, like any other missing value.

    A sample without any source is predicted from the medians of all columns.

    See Also
    --------
    Present : The default strategy.

    Notes
    -----
    Cost: O(Nd) for the medians of d columns.

    Source: R. J. A. Little, D. B. Rubin: Statistical Analysis with Missing Data. Wiley (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X = np.array([[0.0, 0.0], [1.0, np.nan], [3.0, 3.0], [np.nan, 4.0]])
    >>> model = MKLClassifier(["a:rbf@0:1", "b:rbf@1:2"], missing="impute").fit(X, [0, 0, 1, 1])
    >>> model.predict([[0.0, np.nan]]).tolist()
    [0]
    """

    name: ClassVar[str] = "impute"
    fills: ClassVar[bool] = True
    searched_as: ClassVar[dict[str, str]] = dict.fromkeys(("median", "medians", "fill"), "impute")


@register
@attrs.frozen
class Drop(Missing):
    """Learn from the samples that have all sources; new samples that miss one raise an error.

    See Also
    --------
    Present : The default strategy, which uses all samples.

    Notes
    -----
    Cost: one fit to the samples that have all sources.

    Source: R. J. A. Little, D. B. Rubin: Statistical Analysis with Missing Data. Wiley (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [np.nan, 4.0]])
    >>> model = MKLClassifier(["a:rbf@0:1", "b:rbf@1:2"], missing="drop").fit(X, [0, 0, 1, 1])
    >>> model.n_samples_fit_
    3
    """

    name: ClassVar[str] = "drop"
    drops: ClassVar[bool] = True
    searched_as: ClassVar[dict[str, str]] = {"complete-case": "drop"}
