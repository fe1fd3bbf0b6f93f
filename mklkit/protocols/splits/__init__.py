"""Splits of rows into training and test rows, the same for all components and commands."""
