"""Kernels, one or a family per file; classes of kernels and templates of others come from here."""

from mklkit.protocols import Kernel
from mklkit.registry.hookspecs import exports

TEMPLATES = ("AmountKernel", "FeatureKernel", "HistogramKernel", "KernelAround")

__getattr__, __dir__ = exports(__name__, Kernel, TEMPLATES)
