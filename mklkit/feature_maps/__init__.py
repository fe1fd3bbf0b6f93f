"""Feature maps, one per file; the class of each feature map can be imported from here."""

from mklkit.protocols import FeatureMap
from mklkit.registry.hookspecs import exports

__getattr__, __dir__ = exports(__name__, FeatureMap)
