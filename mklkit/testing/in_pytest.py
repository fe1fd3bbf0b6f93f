"""The checks as a pytest parametrisation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mklkit.protocols import Array
from mklkit.testing.checks import component_checks

__all__ = ["parametrize_with_component_checks"]


def parametrize_with_component_checks(components: Iterable[Any], rows: Array | None = None) -> Any:
    """Make a test function of one argument, ``check``, run every check of every component.

    Parameters
    ----------
    components : iterable of components or component classes
        Of any kinds.
    rows : ndarray of shape (T, d), optional
        Rows for kernels that need particular ones; 12 or more.

    Returns
    -------
    decorator
        ``pytest.mark.parametrize`` with one case per check.

    Examples
    --------
    >>> from mklkit.kernels import Linear
    >>> @parametrize_with_component_checks([Linear])
    ... def test_linear(check):
    ...     check()
    """
    import pytest

    checks = [check for component in components for check in component_checks(component, rows=rows)]
    names = [f"{check.component}-{check.name}" for check in checks]
    return pytest.mark.parametrize("check", checks, ids=names)
