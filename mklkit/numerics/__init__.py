"""Hot paths on plain arrays (BLAS and numba); knows nothing of the layers above."""

from contextlib import suppress

from numba.core.entrypoints import init_all

# Numba asks every installed distribution for extensions of its own before it first compiles, and
# gives up on compiling where one of them is damaged. It asks only once: this is that time. The
# registry names the distribution.
with suppress(Exception):
    init_all()
