"""Kernels of formulas in columns of 0 and 1."""
