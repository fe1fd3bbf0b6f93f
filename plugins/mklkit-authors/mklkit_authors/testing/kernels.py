"""Checks of a single kernel or feature map."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mklkit.display.numbers import significant
from mklkit.numerics.pairwise import BASES
from mklkit.protocols import Array, FeatureMapTraits, FittedKernel, traits_of
from mklkit.views.kernel_rows import is_scalar
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.expectations import NotApplicable, expect, expect_array, expect_close
from mklkit_authors.testing.rows import with_gaps

SAME = "Both must be the same function."


def values_have_their_shapes(case: Case) -> None:
    """The fitted kernel returns (n, m) similarities and an (n,) diagonal, of one sample or more."""
    fitted = case.fitted().fitted
    expect(
        isinstance(fitted, FittedKernel) or {"__call__", "diagonal"} <= set(dir(fitted)),
        "fit to return an object that can be called with two sets of samples and has a 'diagonal'",
        repr(fitted),
        "See mklkit.plugin.FittedKernel, or derive it from mklkit.plugin.FittedScalarKernel.",
    )
    for n in (1, len(case.new_rows)):
        a = case.new_rows[:n]
        expect_array(fitted(a, case.rows), (n, len(case.rows)), "kernel(a, b)")
        expect_array(fitted.diagonal(a), (n,), "kernel.diagonal(a)")


def symmetric(case: Case) -> None:
    """k(x, z) = k(z, x)."""
    fitted = case.fitted().fitted
    expect_close(
        fitted(case.new_rows, case.rows),
        fitted(case.rows, case.new_rows).T,
        "kernel(a, b) to be the transpose of kernel(b, a)",
        "Views mirror the upper triangle of the Gram matrix: the kernel must be symmetric.",
    )


def diagonal_is_that_of_the_matrix(case: Case) -> None:
    """The diagonal is the kernel's value for each sample with itself."""
    fitted = case.fitted().fitted
    matrix = fitted(case.new_rows, case.new_rows)
    expected = "kernel.diagonal(a) to be the diagonal of kernel(a, a)"
    expect_close(fitted.diagonal(case.new_rows), np.diag(matrix), expected, SAME, 1e-6)


def positive_semi_definite(case: Case) -> None:
    """No Gram matrix has a negative eigenvalue, unless the traits have definite=False."""
    if not case.kernel_traits.definite:
        raise NotApplicable(f"{case.label} does not claim to be positive semi-definite")
    fitted = case.fitted().fitted
    _expect_definite(fitted(case.rows, case.rows))


def _expect_definite(gram: Array) -> None:
    values = np.linalg.eigvalsh((gram + gram.T) / 2)
    expect(
        values[0] >= -1e-8 * abs(values[-1]),
        "non-negative eigenvalues of the Gram matrix",
        f"{significant(values[0], 3)} to {significant(values[-1], 3)}",
        "Correct the kernel; or write traits = KernelTraits(definite=False) in the class.",
    )


def gaps_are_left_out(case: Case) -> None:
    """With allows_gaps in the traits, samples with gaps have finite and definite similarities."""
    traits = case.kernel_traits
    if not traits.allows_gaps:
        raise NotApplicable(f"{case.label} does not claim to take gaps")
    rows, new_rows = with_gaps(case.rows, traits.reads), with_gaps(case.new_rows, traits.reads)
    fitted = case.fit(rows).fitted
    gram = fitted(rows, rows)
    expect_array(gram, (len(rows), len(rows)), "kernel(a, b) of samples with gaps")
    expect_array(fitted(new_rows, rows), (len(new_rows), len(rows)), "kernel(a, b) of gaps")
    expected = "kernel.diagonal(a) to be the diagonal of kernel(a, a), of samples with gaps too"
    expect_close(fitted.diagonal(rows), np.diag(gram), expected, SAME, 1e-6)
    if traits.definite:
        _expect_definite(gram)


def sparse_samples_are_samples(case: Case) -> None:
    """With sparse in the traits, sparse samples have the similarities of the same in an array."""
    if not case.kernel_traits.sparse:
        raise NotApplicable(f"{case.label} does not claim to take sparse samples")
    rows, new_rows = csr_array(case.rows), csr_array(case.new_rows)
    fitted, usual = case.fit(rows).fitted, case.fitted().fitted
    advice = "Take a scipy.sparse.csr_array too; or remove sparse=True from the traits."
    expected = "kernel(a, b) of sparse samples to be that of arrays"
    expect_close(fitted(new_rows, rows), usual(case.new_rows, case.rows), expected, advice, 1e-6)
    expected = "kernel.diagonal(a) of sparse samples to be that of arrays"
    expect_close(fitted.diagonal(new_rows), usual.diagonal(case.new_rows), expected, advice, 1e-6)


