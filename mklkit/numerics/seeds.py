"""The seeds of random numbers."""

LARGEST_SEED = 2**32 - 1
"""The largest seed of NumPy's legacy generators, which scikit-learn takes."""
