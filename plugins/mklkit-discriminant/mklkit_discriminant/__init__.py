"""Combiners for mklkit: kernel discriminant analysis and localized kernels."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit import hookimpl
from mklkit_discriminant.localized import Localized, LocalizedGates
from mklkit_discriminant.mkda import MKDA

__all__ = ["MKDA", "Localized", "LocalizedGates"]


@hookimpl
def mklkit_combiners() -> Iterable[type]:
    """Register the combiners."""
    return [Localized, MKDA]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the combiners' fitted objects for model files."""
    return [LocalizedGates]
