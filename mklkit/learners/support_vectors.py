"""Support vector machines: libsvm on similarities or features, sums over many samples, choice of C.

libsvm does not draw from NumPy's global state; its failures become errors of this library, and an
early stop becomes a value instead of a warning.

All support vector machines and regressions are solved here; plugins get
``mklkit.plugin.solve_dual`` and ``solve_svr``. On more than 5,000 samples and Gaussian kernels,
``svm`` with a given C does not compute the whole Gram matrix: ``numerics/dual_steps.py`` takes
libsvm's steps and requests the rows that they need (``some_similarities`` of a training view),
because samples far from the margin need none.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.svm._libsvm import fit as libsvm_fit
from sklearn.svm._libsvm import set_verbosity_wrap

from mklkit.learners.smoothed_hinge import SVMSolution, solve_smoothed, too_large
from mklkit.numerics.dual_steps import DualSteps
from mklkit.protocols import Array, Target, TrainingView
from mklkit.protocols.splits.split import Split

MOST_STEPS = 1_000_000
"""The limit of libsvm's steps, O(N) each: kernels of very large values could take hours."""
LIBSVM_CACHE = 200.0
"""Megabytes of rows of the matrix that libsvm keeps, as in scikit-learn."""
LIBSVM_ROWS = 5000
"""The most samples whose inner products fit into libsvm's cache of 200 MB, without recomputing."""
STEPS_A_PASS = 200
"""The number of steps of ``max_iter`` that one pass over the samples counts for."""

CLASSES = 0
ONE_CLASS = 2
NUMBERS = 3
"""libsvm's numbers of its problems."""

UNTRIED = 10.0
"""C times the mean k(x, x), 1 for normalised kernels, if there are too few samples to try."""
FOLDS = 3
TRIED_ROWS = 300
TRIED_STEPS = 100_000


