"""Choosing parameters: grids at the price of a fit, and how kernels relate."""
