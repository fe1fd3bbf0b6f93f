"""Comparison of methods on the same splits: runs, statistics, files.

Nothing is imported here, so that the command line can check file names at once.

A comparison has a ``Design`` (``design.py``): the settings that all methods share, what is varied,
the task and the score. ``for_data`` gives kernels the columns of the data's sources, and chooses
one for each of several sources if the user named none. From it follow the methods (``methods.py``),
their references among kernels (``references.py``), scikit-learn's baselines (``baselines.py``) and
the planned questions (``questions.py``); ``line_up.py`` joins them.
"""
