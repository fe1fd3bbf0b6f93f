"""Base learners, one per file; the class of each learner can be imported from here."""

from mklkit.protocols import Learner
from mklkit.registry.hookspecs import exports

__getattr__, __dir__ = exports(__name__, Learner)
