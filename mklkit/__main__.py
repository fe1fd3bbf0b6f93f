"""The ``mklkit`` script, which is ``python -m mklkit`` too."""

import atexit
import contextlib
import gc
import signal
import sys

from mklkit.errors import TOO_LITTLE_MEMORY

INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, while it is still starting too.

    So does a request to end (SIGTERM), so that temporary files are removed.
    """
    with contextlib.suppress(ValueError):  # where this is not the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What is imported stays, a million objects; to go through them every 700 new ones takes a
    # seventh of the time of a small fit.
    gc.set_threshold(200_000, 20, 100)
    # Nor is there anything to collect at the end: that took a fifth of the time.
    atexit.register(gc.freeze)
    try:
        from mklkit.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except MemoryError:  # What would explain it could not be loaded either.
        sys.stderr.write(f"error: {TOO_LITTLE_MEMORY}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
