"""Kernels on categories."""
