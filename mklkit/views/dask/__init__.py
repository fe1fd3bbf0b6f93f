"""Rows on a cluster: Dask arrays as rows, and Dask's workers as the second engine.

No module here imports Dask before it is used, so that the package works without it.
"""
