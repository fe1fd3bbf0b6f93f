"""What mklkit asks of every component, as small named checks that plugin authors can run.

In a plugin's tests::

    from mklkit.testing import parametrize_with_component_checks
    from mklkit_contrast import Contrast

    @parametrize_with_component_checks([Contrast, Contrast(power=2)])
    def test_component(check):
        check()

Anywhere else ``check_combiner(Contrast)``, ``check_kernel``, ``check_feature_map``,
``check_learner`` and ``check_preset`` run all checks and raise one ``CheckFailure`` that lists
those that failed: what was expected, what came, what to do. ``mklkit plugin check PACKAGE`` does it
for all components of an installed package.

Some checks ask for less where a component's ``facts`` say so: a kernel with
``KernelFacts(definite=False)`` need not be positive semi-definite, a combiner with
``CombinerFacts(weight_range=(low, high))`` need not have weights on the simplex, one with
``n_kernels=2`` is given that many, and a feature map with ``for_kernels=("rbf",)`` is given kernels
of these names. Row order is not asked about where a random state was used.
"""

from __future__ import annotations

from mklkit.testing.checks import (
    Check,
    check_combiner,
    check_feature_map,
    check_kernel,
    check_learner,
    check_preset,
    component_checks,
)
from mklkit.testing.expectations import CheckFailure, NotApplicable
from mklkit.testing.in_pytest import parametrize_with_component_checks

__all__ = [
    "Check",
    "CheckFailure",
    "NotApplicable",
    "check_combiner",
    "check_feature_map",
    "check_kernel",
    "check_learner",
    "check_preset",
    "component_checks",
    "parametrize_with_component_checks",
]
