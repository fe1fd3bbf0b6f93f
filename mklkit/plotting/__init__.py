"""Plots of fitted models as scikit-learn display objects; they need matplotlib.

A display's parameters are its attributes. After drawing it has ``figure_`` and ``ax_``, or
``axes_`` if it has several panels.
"""

from mklkit.plotting.base import Display
from mklkit.plotting.comparison import ComparisonDisplay
from mklkit.plotting.critical_difference import CriticalDifferenceDisplay
from mklkit.plotting.curves import CurvesDisplay
from mklkit.plotting.parts import draw_cells
from mklkit.plotting.weights import KernelWeightsDisplay
from mklkit.plotting.worth import ColumnEffectsDisplay, KernelWorthDisplay

__all__ = [
    "ColumnEffectsDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "CurvesDisplay",
    "Display",
    "KernelWeightsDisplay",
    "KernelWorthDisplay",
    "draw_cells",
]
