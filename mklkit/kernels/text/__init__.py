"""Kernels on text and sequences."""
