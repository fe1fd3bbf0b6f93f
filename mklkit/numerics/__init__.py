"""Hot paths on plain arrays (BLAS and numba); knows nothing of the layers above."""
