"""Kernels, one or one family per file; the class of each kernel can be imported from here."""

from mklkit.protocols import Kernel
from mklkit.registry.hookspecs import exports

__getattr__, __dir__ = exports(__name__, Kernel)
