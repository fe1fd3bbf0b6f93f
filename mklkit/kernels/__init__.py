"""Kernels, one or one family per file; this package exports kernel classes and templates."""

from mklkit.protocols import Kernel
from mklkit.registry.hookspecs import exports

TEMPLATES = ("AmountKernel", "FeatureKernel", "HistogramKernel", "WrappingKernel")

__getattr__, __dir__ = exports(__name__, Kernel, TEMPLATES)
