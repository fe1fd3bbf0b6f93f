"""Rows seen through kernels: columns, tiles, statistics, views, and the parts a model keeps."""
