"""mklkit's own checks of the package's task, learner and combiners."""

from __future__ import annotations

from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_survival import Cox, MeanHazard, StackedHazards, Survival


@parametrize_with_component_checks(
    [Survival, Cox, Cox(alpha=1.0, ties="breslow"), MeanHazard, StackedHazards]
)
def test_components_do_what_mklkit_asks(check):
    check()
