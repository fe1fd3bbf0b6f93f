"""Kernels on counts, histograms, sets and times."""
