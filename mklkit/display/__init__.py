"""The display of results in notebooks: HTML from templates, tables with bars, and progress.

Nothing here depends on kernels; each result provides the content to show.
"""
