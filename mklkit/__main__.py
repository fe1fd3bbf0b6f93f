"""The ``mklkit`` script, which is ``python -m mklkit`` too."""

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, while it is still starting too."""
    try:
        from mklkit.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
