"""Comparison of methods on the same splits: runs, statistics, files.

Nothing is imported here, so that the command line can check file names at once.
"""
