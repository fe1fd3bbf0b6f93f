"""Plots of fitted models as scikit-learn display objects; they need matplotlib.

A display's parameters are its attributes. After drawing it has ``figure_`` and ``ax_``, or
``axes_`` if it has several panels.
"""

from mklkit.plotting.alignment import AlignmentDisplay
from mklkit.plotting.comparison import ComparisonDisplay
from mklkit.plotting.critical_difference import CriticalDifferenceDisplay
from mklkit.plotting.weights import KernelWeightsDisplay
from mklkit.plotting.worth import ColumnEffectsDisplay, KernelWorthDisplay

__all__ = [
    "AlignmentDisplay",
    "ColumnEffectsDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "KernelWeightsDisplay",
    "KernelWorthDisplay",
]
