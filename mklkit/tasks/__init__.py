"""Tasks, one per file; this package exports their classes."""

from mklkit.protocols import Task
from mklkit.registry.hookspecs import exports

__getattr__, __dir__ = exports(__name__, Task)
