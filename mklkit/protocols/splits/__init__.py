"""Splits of samples into training and test samples, the same for all components and commands."""
