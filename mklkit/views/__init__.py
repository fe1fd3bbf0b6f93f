"""Rows seen through kernels: columns, tiles, statistics, views, and what a model keeps."""
