"""Combiners, one idea per file; the class of each combiner can be imported from here."""

from mklkit.protocols import Combiner
from mklkit.registry.hookspecs import exports

__getattr__, __dir__ = exports(__name__, Combiner)
