"""Which kernels and columns matter to a fitted model, and the limits of its weights."""

from mklkit.explanation.explaining import explain
from mklkit.explanation.explanation import Explanation

__all__ = ["Explanation", "explain"]
