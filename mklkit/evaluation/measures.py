"""Measures of one kernel on some samples: its size, its complexity, and how it splits classes."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import NuSVC, OneClassSVM

from mklkit.errors import DataError
from mklkit.evaluation.alignment import FittedBank, checked_gram
from mklkit.numerics.gram_tiles import centered_gram
from mklkit.numerics.threads import threads_for
from mklkit.protocols import Array
from mklkit.views.tiles import weighted_gram


def margin(gram: Array, y: Any) -> float:
    """Return the distance between the classes' convex hulls in feature space, 0 if they meet.

    It is min ‖Σ_{+} α_i φ(x_i) − Σ_{−} α_i φ(x_i)‖ with α ≥ 0 of sum 1 in each class: twice the
    margin of a support vector machine without errors.

    Parameters
    ----------
    gram : array-like of shape (N, N)
        The Gram matrix.
    y : array-like of shape (N,)
        Class labels; of several classes, the least distance of all pairs counts.

    Returns
    -------
    float
        The distance γ.

    Raises
    ------
    DataError
        If the matrix is not square and finite, or there are not N labels of two or more classes.

    See Also
    --------
    radius : The radius of the samples in feature space.

    Notes
    -----
    By libsvm, between O(N²) and O(N³), slower the nearer the classes.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    >>> round(margin(rows @ rows.T, ["a", "a", "b"]), 6)
    3.0
    """
    gram, labels = checked_gram(gram), np.asarray(y)
    classes = np.unique(labels)
    if len(labels) != len(gram) or len(classes) < 2:
        had = f"{len(labels)} labels of {len(classes)} classes"
        raise DataError(f"A margin needs labels of two classes for {len(gram)} samples; got {had}.")
    squares = []
    for pair in combinations(classes, 2):
        members = np.flatnonzero(np.isin(labels, pair))
        signs = np.where(labels[members] == pair[1], 1.0, -1.0)
        squares.append(_squared_distance(centered_gram(gram[np.ix_(members, members)]), signs))
    return float(np.sqrt(min(squares)))


def _squared_distance(gram: Array, signs: Array) -> float:
    """Return the squared distance of two hulls, 0 if it is negligible."""
    scale = float(gram.diagonal().max()) or 1.0
    # Σα = 2, that is 1 in each class, so no α reaches its bound of 1.
    machine = NuSVC(nu=(2 - 1e-9) / len(gram), kernel="precomputed", max_iter=10**6, random_state=0)
    for tol in (1e-4, 1e-6, 1e-8, 1e-10):
        try:
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                machine.set_params(tol=tol).fit(gram / scale, signs)
        except ValueError:  # libsvm divides by the margin, which is exactly zero
            return 0.0
        alpha = machine.dual_coef_[0]
        support = machine.support_
        squared = alpha @ gram[np.ix_(support, support)] @ alpha * (2 / np.abs(alpha).sum()) ** 2
        if squared <= 1e-8 * scale:
            return 0.0
        if squared > 100 * tol * scale:
            break
    return float(squared)


def radius(gram: Array) -> float:
    """Return the radius of the smallest ball around all samples in feature space.

    R² = max Σ_i α_i K_ii − αᵀKα with α ≥ 0 of sum 1, by :func:`ball_center`.

    Parameters
    ----------
    gram : array-like of shape (N, N)
        The Gram matrix.

    Returns
    -------
    float
        The radius R.

    Raises
    ------
    DataError
        If the matrix is not square and finite.

    See Also
    --------
    margin : The distance of the classes in feature space.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [4.0]])
    >>> round(radius(rows @ rows.T), 6)
    2.0
    """
    gram = centered_gram(checked_gram(gram))
    alpha = ball_center(gram)
    squared = float(alpha @ gram.diagonal() - alpha @ gram @ alpha)
    return max(squared, 0.0) ** 0.5


def ball_center(gram: Array, tol: float = 1e-6) -> Array:
    """Return the coefficients of the centre of the smallest ball around all samples.

    The centre is Σ α_i φ(x_i). For weights of sum 1, αᵀDα is αᵀKα − Σ α_i K_ii with D_ij = K_ij −
    (K_ii + K_jj)/2, half the squared distances, negated: a one-class machine on D, which libsvm
    solves.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        The Gram matrix.
    tol : float, default=1e-6
        The tolerance of libsvm, relative to the largest D_ij.

    Returns
    -------
    ndarray of shape (N,)
        The coefficients α, none negative, with sum 1.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [4.0]])
    >>> ball_center(rows @ rows.T).round(6)
    array([0.5, 0. , 0.5])
    """
    halves = gram.diagonal() / 2
    distances = gram - halves[:, None] - halves
    distances /= float(np.abs(distances).max()) or 1.0
    machine = OneClassSVM(nu=1 / len(gram), kernel="precomputed", tol=tol)
    machine.random_state = 0  # libsvm uses none, but scikit-learn would draw one
    alpha = np.zeros(len(gram))
    support = machine.fit(distances).support_
    alpha[support] = machine.dual_coef_[0]
    return alpha / alpha.sum()


def spectral_ratio(gram: Array) -> float:
    """Return tr K / ‖K‖_F: 1 for a matrix of rank one, √N for the identity.

    Parameters
    ----------
    gram : array-like of shape (N, N)
        The Gram matrix.

    Returns
    -------
    float
        The ratio, in O(N²).

    Raises
    ------
    DataError
        If the matrix is not square and finite.

    Examples
    --------
    >>> spectral_ratio(np.ones((9, 9))), spectral_ratio(np.eye(9))
    (1.0, 3.0)
    """
    gram = checked_gram(gram)
    return float(np.trace(gram) / (np.linalg.norm(gram) or 1.0))


def effective_rank(gram: Array) -> float:
    """Return exp(−Σ p_i log p_i), p the eigenvalues over their sum (Roy and Vetterli 2007).

    Parameters
    ----------
    gram : array-like of shape (N, N)
        The Gram matrix.

    Returns
    -------
    float
        From 1 to N, in O(N³).

    Raises
    ------
    DataError
        If the matrix is not square and finite.

    References
    ----------
    .. [1] O. Roy and M. Vetterli, "The effective rank: a measure of effective dimensionality",
       European Signal Processing Conference (2007), 606–610.

    Examples
    --------
    >>> round(effective_rank(np.diag([1.0, 1.0, 0.0])), 6)
    2.0
    """
    gram = checked_gram(gram)
    with threads_for(gram):
        values = np.maximum(np.linalg.eigvalsh(gram), 0)
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares @ np.log(shares))))


def kernel_measures(
    kernels: Any,
    X: Any,
    y: Any = None,
    weights: Any = None,
    centered: bool = False,
    scale: str | None = None,
) -> pd.DataFrame:
    """Return measures of each kernel and of their weighted sum.

    Parameters
    ----------
    kernels : str, Kernel, list of these, or estimator
        As for :func:`mklkit.alignment_matrix`.
    X : array-like or DataFrame of shape (N, d)
        The samples, as numbers.
    y : array-like of shape (N,), optional
        Labels; without them margins are NaN.
    weights : array-like of shape (M,), optional
        Weights of the sum; by default uniform, with sum 1.
    centered : bool, default=False
        Whether kernels are centred first, which does not change margins and radii.
    scale : str, optional
        What is done to the columns of kernels that do not say; by default nothing.

    Returns
    -------
    DataFrame
        One row per kernel, and ``combined`` for the sum: ``margin``, ``radius``, ``radius_margin``,
        ``spectral_ratio``, ``trace``, ``frobenius`` and ``effective_rank``.

    Raises
    ------
    DataError
        If there is not one weight per kernel, or X is not a table of finite numbers.

    See Also
    --------
    mklkit.alignment_matrix : The alignment of every pair of kernels.

    Notes
    -----
    ``radius_margin`` is (R/γ)², infinite if classes meet; divided by N it bounds the leave-one-out
    error [1]_. Memory for one Gram matrix at a time and two copies of it.

    References
    ----------
    .. [1] V. N. Vapnik, "Statistical learning theory", Wiley (1998).

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1]
    >>> kernel_measures("linear", X, y).loc["linear", ["margin", "radius", "trace"]].tolist()
    [2.0, 1.5, 10.0]
    """
    bank = FittedBank.fitted(kernels, X, scale)
    labels, rows = bank.labels, bank.rows
    count = len(labels)
    shares = np.full(count, 1 / count) if weights is None else np.asarray(weights, float)
    if shares.shape != (count,):
        raise DataError(f"Expected {count} weights, one per kernel; got shape {shares.shape}.")

    def measured(part: Array) -> dict[str, float]:
        gram = weighted_gram(rows, part).astype(np.float64, copy=False)
        gram = centered_gram(gram) if centered else gram
        gap = np.nan if y is None else margin(gram, y)
        ball = radius(gram)
        return {
            "margin": gap,
            "radius": ball,
            "radius_margin": (ball / gap) ** 2 if gap else np.inf,
            "spectral_ratio": spectral_ratio(gram),
            "trace": float(np.trace(gram)),
            "frobenius": float(np.linalg.norm(gram)),
            "effective_rank": effective_rank(gram),
        }

    return pd.DataFrame(map(measured, [*np.eye(count), shares]), index=[*labels, "combined"])
