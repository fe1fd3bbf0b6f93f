"""Hot loops on plain arrays (BLAS and numba), independent of the layers above."""
