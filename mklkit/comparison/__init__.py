"""Comparison of methods on the same splits: runs, statistics, files."""

from mklkit.comparison.comparing import compare
from mklkit.comparison.comparison import Comparison

__all__ = ["Comparison", "compare"]
