"""The checks that every component must pass, for authors of plugins.

In a plugin's tests, here of a kernel ``Contrast``::

    from mklkit_authors.testing import parametrize_with_component_checks

    @parametrize_with_component_checks([Contrast, Contrast(power=2)])
    def test_component(check):
        check()

Anywhere else ``check_component(Contrast)`` runs all checks and raises one ``CheckFailure`` that
lists those that failed: the expected and the actual result, and a remedy. ``mklkit plugin check
PACKAGE``, a command of ``mklkit-authors``, checks all components of an installed package.

Some checks depend on a component's ``traits``: a kernel is checked on samples of the kind that it
reads (zeros and ones for amounts; give ``rows`` for others), also with gaps if it allows them; one
with ``KernelTraits(definite=False)`` need not be positive semi-definite; a combiner with
``CombinerTraits(weight_range=(low, high))`` need not have weights on the simplex; one with
``n_kernels=2`` gets two kernels; and a feature map with ``for_kernels=("rbf",)`` gets kernels of
these names. Results may depend on the order of samples if a random state was used."""

from mklkit_authors.testing.checks import (
    Check,
    check_component,
    component_checks,
    parametrize_with_component_checks,
)
from mklkit_authors.testing.expectations import CheckFailure, NotApplicable

__all__ = [
    "Check",
    "CheckFailure",
    "NotApplicable",
    "check_component",
    "component_checks",
    "parametrize_with_component_checks",
]
