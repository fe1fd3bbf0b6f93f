"""The command line: one module per command, each a thin layer over the library.

Nothing here imports NumPy, pandas, scikit-learn, SciPy or numba at module level, so that
``mklkit --help`` is fast; a command imports what it needs when it runs.
"""
