"""Tab completion: Typer provides the shells' scripts, which call these modules.

Each option names its completion function (``autocompletion=``). Names of components are cached in a
file together with the state of the installation, because finding them imports all strategies. Names
of columns are read from the first lines of a file by ``datasets/dialects.py``, which does not need
pandas.
"""
