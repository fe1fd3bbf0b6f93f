"""Training sides: the input of learners, from one view or a weighted sum of views."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.gram_tiles import centered_gram
from mklkit.numerics.least_squares import NormalMatrix, Spectrum, gram_rounding, weighted_sums
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array
from mklkit.views.cache import Cache, Quantities
from mklkit.views.deciding import BLOCK_ROWS


class Side:
    """The methods of a training side that follow from its features or its Gram matrix."""

    explicit: bool
    n_rows: int

    _kept: Quantities | None = None

    @property
    def quantities(self) -> Quantities:
        """What is computed once, when first used; in a cache of its own by default."""
        if self._kept is None:
            self._kept = Quantities(Cache(), self)
        return self._kept

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix (N, N) of the training rows, from inner products of features."""
        features = self.features()
        return features @ features.T

    @property
    def has_gram(self) -> bool:
        """Whether some rows of the Gram matrix cost as much as the whole matrix."""
        return True

    def some_similarities(self, members: NDArray[np.intp]) -> Array:
        """Return the rows (n, N) of the Gram matrix of some training rows."""
        return self.gram()[members]

    def own_similarities(self) -> Array:
        """Return the diagonal of the Gram matrix, (N,)."""
        return np.diagonal(self.gram())

    def features(self) -> Array:
        """Return the features of the training samples, if the map is explicit.

        Returns
        -------
        ndarray of shape (N, p)
            The features.

        Raises
        ------
        IncompatibleError
            If the view has a Gram matrix only.
        """
        raise IncompatibleError("This view has no features: its feature map is implicit.")

    @property
    def n_features(self) -> int:
        """The number of features p."""
        return int(self.features().shape[1])

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, p) of some training samples."""
        return self.features()[members]

    def restricted(self, members: NDArray[np.intp]) -> Side:
        """Return the features of some training samples as a side."""
        return FeatureSide(self.some_features(members))

    def map_features(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the features (n, p) of each block of samples, or of similarities."""
        return function(self.features() if self.explicit else self.gram())

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` with the column sums, in O(Np²)."""
        return self.quantities.of("normal matrix", self._normal_matrix)

    def _normal_matrix(self) -> NormalMatrix:
        features = self.features()
        return NormalMatrix(features.T @ features, features.sum(axis=0), self.n_rows)

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``, in O(Np)."""
        return self.features() @ coefficients

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``, in O(Np)."""
        return self.features().T @ targets

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return the moments of the features, by class for labels −1 and +1, in O(Np²)."""
        features = self.features()
        codes = np.zeros(self.n_rows, np.intp) if y is None else (y > 0).astype(np.intp)
        origin = features.mean(axis=0, dtype=np.float64)
        return ClassMoments.of(features, codes, 1 if y is None else 2, origin, row_weights)

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ and ΦᵀT in float64, in O(np²) for n samples of non-zero weight."""
        features = self.features()
        parts = (
            weighted_sums(np.asarray(features[rows], np.float64), row_weights[rows], targets[rows])
            for rows in row_blocks(self.n_rows, BLOCK_ROWS)
        )
        products, sums = reduce(lambda total, more: (total[0] + more[0], total[1] + more[1]), parts)
        return products, sums

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal matrix, or Gram matrix if implicit."""
        return self.quantities.of("spectrum", self._spectrum)

    def _spectrum(self) -> Spectrum:
        if self.explicit:
            return self.normal_matrix().spectrum()
        gram = self.gram()
        spectrum = Spectrum.of(centered_gram(gram, np.float64), floor=gram_rounding(gram))
        # An eigenvector of a tiny eigenvalue mixes with the constant one of eigenvalue zero;
        # dividing coefficients by the eigenvalue would amplify that share.
        vectors = spectrum.vectors - spectrum.vectors.mean(axis=0)
        return Spectrum(spectrum.values, vectors)


class FeatureSide(Side):
    """Features as a learner's input, for tests and for learners that call others.

    Parameters
    ----------
    features : ndarray of shape (N, p)
        The features of the training samples.

    See Also
    --------
    GramSide : The same for a Gram matrix.
    TrainingView : The methods.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.learners import Ridge
    >>> from mklkit.protocols import Target
    >>> features = np.array([[0.0], [1.0], [2.0]])
    >>> fitted = Ridge(alpha=1e-9).fit(FeatureSide(features), Target.numbers(1 + features[:, 0]))
    >>> fitted.decide(np.array([[5.0]])).round(3).tolist()
    [6.0]
    """

    explicit = True

    def __init__(self, features: Array) -> None:
        self.n_rows = len(features)
        self._features = features

    def features(self) -> Array:
        """Return the features."""
        return self._features


class GramSide(Side):
    """A Gram matrix as a learner's input, for tests and for combiners that make their own matrix.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        The similarities of the training samples.

    See Also
    --------
    FeatureSide : The same for features.
    TrainingView : The methods.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.learners import SVM
    >>> from mklkit.protocols import Target
    >>> rows, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> fitted = SVM(C=1.0).fit(GramSide(rows @ rows.T), Target.two_classes(y))
    >>> fitted.decide(np.array([[3.0]]) @ rows.T).round(3).tolist()
    [3.0]
    """

    explicit = False

    def __init__(self, gram: Array) -> None:
        self.n_rows = len(gram)
        self._gram = gram

    def gram(self, keep: bool = True) -> Array:
        """Return the matrix."""
        return self._gram
