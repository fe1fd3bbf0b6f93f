"""Checks of a kernel by itself."""

from __future__ import annotations

import numpy as np

from mklkit.numerics.pairwise import BASES
from mklkit.protocols import Array, FittedKernel, KernelFacts, facts_of
from mklkit.testing.cases import Case
from mklkit.testing.expectations import NotApplicable, expect, expect_array, expect_close
from mklkit.testing.rows import with_gaps
from mklkit.views.kernel_rows import is_scalar

__all__ = [
    "diagonal_is_that_of_the_matrix",
    "gaps_are_left_out",
    "positive_semi_definite",
    "shared_base_is_honest",
    "symmetric",
    "values_have_their_shapes",
]


def values_have_their_shapes(case: Case) -> None:
    """The fitted kernel returns (n, m) similarities and an (n,) diagonal, for one row or many."""
    fitted = case.fitted().fitted
    expect(
        isinstance(fitted, FittedKernel) or callable(getattr(fitted, "diagonal", None)),
        "fit to return an object that can be called with two sets of rows and has a 'diagonal'",
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
    """The diagonal is the kernel's value for each row with itself."""
    fitted = case.fitted().fitted
    expect_close(
        fitted.diagonal(case.new_rows),
        np.diag(fitted(case.new_rows, case.new_rows)),
        "kernel.diagonal(a) to be the diagonal of kernel(a, a)",
        "Both must be the same function.",
        1e-6,
    )


def positive_semi_definite(case: Case) -> None:
    """No Gram matrix has a negative eigenvalue, unless the facts have definite=False."""
    if not facts_of(case.component, KernelFacts).definite:
        raise NotApplicable(f"{case.label} does not claim to be positive semi-definite")
    fitted = case.fitted().fitted
    _expect_definite(fitted(case.rows, case.rows))


def _expect_definite(gram: Array) -> None:
    values = np.linalg.eigvalsh((gram + gram.T) / 2)
    expect(
        bool(values[0] >= -1e-8 * abs(values[-1])),
        "non-negative eigenvalues of the Gram matrix",
        f"{values[0]:.3g} to {values[-1]:.3g}",
        "Correct the kernel; or write facts = KernelFacts(definite=False) in the class.",
    )


def gaps_are_left_out(case: Case) -> None:
    """With allows_gaps in the facts, rows with gaps have finite and definite similarities."""
    facts = facts_of(case.component, KernelFacts)
    if not facts.allows_gaps:
        raise NotApplicable(f"{case.label} does not claim to take gaps")
    rows, new_rows = (
        with_gaps(some, case.kernel_facts.reads) for some in (case.rows, case.new_rows)
    )
    fitted = case.fit(rows).fitted
    gram = fitted(rows, rows)
    expect_array(gram, (len(rows), len(rows)), "kernel(a, b) of rows with gaps")
    expect_array(fitted(new_rows, rows), (len(new_rows), len(rows)), "kernel(a, b) of gaps")
    expect_close(
        fitted.diagonal(rows),
        np.diag(gram),
        "kernel.diagonal(a) to be the diagonal of kernel(a, a), of rows with gaps too",
        "Both must be the same function.",
        1e-6,
    )
    if facts.definite:
        _expect_definite(gram)


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
