"""``python -m mklkit``: the same as the ``mklkit`` script."""

from mklkit.cli.app import main

if __name__ == "__main__":
    main()
