"""How results are shown in notebooks: HTML from templates, tables with bars, and progress.

Nothing here knows what a kernel is; each result says what is to be shown of it.
"""