def shared_base_is_honest(case: Case) -> None:
    """A kernel with a base is the function ``of`` the base, and as monotone as declared."""
    fitted = case.fitted().fitted
    if not is_scalar(fitted):
        raise NotApplicable(f"{case.label} has no base quantity")
    base = BASES[fitted.base](case.new_rows, case.rows)
    separate = fitted.of(base.copy(), np.empty_like(base))
    inplace = base.copy()
    inplace = fitted.of(inplace, inplace)
    usual = fitted(case.new_rows, case.rows)
    advice = "of(base, out) writes its values into out, which may be base itself, and returns out."
    expect_close(separate, usual, "of(base, out) to give the kernel's values", advice)
    expect_close(inplace, usual, "of(base, base) to give the kernel's values", advice)
    direction = fitted.monotone
    if direction:
        order = np.sort(base.ravel())
        steps = np.diff(fitted.of(order.copy(), np.empty_like(order))) * direction
        expect(
            bool((steps >= -1e-12 * np.abs(usual).max()).all()),
            f"values that never {'fall' if direction > 0 else 'rise'} with the base, as declared by"
            f" monotone = {direction}",
            "some that do",
            "Write monotone = 0; quartiles are then computed from all values.",
        )


def says_whether_it_is_explicit(case: Case) -> None:
    """The class and the fitted map agree on whether columns are features or similarities."""
    advice = "Write FeatureMapTraits(explicit=...) in the class, explicit in the fitted map's."
    declared = traits_of(case.component, FeatureMapTraits).explicit
    fitted = case.fit().fitted
    came = fitted.explicit if "explicit" in dir(fitted) else "no 'explicit'"
    expect(came is declared, f"explicit = {declared} in the fitted map too", came, advice)


def columns_have_their_shapes(case: Case) -> None:
    """The number of columns is the same for one sample and many, N if the map is not explicit."""
    fitted = case.fitted().fitted
    n_columns = fitted.transform(case.rows).shape[1] if fitted.explicit else len(case.rows)
    for n in (1, len(case.new_rows)):
        expect_array(fitted.transform(case.new_rows[:n]), (n, n_columns), "transform(rows)")


def implicit_columns_are_similarities(case: Case) -> None:
    """The columns of a map that is not explicit are the kernel's values at the training samples."""
    fitted = case.fitted().fitted
    if fitted.explicit:
        raise NotApplicable(f"{case.label} is explicit")
    expect_close(
        fitted.transform(case.new_rows),
        case.kernel(case.rows)(case.new_rows, case.rows),
        "transform(rows) to be kernel(rows, training rows)",
        "Learners are fitted on the kernel's Gram matrix; a map with other values must be"
        " explicit.",
    )


def shortcuts_agree_with_transform(case: Case) -> None:
    """The map's optional methods for saving work give the same columns."""
    fitted: Any = case.fitted().fitted
    columns, new_columns = fitted.transform(case.rows), fitted.transform(case.new_rows)
    shortcuts: list[tuple[str, Any, Any]] = []
    if fitted.from_landmarks:
        values = fitted.from_similarities(fitted.kernel(case.rows, fitted.landmarks))
        label = "from_similarities(kernel(rows, landmarks)) to be transform(rows)"
        shortcuts.append((label, values, columns))
    if fitted.training_features() is not None:
        label = "training_features() to be transform(training rows)"
        shortcuts.append((label, fitted.training_features(), columns))
    if fitted.from_landmarks and not fitted.explicit:
        members = np.arange(0, len(case.rows), 3)
        fewer = fitted.with_landmarks(case.rows[members]).transform(case.new_rows)
        label = "with_landmarks(rows) to give the columns of those rows"
        shortcuts.append((label, fewer, new_columns[:, members]))
    lengths = fitted.squared_lengths()
    if lengths is not None:
        label = "features.T @ features to be diag(squared_lengths())"
        shortcuts.append((label, columns.T @ columns, np.diag(lengths)))
    if not shortcuts:
        raise NotApplicable(f"{case.label} has no such methods")
    for label, values, usual in shortcuts:
        expect_close(values, usual, label, "Correct it, or leave it out: it is optional.", 1e-6)


KERNEL_CHECKS = (
    values_have_their_shapes,
    symmetric,
    diagonal_is_that_of_the_matrix,
    positive_semi_definite,
    gaps_are_left_out,
    sparse_samples_are_samples,
    shared_base_is_honest,
)
MAP_CHECKS = (
    says_whether_it_is_explicit,
    columns_have_their_shapes,
    implicit_columns_are_similarities,
    shortcuts_agree_with_transform,
)
