"""The command line: one module per command, each a thin layer over the library.

Nothing here imports NumPy, pandas, scikit-learn, SciPy or numba at module level, so that
``mklkit --help`` is fast; a command imports what it needs when it runs.

Packages provide commands through entry points of the group ``mklkit_commands``, whose names are
read from metadata (``package_commands.py``): ``mklkit reproduce`` is in ``plugins/mklkit-papers``,
and ``mklkit plugin`` in ``plugins/mklkit-authors``. ``examples.py`` holds the examples that
``--help`` shows; the site's command-line reference is made from the commands and these examples
(``docs/_ext/command_line.py``).
"""
