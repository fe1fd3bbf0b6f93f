"""Which kernels and columns matter to a fitted model, and what its weights do not say."""

from mklkit.explanation.explaining import explain
from mklkit.explanation.explanation import Explanation

__all__ = ["Explanation", "explain"]
