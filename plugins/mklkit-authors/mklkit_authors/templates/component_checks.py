"""mklkit's checks of every component, for the one in this package."""

from __future__ import annotations

from mklkit_authors.testing import Check, parametrize_with_component_checks

from mklkit_authors.templates.weighting import Sketch


@parametrize_with_component_checks([Sketch])
def test_component(check: Check) -> None:
    check()