def solve_dual(
    gram: Array,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> SVMSolution:
    """Solve the dual problem of a support vector machine by libsvm (Chang and Lin 2011).

    It returns the α of max 1ᵀα − ½(α∘y)ᵀK(α∘y) with 0 ≤ α ≤ Cv and αᵀy = 0.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        The matrix K.
    y : ndarray of shape (N,)
        Labels −1 and +1.
    C : float, default=1.0
        The cost of errors, above 0.
    tol : float, default=1e-3
        The tolerance of libsvm's stopping criterion.
    max_iter : int, default=1_000_000
        The number of steps after which it stops without a warning; the caller should give advice.
    row_weights : ndarray of shape (N,), optional
        The weights v of samples, above 0; by default 1.

    Returns
    -------
    SVMSolution
        With ``coefficients`` (N,), which are α∘y: the dual solution with the labels' signs;
        ``bias``; and ``ended``, False if it was stopped before it reached its tolerance.

    Raises
    ------
    DataError
        If kernel values are too large for the solver, infinite or NaN.

    See Also
    --------
    solve_svr : The same for regression.

    Notes
    -----
    Between O(N²) and O(N³).

    References
    ----------
    .. [1] C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM
       Transactions on Intelligent Systems and Technology 2 (2011), 27.

    Examples
    --------
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> solution = solve_dual(rows @ rows.T, np.sign(rows[:, 0]))
    >>> solution.coefficients, solution.bias, solution.ended
    (array([ 0. , -0.5,  0.5,  0. ]), -0.0, True)
    """
    machine = Machine(CLASSES, "precomputed", tol, max_iter, C=C)
    return solve_by_libsvm(machine, gram, y, row_weights)


def solve_on_similarities(
    side: TrainingView,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> SVMSolution:
    """Solve the problem of :func:`solve_dual` on a side's similarities, to the same tolerance.

    By libsvm up to 5,000 rows, or if the side has its Gram matrix. Beyond, by the same steps
    without libsvm, which needs the whole matrix: similarities of samples far from the margin are
    not computed.
    """
    if side.n_rows <= LIBSVM_ROWS or side.has_gram:
        return solve_dual(side.gram(), y, C, tol, max_iter, row_weights)
    costs = np.full(side.n_rows, C) if row_weights is None else C * row_weights
    problem = DualSteps.start(y, costs, side.own_similarities())

    def rows_of(members: NDArray[np.intp]) -> Array:
        rows = side.some_similarities(members)
        if not np.isfinite(rows).all():
            raise too_large(float(np.abs(rows).max()))
        return rows

    ended = problem.run(rows_of, tol, max_iter)
    return SVMSolution(problem.a, problem.bias, ended)


def solve_primal(
    side: TrainingView,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> SVMSolution:
    """Return the w and b of min ½‖w‖² + CΣ v_i max(0, 1 − y(wᵀφ + b)) on features.

    libsvm up to 5,000 samples, O(pN²) or more. Beyond, sums over blocks of samples in at most
    ``max_iter / 200`` passes, whose objective is at most ``tol / 5`` of itself above the optimum,
    whatever C and the size of the features.
    """
    if side.n_rows <= LIBSVM_ROWS:
        machine = Machine(CLASSES, "linear", tol, max_iter, C=C)
        return solve_by_libsvm(machine, side.features(), y, row_weights)
    passes = max(max_iter // STEPS_A_PASS, 1)
    return solve_smoothed(side, y, C, tol / 5, passes, row_weights)


def solve_svr(
    columns: Array,
    y: Array,
    C: float,
    epsilon: float,
    *,
    explicit: bool = False,
    row_weights: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
) -> SVMSolution:
    """Fit a support vector regression by libsvm (Chang and Lin 2011).

    It returns the function of least ½‖w‖² + C Σ_i s_i max(0, |f(x_i) − y_i| − ε).

    Parameters
    ----------
    columns : ndarray of shape (N, N) or (N, p)
        The Gram matrix K, or features if ``explicit``.
    y : ndarray of shape (N,)
        Numeric targets.
    C : float
        The cost of errors, above 0, as in scikit-learn's ``SVR``.
    epsilon : float
        The width ε of the tube without cost, in the units of y, at least 0.
    explicit : bool, default=False
        Whether ``columns`` are features.
    row_weights : ndarray of shape (N,), optional
        The weights s of samples, above 0; by default 1.
    tol : float, default=1e-3
        The tolerance of libsvm's stopping criterion, in units of the standard deviation of y.
    max_iter : int, default=1_000_000
        The number of steps after which it stops without a warning; the caller should give advice.

    Returns
    -------
    SVMSolution
        With ``coefficients`` of the training samples (N,), or of the features (p,) if ``explicit``;
        ``bias``; and ``ended``, False if it was stopped before it reached its tolerance.

    Raises
    ------
    DataError
        If values are too large for the solver, infinite or NaN.

    See Also
    --------
    solve_dual : The same for two classes.

    Notes
    -----
    Between O(N²) and O(N³); times p for features.

    References
    ----------
    .. [1] C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM
       Transactions on Intelligent Systems and Technology 2 (2011), 27.

    Examples
    --------
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> solution = solve_svr(rows @ rows.T, 3 * rows[:, 0], C=100, epsilon=0.5)
    >>> (solution.coefficients @ rows).round(2), np.flatnonzero(solution.coefficients).tolist()
    (array([2.75]), [0, 3])
    """
    # libsvm's tolerance is absolute, so the target is divided by its spread and the rest with it.
    unit = float(np.std(y)) or 1.0
    kernel = "linear" if explicit else "precomputed"
    machine = Machine(NUMBERS, kernel, tol, max_iter, C=C / unit, epsilon=epsilon / unit)
    solution = solve_by_libsvm(machine, columns, y / unit, row_weights)
    return SVMSolution(unit * solution.coefficients, unit * solution.bias, solution.ended)


@attrs.frozen
class Machine:
    """One of libsvm's problems, with its parameters by libsvm's names.

    ``problem`` is 0 for two classes, 2 for one class, and 3 for numbers; ``kernel`` is
    "precomputed" for similarities and "linear" for features.
    """

    problem: int
    kernel: str
    tol: float
    max_iter: int
    C: float = 0.0
    nu: float = 0.0
    epsilon: float = 0.0


def solve_by_libsvm(
    machine: Machine, columns: Array, y: Array, row_weights: Array | None
) -> SVMSolution:
    """Return libsvm's solution for similarities, or for features with its linear kernel.

    scikit-learn's estimators give the same numbers; for 16 samples their checks take thirty times
    as long as libsvm.
    """
    if not np.isfinite(columns).all():
        raise too_large(float(np.abs(columns).max()))
    columns = np.ascontiguousarray(columns, np.float64)
    set_verbosity_wrap(0)  # By default it prints its steps.
    support, _, _, duals, intercept, *_, n_iter = libsvm_fit(
        columns,
        np.ascontiguousarray(y, np.float64),
        svm_type=machine.problem,
        kernel=machine.kernel,
        tol=machine.tol,
        max_iter=machine.max_iter,
        C=machine.C,
        nu=machine.nu,
        epsilon=machine.epsilon,
        sample_weight=np.ones(len(y)) if row_weights is None else row_weights.astype(np.float64),
        cache_size=LIBSVM_CACHE,
        random_seed=0,  # It draws nothing.
    )
    # Of two classes, libsvm's first is positive.
    sign = -1.0 if machine.problem == CLASSES else 1.0
    duals = sign * duals[0]
    bias = sign * float(intercept[0])
    if not (np.isfinite(duals).all() and np.isfinite(bias)):
        raise too_large(float(np.abs(columns).max()))
    if machine.kernel == "linear":
        coefficients = duals @ columns[support]
    else:
        coefficients = np.zeros(len(columns))
        coefficients[support] = duals
    return SVMSolution(coefficients, bias, bool(np.max(n_iter) < machine.max_iter))


def mean_square(side: TrainingView) -> float:
    """Return the mean k(x, x) of the samples."""
    if side.explicit:
        return float(side.normal_matrix().diagonal.sum()) / side.n_rows
    return float(side.own_similarities().mean())


def choose_C(side: TrainingView, target: Target) -> float:
    """Return the C with the best accuracy in three folds; ties go to the smallest.

    C is 1, 10 or 100 over the mean k(x, x); 10 over it if a class has fewer than three samples. It
    uses about 300 samples at most, taken from each class and dealt to folds in the order of their
    mean similarity to all samples, so that their order in the data does not matter. Equal samples
    of a class are merged into one weighted sample, so that no sample is both learned from and
    scored; this is skipped for more than 5,000 samples of features. Folds of a target with groups
    are those of the target, and equal samples stay separate.
    """
    y, row_weights = target.values, target.row_weights
    if side.explicit:
        weighted = row_weights is not None
        moments = side.class_moments(row_weights=row_weights) if weighted else side
        normal = moments.normal_matrix()
        similarity = side.project(normal.sums)
        size = float(normal.diagonal.sum()) / normal.total
    else:
        gram = side.gram()
        similarity = gram.sum(axis=0) if row_weights is None else row_weights @ gram
        size = float(np.average(np.diagonal(gram), weights=row_weights))
    unit = 1 / size if 0 < size < np.inf else 1.0
    counts = np.ones(len(y)) if row_weights is None else row_weights
    classes = []
    for label in (-1, 1):
        members = np.flatnonzero(y == label)
        by_similarity = members[np.argsort(similarity[members], kind="stable")]
        rows_and_counts = by_similarity, counts[by_similarity]
        if target.groups is None:
            rows_and_counts = _distinct(side, *rows_and_counts)
        classes.append(rows_and_counts)
    n_rows = sum(len(members) for members, _ in classes)
    rows, repeats, folds = [], [], []
    for members, often in classes:
        count = max(FOLDS, -(-TRIED_ROWS * len(members) // n_rows))
        if len(members) < FOLDS:
            return UNTRIED * unit
        places = _evenly(len(members), min(len(members), count))
        rows.append(members[places])
        repeats.append(often[places])
        folds.append(np.arange(len(places)) % FOLDS)
    tried, how_often = np.concatenate(rows), np.concatenate(repeats)
    fold_of = np.concatenate(folds)
    splits = target.take(tried).folds(FOLDS, np.random.RandomState(0), fold_of)
    return _best_C(side, tried, y, how_often, splits, unit) if splits else UNTRIED * unit


def choose_C_of_regression(
    side: TrainingView, target: Target, epsilon: float, spread: float
) -> float:
    """Return the C with the least absolute error in three folds; ties go to the smallest.

    Samples are taken evenly, and dealt to folds, in the order of their targets. C is 1, 10 or 100
    times the spread of the target over the mean k(x, x). Folds of a target with groups are those
    of the target.
    """
    y = np.asarray(target.values, np.float64)
    size = mean_square(side)
    unit = spread / size if 0 < size < np.inf else spread
    count = min(len(y), TRIED_ROWS)
    if count < 2 * FOLDS:
        return UNTRIED * unit
    rows = np.argsort(y, kind="stable")[_evenly(len(y), count)]
    fold_of = np.arange(count) % FOLDS
    splits = target.take(rows).folds(FOLDS, np.random.RandomState(0), fold_of)
    if not splits:
        return UNTRIED * unit
    return _best_C(side, rows, y, np.ones(count), splits, unit, epsilon)


def _best_C(
    side: TrainingView,
    rows: NDArray[np.intp],
    y: Array,
    counts: Array,
    splits: Sequence[Split],
    unit: float,
    epsilon: float | None = None,
) -> float:
    """Return the C with the least error on some samples, summed over folds; for regression with ε.

    Ties go to the smallest, so no larger C is tried after one without errors.
    """
    gram: Array
    if side.explicit:
        features = side.some_features(rows)
        gram = features @ features.T
    else:
        gram = side.gram()[rows[:, None], rows]
    targets = y[rows]
    candidates = [factor * unit for factor in (1.0, 10.0, 100.0)]
    solutions: list[SVMSolution | None] = [None] * len(splits)
    errors: list[float] = []
    for C in candidates:
        total = 0.0
        for place, (training, held_out) in enumerate(splits):
            weights, truth = counts[training], targets[held_out]
            solution = solutions[place]
            if solution is None:
                known, target = gram[training[:, None], training], targets[training]
                if epsilon is None:
                    solution = solve_dual(known, target, C, 1e-3, TRIED_STEPS, weights)
                else:
                    solution = solve_svr(known, target, C, epsilon, max_iter=TRIED_STEPS)
                if (np.abs(solution.coefficients) < C * weights).all():
                    # No bound holds it back, so it is the solution for every larger C.
                    solutions[place] = solution
            values = gram[held_out[:, None], training] @ solution.coefficients + solution.bias
            wrong = (values > 0) != (truth > 0) if epsilon is None else np.abs(values - truth)
            total += float(counts[held_out] @ wrong)
        errors.append(total)
        if total == 0:
            break
    # Sums of the same weights may differ by rounding.
    least = min(errors) + 1e-12 * max(errors)
    return candidates[int(np.argmax(np.array(errors) <= least))]


def _distinct(
    side: TrainingView, members: NDArray[np.intp], counts: Array
) -> tuple[NDArray[np.intp], Array]:
    """Return the distinct samples of members (n,) sorted by similarity, and their counts (n,)."""
    if len(members) < 2 or (side.explicit and side.n_rows > 5000):
        return members, counts
    if side.explicit:
        values = side.some_features(members)
        gaps = np.abs(np.diff(values, axis=0)).max(axis=1)
    else:
        gram = side.gram()
        values = gram[members, members]
        beside = gram[members[1:], members[:-1]]
        gaps = np.maximum(np.abs(values[1:] - beside), np.abs(values[:-1] - beside))
    eps = float(np.finfo(values.dtype).eps)
    # Features along eigenvectors of a tiny eigenvalue have lost half of their digits.
    rounding = (4 * eps**0.5 if side.explicit else 100 * eps) * np.abs(values).max()
    firsts = np.concatenate([[0], 1 + np.flatnonzero(gaps > rounding)])
    return members[firsts], np.add.reduceat(counts, firsts)


def _evenly(n_rows: int, count: int) -> NDArray[np.intp]:
    """Return a number of sample positions, evenly spaced from the first to the last."""
    return np.linspace(0, n_rows - 1, count).round().astype(np.intp)
