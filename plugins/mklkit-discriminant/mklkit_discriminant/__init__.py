"""Combiners for mklkit: kernel discriminant analysis and localized kernels."""

from mklkit_discriminant.localized import Localized, LocalizedGates
from mklkit_discriminant.mkda import MKDA

__all__ = ["MKDA", "Localized", "LocalizedGates"]
